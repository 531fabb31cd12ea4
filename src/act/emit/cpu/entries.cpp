#include "act/emit/cpu/entries.h"

#include <algorithm>

#include "act/loop/index.h"
#include "base/text.h"

namespace kw::act::cpu {
namespace {

using Kind = kernel::Argument::Kind;

class EntryWriter {
 public:
  EntryWriter(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text, CppTypes& types)
      : program_(program),
        kernel_(kernel),
        text_(text),
        types_(types),
        merged_(mergeable_axes(program, kernel, text.nest)),
        accesses_(accesses_of(kernel)) {}

  EntryText run() {
    const bool two = !program_.plain && (!merged_.empty() || !text_.unit_rows.empty());
    if (two) write(true);
    write(false, two);
    return std::move(out_);
  }

 private:
  struct Signature {
    std::vector<std::string> parameters, arguments;  // of the entry; of the template
    std::vector<kernel::Argument> contract;
  };

  const Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<size_t>(id)]; }
  std::string size_text(const ir::Size& size) const {
    return size.text([&](ir::SymbolId s) { return program_.symbols[static_cast<size_t>(s)].name; });
  }
  // The group that an axis is merged in, if it is.
  const std::vector<LoopAxisId>* group_of(LoopAxisId axis) const {
    for (const auto& group : merged_)
      if (std::find(group.begin(), group.end(), axis) != group.end()) return &group;
    return nullptr;
  }
  std::string merged_name(const std::vector<LoopAxisId>& group) const {
    const size_t axes = text_.nest.around().size() + (text_.nest.inner >= 0 ? 1 : 0);
    if (group.size() == axes) return "n";
    std::string name;
    for (LoopAxisId axis : group) name += (name.empty() ? "" : "_") + program_.axes[static_cast<size_t>(axis)].name;
    return name;
  }

  // What a dimension of a tensor is indexed by, in any access of this kernel.
  enum class Dimension : uint8_t { Unused, Used, Merged };  // Merged: into the next
  Dimension use_of(BufferId id, size_t dimension, bool fast) const {
    Dimension use = Dimension::Unused;
    for (const Access& access : accesses_) {
      if (access.buffer != id) continue;
      if (access.slice && dimension == 0) return Dimension::Used;
      const Index& index = (*access.at)[access.slice ? dimension - 1 : dimension];
      if (index == size_index(0)) continue;
      const std::vector<LoopAxisId>* group = index.kind == Index::Kind::Axis ? group_of(index.axis) : nullptr;
      if (fast && group && group->back() != index.axis) return Dimension::Merged;
      use = Dimension::Used;
    }
    return use;
  }

  void pointers(Signature& s) {
    for (BufferId id : text_.tensors) {
      const bool written = text_.written.contains(id);
      s.parameters.push_back((written ? "" : "const ") + types_.stored(buffer(id).type) + "* " + buffer(id).name);
      bool read = false;
      for (const Access& access : accesses_) read |= access.buffer == id;
      s.contract.push_back({written ? Kind::Write : Kind::Read, buffer(id).name, 0, "", ""});
    }
  }

  void sizes(Signature& s, bool fast, std::vector<std::string>& arguments) {
    for (const SizeParameter& size : text_.sizes) {
      const std::vector<LoopAxisId>* group = fast && size.axis >= 0 ? group_of(size.axis) : nullptr;
      if (!group) {
        s.parameters.push_back("int64_t " + size.name);
        s.contract.push_back({Kind::Size, manifest_size(size.size), 0, "i64", ""});
        arguments.push_back(size.name);
        continue;
      }
      if (group->back() != size.axis) {
        arguments.push_back("1");
        continue;
      }
      ir::Size product(1);
      for (LoopAxisId axis : *group) product = product * program_.axes[static_cast<size_t>(axis)].size;
      s.parameters.push_back("int64_t " + merged_name(*group));
      s.contract.push_back({Kind::Size, manifest_size(product), 0, "i64", ""});
      arguments.push_back(merged_name(*group));
    }
  }
  std::string manifest_size(const ir::Size& size) const { return size_text(size); }

