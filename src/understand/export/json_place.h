// A JSON value and its place in the document: what is wrong with it is told with a JSON pointer ("/nodes/3/args/0").
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw::understand {

class JsonPlace {
 public:
  JsonPlace(const nlohmann::json& value, std::string pointer, const std::string& file)
      : value_(&value), pointer_(std::move(pointer)), file_(&file) {}

  const nlohmann::json& value() const { return *value_; }
  const std::string& pointer() const { return pointer_; }

  Failure wrong(std::string_view message) const;
  Status only_keys(std::initializer_list<std::string_view> keys) const;  // an object without other keys

  Result<JsonPlace> at(std::string_view key) const;                        // of an object; it must be there
  Result<std::vector<JsonPlace>> items() const;                            // of an array
  Result<std::vector<std::pair<std::string, JsonPlace>>> members() const;  // of an object, sorted by key
  Result<std::string> text() const;
  Result<int64_t> integer(int64_t least, int64_t most) const;
  Result<bool> boolean() const;

 private:
  const nlohmann::json* value_;
  std::string pointer_;
  const std::string* file_;
};

}  // namespace kw::understand
