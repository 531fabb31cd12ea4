// Runs a Python program on abstract values: tensors are nodes of the graph being built, sizes are symbols, everything
// else is what Python would have. Branches and loops must be decided by what is known while reading; calls are inlined.
// What cannot be followed with certainty is refused at its place, never guessed.
//
// The class is one, its parts are many: each .cpp of this folder that includes it holds one of the groups below.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "understand/python/assumptions.h"
#include "understand/python/configuration.h"
#include "understand/python/facts.h"
#include "understand/python/modules.h"
#include "understand/python/objects.h"

namespace kw::understand::python {

enum class Flow { Next, Break, Continue, Return };

// A running function (or a class body, or a file's top level).
struct Frame {
  const SourceFile* file = nullptr;
  std::shared_ptr<Scope> scope;
  const FunctionObject* function = nullptr;
  std::optional<Value> self;  // the first argument: what a bare super() is bound to
  Value result;
  PythonModule* top_level = nullptr;  // set while a statement of the file itself runs: names go to the file
};

class Interpreter {
 public:
  Interpreter(SourceReader& sources, Facts& facts, Packages& packages, bool training);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // ---- the outside: what read.cpp and interface.cpp use
  ir::GraphBuilder& builder() { return builder_; }
  TorchContext& torch() { return torch_; }
  Facts& facts() { return facts_; }
  Result<Value> lookup_in(PythonModule& module, std::string_view name);  // a name at the top level of a file
  Result<Value> call(const Value& function, Arguments arguments);
  Result<Value> instantiate(const std::shared_ptr<ClassObject>& type, Arguments arguments);
  Result<Value> attribute(const Value& object, const std::string& name);
  Result<Value> evaluate_in(PythonModule& module, const Expr& expression);
  Result<std::optional<Value>> find_attribute(const Value& object, const std::string& name);
  std::vector<ir::AxisId> axes_for(const std::vector<ir::Size>& sizes, const std::string& tensor);
  Value make_tensor_input(ir::Input input);  // with an identity of its own
  ir::Size size_named(const std::string& name, std::optional<int64_t> hint, SizeOrigin origin);
  Value make_scalar_input(const std::string& name, double value);  // a plain number where it has been fixed
  // The type that a tensor of the interface has: a floating type becomes a type parameter, T for activations and W for
  // weights, one per default type.
  Result<ir::Type> interface_type(ir::Type given, bool is_weight);
  Result<ir::Type> parameter_type(ir::Type given);  // of the parameter that is made next
  void set_default_types(std::map<std::string, ir::DType> types) { default_types_ = std::move(types); }
  void assume(std::string what, std::string value, std::string because);
  void at(const SourceFile* file, const Span& span);  // where the next assumption or error belongs
  std::vector<Assumption>& assumptions() { return assumptions_; }
  struct ParameterSource {
    ir::NodeId node;
    std::string init;  // the source text of its initial value
    Place place;
  };
  const std::vector<ParameterSource>& parameter_sources() const { return parameter_sources_; }
  struct BufferUpdate {
    ir::NodeId buffer;
    TensorValue value;
  };
  // Buffers that the program changed in place, with their last value, in the order of the first change.
  std::vector<BufferUpdate> buffer_updates() const;
  Result<TensorValue> current(const TensorValue& tensor);  // after in-place changes; an overwritten view is refused
  void set_running() { running_ = true; }  // the constructor is done: what is made from now on is made in every call
  void set_sampling(bool sampling) { sampling_ = sampling; }  // get_inputs() runs: elements do not matter
  bool is_module_class(const ClassObject& type) const;
  Failure refuse(std::string message, std::string hint = {}) const;  // at the current place
  std::string type_name(const Value& value) const;                   // "int", "Tensor": for messages
  std::optional<double> known_number(const Value& value) const;      // at the user's own configuration
  std::string expression_of(const Value& value) const;               // as Python over the sizes: "2*half", "tensor(x)"

