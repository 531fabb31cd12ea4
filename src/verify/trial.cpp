#include "verify/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "ir/interpreter/rounding.h"
#include "kernel/layout.h"
#include "kernel/types.h"
#include "verify/cases.h"
#include "verify/elements.h"

namespace kw::verify {
namespace {

using device::Arena;
using kernel::Buffer;
using kernel::Role;
using kernel::Tensor;

// Of the first and the second run: NaN, and a small number, which what is added to it changes.
constexpr std::uint8_t kPoisons[] = {0xFF, 0x3C};
constexpr std::uint8_t kGapPattern = 0xFF;  // between the elements of an input: NaN, or an index out of range

using Bytes = std::vector<std::byte>;

std::string index_text(std::size_t linear, const std::vector<std::int64_t>& shape) {
  std::vector<std::string> index(shape.size());
  auto rest = static_cast<std::int64_t>(linear);
  for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) index[d] = std::to_string(rest % shape[d]);
  return "[" + join(index, ", ") + "]";
}

}  // namespace

Finding finding_of(const device::Fault& fault, const std::string& pass) {
  using Kind = device::Fault::Kind;
  // Who watches a kernel names it and the kind of mistake: "norm_forward: race between threads: …".
  static constexpr std::pair<std::string_view, Gate> kSeen[] = {
      {"unwritten output", Gate::Written},         {"out of bounds", Gate::Outside},
      {"write to an input", Gate::Inputs},         {"race", Gate::Synchronised},
      {"divergent barrier", Gate::Synchronised},   {"uninitialised read", Gate::Synchronised},
      {"copy not waited for", Gate::Synchronised}, {"settings left changed", Gate::Fresh}};
  Gate gate = fault.kind == Kind::Strayed        ? Gate::Outside
              : fault.kind == Kind::WroteToInput ? Gate::Inputs
              : fault.kind == Kind::Sanitized    ? Gate::Sanitized
                                                 : Gate::Runs;
  if (fault.kind == Kind::Seen)
    for (const auto& [words, against] : kSeen)
      if (fault.message.find(words) < fault.kernel.size() + 3) gate = against;
  return {gate, pass + ": " + fault.message};
}

namespace {

// The same comparison without the elements for which anything goes.
ir::ErrorReport judged_alone(const ir::Array& expected, const std::vector<double>& got, ir::DType dtype) {
  ir::Array judged;
  std::vector<double> own;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isinf(expected.bounds[i])) continue;
    judged.values.push_back(expected.values[i]);
    judged.bounds.push_back(expected.bounds[i]);
    own.push_back(got[i]);
  }
  judged.shape = {static_cast<std::int64_t>(own.size())};
  return ir::compare(judged, own, dtype);
}

kernel::ScalarValue scalar_of_kind(const kernel::Scalar& scalar, double value) {
  if (scalar.type == "real") return value;
  return static_cast<std::int64_t>(value);
}

// A pass, made ready for one call: memory, and the program over it.
struct Ready {
  const kernel::Pass& pass;
  Arena arena;
  kernel::Facts facts;
  device::Program first, second;
  std::map<std::string, std::vector<double>> inputs;  // by buffer
};

bool is_written(const Buffer& buffer) { return buffer.role == Role::Output || buffer.role == Role::Saved; }

class PassTrial {
 public:
  PassTrial(const Subject& subject, const TrialCall& call, const device::CompiledSet& kernels, Runners& runners,
            TrialOutcome& outcome)
      : subject_(subject), call_(call), kernels_(kernels), runners_(runners), outcome_(outcome) {}

  // What a later pass may take from an earlier one, as it lies there: inputs, outputs and saved values.
  struct Carried {
    Tensor tensor;
    std::vector<double> values;
  };
  using Carry = std::map<std::string, Carried>;

