#include "act/emit/cuda/entries.h"

#include <algorithm>

#include "act/loop/index.h"
#include "act/pass_contract.h"
#include "base/text.h"

namespace kw::act::cuda {
namespace {

using Kind = kernel::Argument::Kind;
using Shape = KernelPlan::Shape;

constexpr int64_t kStaticShared = 8192;  // bytes that reductions may have of their own

std::string number(int64_t n) { return std::to_string(n); }
std::string bracket(const std::string& text) { return is_identifier(text) ? text : "(" + text + ")"; }

// A kernel's sizes as expressions of the manifest.
class Sizes {
 public:
  Sizes(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text)
      : program_(program), text_(text), merged_(cpu::mergeable_axes(program, kernel, text.plan.nest)) {}
  const std::vector<std::vector<LoopAxisId>>& merged() const { return merged_; }
  std::string product(const std::vector<LoopAxisId>& axes) const {
    ir::Size size(1);
    for (LoopAxisId axis : axes) size = size * program_.axes[static_cast<size_t>(axis)].size;
    return size_text(size, program_);
  }
  std::string points() const {
    std::vector<LoopAxisId> axes = text_.plan.nest.parallel;
    if (text_.plan.nest.inner >= 0 && !text_.plan.nest.reduces_inner()) axes.push_back(text_.plan.nest.inner);
    return product(axes);
  }
  std::string row() const { return product(text_.plan.row_axes()); }
  // The innermost axis, with those that are walked as one with it where tensors are dense.
  std::string inner(bool dense) const {
    const LoopAxisId inner = text_.plan.nest.inner;
    if (dense)
      for (const std::vector<LoopAxisId>& group : merged_)
        if (group.back() == inner) return product(group);
    return product({inner});
  }
  // Elements of a vector: of the narrowest of the large tensors, at most 8.
  std::string vector() const {
    std::string out;
    std::set<std::string> seen;
    for (BufferId id : deciding()) {
      const Buffer& b = program_.buffers[static_cast<size_t>(id)];
      if (!seen.insert(type_text(b.type, program_.type_parameters)).second) continue;
      const std::string one = "16//bytes(" + b.name + ")";
      out = out.empty() ? one : "max(" + out + ", " + one + ")";
    }
    return out.empty() ? "1" : "min(8, " + out + ")";
  }
  std::set<BufferId> deciding() const { return text_.large.empty() ? text_.vectors : text_.large; }

 private:
  const LoopProgram& program_;
  const KernelText& text_;
  std::vector<std::vector<LoopAxisId>> merged_;
};

class EntryWriter {
 public:
  EntryWriter(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text, CppTypes& types,
              const schedule::CudaParameters& parameters, std::string workers)
      : program_(program),
        kernel_(kernel),
        text_(text),
        types_(types),
        p_(parameters),
        workers_(std::move(workers)),
        sizes_(program, kernel, text),
        merged_(sizes_.merged()),
        accesses_(accesses_of(kernel)) {}

  EntryText run() {
    switch (text_.plan.shape) {
      case Shape::Elements:
        elements();
        break;
      case Shape::Rows:
        rows();
        break;
      case Shape::Columns:
      case Shape::Points:
        points();
        break;
    }
    return std::move(out_);
  }

 private:
  struct Variant {
    std::string suffix, why;
    bool dense = false;  // axes that can be are walked as one
    bool unit = false;   // vectors lie in memory as such
    bool wide_index = false;
    bool has_rest = false;               // elements beyond the last whole vector
    std::vector<std::string> arguments;  // of the template, without the index type
    std::vector<std::string> guards;
    int64_t most_threads = 256, least_blocks = 1;
    std::string grid, block, shared = "0";
    std::string cached = "0";  // elements of a row in shared memory
    std::string lanes = "0";   // of a row, as an expression of the manifest; "0": the whole block
  };

  const Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<size_t>(id)]; }

  // ---- variants ----
  std::string vector_constant() const {
    std::vector<std::string> names;
    for (BufferId id : sizes_.deciding()) {
      const std::string type = types_.stored(buffer(id).type);
      if (std::find(names.begin(), names.end(), type) == names.end()) names.push_back(type);
    }
    return names.empty() ? "1" : "kw::vector_length<" + join(names, ", ") + ">()";
  }
  void aligned(Variant& variant) const {
    std::set<BufferId> all = text_.vectors;
    for (const Stage& stage : kernel_.stages)
      for (const Accumulate& sum : stage.accumulates)
        if (kind_of(text_.plan, sum) == SumKind::Column) all.insert(sum.buffer);
    for (BufferId id : all) variant.guards.push_back("aligned(" + buffer(id).name + ", 16)");
    for (const ir::Size& offset : text_.offsets)
      variant.guards.push_back(bracket(size_text(offset, program_)) + " % " + sizes_.vector() + " == 0");
  }
  void whole_vectors(Variant& variant) const {
    variant.guards.push_back(bracket(sizes_.inner(variant.dense)) + " % " + sizes_.vector() + " == 0");
  }
  static std::string short_index(const std::string& size) { return bracket(size) + " < 2147483648"; }