 private:
  // ---- expressions (evaluate.cpp)
  Result<Value> evaluate(const Expr& expression);
  Result<Value> evaluate_node(const Unsupported& node);
  Result<Value> evaluate_node(const Constant& node);
  Result<Value> evaluate_node(const Name& node);
  Result<Value> evaluate_node(const Attribute& node);
  Result<Value> evaluate_node(const Subscript& node);
  Result<Value> evaluate_node(const Slice& node);
  Result<Value> evaluate_node(const Starred& node);
  Result<Value> evaluate_node(const Call& node);
  Result<Value> evaluate_node(const Unary& node);
  Result<Value> evaluate_node(const Binary& node);
  Result<Value> evaluate_node(const Logical& node);
  Result<Value> evaluate_node(const Compare& node);
  Result<Value> evaluate_node(const Conditional& node);
  Result<Value> evaluate_node(const Walrus& node);
  Result<Value> evaluate_node(const Lambda& node);
  Result<Value> evaluate_node(const Display& node);
  Result<Value> evaluate_node(const DictDisplay& node);
  Result<Value> evaluate_node(const Comprehended& node);
  Result<Value> evaluate_node(const FormattedString& node);
  Result<Value> evaluate_node(const Formatted& node);
  Result<std::vector<Value>> evaluate_items(const std::vector<ExprPtr>& items);
  Status comprehend(const Comprehended& node, size_t depth, const std::function<Status()>& emit);
  Result<std::string> format(const Value& value, const std::string& spec, bool& opaque);

  // ---- operators (operators.cpp, comparisons.cpp)
  Result<Value> unary(UnaryOperator op, const Value& operand);
  Result<Value> binary(BinaryOperator op, const Value& left, const Value& right);
  Result<Value> number_binary(BinaryOperator op, const Value& left, const Value& right);
  Result<Value> size_binary(BinaryOperator op, const ir::Size& left, const ir::Size& right);
  Result<Value> scalar_binary(BinaryOperator op, const Value& left, const Value& right);
  Result<ScalarValue> as_scalar(const Value& number);
  Result<Value> scalar_unary(ir::Op op, const Value& number, double (*known)(double));
  Result<Value> compare(Comparison op, const Value& left, const Value& right);
  Result<Value> number_compare(Comparison op, const Value& left, const Value& right);
  Result<bool> contains(const Value& container, const Value& item);
  Result<bool> equal(const Value& left, const Value& right);
  Result<bool> identical(const Value& left, const Value& right);
  Result<bool> truth(const Value& value);
  Result<bool> same_dtype(ir::Type left, ir::Type right);
  Status fix_scalar(const ScalarValue& scalar);  // makes it a number in the next reading

  // ---- statements (statements.cpp)
  Result<Flow> execute(const Block& block);
  Result<Flow> execute(const Stmt& statement);
  Result<Flow> execute_node(const FunctionDef& node);
  Result<Flow> execute_node(const ClassDef& node);
  Result<Flow> execute_loop(const For& node);
  Result<Flow> execute_loop(const While& node);
  Result<Flow> execute_with(const With& node);
  Result<Flow> execute_try(const Try& node);
  Result<Flow> execute_raise(const Raise& node);
  Status execute_import(const Import& node);
  Status execute_import(const ImportFrom& node);
  Status check_optional_import(const std::string& dotted);
  Status remove(const Expr& target);
  bool is_message_call(const Expr& expression);
  Result<bool> catches(const Handler& handler, const std::string& exception);
  Failure raise(std::string exception, std::string message);

