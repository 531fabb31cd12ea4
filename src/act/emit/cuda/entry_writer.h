// The text of one entry, and what the manifest says of it: parameters, guards, launch. The kinds of kernels derive from
// this, and each knows its variants.
#pragma once

#include <algorithm>

#include "act/emit/cuda/entries.h"
#include "act/emit/cuda/entry_sizes.h"

namespace kw::act::cuda {

class EntryWriter {
 public:
  EntryWriter(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text, CppTypes& types,
              const schedule::CudaParameters& parameters, Workers workers);

 protected:
  struct Variant {
    std::string suffix, why;
    bool dense = false;   // axes that can be are walked as one
    bool unit = false;    // vectors lie in memory as such
    bool ragged = false;  // but rows begin anywhere
    int64_t parts = 1;    // or vectors are in so many, each of which is moved by itself
    bool wide_index = false;
    bool has_rest = false;                    // elements beyond the last whole vector
    std::string function = {};                // of the text, where it is not the usual one
    std::vector<std::string> arguments = {};  // of the template, without the index type
    std::vector<std::string> guards = {};
    int64_t most_threads = 256, least_blocks = 1;
    // Of an element: where the widest of the large tensors has more, it takes more registers, and fewer threads have
    // them. 0: no matter.
    int64_t thread_bytes = 0;
    std::string types = {};  // those for which a call may come to it, as a condition of C++; empty: all
    std::string grid = {}, block = {}, shared = "0";
    std::string cached = "0";  // elements of a row in shared memory
    std::string lanes = "0";   // of a row, as an expression of the manifest; "0": the whole block

    void only_for(const std::string& condition) { types += (types.empty() ? "" : " && ") + condition; }
  };

  static constexpr int64_t kLongestVector = 8;
  static constexpr int64_t kThreadBytes = 4;  // that a register holds

  const Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<size_t>(id)]; }
  std::string vector_constant(int64_t parts = 1) const;
  // How many elements of the widest of the large tensors have so many bytes, but at most `most`: as an expression of
  // the manifest, and as one of C++.
  std::string most_size(int64_t most, int64_t bytes) const;
  std::string most_constant(int64_t most, int64_t bytes) const;
  // Likewise where those that take a register each are `some`.
  std::string elements_size(int64_t most, int64_t some) const;
  std::string elements_constant(int64_t most, int64_t some) const;
  int64_t element_bytes(int64_t some) const;
  std::vector<std::string> deciding_types() const;  // of the large tensors
  std::string are_narrow() const;                   // whether an element has two bytes at most, as a condition of C++
  bool is_mixed() const;                            // the large tensors have several types
  // A part of the threads that a block of the variant has at most.
  std::string threads_size(const Variant& variant, int64_t part = 1) const;
  // Where rows are ragged, their edges want some registers more, which fewer threads have: an eighth, in whole
  // fours of warps, as which a multiprocessor gives them out.
  static int64_t with_edges(int64_t threads) { return std::max<int64_t>(128, threads * 7 / 8 / 128 * 128); }
  // For tensors that have elements of one width alone: where kernels are few, others serve a mixture of widths.
  void of_one_width(Variant& variant) const;
  // For tensors beside the rows (weights) whose elements take one register, or as many as a row's own: the threads of
  // a block are as many as have registers for that. Others are served element by element.
  void of_no_wider_beside(Variant& variant) const;
  // How many blocks leave a slice each, where so many run at once on a multiprocessor.
  std::string grid_of_slices(const std::string& at_once, bool ragged = false) const;
  // Of an element of each sum of a kind, of which there are some: alike where all are of one type; and of all together.
  std::vector<std::string> bytes_of_each_sum(SumKind kind) const;
  std::string bytes_of_sums(SumKind kind) const;
  // Guards of memory that is read and written in vectors.
  std::string alignment(const Variant& variant, BufferId id, int64_t bytes) const;
  void aligned(Variant& variant) const;
  void partly_aligned(Variant& variant) const;
  void whole_vectors(Variant& variant) const;
  static std::string short_index(const std::string& size) { return bracket(size) + " < 2147483648"; }
  bool flat_when_dense() const;
  bool knows_no_position() const;
  void write(const Variant& variant);

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  const KernelText& text_;
  CppTypes& types_;
  const schedule::CudaParameters& p_;
  Workers workers_;
  EntrySizes sizes_;
  std::vector<std::vector<LoopAxisId>> merged_;
  EntryText out_;

 private:
  // What a dimension of a tensor is indexed by, in any access of this kernel.
  enum class Dimension : uint8_t { Unused, Used, Merged };  // Merged: into the next
  struct Signature {
    std::vector<std::string> parameters, arguments;  // of the entry; of the template
    std::vector<kernel::Argument> contract;
  };
  const std::vector<LoopAxisId>* group_of(LoopAxisId axis) const;
  std::string merged_name(const std::vector<LoopAxisId>& group) const;
  Dimension use_of(BufferId id, size_t dimension, bool dense) const;
  bool has_all_axes(BufferId id) const;
  bool is_merged(BufferId id) const;
  bool wants_dense(BufferId id, const Variant& variant) const;
  std::vector<std::string> layout_guards(const Variant& variant) const;
  void pointers(Signature& s);
  std::string manifest_size(const ir::Size& size) const;
  void sizes(Signature& s, const Variant& variant, std::vector<std::string>& arguments);
  std::string tensor(BufferId id, const Variant& variant, Signature& s);
  void call(const Variant& variant, const std::vector<std::string>& arguments, const std::string& indent);

  std::vector<Access> accesses_;
};

// One class for each way of sharing a kernel among threads.
class ElementEntries : public EntryWriter {
 public:
  using EntryWriter::EntryWriter;
  EntryText run();
};
class RowEntries : public EntryWriter {
 public:
  using EntryWriter::EntryWriter;
  EntryText run();

 private:
  struct Held;
  std::string threads(const std::string& length, const std::string& each, const std::string& most) const;
  std::vector<std::string> arguments(const std::string& vector, const std::string& each, bool streamed, bool block,
                                     const std::string& place, bool ragged, bool keep = true) const;
  void fast(Variant& v) const;
  void share_out(Variant& v, const std::string& at_once) const;
  std::string length() const;
  void lanes(bool ragged);
  void held(bool ragged, const Held& how);
  void streamed(bool ragged);
  void any_strides();
  int64_t summing_threads() const;  // of a block whose threads have rows and sums in registers
  std::string ahead_bytes(const std::string& each) const;
  std::string bytes_of_widest_sum() const;
};
class PartEntries : public EntryWriter {
 public:
  using EntryWriter::EntryWriter;
  EntryText run();

 private:
  void tiled(Variant v);
  void any_strides();
  int64_t divisions() const;
  std::string slots(const std::string& warps, const std::string& parts) const;
};
class PointEntries : public EntryWriter {
 public:
  using EntryWriter::EntryWriter;
  EntryText run();
};

}  // namespace kw::act::cuda
