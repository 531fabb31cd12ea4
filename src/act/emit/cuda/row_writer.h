// Kernels that reduce the innermost axis: threads go over a row together, once per stage. Here is what is the same
// however they share it: what a thread keeps for later stages, what is computed and reduced in each, what of a row is
// in shared memory. WholeRowWriter shares a row out by elements, PartWriter by parts of it.
#pragma once

#include "act/emit/cuda/hoist_factors.h"
#include "act/emit/cuda/writer.h"

namespace kw::act::cuda {

class RowWriter : public Writer {
 public:
  using Writer::Writer;

 protected:
  struct StageText {
    bool loops = false;
    bool reduces = false;           // over the block
    bool holds_on = false;          // all that is held is wanted by a later stage
    Lines before;                   // the loop: values of the point, accumulators
    Lines before_tile, after_tile;  // partial results
    Body body;
    Lines after;
    std::map<std::pair<std::vector<ValueId>, std::string>, std::string> sums;  // of tiles: names, by terms and type
  };

  // Shared memory whose size is the launch's matter, given out from its beginning.
  class SharedRoom {
   public:
    explicit SharedRoom(std::string taken) : taken_(std::move(taken)) {}
    // The definition of `name` as vectors of a type, of `count` elements together.
    std::string vectors(const std::string& name, const std::string& type, const std::string& count);

   private:
    std::string taken_;  // bytes
  };

  Lines kernel() override;
  Level level_of(const Axes& axes) const override;

  // ---- what follows from how a row is shared ----
  virtual Lines frame(const Lines& point) = 0;                          // the kernel, around what is done for a row
  virtual Lines stage_loop(const StageText& stage, size_t number) = 0;  // over the row
  virtual std::string is_one_thread() const = 0;                        // a condition that one thread of a row meets
  virtual std::string keeps() const = 0;             // the condition of keeping values, where the skeleton has none
  virtual bool goes_on_without_barrier() const = 0;  // from a row's last reduction to the next row
  virtual void combine(const Combination& one, StageText& text) = 0;
  // Joins what threads have of a row; `parts`: arguments, one for each reduction.
  virtual void reduce(const std::vector<std::string>& parts, Lines& out) const = 0;
  // One sum for every element, or for every part, of a row.
  virtual void sums_of_row(const Accumulate& sum, StageText& text) = 0;

  // ---- for these ----
  // The skeleton of a kernel, or its twin that has sums, with the holes filled that all have. `edges`: where a row is
  // known to begin.
  Skeleton kernel_skeleton(std::string_view file, const std::string& name, const Lines& edges, const Lines& point);
  static Skeleton stage_skeleton(std::string_view file, const StageText& stage, const Lines& fetch);
  bool begins_alike() const;  // rows may begin anywhere
  // Whether a block comes to a reduction a second time with no barrier since the first: then it has other parts.
  bool takes_turns() const;
  std::string by_block() const { return takes_turns() ? "kw::block_reduce(turn, " : "kw::block_reduce(0, "; }
  static void add_call(const std::string& head, const std::vector<std::string>& arguments, Lines& out);
  // What of a row is kept in shared memory, behind the bytes that are taken.
  Lines caches(const std::string& taken);
  static std::string cache_of(const Held& held) { return held.name + "_cache"; }
  static bool is_read_again(const Held& held) { return held.stages.size() > 1; }
  static std::string read(const Held& held);  // statement

  // ---- sums over a tile ----
  // What is summed: factors that a row, or a part of one, has in common, and the terms.
  Factored product_of(ValueId v) const;
  // The sum of a product over a tile, as an expression; `joined`: a function that joins what lanes have of it.
  std::string tile_sum(const Factored& product, const std::string& type, const std::string& name, StageText& text,
                       const std::string& joined = {});

 private:
  // ---- what is kept ----
  std::set<ValueId> computed_in(const Stage& stage, const std::set<ValueId>& stop = {}) const;
  int cost_of(ValueId v, const std::set<ValueId>& now, std::set<ValueId>& seen) const;
  std::set<ValueId> dear_values(const std::vector<const Stage*>& loops) const;
  void choose_kept();
  // ---- what it takes (row_registers.cpp) ----
  void count_live(const std::vector<const Stage*>& loops, const std::set<ValueId>& kept);
  int registers_beside(const Stage& stage, const std::set<ValueId>& done, const std::set<ValueId>& kept);
  Lines tiles();  // declares what a thread holds and keeps

  // ---- stages ----
  void write_stage(const Stage& stage, StageText& text);
  void write_loop(const Stage& stage, StageText& text);
  // Accumulates the terms of a reduction in a thread. What `reduce` takes to join it with what others have.
  std::string reduce_terms(ValueId r, const std::string& name, StageText& text, Lines& totals);
  void scalar_sum(const Accumulate& sum, const Stage& stage, StageText& text);

  // ---- sums over a tile ----
  bool may_be_summed_by_tile(const Accumulate& sum) const;
  bool is_summed_by_tile(const Accumulate& sum, const Stage& stage) const;
  std::vector<ValueId> terms_of_sum(const Accumulate& sum) const;
  std::optional<Factored> summed_product(ValueId r) const;  // where the reduction is a sum
  Statements statements_by_tile(const Stage& stage) const;
  // Adds the terms of a tile, as `name` calls them, to a total.
  void add_tile(ValueId r, const std::string& total, const std::string& name, StageText& text);
};

}  // namespace kw::act::cuda
