// Whatever an operation is given, it answers with a value or a refusal: random arguments of every kind for every name
// of the table and every layer. A failure aborts; KW_WRITE_CALLS in the environment writes each call down before it is
// made.
#include <algorithm>
#include <cstdlib>
#include <random>

#include "torch_session.h"
#include "understand/torch/call.h"
#include "understand/torch/layer.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::DType;
using ir::kUnit;
using ir::Size;
using ir::Type;

class HostileCaller {
 public:
  explicit HostileCaller(uint64_t seed) : random_(seed) {
    session_.context.training = pick(2) == 0;
    session_.context.make_parameter = [this](const std::string&, ir::InputKind, const std::vector<Size>& sizes,
                                             Type type) -> Result<TensorValue> {
      return tensor(sizes, type.known() ? type : session_.T);
    };
    session_.context.update_buffer = [](const TensorValue&, const TensorValue&) -> Status { return {}; };
    session_.context.fixed_size = [this](const Size& size) -> Result<int64_t> {
      return session_.builder.graph().hinted(size).value_or(2);
    };
  }

  // A call with plausible and implausible arguments.
  Arguments arguments(const Signature& signature) {
    Arguments out;
    likely_rank_ = pick(5);
    for (const auto& parameter : signature.parameters) {
      if (parameter.default_value && pick(3) != 0) continue;
      Value value = argument(parameter.name);
      if (parameter.keyword_only || out.positional.size() < position_ || pick(4) == 0) {
        out.keyword.emplace_back(parameter.name, std::move(value));
        position_ = signature.parameters.size() + 1;  // nothing positional after a keyword
      } else {
        out.positional.push_back(std::move(value));
        ++position_;
      }
    }
    position_ = 0;
    return out;
  }

  TorchSession& session() { return session_; }

 private:
  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  TensorValue tensor(const std::vector<Size>& sizes, Type type) {
    ir::Input input{"t" + std::to_string(session_.builder.graph().inputs.size()),
                    ir::InputKind::Tensor,
                    type,
                    {},
                    {},
                    true,
                    ir::kNoNode};
    for (const Size& size : sizes) input.dims.push_back(size == Size(1) ? kUnit : session_.builder.axis("a", size));
    std::vector<AxisId> dims = input.dims;
    return {session_.builder.input(std::move(input)), dims};
  }

  Value random_tensor() {
    const Type types[] = {session_.T, DType::F32, DType::BF16, DType::I64, DType::Bool, DType::F8E4M3, DType::U8};
    std::vector<Size> sizes;
    for (size_t i = 0, rank = pick(4) == 0 ? pick(6) : likely_rank_; i < rank; ++i) {
      const int64_t hints[] = {4, 4, 4, 2, 6, 1, 0};
      int64_t hint = hints[pick(7)];
      bool symbolic = hint > 1 && pick(2) == 0;
      sizes.push_back(symbolic ? session_.symbol("n" + std::to_string(hint), hint) : Size(hint));
    }
    return Value{tensor(sizes, types[pick(3) == 0 ? pick(7) : 0])};
  }

  Value number() {
    switch (pick(5)) {
      case 0:
        return TorchSession::real(0.5);
      case 1:
        return Value{session_.symbol("n4", 4)};
      case 2:
        return Value{pick(2) == 0};
      default:
        return TorchSession::integer(static_cast<int64_t>(pick(7)) - 2);
    }
  }

