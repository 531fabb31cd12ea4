#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "ir/layout.h"
#include "kernel/expression.h"
#include "kernel/flaw.h"
#include "kernel/types.h"

namespace kw::kernel {
namespace {

using Kind = Argument::Kind;
using Names = std::vector<std::string>;
using Found = std::optional<Flaw>;

constexpr std::array<std::string_view, 19> kReserved = {
    "threads", "multiprocessors", "and",   "or",    "not",    "min",  "max",     "ceil_div",     "next_pow2", "shape",
    "stride",  "bytes",           "numel", "dense", "packed", "unit", "aligned", "same_strides", "starts"};

#define KW_FIRST(...) \
  if (Found flaw = (__VA_ARGS__)) return flaw

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > 200 || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

std::string at(std::string_view path, std::string_view key) { return fmt::format("{}/{}", path, key); }
std::string at(std::string_view path, std::string_view key, std::size_t index) {
  return path.empty() ? fmt::format("{}/{}", key, index) : fmt::format("{}/{}/{}", path, key, index);
}

// A name that is well formed and free: `taken` gets it.
Found claim(const std::string& name, const std::string& path, std::string_view what, std::set<std::string>& taken) {
  if (!is_name(name)) return Flaw{path, fmt::format("'{}' is not a name for {}", name, what), "letters, digits and _"};
  if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end())
    return Flaw{path, fmt::format("'{}' has a meaning of its own in expressions", name), "rename it"};
  if (!taken.insert(name).second) return Flaw{path, fmt::format("'{}' is declared twice", name), ""};
  return {};
}

Found expression(const std::string& text, Expression::Kind kind, const Scope& scope, const std::string& path) {
  const auto parsed = Expression::parse(text, kind);
  if (!parsed) return Flaw{path, parsed.error().message, parsed.error().hint};
  if (const Status known = parsed->check(scope); !known) return Flaw{path, known.error().message, known.error().hint};
  return {};
}

class Checker {
 public:
  explicit Checker(const Manifest& manifest) : manifest_(manifest) {}

  Found check() {
    if (!is_name(manifest_.name)) return Flaw{"name", fmt::format("'{}' is not a name", manifest_.name), ""};
    KW_FIRST(declarations());
    std::set<std::string> names;
    for (std::size_t i = 0; i < manifest_.passes.size(); ++i) {
      const std::string path = at("", "passes", i);
      KW_FIRST(claim(manifest_.passes[i].name, at(path, "name"), "a pass", names));
      KW_FIRST(pass(manifest_.passes[i], path));
    }
    if (!manifest_.architectures.empty() && manifest_.target != Target::Cuda)
      return Flaw{"architectures", "only kernels for cuda are built for named architectures", ""};
    if (manifest_.passes.empty()) return Flaw{"passes", "there is no pass", ""};
    return {};
  }

 private:
  Found declarations() {
    std::set<std::string> taken;
    for (std::size_t i = 0; i < manifest_.sizes.size(); ++i) {
      KW_FIRST(claim(manifest_.sizes[i], at("", "sizes", i), "a size", taken));
      sizes_.sizes.push_back(manifest_.sizes[i]);
    }
    for (std::size_t i = 0; i < manifest_.scalars.size(); ++i) {
      const Scalar& scalar = manifest_.scalars[i];
      const std::string path = at("", "scalars", i);
      KW_FIRST(claim(scalar.name, at(path, "name"), "a scalar", taken));
      if (scalar.type != "real" && scalar.type != "int" && scalar.type != "bool")
        return Flaw{at(path, "type"), fmt::format("a scalar is real, int or bool, not '{}'", scalar.type), ""};
      const std::string& value = scalar.default_value;
      const bool fits = value.empty() || (scalar.type == "real"  ? parse_number(value).has_value()
                                          : scalar.type == "int" ? parse_integer(value).has_value()
                                                                 : value == "true" || value == "false");
      if (!fits)
        return Flaw{at(path, "default"), fmt::format("'{}' is not a value of type {}", value, scalar.type), ""};
      scalars_.push_back(scalar.name);
    }
    for (const auto& [name, dtypes] : manifest_.types) {
      const std::string path = at("types", name);
      if (ir::dtype_from_name(name)) return Flaw{path, fmt::format("'{}' is a type already", name), "rename it"};
      KW_FIRST(claim(name, path, "a type parameter", taken));
      for (std::size_t i = 0; i < dtypes.size(); ++i) KW_FIRST(dtype(dtypes[i], fmt::format("{}/{}", path, i)));
      if (dtypes.empty()) return Flaw{path, fmt::format("the type parameter {} has no dtypes", name), ""};
    }
    for (std::size_t i = 0; i < manifest_.constraints.size(); ++i)
      KW_FIRST(expression(manifest_.constraints[i], Expression::Kind::Condition, sizes_, at("", "constraints", i)));
    return {};
  }

