// What the text of a kernel is made with, whatever its shape (kernel_plan.h): parameters, positions and addresses,
// loads of vectors, what is done for each element, sums that ride along, results of reductions. A shape has a writer of
// its own: ElementWriter, WholeRowWriter and PartWriter, ColumnWriter.
#pragma once

#include "act/emit/cpp/combines.h"
#include "act/emit/cuda/kernel_writer.h"
#include "act/emit/cuda/values.h"
#include "act/emit/skeleton.h"
#include "act/loop/index.h"

namespace kw::act::cuda {

using Shape = KernelPlan::Shape;

Axes axes_of_access(const std::vector<Index>& at);
std::string parenthesised(const std::string& text);

class Writer {
 public:
  Writer(const LoopProgram& program, const LoopKernel& kernel, const KernelPlan& plan, CppTypes& types);
  virtual ~Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  KernelText run();

 protected:
  virtual Lines kernel() = 0;  // its text
  // Where a value of these axes is computed.
  virtual Level level_of(const Axes& axes) const = 0;
  // Whether threads read and write neighbours along the innermost axis at once.
  virtual bool has_vectors() const { return true; }

  // ---- the kernel (writer.cpp) ----
  std::vector<std::string> parameter_list() const;
  Axes row_axes() const { return plan_.row_axes(); }  // what a stage goes over
  const Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<size_t>(id)]; }
  static constexpr int kFunction = 8;          // instructions of what is no single one, about
  int instructions(const Value& value) const;  // that it takes from its operands, about
  // The line, if there has to be one, that gives threads without a point the first one.
  static Lines outside(const std::string& condition, const Lines& point);

  // ---- what is done for each element (writer.cpp) ----
  struct Body {
    Lines vector, element, second_vector, second_element, late_vector, stores;      // those of elements in loops
    std::vector<const Lines*> all() const { return {&vector, &element, &stores}; }  // once it is finished
  };
  using Statements = std::vector<std::vector<ValueId>>;  // about elements: the values that each mentions
  Statements statements_of(const Stage& stage) const;
  std::vector<ValueId> roots_of(const Stage& stage) const;  // all of these
  static std::vector<ValueId> stored_by(const Stage& stage);
  virtual Lines* lines_of_vectors(Body& body);  // where values go that all elements of a vector share
  void store(const Store& store, Body& body);
  void finish(Body& body);          // what comes after the first loop becomes part of the stores
  void with_index(Lines& element);  // declares the index of an element, where something wants it
  // Stores of the point's values that are known when a stage ends, by the thread that meets the condition.
  void after_stores(const Stage& stage, Lines& out, const std::string& condition);

  // ---- values of whole vectors (packed.cpp) ----
  void find_packed();  // again, once it is known what is kept
  bool is_packed(ValueId v) const { return packed_.contains(v); }
  // Computes everything that the statements need, of which some are stores of these.
  void define(Body& body, const Statements& statements, const std::vector<ValueId>& stored);
  // The loop for a statement that mentions these. What is written from here on is written for it.
  Lines& loop_of(Body& body, const std::vector<ValueId>& values);

  // ---- positions and addresses (memory.cpp) ----
  // The indices of several axes from one running number. `vectors`: of a vector's first element.
  Lines positions(const std::string& number, const Axes& axes, bool vectors) const;
  // Those of the definitions of which something is used by the texts or by a later one.
  static Lines used(const Lines& definitions, const std::vector<const Lines*>& texts);
  std::string address(BufferId id, const std::vector<Index>& at, bool of_vector, const std::string& slice = {});
  virtual std::string vector_address(BufferId id, const std::vector<Index>& at);  // where a vector of neighbours begins

  // ---- rows that begin anywhere (memory.cpp) ----
  // Whether the access has its rows where the kernel's first one has: then their vectors are the same.
  bool lies_alike(BufferId id, const std::vector<Index>& at) const;
  // Whether rows follow each other in memory as they do in the kernel.
  bool in_order(const std::vector<Index>& at) const;
  // Where a row begins in memory, as the number of elements before it; `zero`: the axes along which it runs.
  std::string row_offset(const Axes& zero);
  std::string edges_of(const Axes& zero, const std::string& lane);

  // ---- vectors (memory.cpp) ----
  // Vectors that a thread holds for the whole row, or reads before it uses any.
  struct Held {
    BufferId buffer;
    std::string name, from, address;  // by which it is known; where it is
    std::set<size_t> stages;          // that use it
    std::vector<Index> at = {};
  };
  // Whether it has as many elements as the kernel, given that it runs along the innermost axis.
  bool is_large(const std::vector<Index>& at) const;
  // The expression of a vector of a tensor whose rows lie elsewhere.
  virtual std::string beside(BufferId id, const std::vector<Index>& at);
  Lines held_vectors() const;  // declares them

  // ---- sums that ride along (sums.cpp) ----
  std::string sum_type(const Accumulate& sum) const { return types_.stored(buffer(sum.buffer).type); }
  // The slice that a worker adds to: its own, or the one that all share.
  std::string slice(const char* worker) const { return program_.atomic ? "0" : worker; }
  // The statement that stores a value, or adds it where others add too. `before`: what is there, and a plus.
  std::string add_to(const std::string& to, const std::string& value, const std::string& before) const;
  static std::string joined_to(const std::string& to) { return "kw::load(" + to + ") + "; }
  void clear_slice(const Accumulate& sum, const std::string& worker, bool by_block);
  std::string total_of(const Accumulate& sum);          // the variable that a thread has of one sum for everything
  void add_vectors(const Accumulate& sum, Body& body);  // to it, vector by vector

  // ---- reductions (reductions.cpp) ----
  // How one is spelled: the functor of runtime/cuda/reduction.h, and how a term joins.
  struct Reduction {
    const char* functor;
    const char* start;
    const char* join;  // with the variable and the term in the places of $ and #
    std::string joined(const std::string& variable, const std::string& term) const;
  };
  Reduction reduction_of(ValueId r) const;
  bool has_partials(ValueId r) const;  // its terms are added up in steps, for accuracy
  std::string accumulator_type(ValueId r) const;
  std::string term_of(ValueId r);       // as the accumulator takes it
  std::string reduced_name(ValueId r);  // of the variable that is reduced
  std::string share(const std::string& name, const std::string& type, const std::string& count);  // in shared memory
  // The result as a variable, from what the threads have together.
  void result(ValueId r, const std::string& from, Lines& out);

  // ---- reductions by a combine (reductions.cpp) ----
  std::vector<ValueId> plain_reductions(const Stage& stage) const;  // all others
  std::string tuple_text(const Combination& one);
  // The results, from the run that all terms became.
  void combined_results(const Combination& one, const std::string& run, Lines& out);

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  CppTypes& types_;
  KernelPlan plan_;
  const Nest& nest_;
  KernelNames names_;
  Values values_;
  Combines combines_;
  KernelText text_;
  std::string first_;  // the index of a vector's first element along the innermost axis
  std::vector<Held> held_;
  std::set<std::string> declared_;  // vectors of the present stage, by address
  size_t stage_ = 0;                // the present one, of those that loop
  Lines shared_, sums_, finish_;    // shared memory of reductions; sums that ride along, before and after all rows
  std::optional<std::pair<BufferId, std::vector<Index>>> like_;  // the access whose rows others lie like
  bool stored_alike_ = true;

 private:
  void choose_parameters();
  std::string element(const Load& load);    // the expression of what is read
  std::string vector_of(const Load& load);  // that of all of its neighbours
  bool is_narrow(ValueId v) const;
  bool is_exact_number(ValueId v) const;
  bool is_read_as_vector(ValueId v) const;
  bool is_stored_as_vector(ValueId v) const;
  bool is_only_stored(ValueId v, const std::vector<int>& uses) const;
  bool is_wanted_packed(ValueId v, const std::vector<int>& uses) const;
  struct Operands {
    int vectors = 0, rounded_first = 0, phase = 0;
    bool rounded_anyway = true;  // all that are rounded first
  };
  std::optional<Operands> operands_of_packed(ValueId v, const std::vector<int>& uses) const;
  std::set<ValueId> packed_for_stores(const std::vector<ValueId>& roots, const std::vector<ValueId>& order,
                                      const std::vector<ValueId>& stored) const;
  int phase_of(ValueId v) const;  // of a value of each element: the first loop that can compute it
  int phase_of(const std::vector<ValueId>& values) const;
  void enter(int loop);
  std::string packed_operand(ValueId v, ir::Type result);
  std::string name_of_vector(ValueId v);
  void define_packed(ValueId v, Lines& out);
  void define_elements(std::vector<ValueId> roots, const std::vector<ValueId>& rounded, std::set<ValueId> stored,
                       Lines& vectors, Lines& elements);
  std::string stored_text(const Store& store);
  void note_vector(BufferId id, const std::vector<Index>& at, const Run& run);

  std::map<std::string, std::string> vector_names_;  // by address
  std::set<ValueId> packed_;
  mutable std::map<ValueId, int> phases_;
  std::map<ValueId, std::string> vectors_;  // of the present stage: what is packed, and what is rounded for it
  int loop_ = 0;                            // that is written now
  Expressions::Environment variables_[2];   // of the loops that are not
  Body* body_ = nullptr;                    // of the present stage
};

}  // namespace kw::act::cuda