  void elements() {
    const bool summed = text_.plan.accumulates;
    const std::string n = sizes_.product(text_.plan.nest.all());
    const std::string per_thread = number(p_.element_elements);
    auto launch = [&](Variant& v, const std::string& length) {
      v.most_threads = p_.element_threads;
      v.least_blocks = 1;
      v.block = number(p_.element_threads);
      const std::string each = length == "1" ? "4" : per_thread;
      v.arguments = {length == "1" ? "1" : vector_constant(), each};
      v.grid = summed ? workers_ : "ceil_div(" + n + ", " + number(p_.element_threads) + "*" + each + ")";
    };
    const bool flat = flat_when_dense();
    if (!text_.vectors.empty()) {
      Variant v{.suffix = "",
                .why = flat ? "Tensors without gaps, all in the same order: one run of vectors."
                            : "Vectors along the innermost axis."};
      v.dense = v.unit = true;
      v.wide_index = flat;
      v.has_rest = flat && !summed && !text_.sizes.empty() && text_.sizes.back().axis == text_.plan.nest.inner &&
                   knows_no_position();
      aligned(v);
      if (!v.has_rest) whole_vectors(v);
      if (!flat) v.guards.push_back(short_index(n));
      launch(v, sizes_.vector());
      write(v);
    }
    if (flat) {
      Variant v{.suffix = "_unaligned", .why = "The same, an element at a time."};
      v.dense = v.unit = v.wide_index = true;
      launch(v, "1");
      write(v);
    }
    for (bool wide : {false, true}) {
      Variant v{.suffix = wide ? "_large" : "_strided",
                .why = wide ? "More elements than an int counts." : "Any strides."};
      v.wide_index = wide;
      if (!wide) v.guards.push_back(short_index(n));
      launch(v, "1");
      write(v);
    }
  }

