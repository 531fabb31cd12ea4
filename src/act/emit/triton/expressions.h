// Values of the loop form as Python for Triton. Floating values are computed in fp32, whatever memory holds, and
// rounded to their own type exactly once, where the loop form says so:
//
//   y: T = mul(v8, w)   →   (v8 * w_i).to(x.dtype.element_ty).to(tl.float32)      stored:  v8 * w_i
//
// A text for every type (Form::General) leaves open whether a type parameter is fp64: what was loaded passes through
// `wide`, and Triton's own promotion does the rest.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "act/emit/cpp/names.h"
#include "act/loop/loop.h"

namespace kw::act::triton {

// Fast: dense tensors, and no fp64 but what the math itself asks for. General: any strides, any types.
enum class Form : uint8_t { Fast, General };

enum class Kind : uint8_t { Float, Int, Bool };

// How strongly an expression binds, weakest first.
enum class Level : uint8_t { Comparison, Or, Xor, And, Sum, Product, Sign, Atom };

struct Text {
  std::string text;
  Kind kind = Kind::Float;
  Level level = Level::Atom;
};

class Expressions {
 public:
  Expressions(const LoopProgram& program, const LoopKernel& kernel, cpp::KernelNames& names, Form form)
      : program_(program), kernel_(kernel), names_(names), form_(form) {}

  std::map<ValueId, Text> environment;             // values that are variables, or expressions to be repeated
  std::function<std::string(const Load&)> loaded;  // a tl.load with its mask
  // A tensor of the function that has the type, so that the text can name it; empty if none has.
  std::function<std::string(ir::Type)> tensor_of_type;

  // Whether a value has an element for each column of a tile of rows; unset where tiles are no rows.
  std::function<bool(ValueId)> along_columns;

  Text of(ValueId value, bool rounded = true);
  std::string as_float(ValueId value);
  std::string index(const Index& index);
  std::string size(const ir::Size& size) const;
  // A number as it takes part in a computation of the type.
  std::string number_of(ir::Type type, double value) const;

  // Functions of runtime/triton that the text calls, and what cannot be said in it: the name of the rule, or empty.
  const std::set<std::string>& functions() const { return functions_; }
  void call_function(const std::string& name) { functions_.insert(name); }
  const std::string& refusal() const { return refusal_; }
  void refuse(const std::string& rule) {
    if (refusal_.empty()) refusal_ = rule;
  }

  static Kind kind_of(ir::Type type);
  static bool rounds(ir::Type type);        // whether what was computed still has to be rounded to the type
  std::string type_name(ir::Type type);     // in memory
  std::string compute_type(ir::Type type);  // in registers: "tl.float32"
  std::string widened(const std::string& text, ir::Type type);  // from memory's type to that of registers
  Text round(const Text& text, ir::Type type);

  static std::string inside(const Text& text, Level least = Level::Atom) {
    return text.level >= least ? text.text : "(" + text.text + ")";
  }

 private:
  Text map(const Value& value, const Map& map);
  Text cast(const Value& value, ValueId arg, bool rounded);
  Text power(const Value& value, const Map& map);
  Text quotient(const Value& value, const Map& map);
  bool is_plain(ValueId value) const;
  bool has_scalar(ValueId value) const;
  bool is_wide(ir::Type type) const;  // fp64 or fp32, as the call's types have it
  Text convert(const Text& text, Kind kind, ir::Type type);
  Text operand(ValueId arg, Kind kind, ir::Type type);
  Text call(const std::string& function, const Map& map, Kind kind, ir::Type type);
  Text infix(const std::string& sign, Level level, const Map& map, Kind operands, ir::Type type, Kind result);
  Kind operand_kind(const Map& map) const;
  ir::Type operand_type(const Map& map) const;

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  cpp::KernelNames& names_;
  Form form_;
  std::set<std::string> functions_;
  std::string refusal_;
};

}  // namespace kw::act::triton