  std::string tensor(BufferId id, bool fast, Signature& s) {
    const size_t rank = buffer(id).shape.size();
    std::string strides;
    for (size_t d = 0; d < rank; ++d) {
      const Dimension use = use_of(id, d, fast);
      const bool workspace = buffer(id).role == Buffer::Role::Workspace;
      const bool unit = d + 1 == rank && (workspace || (fast && (text_.unit_rows.contains(id) || !merged_.empty())));
      std::string stride = "0";
      if (use == Dimension::Used && unit) {
        stride = "1";
      } else if (use == Dimension::Used) {
        stride = buffer(id).name + "_stride_" + std::to_string(d);
        s.parameters.push_back("int64_t " + stride);
        // Of a dense tensor it follows from the shape; the tensor's own says nothing along a dimension of size one.
        if (fast && !merged_.empty() && !workspace)
          s.contract.push_back({Kind::Size, dense_stride(id, d), 0, "i64", ""});
        else
          s.contract.push_back({Kind::Stride, buffer(id).name, static_cast<int>(d), "i64", ""});
      }
      strides += (d ? ", " : "") + stride;
    }
    return rank == 0 ? "{" + buffer(id).name + "}" : "{" + buffer(id).name + ", {" + strides + "}}";
  }

  std::string dense_stride(BufferId id, size_t dimension) const {
    ir::Size stride(1);
    for (size_t d = dimension + 1; d < buffer(id).shape.size(); ++d) stride = stride * buffer(id).shape[d];
    return size_text(stride);
  }

  // Whether every tensor has exactly the merged axes: then their order in memory does not matter, as long as it is one.
  bool is_flat() const {
    const size_t axes = text_.nest.around().size() + (text_.nest.inner >= 0 ? 1 : 0);
    if (merged_.size() != 1 || merged_[0].size() != axes) return false;
    return std::all_of(text_.tensors.begin(), text_.tensors.end(), [&](BufferId id) {
      size_t used = 0;
      for (size_t d = 0; d < buffer(id).shape.size(); ++d) used += use_of(id, d, false) == Dimension::Used;
      return used == axes && used == buffer(id).shape.size() && buffer(id).role != Buffer::Role::Workspace;
    });
  }

  std::vector<std::string> guards() const {
    std::vector<std::string> out;
    const bool flat = is_flat();
    for (BufferId id : text_.tensors) {
      const Buffer& b = buffer(id);
      if (b.role == Buffer::Role::Workspace || b.shape.empty()) continue;
      if (flat)
        out.push_back(out.empty() ? "packed(" + b.name + ")"
                                  : "same_strides(" + buffer(text_.tensors[0]).name + ", " + b.name + ")");
      else if (!merged_.empty())
        out.push_back("dense(" + b.name + ")");
      else if (text_.unit_rows.contains(id))
        out.push_back("unit(" + b.name + ")");
    }
    return out;
  }

  std::string description(bool fast) const {
    if (!fast) return "// Any strides.";
    if (is_flat()) return "// Tensors without gaps, all in the same order: one run of elements.";
    if (merged_.empty()) return "// The innermost axis of every tensor is contiguous.";
    std::vector<std::string> names;
    for (const auto& group : merged_) {
      std::vector<std::string> axes;
      for (LoopAxisId axis : group) axes.push_back(program_.axes[static_cast<size_t>(axis)].name);
      names.push_back(join(axes, " and "));
    }
    return "// Dense tensors: " + join(names, ", ") + " are walked as one axis.";
  }

  void write(bool fast, bool two = true) {
    Signature s;
    std::vector<std::string> size_arguments;
    pointers(s);
    sizes(s, fast, size_arguments);
    for (BufferId id : text_.tensors) s.arguments.push_back(tensor(id, fast, s));
    s.arguments.insert(s.arguments.end(), size_arguments.begin(), size_arguments.end());
    for (const auto& [name, type] : text_.scalars) {
      s.parameters.push_back(type + " " + name);
      s.contract.push_back({Kind::Scalar, name, 0, types_.manifest_text(type), ""});
      s.arguments.push_back(name);
    }
    kernel::Entry entry;
    entry.symbol = kernel_.name + (fast || !two ? "" : "_strided");
    entry.arguments = s.contract;
    if (fast) entry.guards = guards();
    if (!out_.lines.empty()) out_.lines.line("");
    if (two) out_.lines.line(description(fast));
    for (const std::string& line : split_lines(bracketed("void " + entry.symbol + "(", s.parameters, ") {")))
      out_.lines.line(line);
    const std::string call = "  " + text_.function + (fast ? "<true>(" : "<false>(");
    for (const std::string& line : split_lines(bracketed(call, s.arguments, ");"))) out_.lines.line(line);
    out_.lines.line("}");
    out_.entries.push_back(std::move(entry));
  }

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  const KernelText& text_;
  CppTypes& types_;
  std::vector<std::vector<LoopAxisId>> merged_;
  std::vector<Access> accesses_;
  EntryText out_;
};

}  // namespace

EntryText write_entries(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text, CppTypes& types) {
  return EntryWriter(program, kernel, text, types).run();
}

}  // namespace kw::act::cpu
