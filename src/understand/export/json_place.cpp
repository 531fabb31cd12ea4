#include "understand/export/json_place.h"

#include <algorithm>

#include "base/text.h"

namespace kw::understand {
namespace {

std::string escaped(std::string_view key) {  // as RFC 6901 asks
  return replace_all(replace_all(std::string(key), "~", "~0"), "/", "~1");
}

}  // namespace

Failure JsonPlace::wrong(std::string_view message) const {
  return bad_input("at " + (pointer_.empty() ? std::string("the top") : pointer_) + ": " + std::string(message),
                   Place{*file_});
}

Status JsonPlace::only_keys(std::initializer_list<std::string_view> keys) const {
  if (!value_->is_object()) return wrong("an object is expected");
  for (const auto& [key, unused] : value_->items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    std::vector<std::string> known(keys.begin(), keys.end());
    auto failure = wrong("unknown key '" + key + "'");
    failure.value().hint = did_you_mean(key, known);
    return failure;
  }
  return {};
}

Result<JsonPlace> JsonPlace::at(std::string_view key) const {
  if (!value_->is_object()) return wrong("an object is expected");
  auto found = value_->find(std::string(key));
  if (found == value_->end()) return wrong("the key '" + std::string(key) + "' is missing");
  return JsonPlace(*found, pointer_ + "/" + escaped(key), *file_);
}

Result<std::vector<JsonPlace>> JsonPlace::items() const {
  if (!value_->is_array()) return wrong("a list is expected");
  std::vector<JsonPlace> out;
  for (size_t i = 0; i < value_->size(); ++i)
    out.emplace_back((*value_)[i], pointer_ + "/" + std::to_string(i), *file_);
  return out;
}

Result<std::vector<std::pair<std::string, JsonPlace>>> JsonPlace::members() const {
  if (!value_->is_object()) return wrong("an object is expected");
  std::vector<std::pair<std::string, JsonPlace>> out;
  for (const auto& [key, member] : value_->items())
    out.emplace_back(key, JsonPlace(member, pointer_ + "/" + escaped(key), *file_));
  return out;
}

Result<std::string> JsonPlace::text() const {
  if (!value_->is_string()) return wrong("a string is expected");
  return value_->get<std::string>();
}

Result<int64_t> JsonPlace::integer(int64_t least, int64_t most) const {
  if (!value_->is_number_integer()) return wrong("a whole number is expected");
  if (value_->is_number_unsigned() && value_->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
    return wrong("the number is too large");
  int64_t number = value_->get<int64_t>();
  if (number < least || number > most)
    return wrong("a number from " + std::to_string(least) + " to " + std::to_string(most) + " is expected");
  return number;
}

Result<bool> JsonPlace::boolean() const {
  if (!value_->is_boolean()) return wrong("true or false is expected");
  return value_->get<bool>();
}

}  // namespace kw::understand
