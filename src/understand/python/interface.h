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

bool is_type_parameter(std::string_view name);  // T, T2, W: what --dtype may name beside tensors

// Which of the readings that the rules offer is tried. Tensors that have the same rows (q and k, cos and sin) form a
// group, and take the same one.
struct Trial {
  std::vector<size_t> rows;       // for each group, in the order of the arguments: which of its rows
  bool rows_of_any_name = false;  // not the rows with the tensors' own names, but those for any
  bool fill_none = false;         // arguments that default to None get a value
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
  std::vector<size_t> rows_of_groups() const;  // how many rows the rules offer for each group of tensors
  bool has_rows_by_name() const { return has_rows_by_name_; }  // some rows had the name of a tensor
  bool has_fillers() const { return has_fillers_; }  // rules have a value for an argument that defaults to None
  // What the arguments were, in words; to be asked before the graph is finished.
  std::vector<ReadArgument> constructor_values() const { return described(constructor_); }
  std::vector<ReadArgument> call_values() const { return described(call_); }
  Status check_all_used() const;  // every option named something
  // Gives the parameters that --dtype names (norm.weight=f32) their types: an error where reading must start again.
  Status set_parameter_types(const Value& module);
  // Whether the shapes that the rules supplied led to something that nobody writes: then the next rows are tried first.
  bool is_implausible(const ir::Graph& graph) const;
  std::string assumed_shapes() const;  // "x: batch, seq, hidden; y: …", empty if nothing was assumed

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
  Result<Value> as_input(const std::string& name, const Value& example);
  const std::string* find(const std::vector<std::pair<std::string, std::string>>& options, const std::string& name);

  std::vector<ReadArgument> described(const std::vector<std::pair<std::string, Value>>& arguments) const;

  Interpreter& interpreter_;
  Packages& packages_;
  const ReadRequest& request_;
  PythonModule& module_;
  Trial trial_;
  std::vector<std::vector<const ShapeRule*>> groups_;
  bool has_rows_by_name_ = false;
  bool has_fillers_ = false;
  std::set<const std::string*> used_;
  struct Supplied {  // a tensor whose shape is that of a row
    std::string name;
    std::vector<std::string> shape;
    bool is_weight;
  };
  std::vector<Supplied> supplied_;
  std::vector<std::pair<std::string, Value>> constructor_, call_;
};

}  // namespace kw::understand::python