  Found dtype(const std::string& name, const std::string& path) const {
    const auto dtype = ir::dtype_from_name(name);
    if (dtype && is_element(*dtype)) return {};
    return Flaw{path, fmt::format("there is no dtype '{}'", name), "as in f32, bf16, i64, bool"};
  }

  Found type(const std::string& text, const std::string& path) const {
    const auto parts = type_parts(text);
    if (!parts) return Flaw{path, parts.error().message, parts.error().hint};
    for (const std::string& part : *parts) {
      if (manifest_.types.contains(part)) continue;
      const auto dtype = ir::dtype_from_name(part);
      if (dtype && is_element(*dtype)) continue;
      Names known;
      for (const auto& [name, dtypes] : manifest_.types) known.push_back(name);
      const std::string hint = did_you_mean(part, known);
      return Flaw{path, fmt::format("there is no type '{}'", part),
                  hint.empty() ? "a type is a dtype (f32), a parameter (T), or a join (T|f32)" : hint};
    }
    return {};
  }

  Found pass(const Pass& pass, const std::string& path) {
    Scope scope = sizes_;
    scope.scalars = scalars_;
    std::set<std::string> taken;
    for (std::size_t i = 0; i < pass.buffers.size(); ++i) {
      KW_FIRST(claim(pass.buffers[i].name, at(at(path, "buffers", i), "name"), "a buffer", taken));
      scope.buffers[pass.buffers[i].name] = static_cast<int>(pass.buffers[i].shape.size());
    }
    for (std::size_t i = 0; i < pass.buffers.size(); ++i)
      KW_FIRST(buffer(pass, pass.buffers[i], at(path, "buffers", i)));
    for (std::size_t i = 0; i < pass.steps.size(); ++i) {
      KW_FIRST(step(pass, pass.steps[i], scope, at(path, "steps", i)));
      scope.launches.push_back(manifest_.target != Target::Cpu && pass.steps[i].kind == Step::Kind::Kernel);
    }
    return flow(pass, path);
  }

  Found buffer(const Pass& pass, const Buffer& buffer, const std::string& path) const {
    KW_FIRST(type(buffer.type, at(path, "type")));
    for (std::size_t i = 0; i < buffer.shape.size(); ++i) {
      const std::string where = at(path, "shape", i);
      KW_FIRST(expression(buffer.shape[i], Expression::Kind::Size, sizes_, where));
      if (buffer.role == Role::Workspace) continue;
      for (const std::string& name : Expression::parse(buffer.shape[i], Expression::Kind::Size)->size_names())
        if (std::find(sizes_.sizes.begin(), sizes_.sizes.end(), name) == sizes_.sizes.end())
          return Flaw{where, fmt::format("the shape of {} depends on the machine ('{}')", buffer.name, name),
                      "only workspace may"};
    }
    const bool written = buffer.role == Role::Output || buffer.role == Role::Saved;
    if (!buffer.strides_like.empty() && !written)
      return Flaw{at(path, "strides_like"), fmt::format("{} is no output, so it has no strides to choose", buffer.name),
                  ""};
    for (std::size_t i = 0; i < buffer.strides_like.size(); ++i)
      KW_FIRST(strides_like(pass, buffer, buffer.strides_like[i], at(path, "strides_like", i)));
    if (!buffer.alias.empty()) KW_FIRST(alias(pass, buffer, at(path, "alias")));
    return gradient(pass, buffer, path);
  }