  Value argument(const std::string& name) {
    constexpr std::string_view kTensors[] = {"input", "other",   "weight", "bias",         "target",     "index",
                                             "mask",  "query",   "key",    "value",        "a",          "b",
                                             "src",   "x1",      "x2",     "tensor1",      "tensor2",    "condition",
                                             "data",  "offsets", "source", "running_mean", "running_var"};
    bool tensor_like = std::find(std::begin(kTensors), std::end(kTensors), name) != std::end(kTensors);
    if (tensor_like && pick(8) != 0) return random_tensor();
    switch (pick(9)) {
      case 0:
        return random_tensor();
      case 1:
        return Value{NoneValue{}};
      case 2: {
        const char* texts[] = {"mean", "sum", "none", "tanh", "constant", "reflect", "same", "zeros", "ij,jk->ik"};
        return Value{std::string(texts[pick(9)])};
      }
      case 3: {
        SequenceValue sequence;
        for (size_t i = 0, n = pick(5); i < n; ++i) sequence.items.push_back(pick(4) == 0 ? random_tensor() : number());
        return Value{std::move(sequence)};
      }
      case 4:
        return Value{DTypeValue{pick(2) == 0 ? Type(DType::F32) : Type(DType::I64)}};
      case 5: {
        SliceValue slice{std::make_shared<Value>(number()), nullptr, nullptr};
        return pick(2) == 0 ? Value{slice} : Value{EllipsisValue{}};
      }
      default:
        return number();
    }
  }

  std::mt19937_64 random_;
  TorchSession session_;
  size_t likely_rank_ = 2, position_ = 0;
};

std::string written(std::string_view name, const Arguments& arguments, const ir::Graph& graph) {
  std::string out(name);
  out += "(";
  for (const Value& value : arguments.positional) out += describe(value, graph) + ", ";
  for (const auto& [key, value] : arguments.keyword) out += key + "=" + describe(value, graph) + ", ";
  return out + ")";
}

// What is given back is what it says: a tensor lists each axis of its node exactly once.
void expect_sound(const Value& value, const ir::Graph& graph, const std::string& call) {
  if (const auto* tensor = value.get<TensorValue>()) {
    std::vector<AxisId> axes;
    for (AxisId axis : tensor->dims)
      if (axis != kUnit) axes.push_back(axis);
    std::sort(axes.begin(), axes.end());
    EXPECT_EQ(axes, graph[tensor->node].axes) << call;
  }
  if (const auto* sequence = value.get<SequenceValue>())
    for (const Value& item : sequence->items) expect_sound(item, graph, call);
}

constexpr int kCallsPerName = 150;

TEST(TorchHostile, EveryOperationAnswersWhateverItIsGiven) {
  uint64_t seed = 1;
  int answered = 0;
  for (std::string_view name : torch_names()) {
    for (int i = 0; i < kCallsPerName; ++i) {
      HostileCaller caller(seed++);
      Arguments arguments = caller.arguments(*torch_signature(name));
      TorchSession& session = caller.session();
      std::string call = written(name, arguments, session.builder.graph());
      if (std::getenv("KW_WRITE_CALLS")) std::fprintf(stderr, "%s\n", call.c_str());
      auto result = call_torch(session.context, name, std::move(arguments));
      if (!result) {
        EXPECT_FALSE(result.error().message.empty()) << call;
        continue;
      }
      ++answered;
      expect_sound(*result, session.builder.graph(), call);
    }
  }
  EXPECT_GT(answered, 5000);  // else the arguments are too wild to reach anything
}

TEST(TorchHostile, EveryLayerAnswersWhateverItIsGiven) {
  uint64_t seed = 1;
  for (std::span<const LayerEntry> family : {functional_layers(), parametrized_layers()}) {
    for (const LayerEntry& entry : family) {
      for (int i = 0; i < kCallsPerName; ++i) {
        HostileCaller caller(seed++);
        TorchSession& session = caller.session();
        Arguments arguments = caller.arguments(Signature::parse(entry.signature));
        std::string call = written(entry.name, arguments, session.builder.graph());
        auto layer = construct_layer(session.context, entry.name, std::move(arguments));
        if (!layer) continue;
        Arguments inputs = caller.arguments(Signature::parse("input"));
        call += written(" called", inputs, session.builder.graph());
        if (std::getenv("KW_WRITE_CALLS")) std::fprintf(stderr, "%s\n", call.c_str());
        auto result = call_layer(session.context, **layer, std::move(inputs));
        if (result) expect_sound(*result, session.builder.graph(), call);
      }
    }
  }
}

}  // namespace
}  // namespace kw::understand
