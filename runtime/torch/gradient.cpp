// The gradient of a package's ops as a node of PyTorch's autograd in C++, which costs as little as PyTorch's own. It is
// a library of its own, since autograd has no stable ABI: it serves the PyTorch that it was built with, and under any
// other the same ops take their gradient in Python (an autograd.Function).
//
// attach() defines kw::_OP_eager, which calls the inner ops of the forward and of the backward. How it does is said in
// a line for each backward op, the one that computes least first:
//
//   _rms_norm_backward i0 i1 o1 g0 > 0 1
//
// calls kw::_rms_norm_backward with the forward's arguments 0 and 1, its output 1 and the gradient of its result 0, and
// gets the gradients of arguments 0 and 1. i0.1 is dimension 1 of argument 0.
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/library.h>

#include <algorithm>
#include <sstream>

namespace {

using at::Tensor;
using c10::IValue;
using c10::OperatorHandle;
using torch::autograd::Node;
using torch::autograd::SavedVariable;
using torch::autograd::variable_list;
using torch::jit::Stack;

// Nodes are counted by themselves in newer versions of PyTorch, and by shared_ptr in older ones.
template <class T, class... Arguments>
auto make_node(Arguments&&... arguments) {
  if constexpr (std::is_same_v<decltype(torch::autograd::Edge::function), std::shared_ptr<Node>>) {
    return std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...), [](T* node) { deleteNode(node); });
  } else {
    return c10::make_intrusive<T>(std::forward<Arguments>(arguments)...);
  }
}

OperatorHandle find(const std::string& name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(("kw::" + name).c_str(), "");
}

struct Argument {
  enum Kind { kInput, kOutput, kGradient, kSize } kind;
  std::size_t index;      // of the input, the output or the result
  std::size_t slot = 0;   // of a tensor among those that are saved
  std::size_t dimension;  // kSize
};

struct Backward {
  OperatorHandle op;
  std::vector<Argument> arguments;
  std::vector<std::size_t> gradients;  // by edge
};

struct Saved {
  bool output;
  std::size_t index;
};

// How an op is differentiated.
struct Rule {
  std::string op, node;
  OperatorHandle forward, results_alone;
  std::size_t inputs = 0, results = 0;
  std::vector<std::size_t> edges;  // the inputs that have a gradient
  std::vector<Saved> saved;
  std::vector<Backward> backwards;

  Rule(const std::string& name, std::string node_name, const std::string& alone, const std::string& lines)
      : op(name), node(std::move(node_name)), forward(find("_" + name + "_forward")), results_alone(find(alone)) {
    inputs = forward.schema().arguments().size();
    results = results_alone.schema().returns().size();
    std::istringstream all(lines);
    for (std::string line; std::getline(all, line);) backwards.push_back(read(line));
  }

 private:
  Backward read(const std::string& line) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    Backward backward{find(word), {}, {}};
    while (words >> word && word != ">") backward.arguments.push_back(argument(word));
    for (std::size_t input; words >> input;) {
      auto edge = std::find(edges.begin(), edges.end(), input);
      if (edge == edges.end()) edge = edges.insert(edge, input);
      backward.gradients.push_back(static_cast<std::size_t>(edge - edges.begin()));
    }
    return backward;
  }

  bool is_tensor(std::size_t input) const {
    return forward.schema().arguments()[input].type()->kind() == c10::TypeKind::TensorType;
  }

  Argument argument(const std::string& word) {
    std::size_t end = 0;
    Argument argument{word[0] == 'i'   ? Argument::kInput
                      : word[0] == 'o' ? Argument::kOutput
                                       : Argument::kGradient,
                      std::stoul(word.substr(1), &end), 0, 0};
    if (end + 1 < word.size()) {
      argument.kind = Argument::kSize;
      argument.dimension = std::stoul(word.substr(end + 2));
    }
    const bool output = argument.kind == Argument::kOutput;
    if (!output && (argument.kind != Argument::kInput || !is_tensor(argument.index))) return argument;
    const auto same = [&](const Saved& one) { return one.output == output && one.index == argument.index; };
    argument.slot = static_cast<std::size_t>(std::find_if(saved.begin(), saved.end(), same) - saved.begin());
    if (argument.slot == saved.size()) saved.push_back({output, argument.index});
    return argument;
  }
};

struct Gradient : Node {
  const Rule* rule = nullptr;
  std::vector<SavedVariable> saved;
  std::vector<IValue> inputs;             // numbers, and the sizes of tensors; by input
  std::vector<std::size_t> gradients_of;  // by result: which of the node's inputs is its gradient

  std::string name() const override { return rule->node; }