  static Found strides_like(const Pass& pass, const Buffer& buffer, const std::string& text, const std::string& path) {
    const auto operand = ir::parse_layout_operand(text);
    if (!operand) return Flaw{path, operand.error().message, ""};
    for (const std::string& name : ir::inputs_of(*operand)) {
      const Buffer* input = pass.find(name);
      if (input == nullptr || input->role != Role::Input)
        return Flaw{path, fmt::format("there is no input '{}'", name),
                    did_you_mean(name, names_of(pass, {Role::Input}))};
    }
    std::string why = ir::layout_flaw({*operand}, buffer.shape.size(),
                                      [&](const std::string& name) { return pass.find(name)->shape.size(); });
    if (!why.empty()) return Flaw{path, why, ""};
    return std::nullopt;
  }

  static Found alias(const Pass& pass, const Buffer& buffer, const std::string& path) {
    if (buffer.role != Role::Output) return Flaw{path, fmt::format("{} is no output", buffer.name), ""};
    const Buffer* of = pass.find(buffer.alias);
    const bool output = of != nullptr && of->role == Role::Output && of->alias.empty() && of < &buffer;
    if (of == nullptr || (of->role != Role::Input && !output))
      return Flaw{path, fmt::format("there is no input '{}', and no earlier output", buffer.alias),
                  did_you_mean(buffer.alias, names_of(pass, {Role::Input, Role::Output}))};
    if (of->type != buffer.type || of->shape != buffer.shape)
      return Flaw{path, fmt::format("{} and {} differ in type or shape", buffer.name, of->name),
                  "an output takes the memory of a buffer of the same type and shape"};
    if (output) return {};
    for (const Buffer& other : pass.buffers)
      if (&other != &buffer && other.alias == buffer.alias)
        return Flaw{path, fmt::format("{} takes the memory of {} already", other.name, buffer.alias), ""};
    return {};
  }

  Found gradient(const Pass& pass, const Buffer& buffer, const std::string& path) const {
    const Pass* forward = manifest_.find("forward");
    const bool backward = pass.name == "backward" && forward != nullptr;
    if (!buffer.gradient_of.empty()) {
      if (pass.name != "backward") return Flaw{at(path, "gradient_of"), "only a pass named backward has gradients", ""};
      if (buffer.role != Role::Input && buffer.role != Role::Output)
        return Flaw{at(path, "gradient_of"), fmt::format("{} is neither input nor output", buffer.name), ""};
      const Role wanted = buffer.role == Role::Input ? Role::Output : Role::Input;
      const Buffer* original = forward == nullptr ? nullptr : forward->find(buffer.gradient_of);
      if (forward != nullptr && (original == nullptr || original->role != wanted))
        return Flaw{at(path, "gradient_of"),
                    fmt::format("the forward pass has no {} '{}'", name_of(wanted), buffer.gradient_of),
                    did_you_mean(buffer.gradient_of, names_of(*forward, {wanted}))};
      return {};
    }
    if (!backward || buffer.role != Role::Input) return {};
    const Buffer* original = forward->find(buffer.name);
    if (original == nullptr || original->role == Role::Workspace)
      return Flaw{at(path, "name"), fmt::format("the forward pass leaves no '{}' for the backward pass", buffer.name),
                  "an input of the backward pass is a buffer of the forward pass, or has gradient_of"};
    if (original->type != buffer.type || original->shape != buffer.shape)
      return Flaw{at(path, "name"), fmt::format("'{}' has another type or shape in the forward pass", buffer.name), ""};
    return {};
  }

  static Names names_of(const Pass& pass, const std::set<Role>& roles) {
    Names names;
    for (const Buffer& buffer : pass.buffers)
      if (roles.contains(buffer.role)) names.push_back(buffer.name);
    return names;
  }

  static Found known_buffer(const Pass& pass, const std::string& name, const std::string& path) {
    if (pass.find(name) != nullptr) return {};
    Names names;
    for (const Buffer& buffer : pass.buffers) names.push_back(buffer.name);
    return Flaw{path, fmt::format("there is no buffer '{}' in {}", name, pass.name), did_you_mean(name, names)};
  }