  // False: the pass did not run, or not to its end; what it has shown is in the outcome.
  Result<bool> run(const kernel::Pass& pass, const Expected& expected, Carry& carry, const ir::Environment* fresh,
                   const Expected* fresh_expected, Carry& fresh_carry) {
    KW_TRY(std::optional<Ready> prepared, prepare(pass, carry));
    if (!prepared) return false;
    Ready& ready = *prepared;
    std::map<std::string, Bytes> runs[2];
    for (int i = 0; i < 2; ++i) {
      device::Device& device = i == 0 ? *runners_.first : *runners_.second;
      const bool keep_process = call_.another_follows || (i == 0 && fresh != nullptr);
      KW_TRY(const bool finished,
             run_once(ready, i == 0 ? ready.first : ready.second, device, kPoisons[i], keep_process));
      if (!finished) return false;
      for (const Buffer& buffer : pass.buffers)
        if (is_written(buffer)) {
          const auto bytes = std::as_const(ready.arena).bytes(buffer.name);
          runs[i][buffer.name].assign(bytes.begin(), bytes.end());
        }
    }
    bool good = true;
    for (const Buffer& buffer : pass.buffers) {
      if (!is_written(buffer)) continue;
      const Tensor& tensor = ready.facts.tensors.at(buffer.name);
      good &= all_written(ready, buffer, tensor, runs[0].at(buffer.name), runs[1].at(buffer.name));
      const std::vector<double> got = read_tensor(runs[0].at(buffer.name), tensor);
      compare(pass, buffer, tensor, got, expected);
      if (!subject_.deterministic() && runs[0].at(buffer.name) != runs[1].at(buffer.name))
        compare(pass, buffer, tensor, read_tensor(runs[1].at(buffer.name), tensor), expected);
      if (buffer.role == Role::Output) outcome_.got[tensor_of(subject_, pass, buffer)] = got;
      carry[buffer.name] = {tensor, got};
    }
    for (const auto& [name, values] : ready.inputs)
      if (!carry.contains(name)) carry[name] = {ready.facts.tensors.at(name), values};
    if (!good || fresh == nullptr) return good;
    return run_fresh(ready, *fresh, *fresh_expected, fresh_carry, expected);
  }

 private:
  Failure engine_error(Error error) const {
    error.kind = ErrorKind::Internal;
    return Failure(std::move(error));
  }

  // The values of an input of a pass; nullptr if it is carried.
  static const ir::Array* given(const Subject& subject, const kernel::Pass& pass, const Buffer& buffer,
                                const ir::Environment& values) {
    const auto found = values.inputs.find(tensor_of(subject, pass, buffer));
    return found == values.inputs.end() ? nullptr : &found->second;
  }

  Arena::Placement placement(const Tensor& tensor) const {
    Arena::Placement place;
    place.at_start = call_.at_start;
    if (call_.layout != Layout::Misaligned) return place;
    const int element = ir::info(tensor.dtype).bytes;
    const std::int64_t bytes = kernel::storage_elements(tensor).value_or(0) * element;
    place.at_start = false;
    if (bytes % 16 != 0)
      place.alignment = element;  // then it ends exactly at its fence: one element more, read or written, is caught
    else
      place.misalignment = element;
    return place;
  }