  // ---- names and assignment (assign.cpp)
  Result<Value> lookup(const std::string& name);
  void store_name(const std::string& name, Value value);
  Status assign(const Expr& target, Value value);
  Status assign_items(const std::vector<ExprPtr>& targets, const Value& value);
  Status assign_attribute(const Value& object, const std::string& name, Value value);
  Status assign_item(const Expr& container, const Value& object, const Value& index, Value value);
  Status augmented_assign(const AugmentedAssign& node);
  Result<Value> define_function(const FunctionDef& node, const Span& span);
  Result<Value> define_class(const ClassDef& node, const Span& span);
  Result<Value> decorate(const std::vector<ExprPtr>& decorators, Value value);
  Status fill_defaults(FunctionObject& function);

  // ---- calls (call.cpp)
  Result<Arguments> evaluate_arguments(const Call& node);
  Result<Value> call_function(const std::shared_ptr<FunctionObject>& function, Arguments arguments);
  Status bind_arguments(const FunctionObject& function, Arguments arguments, Scope& scope);
  Result<Value> call_instance(const std::shared_ptr<InstanceObject>& object, Arguments arguments);
  Result<Value> call_external(const std::string& path, Arguments arguments);
  Result<std::optional<Value>> call_known_external(const std::string& path, Arguments& arguments);
  Result<Value> call_container(const ContainerObject& container, Arguments arguments);
  Result<Value> call_class(const std::shared_ptr<ClassObject>& type, Arguments arguments);
  Result<Value> call_layer_object(Layer& layer, Arguments arguments);
  Failure unknown_call(const std::string& path) const;

  // ---- classes and attributes (classes.cpp)
  Status linearize(ClassObject& type);
  std::shared_ptr<Object> find_in_class(const ClassObject& type, const std::string& name, const Object* after,
                                        Value& found);
  Result<Value> bind_attribute(const Value& self, const std::shared_ptr<ClassObject>& type, const Value& found);
  Result<std::optional<Value>> external_attribute(const ExternalObject& object, const std::string& name);
  Result<std::optional<Value>> instance_attribute(const std::shared_ptr<InstanceObject>& object,
                                                  const std::string& name);
  Result<std::optional<Value>> super_attribute(const SuperObject& object, const std::string& name);
  Result<std::optional<Value>> tensor_attribute(const TensorValue& tensor, const std::string& name);
  Result<Value> dataclass_init(const std::shared_ptr<InstanceObject>& object, Arguments arguments);
  std::optional<std::string> external_base(const ClassObject& type) const;  // the first base that is not the user's
  Result<bool> is_instance(const Value& value, const Value& type);

  // ---- nn.Module (module_methods.cpp)
  Result<Value> make_parameter(Arguments arguments, ir::InputKind kind);
  Result<Value> module_method(const Value& self, const std::string& name, Arguments arguments);
  static bool is_module_method(const std::string& name);
  Result<Value> make_container(const std::string& kind, Arguments arguments);
  Result<Value> container_method(ContainerObject& container, const std::string& name, Arguments arguments);
  Result<Value> call_super_of_external(const std::string& base, const SuperObject& object, const std::string& name,
                                       Arguments arguments);
  void collect_tensors(const Value& value, ir::InputKind kind, std::vector<Value>& out) const;

  // ---- built-in functions and the standard library (builtins.cpp, library.cpp)
  Result<std::optional<Value>> call_builtin(const std::string& name, Arguments& arguments);
  Result<std::optional<Value>> call_library(const std::string& path, Arguments& arguments);
  Result<Value> call_math(const std::string& name, const Arguments& arguments);
  Result<std::vector<Value>> iterate(const Value& value);
  Result<int64_t> require_int(const Value& value, const std::string& what);
  Result<Value> to_int(const Value& value);
  Result<Value> to_float(const Value& value);
  Result<Value> length(const Value& value);
  Result<Value> extremum(bool largest, const Arguments& arguments);
  Result<Value> range(const Arguments& arguments);
  Result<Value> sum(const Arguments& arguments);