  void rows() {
    const bool summed = text_.plan.accumulates, in_parts = text_.plan.has_segments;
    const std::string points = sizes_.points(), kv = vector_constant();
    const std::string length = sizes_.row();
    auto threads = [&](const std::string& each, int64_t most) {
      return "min(" + number(most) + ", 32*max(1, ceil_div(" + length + ", 32*" + each + ")))";
    };
    auto arguments = [&](const std::string& vector, const std::string& each, bool streamed, bool block,
                         const char* place) {
      std::vector<std::string> list{vector, each, streamed ? "true" : "false", block ? "true" : "false"};
      list.push_back(summed                               ? "kw::Place::" + std::string(place)
                     : std::string_view(place) == "ahead" ? "true"
                                                          : "false");
      return list;
    };
    auto fast = [&](Variant& v) {
      v.dense = v.unit = true;
      aligned(v);
      if (!text_.vectors.empty()) whole_vectors(v);
      v.guards.push_back(short_index(sizes_.row()));
    };
    // `each` as an expression of the manifest, `constant` as one of C++.
    auto holds = [&](const char* suffix, const char* why, const std::string& each, const std::string& constant,
                     int64_t most, int64_t blocks, const char* place) {
      Variant v{.suffix = suffix, .why = why};
      fast(v);
      v.guards.push_back(bracket(length) + " <= " + number(most) + "*" + each);
      v.arguments = arguments(kv, constant, false, true, place);
      v.most_threads = most;
      v.least_blocks = blocks;
      v.block = threads(each, most);
      v.grid = summed ? workers_ : points;
      const bool ahead = std::string_view(place) == "ahead";
      if (ahead) v.grid = "min(" + points + ", multiprocessors)";
      std::string bytes = summed || ahead ? bytes_ahead() : "0";
      if (std::string_view(place) == "Shared") bytes += " + " + number(text_.column_sums) + "*" + bytes_of_sums();
      if (bytes != "0") {
        v.shared = "(" + bytes + ")*" + each + "*" + v.block;
        v.guards.push_back(v.shared + " <= " + number(p_.shared_bytes - kStaticShared));
      }
      write(v);
    };
    if (!in_parts) {
      const int64_t each = summed ? p_.sum_elements : p_.row_elements;
      Variant v{.suffix = "_short", .why = "Rows that some lanes of a warp hold: several in a block."};
      fast(v);
      v.guards.push_back(bracket(length) + " <= " + number(32 * each));
      v.arguments = arguments(kv, number(each), false, false, "Registers");
      v.most_threads = summed ? 256 : p_.lane_threads;
      v.block = number(v.most_threads);
      v.lanes = "min(32, next_pow2(max(1, ceil_div(" + length + ", " + number(each) + "))))";
      v.grid = summed ? workers_ : "ceil_div(" + bracket(points) + "*" + v.lanes + ", " + v.block + ")";
      if (summed) {
        const std::string sums = text_.column_sums > 0 ? bytes_of_sums() : "0";
        v.shared = "max(" + sums + ", " + bytes_ahead() + ")*" + number(each) + "*" + v.block;
      }
      write(v);
      if (!summed) {
        const std::string one = number(p_.row_elements), wide = number(p_.wide_elements);
        holds("", "Rows that the registers of a block hold.", one, one, p_.row_threads, p_.row_blocks, "");
        if (p_.wide_elements * p_.wide_threads > p_.row_elements * p_.row_threads)
          holds("_wide", "Rows that the registers of a block as large as can be hold.", wide, wide, p_.wide_threads, 1,
                "");
      } else {
        const std::string one = number(p_.sum_elements);
        holds("", "Rows and sums that the registers of a block hold.", one, one, p_.sum_threads, 1, "Registers");
        if (text_.column_sums > 0)
          holds("_shared", "Rows that the registers of a block hold, and sums in shared memory.",
                elements_of(p_.shared_sum_bytes), elements_constant(p_.shared_sum_bytes), p_.sum_threads, 1, "Shared");
      }
    }
    {
      Variant v{.suffix = "_streamed", .why = "Rows of any length, read again in every stage."};
      fast(v);
      v.arguments = arguments(kv, number(p_.stream_elements), true, true, "Memory");
      v.most_threads = p_.stream_threads;
      v.least_blocks = p_.stream_blocks;
      v.block = threads(number(p_.stream_elements), p_.stream_threads);
      v.grid = summed ? workers_ : points;
      if (!text_.cached.empty()) {
        std::string bytes;
        for (BufferId id : text_.cached) bytes += (bytes.empty() ? "" : " + ") + ("bytes(" + buffer(id).name + ")");
        v.cached = "min(" + sizes_.row() + ", " + number(p_.shared_bytes / p_.stream_blocks - kStaticShared) + "//(" +
                   bytes + ")//8*8)";
        v.shared = v.cached + "*(" + bytes + ")";
      }
      write(v);
    }
    for (bool wide : {false, true}) {
      Variant v{.suffix = wide ? "_large" : "_strided",
                .why = wide ? "More elements than an int counts." : "Any strides."};
      v.wide_index = wide;
      v.arguments = arguments("1", "4", true, true, "Memory");
      if (!wide) v.guards.push_back(short_index(sizes_.row()));
      v.most_threads = p_.stream_threads;
      v.block = threads("4", p_.stream_threads);
      v.grid = summed ? workers_ : points;
      write(v);
    }
  }
  // Elements of the widest of the large tensors in so many bytes.
  std::string elements_of(int64_t bytes) const {
    std::string widest;
    std::set<std::string> seen;
    for (BufferId id : sizes_.deciding()) {
      if (!seen.insert(types_.stored(buffer(id).type)).second) continue;
      const std::string one = "bytes(" + buffer(id).name + ")";
      widest = widest.empty() ? one : "max(" + widest + ", " + one + ")";
    }
    return "min(" + number(p_.shared_sum_elements) + ", " + number(bytes) + "//" + widest + ")";
  }
  std::string elements_constant(int64_t bytes) const {
    std::vector<std::string> names{number(p_.shared_sum_elements), number(bytes)};
    for (BufferId id : sizes_.deciding()) {
      const std::string type = types_.stored(buffer(id).type);
      if (std::find(names.begin(), names.end(), type) == names.end()) names.push_back(type);
    }
    return "kw::elements_in<" + join(names, ", ") + ">()";
  }
  // Of an element of every tensor of which the next row is on its way.
  std::string bytes_ahead() const {
    std::string bytes;
    for (BufferId id : text_.ahead) bytes += (bytes.empty() ? "" : " + ") + ("bytes(" + buffer(id).name + ")");
    return bytes.empty() ? "0" : bytes;
  }
  std::string bytes_of_sums() const {
    for (const Stage& stage : kernel_.stages)
      for (const Accumulate& sum : stage.accumulates)
        if (kind_of(text_.plan, sum) == SumKind::Column) return "bytes(" + buffer(sum.buffer).name + ")";
    return "4";
  }