  Result<std::optional<Ready>> prepare(const kernel::Pass& pass, const Carry& carry) {
    Ready ready{pass, {}, {}, {}, {}, {}};
    kernel::Facts& facts = ready.facts;
    for (const Buffer& buffer : pass.buffers) {
      if (buffer.role != Role::Input) continue;
      if (const ir::Array* array = given(subject_, pass, buffer, call_.values)) {
        Tensor tensor;
        KW_TRY(tensor.dtype, kernel::dtype_of(buffer.type, call_.types));
        tensor.shape = array->shape;
        tensor.strides = strides_in(call_.layout, tensor.shape, ready.inputs.size());
        facts.tensors[buffer.name] = std::move(tensor);
        ready.inputs[buffer.name] = array->values;
      } else if (const auto carried = carry.find(buffer.name); carried != carry.end()) {
        Tensor tensor = carried->second.tensor;
        tensor.address = 0;
        facts.tensors[buffer.name] = std::move(tensor);
        ready.inputs[buffer.name] = carried->second.values;
      } else {
        return bad_input("nothing gives " + buffer.name + " of the " + pass.name + " pass a value");
      }
    }
    auto sizes = kernel::bind_sizes(subject_.manifest, pass, facts.tensors, call_.values.sizes);
    if (!sizes) {
      outcome_.findings.push_back({Gate::Interface, pass.name + ": " + sizes.error().message});
      return std::nullopt;
    }
    facts.sizes = std::move(*sizes);
    if (const Status fits = kernel::check_constraints(subject_.manifest, facts.sizes); !fits) {
      outcome_.refused = fits.error().message;
      return std::nullopt;
    }
    for (const kernel::Scalar& scalar : subject_.manifest.scalars) {
      KW_TRY(facts.scalars[scalar.name], scalar_value(scalar));
    }
    facts.machine = runners_.first->machine();
    for (const Buffer& buffer : pass.buffers) KW_CHECK(place(ready, buffer));
    if (const Status allocated = ready.arena.allocate(); !allocated) {
      if (call_.layout != Layout::Vast) return Failure(allocated.error());
      outcome_.refused = pass.name + ": " + allocated.error().message;  // a process may have fewer addresses
      return std::nullopt;
    }
    facts.tensors = ready.arena.tensors();
    for (const Buffer& buffer : pass.buffers)
      if (buffer.role == Role::Output && !shape_is_right(pass, buffer, facts.tensors.at(buffer.name)))
        return std::nullopt;
    kernel::Facts known = facts;
    std::set<std::string> called;
    for (const kernel::Step& step : pass.steps) {
      const auto entry = kernel::choose_next(step, known);
      if (!entry) {
        outcome_.refused = pass.name + ": " + entry.error().message;
        return std::nullopt;
      }
      if (*entry != nullptr) called.insert((*entry)->symbol);
    }
    outcome_.called.merge(called);
    auto first = runners_.first->prepare(pass, kernels_, facts);
    if (!first && first.error().kind == ErrorKind::GateFailed) {  // it was compiled only now
      outcome_.findings.push_back({Gate::Builds, first.error().message});
      return std::nullopt;
    }
    if (!first && first.error().kind == ErrorKind::BadInput) {  // what its manifest asks for cannot be launched
      outcome_.findings.push_back({Gate::Runs, pass.name + ": " + first.error().message});
      return std::nullopt;
    }
    if (!first) return engine_error(first.error());
    ready.first = std::move(*first);
    kernel::Facts other = facts;
    other.machine = runners_.second->machine();
    auto second = runners_.second->prepare(pass, kernels_, other);
    if (!second) return engine_error(second.error());
    ready.second = std::move(*second);
    return std::optional<Ready>(std::move(ready));
  }

  Result<kernel::ScalarValue> scalar_value(const kernel::Scalar& scalar) const {
    const ir::Input* input = scalar_of(subject_, scalar);
    const auto given = input == nullptr ? call_.values.inputs.end() : call_.values.inputs.find(input->name);
    if (given == call_.values.inputs.end()) return default_of(subject_, scalar);
    return scalar_of_kind(scalar, given->second.values.at(0));
  }

  Status place(Ready& ready, const Buffer& buffer) {
    Tensor tensor;
    bool overwritten = false;
    if (buffer.role == Role::Input) {
      tensor = ready.facts.tensors.at(buffer.name);
      for (const Buffer& other : ready.pass.buffers) overwritten |= other.alias == buffer.name;
    } else if (!buffer.alias.empty()) {
      return ready.arena.add_alias(buffer.name, buffer.alias);
    } else {
      KW_TRY(tensor, kernel::describe(buffer, call_.types, ready.facts));
    }
    const bool writable = buffer.role != Role::Input || overwritten;
    const Arena::Placement at = placement(tensor);
    return ready.arena.add(buffer.name, std::move(tensor), writable ? Arena::Access::Write : Arena::Access::Read, at);
  }

  bool shape_is_right(const kernel::Pass& pass, const Buffer& buffer, const Tensor& tensor) {
    const std::string name = tensor_of(subject_, pass, buffer);
    const auto& outputs = subject_.math().outputs;
    const auto output = std::find_if(outputs.begin(), outputs.end(), [&](const auto& o) { return o.name == name; });
    if (output == outputs.end()) return true;  // interface_flaws has said so
    std::vector<ir::DType> bindings;
    for (const ir::TypeParameter& parameter : subject_.math().type_parameters) {
      const auto bound = call_.types.find(parameter.name);
      bindings.push_back(bound == call_.types.end() ? parameter.default_dtype : bound->second);
    }
    const ir::DType wanted = subject_.math()[output->node].type.bind(bindings);
    if (ir::is_weak(wanted) || wanted == tensor.dtype) return true;
    outcome_.findings.push_back(
        {Gate::Interface, fmt::format("{}: {} is {} where {}, and the math says {}", pass.name, buffer.name,
                                      ir::info(tensor.dtype).name, kernel::text(call_.types), ir::info(wanted).name)});
    return false;
  }

