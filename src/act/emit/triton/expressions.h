// Values of the loop form as Python for Triton. Floating values are computed in fp32, whatever memory holds, and
// rounded to their own type exactly once, where the loop form says so:
//
//   y: T = mul(v8, w)   →   (v8 * w_i).to(x.dtype.element_ty).to(tl.float32)      stored:  v8 * w_i
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "act/emit/cpp/names.h"
#include "act/loop/loop.h"

namespace kw::act::triton {

enum class Kind : uint8_t { Float, Int, Bool };

struct Text {
  std::string text;
  Kind kind = Kind::Float;
  bool atom = true;  // a name, a number or a call: needs no parentheses
};

class Expressions {
 public:
  Expressions(const LoopProgram& program, const LoopKernel& kernel, cpp::KernelNames& names)
      : program_(program), kernel_(kernel), names_(names) {}

  std::map<ValueId, Text> environment;             // values that are variables, or expressions to be repeated
  std::function<std::string(const Load&)> loaded;  // a tl.load with its mask
  // A tensor of the function that has the type, so that the text can name it; empty if none has.
  std::function<std::string(ir::Type)> tensor_of_type;

  Text of(ValueId value, bool rounded = true);
  std::string as_float(ValueId value);
  std::string index(const Index& index);
  std::string size(const ir::Size& size) const;

  // Functions of runtime/triton that the text calls, and what cannot be said in it: the name of the rule, or empty.
  const std::set<std::string>& functions() const { return functions_; }
  const std::string& refusal() const { return refusal_; }

  static Kind kind_of(ir::Type type);
  // Whether fp32 still has to be rounded to the type; how Python names it.
  static bool rounds(ir::Type type);
  std::string type_name(ir::Type type);
  void refuse(const std::string& rule) {
    if (refusal_.empty()) refusal_ = rule;
  }

 private:
  Text map(const Value& value, const Map& map);
  Text cast(const Value& value, ValueId arg, bool rounded);
  Text power(const Map& map);
  Text round(const Text& text, ir::Type type, ValueId of);
  bool is_plain(ValueId value) const;
  Text convert(const Text& text, Kind kind) const;
  std::string inside(const Text& text) const { return text.atom ? text.text : "(" + text.text + ")"; }
  Text call(const std::string& function, const Map& map, Kind kind);
  Text infix(const std::string& sign, const Map& map, Kind operands, Kind result);
  Kind operand_kind(const Map& map) const;

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  cpp::KernelNames& names_;
  std::set<std::string> functions_;
  std::string refusal_;
};

}  // namespace kw::act::triton