  void points() {
    const bool columns = text_.plan.shape == Shape::Columns;
    const std::string points = sizes_.points(), row = sizes_.row();
    std::vector<bool> kinds;
    if (!merged_.empty()) kinds.push_back(true);
    kinds.push_back(false);
    for (bool dense : kinds)
      for (bool wide : {false, true}) {
        if (dense && wide) continue;
        Variant v{.suffix = wide                       ? "_large"
                            : dense || merged_.empty() ? ""
                                                       : "_strided",
                  .why = wide    ? "More elements than an int counts."
                         : dense ? "Dense tensors: axes that can be are walked as one."
                                 : "Any strides."};
        v.dense = dense;
        v.wide_index = wide;
        if (!wide) {
          v.guards.push_back(short_index(points));
          v.guards.push_back(short_index(row));
        }
        if (columns) {
          v.most_threads = 32 * p_.column_warps;
          v.block = "32*min(" + number(p_.column_warps) + ", max(1, ceil_div(" + row + ", " +
                    number(p_.column_elements) + ")))";
          v.grid = "ceil_div(" + points + ", 32)";
        } else {
          v.most_threads = 64;
          v.block = text_.plan.accumulates ? "32" : "64";
          v.grid = "ceil_div(" + (text_.plan.accumulates ? workers_ : points) + ", " + v.block + ")";
        }
        write(v);
      }
  }

  // ---- text ----
  const std::vector<LoopAxisId>* group_of(LoopAxisId axis) const {
    for (const auto& group : merged_)
      if (std::find(group.begin(), group.end(), axis) != group.end()) return &group;
    return nullptr;
  }
  std::string merged_name(const std::vector<LoopAxisId>& group) const {
    if (group.size() == text_.plan.nest.all().size()) return "n";
    std::string name;
    for (LoopAxisId axis : group) name += (name.empty() ? "" : "_") + program_.axes[static_cast<size_t>(axis)].name;
    return name;
  }