  // Of what is vast only the elements are memory.
  bool has_gaps_to_watch() const { return call_.layout != Layout::Vast; }

  void fill_inputs(Ready& ready) {
    for (const auto& [name, values] : ready.inputs) {
      if (has_gaps_to_watch()) ready.arena.poison(name, kGapPattern);
      write_tensor(ready.arena.bytes(name), ready.facts.tensors.at(name), values);
    }
  }

  // Code from outside does not meet a process again in which it has been, but for the second call of one case.
  Result<bool> run_once(Ready& ready, const device::Program& program, device::Device& device, std::uint8_t poison,
                        bool keep_process) {
    for (const Buffer& buffer : ready.pass.buffers)
      if (buffer.role != Role::Input && buffer.alias.empty()) ready.arena.poison(buffer.name, poison);
    fill_inputs(ready);
    ready.arena.guard();
    std::map<std::string, Bytes> before;
    for (const Arena::Region& region : ready.arena.regions()) {
      if (!has_gaps_to_watch() || (region.access == Arena::Access::Write && kernel::is_packed(region.tensor))) continue;
      const auto bytes = std::as_const(ready.arena).bytes(region.name);
      before[region.name].assign(bytes.begin(), bytes.end());
    }
    device::RunOptions options;
    options.from_outside = subject_.from_outside && !keep_process;
    KW_TRY(const device::RunOutcome ran, device.run({program}, ready.arena, options));
    if (ran.fault) {
      outcome_.findings.push_back(finding_of(*ran.fault, ready.pass.name));
      return false;
    }
    if (const auto stray = ready.arena.stray()) {
      outcome_.findings.push_back({Gate::Outside, ready.pass.name + ": wrote " + stray->text()});
      return false;
    }
    for (const Arena::Region& region : ready.arena.regions()) {
      const auto found = before.find(region.name);
      if (found == before.end()) continue;
      Bytes& bytes = found->second;
      const auto after = std::as_const(ready.arena).bytes(region.name);
      const bool writable = region.access == Arena::Access::Write;
      if (writable) copy_elements(region.tensor, after, bytes);
      if (std::equal(bytes.begin(), bytes.end(), after.begin())) continue;
      const std::string which = ready.pass.name + ": " + region.name;
      outcome_.findings.push_back(writable ? Finding{Gate::Outside, which + ": wrote between its elements"}
                                           : Finding{Gate::Inputs, which + " is not what it was before the call"});
      return false;
    }
    return true;
  }

  // What may have been written: what is left of a difference lies between the elements.
  static void copy_elements(const Tensor& tensor, std::span<const std::byte> from, Bytes& to) {
    const auto size = static_cast<std::size_t>(ir::info(tensor.dtype).bytes);
    for (const std::int64_t element : offsets(tensor)) {
      const std::size_t at = static_cast<std::size_t>(element) * size;
      std::memcpy(to.data() + at, from.data() + at, size);
    }
  }

