#include "kernel/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "kernel/layout.h"

namespace kw::kernel {
namespace {

constexpr std::int64_t kLargestSize = std::int64_t{1} << 48;

// The one size of `expression` that has no value yet; nothing if all are known, or more than one is not.
const std::string* only_unknown(const std::vector<std::string>& names, const Sizes& known) {
  const std::string* found = nullptr;
  for (const std::string& name : names) {
    if (known.contains(name)) continue;
    if (found != nullptr) return nullptr;
    found = &name;
  }
  return found;
}

// The value of `unknown` at which the expression is `wanted`, where the expression grows evenly with it.
std::optional<std::int64_t> solve(const Expression& expression, const Sizes& known, const std::string& unknown,
                                  std::int64_t wanted) {
  Facts facts;
  facts.sizes = known;
  const auto at = [&](std::int64_t value) -> std::optional<std::int64_t> {
    facts.sizes[unknown] = value;
    const auto result = expression.size(facts);
    return result ? std::optional(*result) : std::nullopt;
  };
  const auto zero = at(0), one = at(1);
  if (!zero || !one || *one == *zero) return std::nullopt;
  const std::int64_t step = *one - *zero;
  if ((wanted - *zero) % step != 0) return std::nullopt;
  const std::int64_t value = (wanted - *zero) / step;
  return value >= 0 && at(value) == wanted ? std::optional(value) : std::nullopt;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> parts;
  for (const std::int64_t size : shape) parts.push_back(std::to_string(size));
  return "[" + join(parts, ", ") + "]";
}

bool fits_i32(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
}

Result<std::int64_t> count_of(const Argument& argument, const Facts& facts) {
  if (argument.kind == Argument::Kind::Size) return evaluate_size(argument.of, facts);
  const auto tensor = facts.tensors.find(argument.of);
  if (tensor == facts.tensors.end()) return bad_input(fmt::format("nothing is known of the buffer '{}'", argument.of));
  const auto dimension = static_cast<std::size_t>(argument.dimension);
  if (dimension >= tensor->second.strides.size())
    return bad_input(fmt::format("'{}' has no dimension {}", argument.of, argument.dimension));
  return tensor->second.strides[dimension];
}

bool counts(const Argument& argument) {
  return argument.kind == Argument::Kind::Stride || argument.kind == Argument::Kind::Size;
}

// Why an entry cannot serve the call; empty if it can.
Result<std::string> obstacle(const Entry& entry, const Facts& facts) {
  for (const std::string& guard : entry.guards) {
    KW_TRY(const bool holds, evaluate_condition(guard, facts));
    if (!holds) return fmt::format("{} needs {}", entry.symbol, guard);
  }
  for (const Argument& argument : entry.arguments) {
    if (!counts(argument) || argument.type != "i32") continue;
    KW_TRY(const std::int64_t value, count_of(argument, facts));
    if (!fits_i32(value)) return fmt::format("{} takes {} as i32, and it is {}", entry.symbol, argument.of, value);
  }
  return std::string();
}

}  // namespace

Result<Sizes> bind_sizes(const Manifest& manifest, const Pass& pass, const std::map<std::string, Tensor>& tensors,
                         Sizes given) {
  struct Equation {
    const Buffer* buffer;
    std::size_t dimension;
    Expression expression;
    std::int64_t size;
  };
  std::vector<Equation> equations;
  for (const Buffer& buffer : pass.buffers) {
    const auto tensor = tensors.find(buffer.name);
    if (tensor == tensors.end()) continue;
    const std::vector<std::int64_t>& shape = tensor->second.shape;
    if (shape.size() != buffer.shape.size())
      return bad_input(fmt::format("{} has {} dimensions, and the manifest says [{}]", buffer.name, shape.size(),
                                   join(buffer.shape, ", ")));
    for (std::size_t d = 0; d < shape.size(); ++d) {
      KW_TRY(Expression expression, Expression::parse(buffer.shape[d], Expression::Kind::Size));
      equations.push_back({&buffer, d, std::move(expression), shape[d]});
    }
  }
  for (bool found = true; found;) {
    found = false;
    for (const Equation& equation : equations) {
      const std::vector<std::string> names = equation.expression.size_names();
      const std::string* unknown = only_unknown(names, given);
      if (unknown == nullptr) continue;
      const auto value = solve(equation.expression, given, *unknown, equation.size);
      if (!value) continue;
      given[*unknown] = *value;
      found = true;
    }
  }
  Facts facts;
  facts.sizes = given;
  for (const Equation& equation : equations) {
    const auto value = equation.expression.size(facts);
    const std::string what = fmt::format("dimension {} of {}", equation.dimension, equation.buffer->name);
    if (!value) return bad_input(fmt::format("{} does not say what it is: {}", what, equation.expression.text()));
    if (*value != equation.size)
      return bad_input(fmt::format("{} is {}, and {} is {}", what, equation.size, equation.expression.text(), *value));
  }
  for (const std::string& size : manifest.sizes)
    if (!given.contains(size)) return bad_input(fmt::format("no tensor shows the size '{}'", size), {}, "give it");
  return given;
}

Status check_constraints(const Manifest& manifest, const Sizes& sizes) {
  Facts facts;
  facts.sizes = sizes;
  for (const std::string& constraint : manifest.constraints) {
    KW_TRY(const bool holds, evaluate_condition(constraint, facts));
    if (!holds) return bad_input(fmt::format("these sizes do not fulfil {}", constraint));
  }
  return {};
}

Result<Tensor> describe(const Buffer& buffer, const TypeBinding& types, const Facts& facts) {
  Tensor tensor;
  KW_TRY(tensor.dtype, dtype_of(buffer.type, types));
  for (const std::string& size : buffer.shape) {
    KW_TRY(const std::int64_t value, evaluate_size(size, facts));
    if (value < 0 || value > kLargestSize)
      return bad_input(fmt::format("the size {} of {} would be {}", size, buffer.name, value));
    tensor.shape.push_back(value);
  }
  const std::optional<std::int64_t> count = numel(tensor.shape);
  if (!count || *count > kLargestSize)
    return bad_input(fmt::format("{} would have the shape {}", buffer.name, shape_text(tensor.shape)));
  tensor.strides = dense_strides(tensor.shape);
  if (buffer.strides_like.empty()) return tensor;
  std::vector<ir::LayoutOperand> operands;
  for (const std::string& text : buffer.strides_like) {
    KW_TRY(ir::LayoutOperand operand, ir::parse_layout_operand(text));
    operands.push_back(std::move(operand));
  }
  KW_TRY(tensor.strides, strides_like(tensor.shape, operands, [&](const std::string& name) {
           const auto found = facts.tensors.find(name);
           return found == facts.tensors.end() ? nullptr : &found->second;
         }));
  return tensor;
}

Result<const Entry*> choose(const Step& step, const Facts& facts) {
  std::vector<std::string> obstacles;
  for (const Entry& entry : step.entries) {
    KW_TRY(std::string why, obstacle(entry, facts));
    if (why.empty()) return &entry;
    obstacles.push_back(std::move(why));
  }
  return bad_input("no kernel serves this call: " + join(obstacles, "; "));
}

Result<const Entry*> choose_next(const Step& step, Facts& facts) {
  if (step.kind == Step::Kind::Fill) {
    facts.blocks.push_back(0);
    return nullptr;
  }
  KW_TRY(const Entry* entry, choose(step, facts));
  KW_TRY(const std::int64_t blocks, evaluate_size(entry->launch.grid[0], facts));
  facts.blocks.push_back(blocks);
  return entry;
}

Result<std::vector<ArgumentValue>> arguments_of(const Entry& entry, const TypeBinding& types, const Facts& facts) {
  std::vector<ArgumentValue> values;
  for (const Argument& argument : entry.arguments) {
    if (is_pointer(argument.kind)) {
      values.emplace_back(BufferArgument{argument.of});
    } else if (counts(argument)) {
      KW_TRY(const std::int64_t value, count_of(argument, facts));
      values.emplace_back(NumberArgument{argument.type == "i32" ? DType::I32 : DType::I64, value});
    } else if (argument.kind == Argument::Kind::Scalar) {
      KW_TRY(const DType dtype, dtype_of(argument.type, types));
      const auto scalar = facts.scalars.find(argument.of);
      if (scalar == facts.scalars.end()) return bad_input(fmt::format("the scalar {} is not given", argument.of));
      NumberArgument number{dtype, scalar->second};
      if (const auto* whole = std::get_if<std::int64_t>(&number.value); whole != nullptr && ir::is_floating(dtype))
        number.value = static_cast<double>(*whole);
      if (std::holds_alternative<double>(number.value) && !ir::is_floating(dtype))
        return bad_input(fmt::format("the scalar {} must be a whole number", argument.of));
      values.emplace_back(number);
    }
  }
  return values;
}

Result<std::map<std::string, std::int64_t>> constants_of(const Entry& entry, const Facts& facts) {
  std::map<std::string, std::int64_t> constants;
  for (const Argument& argument : entry.arguments)
    if (argument.kind == Argument::Kind::Constant) {
      KW_TRY(constants[argument.name], evaluate_size(argument.of, facts));
    }
  return constants;
}

Result<std::int64_t> warps_of(const Entry& entry, const Facts& facts) {
  constexpr std::int64_t kUsual = 4, kMost = 32;
  if (entry.launch.warps.empty()) return kUsual;
  KW_TRY(const std::int64_t warps, evaluate_size(entry.launch.warps, facts));
  if (warps < 1 || warps > kMost || (warps & (warps - 1)) != 0)
    return bad_input(fmt::format("{} would run with {} warps", entry.symbol, warps), {}, "a power of two, at most 32");
  return warps;
}

Result<LaunchShape> launch_of(const Entry& entry, const Facts& facts) {
  LaunchShape shape;
  for (std::size_t i = 0; i < 3; ++i) {
    KW_TRY(shape.grid[i], evaluate_size(entry.launch.grid[i], facts));
    KW_TRY(shape.block[i], evaluate_size(entry.launch.block[i], facts));
  }
  KW_TRY(shape.shared_bytes, evaluate_size(entry.launch.shared_bytes, facts));
  return shape;
}

}  // namespace kw::kernel