  // What a dimension of a tensor is indexed by, in any access of this kernel.
  enum class Dimension : uint8_t { Unused, Used, Merged };  // Merged: into the next
  Dimension use_of(BufferId id, size_t dimension, bool dense) const {
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
  bool knows_no_position() const {
    return std::none_of(kernel_.values.begin(), kernel_.values.end(),
                        [](const Value& value) { return std::holds_alternative<IndexValue>(value.what); }) &&
           std::all_of(text_.tensors.begin(), text_.tensors.end(),
                       [&](BufferId id) { return buffer(id).shape.empty() || text_.vectors.contains(id); });
  }
  // Whether every tensor has exactly the merged axes: then their order in memory does not matter, as long as it is one.
  bool flat_when_dense() const {
    const std::vector<LoopAxisId> axes = text_.plan.nest.all();
    if (axes.size() == 1)
      return std::all_of(text_.vectors.begin(), text_.vectors.end(),
                         [&](BufferId id) { return buffer(id).shape.size() <= 1 || text_.large.contains(id); }) &&
             text_.offsets.empty() && text_.plan.shape == Shape::Elements;
    return merged_.size() == 1 && merged_[0].size() == axes.size();
  }
  bool has_all_axes(BufferId id) const {
    const std::vector<LoopAxisId> axes = text_.plan.nest.all();
    size_t used = 0;
    for (size_t d = 0; d < buffer(id).shape.size(); ++d) used += use_of(id, d, false) == Dimension::Used;
    return used == axes.size() && used == buffer(id).shape.size() && buffer(id).role != Buffer::Role::Workspace;
  }

  std::vector<std::string> layout_guards(const Variant& variant) const {
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
      } else if (variant.dense && is_merged(id)) {
        out.push_back("dense(" + b.name + ")");
      } else if (variant.unit && text_.vectors.contains(id)) {
        out.push_back("unit(" + b.name + ")");
      }
    }
    return out;
  }
  bool is_merged(BufferId id) const {
    for (size_t d = 0; d < buffer(id).shape.size(); ++d)
      if (use_of(id, d, true) == Dimension::Merged) return true;
    return false;
  }

  struct Signature {
    std::vector<std::string> parameters, arguments;  // of the entry; of the template
    std::vector<kernel::Argument> contract;
  };
  void pointers(Signature& s) {
    for (BufferId id : text_.tensors) {
      const bool written = text_.written.contains(id);
      s.parameters.push_back((written ? "" : "const ") + types_.stored(buffer(id).type) + "* " + buffer(id).name);
      const bool summed = program_.atomic && std::any_of(accesses_.begin(), accesses_.end(),
                                                         [&](const Access& a) { return a.buffer == id && a.slice; });
      const Kind kind = summed ? Kind::Update : written ? Kind::Write : Kind::Read;
      s.contract.push_back({kind, buffer(id).name, 0, "", ""});
    }
  }
  std::string manifest_size(const ir::Size& size) const {
    if (program_.workers && size == ir::Size::symbol(*program_.workers)) return workers_;
    return size_text(size, program_);
  }
  void sizes(Signature& s, const Variant& variant, std::vector<std::string>& arguments) {
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
  std::string tensor(BufferId id, const Variant& variant, Signature& s) {
    const size_t rank = buffer(id).shape.size();
    const bool workspace = buffer(id).role == Buffer::Role::Workspace;
    std::string strides;
    for (size_t d = 0; d < rank; ++d) {
      const Dimension use = use_of(id, d, variant.dense);
      const bool vectors = variant.unit && text_.vectors.contains(id);
      const bool unit = d + 1 == rank && (workspace || vectors || (variant.dense && is_merged(id)));
      std::string stride = "0";
      if (use == Dimension::Used && unit) {
        stride = "1";
      } else if (use == Dimension::Used) {
        stride = buffer(id).name + "_stride_" + std::to_string(d);
        s.parameters.push_back("int64_t " + stride);
        s.contract.push_back({Kind::Stride, buffer(id).name, static_cast<int>(d), "i64", ""});
      }
      strides += (d ? ", " : "") + stride;
    }
    return rank == 0 ? "{" + buffer(id).name + "}" : "{" + buffer(id).name + ", {" + strides + "}}";
  }

  static std::vector<std::string> replaced(std::vector<std::string> list, const std::string& from,
                                           const std::string& to) {
    std::replace(list.begin(), list.end(), from, to);
    return list;
  }
  void call(const Variant& variant, const std::vector<std::string>& arguments, const std::string& indent) {
    std::vector<std::string> list = variant.arguments;
    list.push_back(variant.wide_index ? "int64_t" : "int");
    const std::string head = indent + text_.function + "<" + join(list, ", ") + ">(";
    for (const std::string& line : split_lines(bracketed(head, arguments, ");"))) out_.lines.line(line);
  }

  void write(const Variant& variant) {
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
    const std::string head = "KW_KERNEL(" + number(variant.most_threads) + ", " + number(variant.least_blocks) + ")";
    out_.lines.line(head);
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
        if (has_all_axes(text_.tensors[i])) {
          const std::string& name = buffer(text_.tensors[i]).name;
          arguments[i] = "{" + name + " + whole" + arguments[i].substr(1 + name.size());
        }
      call(rest, arguments, "    ");
    } else {
      call(variant, s.arguments, "  ");
    }
    out_.lines.line("}");
    out_.entries.push_back(std::move(entry));
  }

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  const KernelText& text_;
  CppTypes& types_;
  const schedule::CudaParameters& p_;
  std::string workers_;
  Sizes sizes_;
  std::vector<std::vector<LoopAxisId>> merged_;
  std::vector<Access> accesses_;
  EntryText out_;
};

}  // namespace

EntryText write_entries(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text, CppTypes& types,
                        const schedule::CudaParameters& parameters, const std::string& workers) {
  return EntryWriter(program, kernel, text, types, parameters, workers).run();
}

std::string workers_of(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text,
                       const schedule::CudaParameters& parameters) {
  const Sizes sizes(program, kernel, text);
  const schedule::CudaParameters& p = parameters;
  switch (text.plan.shape) {
    case Shape::Elements:
      return "max(1, min(ceil_div(" + sizes.product(text.plan.nest.all()) + ", " +
             number(p.element_threads * p.element_elements) + "), 4*multiprocessors))";
    case Shape::Rows: {
      // As many blocks on a multiprocessor as have worker_threads together.
      const int64_t each = p.sum_elements;
      const std::string length = sizes.row();
      const std::string threads = "32*max(1, ceil_div(" + length + ", " + number(32 * each) + "))";
      return "max(1, min(" + sizes.points() + ", multiprocessors*max(2, min(8, " + number(p.worker_threads) + "//(" +
             threads + ")))))";
    }
    case Shape::Columns:
    case Shape::Points:
      break;
  }
  return "max(1, min(" + sizes.points() + ", 4*multiprocessors))";
}

}  // namespace kw::act::cuda