  // Looks at each element of an output after both runs: was it written, and are the two the same?
  bool all_written(const Ready& ready, const Buffer& buffer, const Tensor& tensor, const Bytes& first,
                   const Bytes& second) {
    const auto size = static_cast<std::size_t>(ir::info(tensor.dtype).bytes);
    const std::vector<std::int64_t> all = offsets(tensor);
    const auto holds = [&](const Bytes& bytes, std::size_t at, std::uint8_t poison) {
      return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                         bytes.begin() + static_cast<std::ptrdiff_t>(at + size),
                         [&](std::byte b) { return b == static_cast<std::byte>(poison); });
    };
    std::int64_t unwritten = 0, different = 0;
    std::size_t first_unwritten = 0, first_different = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t at = static_cast<std::size_t>(all[i]) * size;
      if (std::memcmp(first.data() + at, second.data() + at, size) == 0) continue;
      const bool poisoned = buffer.alias.empty() && holds(first, at, kPoisons[0]) && holds(second, at, kPoisons[1]);
      std::int64_t& count = poisoned ? unwritten : different;
      if (count++ == 0) (poisoned ? first_unwritten : first_different) = i;
    }
    const std::string where = ready.pass.name + ": " + buffer.name;
    if (unwritten > 0)
      outcome_.findings.push_back(
          {Gate::Written, fmt::format("{}: {} of {} elements are never written, the first at {}", where, unwritten,
                                      all.size(), index_text(first_unwritten, tensor.shape))});
    if (different > 0 && subject_.deterministic())
      outcome_.findings.push_back(
          {Gate::Deterministic,
           fmt::format("{}: {} of {} elements differ between two runs on the same inputs, the first at {}", where,
                       different, all.size(), index_text(first_different, tensor.shape))});
    return unwritten == 0 && (different == 0 || !subject_.deterministic());
  }

  void compare(const kernel::Pass& pass, const Buffer& buffer, const Tensor& tensor, const std::vector<double>& got,
               const Expected& expected) {
    const std::string name = tensor_of(subject_, pass, buffer);
    const auto oracle = expected.find(name);
    if (buffer.role != Role::Output || oracle == expected.end()) return;
    if (tensor.shape != oracle->second.shape) {
      outcome_.findings.push_back(
          {Gate::Interface, pass.name + ": " + buffer.name + " has another shape than " + name});
      return;
    }
    OutputError error{pass.name, name, tensor.dtype, ir::compare(oracle->second, got, tensor.dtype), 0, {}};
    for (const double bound : oracle->second.bounds) error.unjudged += std::isinf(bound) ? 1 : 0;
    error.measured = error.unjudged == 0 ? error.report : judged_alone(oracle->second, got, tensor.dtype);
    if (!error.report.within())
      outcome_.findings.push_back(
          {Gate::Error, fmt::format("{}: {}: {}", pass.name, name, ir::describe(error.report))});
    outcome_.errors.push_back(std::move(error));
  }

  // Two calls more in the same process: with other inputs, and with the first again.
  Result<bool> run_fresh(Ready& ready, const ir::Environment& fresh, const Expected& fresh_expected, Carry& carry,
                         const Expected& expected) {
    const auto first_inputs = ready.inputs;
    for (const Buffer& buffer : ready.pass.buffers) {
      if (buffer.role != Role::Input) continue;
      if (const ir::Array* array = given(subject_, ready.pass, buffer, fresh))
        ready.inputs[buffer.name] = array->values;
      else
        ready.inputs[buffer.name] = carry.at(buffer.name).values;
    }
    KW_TRY(const bool second, run_once(ready, ready.first, *runners_.first, kPoisons[1], true));
    if (!second) return false;
    const bool second_is_right = all_within(ready, fresh_expected);
    for (const Buffer& buffer : ready.pass.buffers)
      if (is_written(buffer)) {
        const Tensor& tensor = ready.facts.tensors.at(buffer.name);
        carry[buffer.name] = {tensor, read_tensor(std::as_const(ready.arena).bytes(buffer.name), tensor)};
      }
    for (const auto& [name, values] : ready.inputs)
      if (!carry.contains(name)) carry[name] = {ready.facts.tensors.at(name), values};
    const auto fresh_inputs = std::exchange(ready.inputs, first_inputs);
    KW_TRY(const bool third, run_once(ready, ready.first, *runners_.first, kPoisons[0], false));
    if (!third) return false;
    if (second_is_right && all_within(ready, expected)) return true;
    if (!second_is_right) ready.inputs = fresh_inputs;
    const std::string what = wrong_;
    // Wrong for these inputs in any process is an error like any other; right in a new one, it is the call before.
    KW_TRY(const bool again, run_once(ready, ready.second, *runners_.second, kPoisons[1], false));
    if (!again) return false;
    const bool is_state = all_within(ready, second_is_right ? expected : fresh_expected);
    const char* which = second_is_right ? "a third" : "a second";
    outcome_.findings.push_back(
        {is_state ? Gate::Fresh : Gate::Error,
         ready.pass.name + ": " +
             (is_state ? fmt::format("{} call in the same process, with other inputs, is wrong: ", which) : "") +
             what});
    return false;
  }

  // Keeps in words what is wrong with the first output that is not.
  bool all_within(const Ready& ready, const Expected& expected) {
    for (const Buffer& buffer : ready.pass.buffers) {
      const auto oracle = expected.find(tensor_of(subject_, ready.pass, buffer));
      if (buffer.role != Role::Output || oracle == expected.end()) continue;
      const Tensor& tensor = ready.facts.tensors.at(buffer.name);
      const auto report =
          ir::compare(oracle->second, read_tensor(std::as_const(ready.arena).bytes(buffer.name), tensor), tensor.dtype);
      if (report.within()) continue;
      if (wrong_.empty()) wrong_ = oracle->first + ": " + ir::describe(report);
      return false;
    }
    return true;
  }

  std::string wrong_;
  const Subject& subject_;
  const TrialCall& call_;
  const device::CompiledSet& kernels_;
  Runners& runners_;
  TrialOutcome& outcome_;
};