  Found step(const Pass& pass, const Step& step, const Scope& scope, const std::string& path) const {
    if (step.kind == Step::Kind::Fill) {
      if (!step.entries.empty()) return Flaw{at(path, "entries"), "a fill calls no kernel", ""};
      KW_FIRST(known_buffer(pass, step.buffer, at(path, "buffer")));
      if (pass.find(step.buffer)->role == Role::Input)
        return Flaw{at(path, "buffer"), fmt::format("{} is an input: it is not written", step.buffer), ""};
      return {};
    }
    if (!step.buffer.empty()) return Flaw{at(path, "buffer"), "only a fill has a buffer of its own", ""};
    if (step.entries.empty()) return Flaw{path, "a kernel step needs entries", ""};
    for (std::size_t i = 0; i < step.entries.size(); ++i)
      KW_FIRST(entry(pass, step.entries[i], scope, at(path, "entries", i)));
    return {};
  }

  Found entry(const Pass& pass, const Entry& entry, const Scope& scope, const std::string& path) const {
    if (!is_name(entry.symbol))
      return Flaw{at(path, "symbol"), fmt::format("'{}' is not a function's name", entry.symbol), ""};
    if (entry.file.empty()) return Flaw{at(path, "file"), "the file is not named", ""};
    for (std::size_t i = 0; i < entry.arguments.size(); ++i)
      KW_FIRST(argument(pass, entry.arguments[i], scope, at(path, "arguments", i)));
    for (std::size_t i = 0; i < entry.guards.size(); ++i)
      KW_FIRST(expression(entry.guards[i], Expression::Kind::Condition, scope, at(path, "guards", i)));
    if (manifest_.target == Target::Cpu) {
      if (entry.launch != Launch{}) return Flaw{at(path, "launch"), "a cpu kernel has no launch", ""};
      return {};
    }
    for (std::size_t i = 0; i < 3; ++i) {
      KW_FIRST(expression(entry.launch.grid[i], Expression::Kind::Size, scope, at(at(path, "launch"), "grid", i)));
      KW_FIRST(expression(entry.launch.block[i], Expression::Kind::Size, scope, at(at(path, "launch"), "block", i)));
    }
    if (!entry.launch.warps.empty())
      KW_FIRST(expression(entry.launch.warps, Expression::Kind::Size, scope, at(at(path, "launch"), "warps")));
    return expression(entry.launch.shared_bytes, Expression::Kind::Size, scope, at(at(path, "launch"), "shared_bytes"));
  }

  Found argument(const Pass& pass, const Argument& argument, const Scope& scope, const std::string& path) const {
    const std::string of = at(path, "of"), type_path = at(path, "type");
    if (argument.kind == Kind::Constant) {
      if (manifest_.target != Target::Triton)
        return Flaw{path, fmt::format("a {} kernel takes no constants", name_of(manifest_.target)),
                    "give it as a size, or put it into the source"};
      if (!is_name(argument.name)) return Flaw{path, "a constant needs the name of its parameter", ""};
      return expression(argument.of, Expression::Kind::Size, scope, of);
    }
    if (!argument.name.empty()) return Flaw{at(path, "name"), "only a constant is given by name", ""};
    if (is_pointer(argument.kind)) {
      KW_FIRST(known_buffer(pass, argument.of, of));
      if (argument.kind != Kind::Read && pass.find(argument.of)->role == Role::Input)
        return Flaw{of, fmt::format("{} is an input: it is not written", argument.of),
                    "declare an output with alias where memory is shared"};
      if (!argument.type.empty()) return Flaw{type_path, "a pointer has the type of its buffer", "drop it"};
      return {};
    }
    if (argument.kind == Kind::Scalar) return scalar(argument, of, type_path);
    if (argument.type != "i32" && argument.type != "i64")
      return Flaw{type_path, fmt::format("a {} is i32 or i64, not '{}'", name_of(argument.kind), argument.type), ""};
    if (argument.kind == Kind::Size) return expression(argument.of, Expression::Kind::Size, scope, of);
    KW_FIRST(known_buffer(pass, argument.of, of));
    const int rank = scope.buffers.at(argument.of);
    if (argument.dimension < 0 || argument.dimension >= rank)
      return Flaw{at(path, "dimension"), fmt::format("{} has {} dimensions", argument.of, rank), "the first is 0"};
    return {};
  }

