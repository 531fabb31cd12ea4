#include "act/emit/cuda/entry_writer.h"

#include <algorithm>

#include "act/loop/index.h"
#include "act/pass_contract.h"
#include "base/text.h"

namespace kw::act::cuda {
namespace {

using Kind = kernel::Argument::Kind;
using Shape = KernelPlan::Shape;

std::vector<std::string> replaced(std::vector<std::string> list, const std::string& from, const std::string& to) {
  std::replace(list.begin(), list.end(), from, to);
  return list;
}

}  // namespace

EntryWriter::EntryWriter(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text, CppTypes& types,
                         const schedule::CudaParameters& parameters, Workers workers)
    : program_(program),
      kernel_(kernel),
      text_(text),
      types_(types),
      p_(parameters),
      workers_(std::move(workers)),
      sizes_(program, kernel, text),
      merged_(sizes_.merged()),
      accesses_(accesses_of(kernel)) {}

std::string EntryWriter::vector_constant(int64_t parts) const {
  const std::vector<std::string> names = deciding_types();
  if (names.empty()) return "1";
  return parts == 1 ? "kw::vector_length<" + join(names, ", ") + ">()"
                    : "kw::vector_part<" + number(parts) + ", " + join(names, ", ") + ">()";
}

std::string EntryWriter::most_size(int64_t most, int64_t bytes) const {
  return "min(" + number(most) + ", " + number(bytes) + "//" + sizes_.widest() + ")";
}

std::vector<std::string> EntryWriter::deciding_types() const {
  std::vector<std::string> types;
  for (BufferId id : sizes_.deciding()) {
    const std::string type = types_.stored(buffer(id).type);
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  return types;
}
std::string EntryWriter::most_constant(int64_t most, int64_t bytes) const {
  std::vector<std::string> arguments = deciding_types();
  arguments.insert(arguments.begin(), {number(most), number(bytes)});
  return "kw::most_in<" + join(arguments, ", ") + ">()";
}
std::string EntryWriter::are_narrow() const { return "kw::are_narrow<" + join(deciding_types(), ", ") + ">()"; }

// Of elements that take a register each `some`, of narrower ones as many as have its bytes but `most` at most; of wider
// ones as many registers, but not less than the longest vector.
std::string EntryWriter::elements_size(int64_t most, int64_t some) const {
  return most > kLongestVector ? most_size(most, element_bytes(some)) : number(most);
}
std::string EntryWriter::elements_constant(int64_t most, int64_t some) const {
  return most > kLongestVector ? most_constant(most, element_bytes(some)) : number(most);
}
// Where types differ, the widest has a vector as long as one of the narrowest.
int64_t EntryWriter::element_bytes(int64_t some) const {
  return std::max(kThreadBytes * some, is_mixed() ? 8 * kLongestVector : 0);
}
bool EntryWriter::is_mixed() const { return deciding_types().size() > 1; }

std::vector<std::string> EntryWriter::bytes_of_each_sum(SumKind kind) const {
  std::vector<BufferId> sums;
  for (const Stage& stage : kernel_.stages)
    for (const Accumulate& sum : stage.accumulates)
      if (kind_of(text_.plan, sum) == kind) sums.push_back(sum.buffer);
  KW_ASSERT(!sums.empty(), "whoever asks has sums of this kind");
  const bool alike =
      std::all_of(sums.begin(), sums.end(), [&](BufferId id) { return buffer(id).type == buffer(sums[0]).type; });
  std::vector<std::string> bytes;
  for (const BufferId id : sums) bytes.push_back("bytes(" + buffer(alike ? sums[0] : id).name + ")");
  return bytes;
}
std::string EntryWriter::bytes_of_sums(SumKind kind) const {
  const std::vector<std::string> each = bytes_of_each_sum(kind);
  if (std::count(each.begin(), each.end(), each[0]) == std::ssize(each))
    return number(std::ssize(each)) + "*" + each[0];
  return "(" + join(each, " + ") + ")";
}

std::string EntryWriter::threads_size(const Variant& variant, int64_t part) const {
  const int64_t most = variant.most_threads / part;
  // Where they are narrow, a guard says so.
  return variant.thread_bytes >= kThreadBytes ? most_size(most, most * variant.thread_bytes) : number(most);
}

void EntryWriter::of_one_width(Variant& variant) const {
  std::map<std::string, std::string> first;  // of each type parameter: a tensor
  for (const Access& access : accesses_) {
    const std::string type = type_text(buffer(access.buffer).type, program_.type_parameters);
    const auto is_this = [&](const ir::TypeParameter& parameter) { return parameter.name == type; };
    if (std::any_of(program_.type_parameters.begin(), program_.type_parameters.end(), is_this))
      first.emplace(type, buffer(access.buffer).name);
  }
  for (const auto& [type, name] : first) {
    const auto& [known, other] = *first.begin();
    if (type == known) continue;
    variant.guards.push_back("bytes(" + other + ") == bytes(" + name + ")");
    variant.only_for("sizeof(" + known + ") == sizeof(" + type + ")");
  }
}

void EntryWriter::of_no_wider_beside(Variant& variant) const {
  const std::vector<std::string> rows = deciding_types();
  if (rows.empty()) return;
  std::set<std::string> known(rows.begin(), rows.end());
  for (BufferId id : text_.vectors) {
    const std::string type = types_.stored(buffer(id).type);
    if (!known.insert(type).second) continue;
    variant.guards.push_back("bytes(" + buffer(id).name + ") <= max(4, " + sizes_.widest() + ")");
    variant.only_for("kw::is_no_wider<" + type + ", " + join(rows, ", ") + ">()");
  }
}

std::string EntryWriter::grid_of_slices(const std::string& at_once, bool ragged) const {
  if (workers_.blocks.empty()) return workers_.most;
  const std::string blocks = "multiprocessors*min(" + workers_.blocks + ", " + at_once + ")";
  return "max(1, min(" + sizes_.points() + ", " + (ragged ? "max(8, " + blocks + "//8*8)" : blocks) + "))";
}

// Where the innermost axes are walked as one and a tensor has them whole, its outer strides are multiples of them.
std::string EntryWriter::alignment(const Variant& variant, BufferId id, int64_t bytes) const {
  const std::vector<LoopAxisId>* group = sizes_.with_inner(variant.dense);
  const auto is_whole = [&](const Access& access) {
    for (size_t d = 0; d < access.at->size(); ++d) {
      const Index& index = (*access.at)[d];
      if (index.kind == Index::Kind::Axis && group_of(index.axis) == group_of(group->back()) &&
          !(buffer(id).shape[d] == program_.axes[static_cast<size_t>(index.axis)].size))
        return false;
    }
    return !access.slice;
  };
  const bool follows = group != nullptr && group->size() > 1 && text_.large.contains(id) &&
                       std::all_of(accesses_.begin(), accesses_.end(),
                                   [&](const Access& access) { return access.buffer != id || is_whole(access); });
  return (follows ? "starts(" : "aligned(") + buffer(id).name + ", " + number(bytes) + ")";
}

void EntryWriter::aligned(Variant& variant) const {
  if (variant.ragged) {
    for (BufferId id : text_.large) variant.guards.push_back("starts(" + buffer(id).name + ", 16)");
    return;
  }
  std::set<BufferId> all = text_.vectors;
  for (const Stage& stage : kernel_.stages)
    for (const Accumulate& sum : stage.accumulates)
      if (kind_of(text_.plan, sum) == SumKind::Column) all.insert(sum.buffer);
  for (BufferId id : all) variant.guards.push_back(alignment(variant, id, 16));
  for (const ir::Size& offset : text_.offsets)
    variant.guards.push_back(bracket(sizes_.text(offset)) + " % " + sizes_.vector() + " == 0");
}

void EntryWriter::partly_aligned(Variant& variant) const {
  const std::string parts = number(variant.parts), part = "max(1, " + sizes_.vector() + "//" + parts + ")";
  const std::vector<std::string> deciding = deciding_types();
  for (BufferId id : text_.vectors) {
    // As many elements of a wider type are more bytes.
    const bool decides = std::find(deciding.begin(), deciding.end(), types_.stored(buffer(id).type)) != deciding.end();
    variant.guards.push_back(alignment(variant, id, decides ? 16 / variant.parts : 16));
  }
  for (const ir::Size& offset : text_.offsets)
    variant.guards.push_back(bracket(sizes_.text(offset)) + " % " + part + " == 0");
  variant.guards.push_back(bracket(sizes_.inner(variant.dense)) + " % " + part + " == 0");
}

void EntryWriter::whole_vectors(Variant& variant) const {
  variant.guards.push_back(bracket(sizes_.inner(variant.dense)) + " % " + sizes_.vector() + " == 0");
}

const std::vector<LoopAxisId>* EntryWriter::group_of(LoopAxisId axis) const {
  for (const auto& group : merged_)
    if (std::find(group.begin(), group.end(), axis) != group.end()) return &group;
  return nullptr;
}

std::string EntryWriter::merged_name(const std::vector<LoopAxisId>& group) const {
  if (group.size() == text_.plan.nest.all().size()) return "n";
  std::string name;
  for (LoopAxisId axis : group) name += (name.empty() ? "" : "_") + program_.axes[static_cast<size_t>(axis)].name;
  return name;
}

EntryWriter::Dimension EntryWriter::use_of(BufferId id, size_t dimension, bool dense) const {
  Dimension use = Dimension::Unused;
  for (const Access& access : accesses_) {
    if (access.buffer != id) continue;
    if (access.slice && dimension == 0) return Dimension::Used;
    const Index& index = (*access.at)[access.slice ? dimension - 1 : dimension];
    if (index == size_index(0)) continue;
    const std::vector<LoopAxisId>* group = index.kind == Index::Kind::Axis ? group_of(index.axis) : nullptr;
    if (dense && group && group->back() != index.axis) return Dimension::Merged;
    use = Dimension::Used;
  }
  return use;
}
// Whether a part of the elements is computed like the whole: no value counts them or knows which one it is, and all
// are read and written as vectors.

bool EntryWriter::knows_no_position() const {
  return std::none_of(kernel_.values.begin(), kernel_.values.end(),
                      [](const Value& value) { return std::holds_alternative<IndexValue>(value.what); }) &&
         std::all_of(text_.tensors.begin(), text_.tensors.end(),
                     [&](BufferId id) { return buffer(id).shape.empty() || text_.vectors.contains(id); });
}
// Whether every tensor has exactly the merged axes: then their order in memory does not matter, as long as it is one.

bool EntryWriter::flat_when_dense() const {
  const std::vector<LoopAxisId> axes = text_.plan.nest.all();
  if (axes.size() == 1)
    return std::all_of(text_.vectors.begin(), text_.vectors.end(),
                       [&](BufferId id) { return buffer(id).shape.size() <= 1 || text_.large.contains(id); }) &&
           text_.offsets.empty() && text_.plan.shape == Shape::Elements;
  return merged_.size() == 1 && merged_[0].size() == axes.size();
}

bool EntryWriter::has_all_axes(BufferId id) const {
  const std::vector<LoopAxisId> axes = text_.plan.nest.all();
  size_t used = 0;
  for (size_t d = 0; d < buffer(id).shape.size(); ++d) used += use_of(id, d, false) == Dimension::Used;
  return used == axes.size() && used == buffer(id).shape.size() && buffer(id).role != Buffer::Role::Workspace;
}

std::vector<std::string> EntryWriter::layout_guards(const Variant& variant) const {
  std::vector<std::string> out;
  const bool same = text_.plan.shape == Shape::Elements && merged_.size() == 1 &&
                    merged_[0].size() == text_.plan.nest.all().size() &&
                    std::all_of(text_.tensors.begin(), text_.tensors.end(),
                                [&](BufferId id) { return has_all_axes(id) || buffer(id).shape.empty(); });
  std::string first;
  for (BufferId id : text_.tensors) {
    const Buffer& b = buffer(id);
    if (b.role == Buffer::Role::Workspace || b.shape.empty()) continue;
    if (variant.dense && same) {
      out.push_back(first.empty() ? "packed(" + b.name + ")" : "same_strides(" + first + ", " + b.name + ")");
      if (first.empty()) first = b.name;
    } else if (wants_dense(id, variant)) {
      out.push_back("dense(" + b.name + ")");
    } else if (variant.unit && text_.vectors.contains(id)) {
      out.push_back("unit(" + b.name + ")");
    }
  }
  return out;
}

bool EntryWriter::wants_dense(BufferId id, const Variant& variant) const {
  if (buffer(id).role == Buffer::Role::Workspace) return false;
  return (variant.dense && is_merged(id)) || (variant.ragged && text_.large.contains(id));
}

bool EntryWriter::is_merged(BufferId id) const {
  for (size_t d = 0; d < buffer(id).shape.size(); ++d)
    if (use_of(id, d, true) == Dimension::Merged) return true;
  return false;
}

void EntryWriter::pointers(Signature& s) {
  for (BufferId id : text_.tensors) {
    const bool written = text_.written.contains(id);
    s.parameters.push_back((written ? "" : "const ") + types_.stored(buffer(id).type) + "* " + buffer(id).name);
    const bool summed = program_.atomic && std::any_of(accesses_.begin(), accesses_.end(),
                                                       [&](const Access& a) { return a.buffer == id && a.slice; });
    const Kind kind = summed ? Kind::Update : written ? Kind::Write : Kind::Read;
    s.contract.push_back({kind, buffer(id).name, 0, "", ""});
  }
}

std::string EntryWriter::manifest_size(const ir::Size& size) const {
  if (program_.workers && size == ir::Size::symbol(*program_.workers)) return workers_.most;
  return size_text(size, program_);
}

void EntryWriter::sizes(Signature& s, const Variant& variant, std::vector<std::string>& arguments) {
  const std::string type = variant.wide_index ? "int64_t " : "int ";
  const std::string contract = variant.wide_index ? "i64" : "i32";
  for (const SizeParameter& size : text_.sizes) {
    const std::vector<LoopAxisId>* group = variant.dense && size.axis >= 0 ? group_of(size.axis) : nullptr;
    if (!group) {
      s.parameters.push_back(type + size.name);
      s.contract.push_back({Kind::Size, manifest_size(size.size), 0, contract, ""});
      arguments.push_back(size.name);
      continue;
    }
    if (group->back() != size.axis) {
      arguments.push_back("1");
      continue;
    }
    ir::Size product(1);
    for (LoopAxisId axis : *group) product = product * program_.axes[static_cast<size_t>(axis)].size;
    s.parameters.push_back(type + merged_name(*group));
    s.contract.push_back({Kind::Size, manifest_size(product), 0, contract, ""});
    arguments.push_back(merged_name(*group));
  }
}

std::string EntryWriter::tensor(BufferId id, const Variant& variant, Signature& s) {
  const size_t rank = buffer(id).shape.size();
  const bool workspace = buffer(id).role == Buffer::Role::Workspace;
  std::string strides;
  for (size_t d = 0; d < (text_.slices.contains(id) ? 1 : rank); ++d) {
    const Dimension use = use_of(id, d, variant.dense);
    const bool vectors = variant.unit && text_.vectors.contains(id);
    const bool unit = d + 1 == rank && (workspace || vectors || (variant.dense && is_merged(id)));
    std::string stride = "0";
    if (use == Dimension::Used && unit) {
      stride = "1";
    } else if (use == Dimension::Used) {
      stride = buffer(id).name + "_stride_" + std::to_string(d);
      s.parameters.push_back("int64_t " + stride);
      // Of a dense tensor it follows from the sizes; its own, of a dimension of size one, may be anything.
      ir::Size rest(1);
      for (size_t i = d + 1; i < rank; ++i) rest = rest * buffer(id).shape[i];
      if (wants_dense(id, variant))
        s.contract.push_back({Kind::Size, manifest_size(rest), 0, "i64", ""});
      else
        s.contract.push_back({Kind::Stride, buffer(id).name, static_cast<int>(d), "i64", ""});
    }
    strides += (d ? ", " : "") + stride;
  }
  return rank == 0 ? "{" + buffer(id).name + "}" : "{" + buffer(id).name + ", {" + strides + "}}";
}

void EntryWriter::call(const Variant& variant, const std::vector<std::string>& arguments, const std::string& indent) {
  std::vector<std::string> list = variant.arguments;
  list.push_back(variant.wide_index ? "int64_t" : "int");
  const std::string head =
      indent + (variant.function.empty() ? text_.function : variant.function) + "<" + join(list, ", ") + ">(";
  for (const std::string& line : split_lines(bracketed(head, arguments, ");"))) out_.lines.line(line);
}

void EntryWriter::write(const Variant& variant) {
  if (program_.plain && (variant.dense || variant.unit)) return;
  Signature s;
  std::vector<std::string> size_arguments;
  pointers(s);
  sizes(s, variant, size_arguments);
  for (BufferId id : text_.tensors) s.arguments.push_back(tensor(id, variant, s));
  s.arguments.insert(s.arguments.end(), size_arguments.begin(), size_arguments.end());
  for (const auto& [name, type] : text_.scalars) {
    s.parameters.push_back(type + " " + name);
    s.contract.push_back({Kind::Scalar, name, 0, types_.manifest_text(type), ""});
    s.arguments.push_back(name);
  }
  if (text_.plan.shape == Shape::Rows) {
    if (variant.lanes == "0") {
      s.arguments.push_back("0");
    } else {
      s.parameters.push_back("int lanes");
      s.contract.push_back({Kind::Size, variant.lanes, 0, "i32", ""});
      s.arguments.push_back("lanes");
    }
    if (variant.cached == "0") {
      s.arguments.push_back("0");
    } else {
      s.parameters.push_back("int cached");
      s.contract.push_back({Kind::Size, variant.cached, 0, "i32", ""});
      s.arguments.push_back("cached");
    }
  }
  kernel::Entry entry;
  entry.symbol = kernel_.name + variant.suffix;
  entry.arguments = s.contract;
  entry.guards = layout_guards(variant);
  entry.guards.insert(entry.guards.end(), variant.guards.begin(), variant.guards.end());
  entry.launch.grid[0] = variant.grid;
  entry.launch.block[0] = variant.block;
  entry.launch.shared_bytes = variant.shared;
  if (!out_.lines.empty()) out_.lines.line("");
  out_.lines.line("// " + variant.why);
  auto bound = [&](int64_t most) {
    if (variant.thread_bytes == 0 || most == 1) return number(most);
    return "(" + most_constant(most, most * variant.thread_bytes) + ")";
  };
  out_.lines.line("KW_KERNEL(" + bound(variant.most_threads) + ", " + bound(variant.least_blocks) + ")");
  for (const std::string& line : split_lines(bracketed("void " + entry.symbol + "(", s.parameters, ") {")))
    out_.lines.line(line);
  if (variant.has_rest) {
    const std::string n = size_arguments.back(), kv = vector_constant();
    out_.lines.line("  const int64_t whole = " + n + " / " + kv + " * " + kv + ";");
    call(variant, replaced(s.arguments, n, "whole"), "  ");
    out_.lines.line("  if (whole < " + n + ")");
    Variant rest = variant;
    rest.arguments = {"1", "1"};
    std::vector<std::string> arguments = replaced(s.arguments, n, n + " - whole");
    for (size_t i = 0; i < text_.tensors.size(); ++i)
      if (text_.vectors.contains(text_.tensors[i])) {
        const std::string& name = buffer(text_.tensors[i]).name;
        arguments[i] = "{" + name + " + whole" + arguments[i].substr(1 + name.size());
      }
    call(rest, arguments, "    ");
  } else {
    if (!variant.types.empty()) out_.lines.line("  if constexpr (" + variant.types + ")");
    call(variant, s.arguments, variant.types.empty() ? "  " : "    ");
  }
  out_.lines.line("}");
  out_.entries.push_back(std::move(entry));
}

}  // namespace kw::act::cuda
