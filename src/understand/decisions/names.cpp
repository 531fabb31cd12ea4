// Names of what is generated: from the op's own, in the style that each thing has in PyTorch code.
#include "understand/decisions/names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "profile/format.h"
#include "understand/decisions/deciders.h"

namespace kw::understand {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
char upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

Status take_name(Subject& subject, const std::string& id, std::string& field, std::string value,
                 const std::string& because) {
  const std::vector<std::string> instead;
  if (const std::string* pin = subject.pinned(id)) {
    if (!profile::is_identifier(*pin) || pin->find('.') != std::string::npos)
      return bad_value(id, *pin, "a Python name");
    value = *pin;
  }
  field = value;
  subject.record({id, value, because, "", instead, "code that imports it by another name does not find it"});
  return {};
}

}  // namespace

std::string snake_case(std::string_view given) {
  // Words whose capitals do not show where a word begins.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kWords = {{{"LeakyReLU", "LeakyRelu"},
                                                                                            {"ReLU", "Relu"},
                                                                                            {"SiLU", "Silu"},
                                                                                            {"GeLU", "Gelu"},
                                                                                            {"SwiGLU", "Swiglu"},
                                                                                            {"GeGLU", "Geglu"},
                                                                                            {"ReGLU", "Reglu"},
                                                                                            {"GEGLU", "Geglu"},
                                                                                            {"DyT", "Dyt"},
                                                                                            {"RoPE", "Rope"},
                                                                                            {"MoE", "Moe"},
                                                                                            {"LoRA", "Lora"},
                                                                                            {"ALiBi", "Alibi"},
                                                                                            {"KLDiv", "KlDiv"}}};
  std::string name(given);
  for (const auto& [word, plain] : kWords) name = replace_all(std::move(name), word, plain);
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_upper(c) && !is_lower(c) && !is_digit(c)) {
      if (!out.empty() && out.back() != '_') out += '_';
      continue;
    }
    // A new word begins at a capital behind a small letter (addNorm), and at the last capital of a run (RMSNorm).
    const bool after_small = i > 0 && (is_lower(name[i - 1]) || is_digit(name[i - 1]));
    const bool before_small = i > 0 && i + 1 < name.size() && is_upper(name[i - 1]) && is_lower(name[i + 1]);
    if (is_upper(c) && (after_small || before_small) && !out.empty() && out.back() != '_') out += '_';
    out += lower(c);
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (out.empty() || is_digit(out[0])) out.insert(0, "op_");
  return out;
}

bool says_nothing(std::string_view name) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "model", "module", "net", "network", "layer", "block", "op", "forward", "f", "fn", "function", "kernel"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::string camel_case(std::string_view name) {
  std::string out;
  bool begins = true;
  for (const char c : name) {
    if (c == '_') {
      begins = true;
      continue;
    }
    out += begins ? upper(c) : c;
    begins = false;
  }
  return out;
}

Status decide_names(Subject& subject) {
  const std::string& name = subject.profile.name;
  profile::Names& names = subject.profile.names;
  const std::string& entry = subject.reading.entry;
  const bool own = subject.reading.is_module && !entry.empty() && !says_nothing(snake_case(entry));
  const std::string module = own ? entry : camel_case(name);
  KW_CHECK(take_name(subject, "name.function", names.function, name, "the kernel's own name"));
  KW_CHECK(take_name(subject, "name.module", names.module, module,
                     own ? "the class that was read" : "the kernel's name as a class"));
  return take_name(subject, "name.autograd", names.autograd, camel_case(name) + "Function",
                   "the kernel's name as an autograd function");
}

}  // namespace kw::understand