Result<Expected> rounded(const ir::Graph& graph, const kernel::TypeBinding& types, const ir::Environment& values) {
  const ir::Graph bound = ir::bind_types(graph, types);
  KW_TRY(std::vector<ir::Array> outputs,
         ir::interpret(bound, part_for(bound, values), {.semantics = ir::Semantics::Rounded, .track_bounds = true}));
  Expected expected;
  for (std::size_t i = 0; i < outputs.size(); ++i) expected[bound.outputs[i].name] = std::move(outputs[i]);
  return expected;
}

// Where a value is used several times its gradient is a sum, and no order of that sum is the right one: the derivative
// of the graph as it was read has one, the backward that was approved may have another. Both are admitted. That the two
// are the same function is the gradient gate's to say. Where one of them leaves its type's range on the way to a number
// and the other does not, a kernel may do either, or so halfway: anything goes.
Status admit_approved_backward(const Subject& subject, const kernel::TypeBinding& types, const ir::Environment& values,
                               Expected& expected) {
  KW_TRY(const Expected forward, rounded(*subject.approved_forward, types, values));
  ir::Environment after = values;
  for (const auto& [name, array] : forward) after.inputs[name] = array;
  KW_TRY(const Expected backward, rounded(*subject.approved_backward, types, after));
  for (const auto& [name, other] : backward) {
    const auto known = expected.find(name);
    if (known == expected.end()) continue;
    ir::Array& own = known->second;
    for (std::size_t i = 0; i < own.values.size() && i < other.values.size(); ++i) {
      const double distance = ir::interpreter::gap(own.values[i], other.values[i]);
      own.bounds[i] = std::max(own.bounds[i], distance + other.bounds[i]);
    }
  }
  return {};
}

}  // namespace

Result<kernel::ScalarValue> default_of(const Subject& subject, const kernel::Scalar& scalar) {
  const ir::Input* input = scalar_of(subject, scalar);
  if (input != nullptr && input->default_value) return scalar_of_kind(scalar, input->default_value->number());
  if (scalar.default_value == "true" || scalar.default_value == "false")
    return scalar_of_kind(scalar, scalar.default_value == "true" ? 1 : 0);
  if (const auto number = parse_number(scalar.default_value)) return scalar_of_kind(scalar, *number);
  return bad_input("nothing gives the scalar " + scalar.name + " a value");
}

Result<Expected> expect(const Subject& subject, const kernel::TypeBinding& types, const ir::Environment& values) {
  const bool gradients = subject.joint && std::any_of(values.inputs.begin(), values.inputs.end(), [&](const auto& v) {
                           return v.first.starts_with("d_") && subject.forward.find_input(v.first) == nullptr;
                         });
  const ir::Graph bound = ir::bind_types(gradients ? *subject.joint : subject.forward, types);
  KW_TRY(std::vector<ir::Array> outputs,
         ir::interpret(bound, part_for(bound, values), {.semantics = ir::Semantics::Rounded, .track_bounds = true}));
  Expected expected;
  for (std::size_t i = 0; i < outputs.size(); ++i) expected[bound.outputs[i].name] = std::move(outputs[i]);
  if (gradients && subject.approved_forward && subject.approved_backward)
    KW_CHECK(admit_approved_backward(subject, types, values, expected));
  return expected;
}

Result<TrialOutcome> Trial::run(const TrialCall& call, const Expected& expected, const device::CompiledSet& kernels,
                                const ir::Environment* fresh, const Expected* fresh_expected) {
  TrialOutcome outcome;
  PassTrial trial(subject_, call, kernels, runners_, outcome);
  PassTrial::Carry carry, fresh_carry;
  for (const kernel::Pass& pass : subject_.manifest.passes) {
    KW_TRY(const bool go_on, trial.run(pass, expected, carry, fresh, fresh_expected, fresh_carry));
    if (!go_on) break;
  }
  return outcome;
}

}  // namespace kw::verify
