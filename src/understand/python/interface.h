// The interface of what is read: which arguments a constructor and a forward get, and where each shape, type and value
// comes from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "understand/python/interpreter.h"
#include "understand/python/read.h"

namespace kw::understand::python {

// What an annotation says about an argument.
struct Annotation {
  enum class Kind { None, Tensor, Int, Float, Bool, Text, Dtype, Other } kind = Kind::None;
  bool optional = false;
  ir::DType dtype = ir::DType::None;  // of a tensor: LongTensor, jaxtyping's Int[…]
  std::vector<std::string> shape;     // Float[Tensor, "rows cols"]
  std::string class_name;             // Other: LlamaConfig
};
Annotation read_annotation(const Expr* annotation);

// Which of the readings that the rules offer is tried.
struct Trial {
  size_t shapes = 0;       // the n-th row that fits each tensor
  bool fill_none = false;  // arguments that default to None get a value
};

class Interface {
 public:
  Interface(Interpreter& interpreter, Packages& packages, const ReadRequest& request, PythonModule& module,
            const Trial& trial)
      : interpreter_(interpreter), packages_(packages), request_(request), module_(module), trial_(trial) {}

  // Arguments of a class's constructor. `given` are the values of get_init_inputs().
  Result<Arguments> constructor_arguments(const FunctionObject& init, const ClassObject& type,
                                          std::vector<Value> given);
  // Arguments of the function or method that is read. `given` are the values of get_inputs(); `bound`: its first
  // parameter is self.
  Result<Arguments> call_arguments(const FunctionObject& function, const std::string& inside, bool bound,
                                   std::optional<std::vector<Value>> given);
  // How many different readings the rules offer for the shapes that nothing gives.
  size_t attempts() const { return attempts_; }
  bool has_fillers() const { return has_fillers_; }  // rules have a value for an argument that defaults to None
  // What the arguments were, in words; to be asked before the graph is finished.
  std::vector<ReadArgument> constructor_values() const { return described(constructor_); }
  std::vector<ReadArgument> call_values() const { return described(call_); }
  Status check_all_used() const;  // every option named something
  // Gives the parameters that --dtype names (norm.weight=f32) their types: an error where reading must start again.
  Status set_parameter_types(const Value& module);

 private:
  struct Slot {
    const Parameter* parameter;
    std::optional<Value> standard;  // its default
    bool keyword_only;
  };
  std::vector<Slot> slots(const FunctionObject& function, bool bound) const;
  Result<std::optional<Value>> option_value(const std::string& name);
  Result<Value> parse_value(const std::string& name, const std::string& text);
  Result<Value> constructor_value(const Slot& slot, const FunctionObject& init, const ClassObject& type);
  Result<Value> named(const std::string& name, Value value);  // ints become sizes, floats scalars
  Result<std::shared_ptr<ConfigObject>> configuration(const std::string& parameter, const Annotation& annotation,
                                                      const FunctionObject& init);
  Result<std::optional<Value>> tensor_from_options(const std::string& name, const Annotation& annotation);
  Result<Value> tensor_from_example(const std::string& name, const TensorValue& example);
  Result<Value> tensor_from_names(const std::string& name, const std::vector<std::string>& shape, SizeOrigin origin,
                                  ir::Type type, bool is_weight);
  Result<Value> tensor_from_rules(const std::string& name, const std::string& inside, const Annotation& annotation);
  bool fills_absent_tensor(const Slot& slot, const std::string& inside, const Annotation& annotation);
  Result<std::optional<ir::DType>> dtype_option(const std::string& name);
  Result<Value> make_tensor(const std::string& name, const std::vector<ir::Size>& sizes, ir::Type type);
  Result<Value> as_input(const std::string& name, const Value& example, const std::string& inside,
                         const Annotation& annotation);
  const std::string* find(const std::vector<std::pair<std::string, std::string>>& options, const std::string& name);

  std::vector<ReadArgument> described(const std::vector<std::pair<std::string, Value>>& arguments) const;

  Interpreter& interpreter_;
  Packages& packages_;
  const ReadRequest& request_;
  PythonModule& module_;
  Trial trial_;
  size_t attempts_ = 1;
  bool has_fillers_ = false;
  std::set<const std::string*> used_;
  std::vector<std::pair<std::string, Value>> constructor_, call_;
};

}  // namespace kw::understand::python
