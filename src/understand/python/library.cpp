// The standard library, and the parts of torch that are about programs, not tensors.
#include <algorithm>
#include <cmath>

#include "understand/python/interpreter.h"

namespace kw::understand::python {
namespace {

struct MathFunction {
  const char* name;
  double (*known)(double);
  ir::Op op;
};
constexpr MathFunction kMath[] = {
    {"sqrt", [](double x) { return std::sqrt(x); }, ir::Op::Sqrt},
    {"exp", [](double x) { return std::exp(x); }, ir::Op::Exp},
    {"expm1", [](double x) { return std::expm1(x); }, ir::Op::Expm1},
    {"log2", [](double x) { return std::log2(x); }, ir::Op::Log2},
    {"log1p", [](double x) { return std::log1p(x); }, ir::Op::Log1p},
    {"sin", [](double x) { return std::sin(x); }, ir::Op::Sin},
    {"cos", [](double x) { return std::cos(x); }, ir::Op::Cos},
    {"tan", [](double x) { return std::tan(x); }, ir::Op::Tan},
    {"tanh", [](double x) { return std::tanh(x); }, ir::Op::Tanh},
    {"sinh", [](double x) { return std::sinh(x); }, ir::Op::Sinh},
    {"cosh", [](double x) { return std::cosh(x); }, ir::Op::Cosh},
    {"atan", [](double x) { return std::atan(x); }, ir::Op::Atan},
    {"erf", [](double x) { return std::erf(x); }, ir::Op::Erf},
    {"erfc", [](double x) { return std::erfc(x); }, ir::Op::Erfc},
    {"fabs", [](double x) { return std::fabs(x); }, ir::Op::Abs},
};

}  // namespace

Result<Value> Interpreter::call_math(const std::string& name, const Arguments& arguments) {
  const auto& given = arguments.positional;
  if (given.empty() || !arguments.keyword.empty()) return refuse("math." + name + " is not read with these arguments");
  for (const Value& value : given) {
    if (value.is_tensor()) {
      return refuse("math." + name + " of a tensor depends on its elements, which are not known while reading",
                    "use torch." + name);
    }
  }
  if (name == "prod") {
    KW_TRY(const std::vector<Value> items, iterate(given[0]));
    Value total = int_value(1);
    for (const Value& item : items) {
      KW_TRY(total, binary(BinaryOperator::Mul, total, item));
    }
    return total;
  }
  if (name == "pow" && given.size() == 2) {
    KW_TRY(const Value base, to_float(given[0]));
    KW_TRY(const Value exponent, to_float(given[1]));
    return binary(BinaryOperator::Pow, base, exponent);
  }
  if (name == "log") {
    const auto x = as_known_number(given[0]);
    if (given.size() == 2) {
      const auto base = as_known_number(given[1]);
      if (!x || !base) return refuse("math.log with a base needs known numbers");
      return Value{std::log(*x) / std::log(*base)};
    }
    if (x && *x <= 0) return raise("ValueError", "math domain error");
    if (x) return Value{std::log(*x)};
    return scalar_unary(ir::Op::Log, given[0], [](double v) { return std::log(v); });
  }
  if (name == "ceil" || name == "floor" || name == "trunc") {
    if (as_size(given[0])) return Value{*as_size(given[0])};
    KW_TRY(Value real, to_float(given[0]));
    if (const auto* scalar = real.get<ScalarValue>()) {
      if (!scalar->known) return refuse("math." + name + " of a number that is not known while reading");
      KW_CHECK(fix_scalar(*scalar));
      real = Value{*scalar->known};
    }
    const double x = *real.get<double>();
    return to_int(Value{name == "ceil" ? std::ceil(x) : name == "floor" ? std::floor(x) : std::trunc(x)});
  }
  if (name == "isqrt" || name == "gcd" || name == "log10" || name == "isinf" || name == "isnan" || name == "isfinite") {
    const auto x = known_number(given[0]);
    if (!x) return refuse("math." + name + " of a number that is not known while reading");
    if (const auto* scalar = given[0].get<ScalarValue>()) KW_CHECK(fix_scalar(*scalar));
    if (const auto size = as_size(given[0]); size && (name == "isqrt" || name == "gcd")) {
      KW_TRY(const int64_t n, facts_.fix(builder_.graph(), *size));
      if (name == "isqrt") return int_value(static_cast<int64_t>(std::sqrt(static_cast<long double>(n))));
      KW_TRY(const int64_t m, require_int(given.size() > 1 ? given[1] : given[0], "an argument of gcd()"));
      int64_t a = n, b = m;
      while (b != 0) a = std::exchange(b, a % b);
      return int_value(a);
    }
    if (name == "log10") return Value{std::log10(*x)};
    if (name == "isinf") return Value{std::isinf(*x)};
    if (name == "isnan") return Value{std::isnan(*x)};
    if (name == "isfinite") return Value{std::isfinite(*x)};
  }
  for (const MathFunction& function : kMath) {
    if (name != function.name || given.size() != 1) continue;
    if (const auto x = as_known_number(given[0])) {
      if (name == "sqrt" && *x < 0) return raise("ValueError", "math domain error");
      return Value{function.known(*x)};
    }
    return scalar_unary(function.op, given[0], function.known);
  }
  return unknown_call("math." + name);
}

Result<std::optional<Value>> Interpreter::call_library(const std::string& path, Arguments& arguments) {
  const auto& given = arguments.positional;
  if (path.starts_with("math.")) {
    KW_TRY(Value result, call_math(path.substr(5), arguments));
    return result;
  }
  if (path == "functools.partial") {
    if (given.empty()) return raise("TypeError", "partial() needs a function");
    auto partial = std::make_shared<PartialObject>();
    partial->function = given[0];
    partial->arguments = arguments;
    partial->arguments.positional.erase(partial->arguments.positional.begin());
    return object_value(std::move(partial));
  }
  if (path == "functools.reduce" && given.size() >= 2) {
    KW_TRY(const std::vector<Value> items, iterate(given[1]));
    size_t next = 0;
    if (given.size() < 3 && items.empty()) return raise("TypeError", "reduce() of nothing");
    Value total = given.size() > 2 ? given[2] : items[next++];
    for (; next < items.size(); ++next) {
      KW_TRY(total, call(given[0], {{total, items[next]}, {}}));
    }
    return total;
  }
  if (path == "functools.wraps") return external("functools.wraps()");
  if (path == "functools.wraps()" || path == "functools.lru_cache" || path == "functools.cache") {
    if (given.size() == 1) return given[0];
  }
  if (path == "typing.cast" && given.size() == 2) return given[1];
  if ((path == "copy.copy" || path == "copy.deepcopy") && given.size() == 1) {
    return refuse("copies of modules and configurations are not read");
  }
  if (path == "collections.OrderedDict" || path == "collections.defaultdict") {
    KW_TRY(auto result, call_builtin("dict", arguments));
    return result;
  }
  if (path == "itertools.repeat" || path == "itertools.chain") {
    if (path.ends_with("chain")) {
      std::vector<Value> all;
      for (const Value& part : given) {
        KW_TRY(const std::vector<Value> items, iterate(part));
        all.insert(all.end(), items.begin(), items.end());
      }
      return list_value(std::move(all));
    }
    if (given.size() == 2) {
      KW_TRY(const int64_t times, require_int(given[1], "the count of repeat()"));
      return list_value(std::vector<Value>(static_cast<size_t>(std::clamp<int64_t>(times, 0, 10'000)), given[0]));
    }
  }
  if (path == "dataclasses.field") {
    for (const auto& [name, value] : arguments.keyword) {
      if (name == "default") return value;
      if (name == "default_factory") {
        KW_TRY(Value result, call(value, {}));
        return result;
      }
    }
    return none();
  }
  if (path.starts_with("operator.") && knows_torch(path) && !given.empty()) {
    const bool any_tensor = std::any_of(given.begin(), given.end(), [](const Value& v) { return v.is_tensor(); });
    if (!any_tensor) return refuse(path + " of numbers is not read", "use the operator itself");
  }
  if (path == "operator.add" && given.size() == 2) {
    KW_TRY(Value result, binary(BinaryOperator::Add, given[0], given[1]));
    return result;
  }
  if (path == "operator.mul" && given.size() == 2) {
    KW_TRY(Value result, binary(BinaryOperator::Mul, given[0], given[1]));
    return result;
  }
  if (path == "warnings.warn" || path == "logging.getLogger") return external("logging.logger");
  if (path.starts_with("logging.logger.")) return none();
  return std::optional<Value>();
}

// torch's own names that are about the program: parameters, containers, types, what is ignored.
Result<std::optional<Value>> Interpreter::call_known_external(const std::string& path, Arguments& arguments) {
  if (!path.starts_with("torch.")) return std::optional<Value>();
  const auto& given = arguments.positional;
  KW_TRY(auto sample, call_sampler(path, arguments));
  if (sample) return sample;
  if (path == "torch.nn.Parameter" || path == "torch.nn.parameter.Parameter") {
    KW_TRY(Value result, make_parameter(std::move(arguments), ir::InputKind::Parameter));
    return result;
  }
  if (path == "torch.nn.Buffer" || path == "torch.nn.parameter.Buffer") {
    KW_TRY(Value result, make_parameter(std::move(arguments), ir::InputKind::Buffer));
    return result;
  }
  for (const char* kind : {"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"}) {
    if (path == std::string("torch.nn.") + kind) {
      KW_TRY(Value result, make_container(kind, std::move(arguments)));
      return result;
    }
  }
  if (path.starts_with("torch.nn.init.")) {
    if (!building_) return refuse("initialising a tensor outside of a constructor is not read");
    return given.empty() ? none() : given[0];
  }
  if (path == "torch.nn.Module") return refuse("a bare nn.Module is not read");
  if (path == "torch.finfo" || path == "torch.iinfo") {
    const auto* dtype = given.empty() ? nullptr : given[0].get<DTypeValue>();
    if (!dtype) return refuse(path + " needs a dtype");
    if (!dtype->type.concrete()) {
      facts_.fix_types();
      return refuse("the program asks for the element type of a tensor");
    }
    auto info = std::make_shared<TypeInfoObject>();
    info->dtype = dtype->type.floor();
    return object_value(std::move(info));
  }
  if (path == "torch.is_tensor" && given.size() == 1) return Value{given[0].is_tensor()};
  if (path == "torch.device") return Value{DeviceValue{}};
  if (path == "torch.Size" && given.size() == 1) {
    KW_TRY(std::vector<Value> items, iterate(given[0]));
    return tuple_value(std::move(items));
  }
  if (path == "torch.jit.script" || path == "torch.compile" || path == "torch.jit.ignore" ||
      path == "torch.jit.export") {
    if (given.size() == 1) return given[0];
  }
  if (path == "torch.Tensor" || path == "torch.FloatTensor") {
    const bool sizes = std::all_of(given.begin(), given.end(), [](const Value& v) { return as_size(v).has_value(); });
    if (given.empty() || !sizes) return refuse(path + "() is read with sizes alone", "use torch.tensor");
    KW_TRY(auto result, call_sampler("torch.empty", arguments));
    if (!result) return refuse(path + "() has no elements that are known while reading");
    return result;
  }
  if (path == "torch.manual_seed" || path == "torch.set_default_dtype") {
    if (path.ends_with("dtype"))
      return refuse("another default type is not read", "give dtype= where tensors are made");
    return none();
  }
  return std::optional<Value>();
}

}  // namespace kw::understand::python