  // ---- strings and containers (strings.cpp, containers.cpp)
  Result<Value> string_method(const std::string& self, const std::string& name, const Arguments& arguments);
  Result<Value> list_method(const std::shared_ptr<ListObject>& self, const std::string& name,
                            const Arguments& arguments);
  Result<Value> dict_method(const std::shared_ptr<DictObject>& self, const std::string& name,
                            const Arguments& arguments);
  Result<Value> tuple_method(const std::vector<Value>& self, const std::string& name, const Arguments& arguments);
  Result<Value> call_bound_builtin(const BoundBuiltin& method, Arguments arguments);
  Result<Value> subscript(const Value& object, const Value& index);
  Result<std::vector<size_t>> slice_positions(const SliceValue& slice, size_t length);
  Result<size_t> item_position(const Value& index, size_t length);
  Result<Value*> dict_find(DictObject& dict, const Value& key);
  Result<std::string> text_of(const Value& value);  // str(value), if it is known

  // ---- tensors whose elements do not matter (samples.cpp)
  Result<std::optional<Value>> call_sampler(const std::string& path, const Arguments& arguments);
  Value make_sample(const std::vector<ir::Size>& sizes, ir::Type type);
  bool is_sample(const TensorValue& tensor) const;
  static bool is_random_fill(const std::string& method);

  // ---- tensors (tensors.cpp)
  Result<Value> torch_call(std::string_view name, Arguments arguments);
  Result<Value> tensor_method(const TensorValue& self, const std::string& name, Arguments arguments);
  Result<Value> plain(const Value& value);  // lists and dicts as the operations take them, tensors as they are now
  Status plain(Arguments& arguments);
  // Whether a result shares memory with what it was made from; IfEqual: where the operation changed nothing, as dropout
  // in evaluation mode.
  enum class Sharing { Never, IfEqual, Always };
  void give_identities(Value& result, const std::vector<TensorValue>& sources, Sharing sharing);
  Status write_in_place(const TensorValue& target, TensorValue value);
  Result<Value> stop_gradients(Value value);
  ir::Origin origin() const;

  // ---- state
  Frame& frame() { return frames_.back(); }
  void locate(Error& error) const;

  SourceReader& sources_;
  Facts& facts_;
  Packages& packages_;
  ir::GraphBuilder builder_;
  TorchContext torch_;
  std::vector<Frame> frames_;
  const SourceFile* file_ = nullptr;  // where `span_` lies
  Span span_;                         // of the expression or statement being read
  int depth_ = 0;                     // nested evaluations, against a stack that overflows
  long steps_ = 0;
  bool building_ = false;  // a constructor runs: in-place changes of parameters are initialisations
  bool sampling_ = false;
  bool running_ = false;
  int no_gradient_ = 0;       // inside torch.no_grad()
  int optional_imports_ = 0;  // inside try/except ImportError
  std::map<std::pair<bool, ir::DType>, ir::Type> type_parameters_;
  std::map<std::string, ir::DType> default_types_;  // "T", "W": as the user wants them
  std::map<std::string, ScalarValue> scalars_;
  std::map<ir::Size, int> axes_of_size_;  // how many of the interface's axes have that size: they are numbered
  std::optional<std::string> raised_;     // the Python exception behind the error on its way up
  std::vector<Assumption> assumptions_;
  std::vector<ParameterSource> parameter_sources_;

  // In-place changes: each tensor object has a storage that its views share. A write makes every other tensor of the
  // storage stale; reading a stale one is refused.
  struct TensorState {
    int storage;
    int version;
    TensorValue value;
  };
  struct Storage {
    int version = 0;
    ir::NodeId input = ir::kNoNode;  // the interface's tensor that lives in it
    int written = 0;                 // order of its first write, 0: never
  };
  std::vector<TensorState> tensors_;
  std::vector<Storage> storages_;
  int writes_ = 0;

  friend class PythonModule;
  friend Result<std::optional<Value>> configuration_attribute(Interpreter& interpreter, ConfigObject& config,
                                                              const std::string& name);
};

}  // namespace kw::understand::python