  Found scalar(const Argument& argument, const std::string& of, const std::string& type_path) const {
    const auto found = std::find_if(manifest_.scalars.begin(), manifest_.scalars.end(),
                                    [&](const Scalar& scalar) { return scalar.name == argument.of; });
    if (found == manifest_.scalars.end())
      return Flaw{of, fmt::format("there is no scalar '{}'", argument.of), did_you_mean(argument.of, scalars_)};
    KW_FIRST(type(argument.type, type_path));
    const auto dtype = ir::dtype_from_name(argument.type);  // a parameter or a join is floating
    const bool fits = found->type == "real"  ? !dtype || ir::is_floating(*dtype)
                      : found->type == "int" ? !dtype || *dtype != DType::Bool
                                             : dtype == DType::Bool;
    if (!fits)
      return Flaw{type_path,
                  fmt::format("the {} scalar {} cannot be given as {}", found->type, found->name, argument.type), ""};
    return {};
  }

  // Nothing is read before it is written, and every output is.
  Found flow(const Pass& pass, const std::string& path) const {
    std::set<std::string> written;
    for (const Buffer& buffer : pass.buffers)
      if (buffer.role == Role::Input) written.insert(buffer.name);
    std::set<std::string> used;
    for (std::size_t i = 0; i < pass.steps.size(); ++i) {
      const Step& step = pass.steps[i];
      std::set<std::string> writes;
      if (step.kind == Step::Kind::Fill) writes.insert(step.buffer);
      for (std::size_t j = 0; j < step.entries.size(); ++j) {
        std::set<std::string> writes_here;
        for (std::size_t k = 0; k < step.entries[j].arguments.size(); ++k) {
          const Argument& argument = step.entries[j].arguments[k];
          if (!is_pointer(argument.kind)) continue;
          used.insert(argument.of);
          if (argument.kind != Kind::Write && !written.contains(argument.of))
            return Flaw{at(at(at(path, "steps", i), "entries", j), "arguments", k),
                        fmt::format("{} is read before any step has written it", argument.of), ""};
          if (argument.kind != Kind::Read) writes_here.insert(argument.of);
        }
        if (j == 0) {
          writes = writes_here;
        } else if (writes != writes_here) {
          return Flaw{at(at(path, "steps", i), "entries", j), "the entries of a step do not write the same buffers",
                      ""};
        }
      }
      used.insert(writes.begin(), writes.end());
      written.insert(writes.begin(), writes.end());
    }
    for (std::size_t i = 0; i < pass.buffers.size(); ++i) {
      const Buffer& buffer = pass.buffers[i];
      const bool shared = !buffer.alias.empty() && pass.find(buffer.alias)->role == Role::Output;
      if (shared && written.contains(buffer.name))
        return Flaw{at(path, "buffers", i),
                    fmt::format("{} holds the values of {} already: no step writes them", buffer.alias, buffer.name),
                    ""};
      if (shared) continue;
      if (buffer.role == Role::Workspace ? !used.contains(buffer.name) : !written.contains(buffer.name))
        return Flaw{at(path, "buffers", i),
                    fmt::format("no step {} {}", buffer.role == Role::Workspace ? "uses" : "writes", buffer.name), ""};
    }
    return {};
  }

  const Manifest& manifest_;
  Scope sizes_;  // sizes alone
  Names scalars_;
};

}  // namespace

std::optional<Flaw> first_flaw(const Manifest& manifest) { return Checker(manifest).check(); }

Status check(const Manifest& manifest) {
  const std::optional<Flaw> flaw = first_flaw(manifest);
  if (!flaw) return {};
  return bad_input(fmt::format("the manifest's {}: {}", flaw->path, flaw->message), {}, flaw->hint);
}

}  // namespace kw::kernel
