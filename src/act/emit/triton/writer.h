// What the text of a kernel is made with, family by family. One program works on a tile at a time:
//
//   elements   a tile of all elements; where tensors differ in shape, a tile of rows and columns
//   rows       some whole rows; or, streamed, one row that goes by in tiles
//   columns    a tile of neighbouring columns, times a tile of what is reduced
//   whole      everything, in chunks; a second kernel adds them up
//
// A value's shape follows from the axes that it has: [ROWS, 1] along the rows of a tile, [1, BLOCK] along its columns,
// no dimension for what a program has once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "act/emit/cpu/nest.h"
#include "act/emit/skeleton.h"
#include "act/emit/triton/expressions.h"
#include "act/emit/triton/kernel_writer.h"
#include "act/loop/index.h"

namespace kw::act::triton {

bool meet(const Axes& a, const Axes& b);
std::string parenthesised(const std::string& text);

inline constexpr std::string_view kSkeletons = "templates/triton/kernel.py";

class Writer {
 public:
  // `workers`: how many slices a sum of an earlier kernel left for this one to add.
  Writer(const LoopProgram& program, const LoopKernel& kernel, Form form, std::string workers);
  Result<Written> run();

 private:
  enum class Family : uint8_t { Once, Elements, Rows, Columns, Whole };

  // ---- families (elements.cpp, rows.cpp, streamed_rows.cpp, columns.cpp, whole.cpp) ----
  void once();
  void elements();
  void rows();
  std::set<ValueId> held_for(const Stage& stage) const;
  void reload(const Stage& stage, size_t sums, Lines& out);
  bool is_resident() const;  // a row fits into one program, where it is short enough
  void streamed_rows();
  void columns();
  void whole();
  std::string parts_name(ValueId value);  // of what chunks of a reduction found
  void whole_alone();

  void straight(Lines& out);                        // stages without a loop of their own in the text
  void stage_once(const Stage& stage, Lines& out);  // what comes before the loops
  void after(const Stage& stage, Lines& out);

  // ---- sums that ride along (sums.cpp) ----
  struct Sum {
    const Accumulate* accumulate;
    std::string variable;
    enum class Kind : uint8_t {
      Total,   // one number: a tile that is added up at the end
      Lanes,   // one for each column of the tile
      Memory,  // elsewhere: read, added to and written back
    } kind;
    bool along_columns = true;  // its terms run along the columns of a tile
  };
  std::vector<Sum> sums_of(bool resident);
  void open_sums(std::vector<Sum>& sums, const std::string& rows, Lines& out);  // rows of a tile: "ROWS, " or none
  void add_to_sums(const std::vector<Sum>& sums, const Stage& stage, Lines& out);
  void add_in_memory(const Accumulate& sum, const std::string& term, const std::string& mask, Lines& out);
  void add_once(const std::vector<Sum>& sums, const Stage& stage, Lines& out);  // terms of a point as a whole
  void close_sums(const std::vector<Sum>& sums, Lines& out);
  std::string slice_address(const Accumulate& sum);

  // ---- a loop over tiles of a stage (streamed_rows.cpp) ----
  struct Total {
    ValueId value;
    std::string variable;
  };
  std::vector<Total> column_stage(const Stage& stage, const std::vector<Sum>& sums, const std::string& first,
                                  const std::string& step, Lines& out);
  bool splits_columns() const;
  std::string part_type(ValueId value) const;  // of what chunks hand on, in memory
  std::vector<Total> open_totals(const Stage& stage, const std::string& shape, Lines& out);
  void add_to_totals(const std::vector<Total>& totals, Lines& out);
  void stream(const Stage& stage, const std::vector<Sum>& sums, Lines& out);

  // ---- memory (memory.cpp) ----
  Axes axes_of_access(const std::vector<Index>& at) const;
  std::string mask_of(const std::vector<Index>& at) const;
  std::string offset(BufferId id, const std::vector<Index>& at);
  std::string address(BufferId id, const std::vector<Index>& at);
  std::string load_text(const Load& load);
  void store(const Store& store, Lines& out);
  std::string tensor_of_type(ir::Type type);

  // ---- values (values.cpp) ----
  bool vanishes(ValueId v) const;  // certainly zero outside the tile
  std::vector<ValueId> pending(const std::vector<ValueId>& roots) const;
  void define(const std::vector<ValueId>& roots, Lines& out, const std::set<ValueId>& stored = {},
              bool as_variables = false);
  void hoist(const std::vector<ValueId>& roots, Lines& out);
  std::vector<ValueId> roots_of(const Stage& stage) const;

  // ---- reductions (reductions.cpp) ----
  struct Reduction {
    std::string neutral, combine, finish;  // 0.0; +; tl.sum
  };
  Reduction reduction(ValueId id);
  std::string masked(ValueId reduced);  // its terms, neutral outside the tile
  std::string combined(ValueId reduced, const std::string& total, const std::string& term);
  std::string reduce(ValueId reduced, const std::string& tile, int axis, bool keep);
  void finish(ValueId reduced, const std::string& text, Lines& out);  // the result from what was reduced

  // ---- indices ----
  std::string manifest_product(const Axes& axes) const;
  std::string text_product(const Axes& axes) const;
  std::string size_text_of(const ir::Size& size);  // by the name of an axis that is as long
  Lines positions(const std::string& number, const Axes& axes) const;
  std::string running(const Axes& axes, const std::string& fallback) const;

  // ---- signature (signature.cpp) ----
  struct LaunchPlan {
    std::vector<std::pair<std::string, std::string>> constants;  // BLOCK → next_pow2(cols)
    std::vector<std::string> grid;
    std::string warps = "4";
    std::vector<std::string> guards;
  };
  void finish_function(Skeleton& skeleton, const std::string& name, const LaunchPlan& plan,
                       const std::vector<std::string>& writes = {}, const std::vector<std::string>& reads = {},
                       const std::vector<std::pair<std::string, std::string>>& sizes = {});
  int tensor_dimension(BufferId id, size_t dimension) const;
  std::vector<std::string> form_guards() const;

  const LoopAxis& axis_of(LoopAxisId axis) const { return program_.axes[static_cast<size_t>(axis)]; }
  const Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<size_t>(id)]; }
  bool is_dense(BufferId id) const { return form_ == Form::Fast || buffer(id).role == Buffer::Role::Workspace; }

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  Form form_;
  std::string workers_;
  bool first_of_two_ = false;  // a second function of the kernel follows
  bool accumulates_ = false;
  cpu::Nest nest_;
  Family family_ = Family::Elements;
  Axes parallel_, loop_;
  cpp::CppTypes types_;
  cpp::KernelNames names_;
  Expressions expressions_;
  std::vector<int> uses_;
  std::set<BufferId> used_, written_;
  std::set<std::pair<BufferId, size_t>> strides_;
  // The axes of a tile's rows and columns, and the masks of each and of both; those that a loop of the text runs along.
  Axes row_axes_, column_axes_;
  std::string row_mask_, column_mask_, mask_;
  bool reloading_ = false;  // what is loaded is not wanted again
  bool streamed_ = false;   // values along the loop are gone after its stage
  Written out_;
};

}  // namespace kw::act::triton