  void release_variables() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (SavedVariable& one : saved) one.reset_data();
  }

  variable_list apply(variable_list&& gradients) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    variable_list answers(rule->edges.size());
    const auto there = [](const Tensor& gradient) { return gradient.defined(); };
    if (std::none_of(gradients.begin(), gradients.end(), there)) return answers;
    const Backward& backward = choose();
    Stack stack;
    stack.reserve(backward.arguments.size());
    for (const Argument& argument : backward.arguments) stack.push_back(value(argument, gradients));
    torch::autograd::edge_list again;
    if (at::GradMode::is_enabled()) again = edges_of(stack);
    {
      const at::AutoDispatchBelowADInplaceOrView below;
      backward.op.callBoxed(stack);
    }
    for (std::size_t i = 0; i < backward.gradients.size(); ++i)
      answers[backward.gradients[i]] = std::move(stack[i]).toTensor();
    if (!again.empty()) refuse_second_derivative(answers, std::move(again));
    return answers;
  }

 private:
  // The one that computes least of those that compute all that is wanted.
  const Backward& choose() {
    for (const Backward& backward : rule->backwards) {
      bool all = true;
      for (std::size_t edge = 0; edge < rule->edges.size(); ++edge) {
        const auto& own = backward.gradients;
        all = all && (std::find(own.begin(), own.end(), edge) != own.end() || !task_should_compute_output(edge));
      }
      if (all) return backward;
    }
    return rule->backwards.back();
  }

  IValue value(const Argument& argument, const variable_list& gradients) {
    switch (argument.kind) {
      case Argument::kSize:
        return inputs[argument.index].toIntVector()[argument.dimension];
      case Argument::kGradient: {
        const std::size_t own = gradients_of[argument.index];
        return gradients[own].defined() ? gradients[own] : input_metadata(own).zeros_like();
      }
      case Argument::kOutput:
        return saved[argument.slot].unpack(argument.index < rule->results ? getptr() : nullptr);
      case Argument::kInput:
        break;
    }
    return inputs[argument.index].isNone() || inputs[argument.index].isIntList() ? IValue(saved[argument.slot].unpack())
                                                                                 : inputs[argument.index];
  }

  static torch::autograd::edge_list edges_of(const Stack& stack) {
    torch::autograd::edge_list edges;
    for (const IValue& one : stack)
      if (one.isTensor() && one.toTensor().requires_grad())
        edges.push_back(torch::autograd::impl::gradient_edge(one.toTensor()));
    return edges;
  }

  void refuse_second_derivative(variable_list& answers, torch::autograd::edge_list edges) const {
    const auto refusal = make_node<torch::autograd::Error>(
        "kw::" + rule->op + " has no second derivative: its backward is a kernel. Differentiate its reference instead.",
        std::move(edges));
    for (Tensor& answer : answers)
      if (answer.defined()) torch::autograd::set_history(answer, refusal);
  }
};

struct Eager : c10::OperatorKernel {
  Rule rule;
  explicit Eager(Rule given) : rule(std::move(given)) {}

  void operator()(const OperatorHandle&, c10::DispatchKeySet, Stack* stack) const {
    const IValue* given = stack->data() + (stack->size() - rule.inputs);
    bool wanted = false;
    for (const std::size_t input : rule.edges) {
      const Tensor& tensor = given[input].toTensor();
      TORCH_CHECK(!tensor._fw_grad(0).defined(), "kw::", rule.op,
                  " has no derivative in forward mode. Differentiate its reference instead.");
      wanted = wanted || tensor.requires_grad();
    }
    if (!wanted || !at::GradMode::is_enabled()) {
      const at::AutoDispatchBelowADInplaceOrView below;
      rule.results_alone.callBoxed(stack);
      return;
    }
    const auto node = make_node<Gradient>();
    node->rule = &rule;
    torch::autograd::edge_list edges;
    edges.reserve(rule.edges.size());
    for (const std::size_t input : rule.edges) {
      const Tensor& tensor = given[input].toTensor();
      edges.push_back(tensor.requires_grad() ? torch::autograd::impl::gradient_edge(tensor) : torch::autograd::Edge());
    }
    node->set_next_edges(std::move(edges));
    keep_inputs(*node, given);
    {
      const at::AutoDispatchBelowADInplaceOrView below;
      rule.forward.callBoxed(stack);
    }
    const std::size_t outputs = rule.forward.schema().returns().size();
    const IValue* made = stack->data() + (stack->size() - outputs);
    for (std::size_t i = 0; i < rule.results; ++i) {
      const Tensor& result = made[i].toTensor();
      node->gradients_of.push_back(node->num_inputs());
      if (torch::autograd::isDifferentiableType(result.scalar_type())) torch::autograd::set_history(result, node);
    }
    for (std::size_t i = 0; i < rule.saved.size(); ++i)
      if (const Saved& one = rule.saved[i]; one.output)
        node->saved[i] = SavedVariable(made[one.index].toTensor(), one.index < rule.results);
    stack->resize(stack->size() - (outputs - rule.results));
  }

 private:
  void keep_inputs(Gradient& node, const IValue* given) const {
    node.saved.resize(rule.saved.size());
    for (std::size_t i = 0; i < rule.saved.size(); ++i)
      if (const Saved& one = rule.saved[i]; !one.output)
        node.saved[i] = SavedVariable(given[one.index].toTensor(), false);
    node.inputs.resize(rule.inputs);
    for (const Backward& backward : rule.backwards) {
      for (const Argument& argument : backward.arguments) {
        const IValue& input =
            given[argument.kind == Argument::kInput || argument.kind == Argument::kSize ? argument.index : 0];
        if (argument.kind == Argument::kSize) node.inputs[argument.index] = input.toTensor().sizes();
        if (argument.kind == Argument::kInput && !input.isTensor()) node.inputs[argument.index] = input;
      }
    }
  }
};

void define(Rule rule) {
  using torch::Library;  // as long as the process
  static Library& definitions = *new Library(Library::FRAGMENT, "kw", std::nullopt, __FILE__, __LINE__);
  static Library& implementations =
      *new Library(Library::IMPL, "kw", c10::DispatchKey::CompositeImplicitAutograd, __FILE__, __LINE__);
  const std::string name = "_" + rule.op + "_eager";
  definitions.def(rule.results_alone.schema().cloneWithName("kw::" + name, ""));
  implementations.impl(name.c_str(),
                       torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Eager>(std::move(rule))));
}

}  // namespace

// What keeps the op from being attached; null when it is.
extern "C" __attribute__((visibility("default"))) const char* kw_attach(const char* op, const char* node,
                                                                        const char* results_alone, const char* lines) {
  static std::string why;
  try {
    define(Rule(op, node, results_alone, lines));
    return nullptr;
  } catch (const std::exception& error) {
    why = error.what();
    return why.c_str();
  }
}
