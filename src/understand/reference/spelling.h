// How each primitive is spelled in torch: one table, from which the lines of the Python function are written.
#pragma once

#include <string_view>
#include <vector>

#include "ir/op.h"
#include "understand/reference/body.h"

namespace kw::understand::reference {

struct Operand {
  Expression value;
  ir::Type type;  // in the graph; f32 where an fp8 value was widened to compute on it
};

// What the spelling of one node sees.
struct Site {
  const ir::Node& node;
  std::vector<Operand> operands;
  ir::Type type;         // that the value is to have; f32 where it is rounded to fp8 afterwards
  bool keepdim = false;  // a reduction whose result meets the reduced axis again

  const Expression& value(size_t i) const { return operands[i].value; }
};

using Spell = Expression (*)(Body&, const Site&);

struct Spelling {
  Spell spell = nullptr;
  std::string_view line_name;  // of a line that the source does not name
  // Pointwise ops: Python with {0}, {1} for the operands, on tensors and on Python's numbers.
  std::string_view tensor = {};
  Binding binding = Binding::Postfix;
  std::string_view number = {};  // empty: numbers become tensors first
  Binding number_binding = Binding::Postfix;
  // Torch's own call rounds to bf16 and f16 on the way: it is made on wider values, and the result is rounded once.
  bool widen = false;
};

const Spelling& spelling(ir::Op op);

// What torch would promote the operands to: a tensor with dimensions outweighs one without, and that a number.
ir::Type torch_promotion(const std::vector<const Expression*>& operands);
// Brings expressions into layouts that broadcast against each other; returns the layout of the result.
Layout align(Body& body, std::vector<Expression>& values);

// ---- one function per shape of spelling, by the file that holds them ----
#define KW_SPELL(name) Expression name(Body& body, const Site& site)
// pointwise.cpp
KW_SPELL(spell_pointwise);
KW_SPELL(spell_floor_div);
KW_SPELL(spell_cast);
KW_SPELL(spell_not);
KW_SPELL(spell_extremum);  // Max, Min
KW_SPELL(spell_select);
// leaf.cpp
KW_SPELL(spell_input);
KW_SPELL(spell_const);
KW_SPELL(spell_size);
KW_SPELL(spell_iota);
KW_SPELL(spell_random);
// reduction.cpp
KW_SPELL(spell_reduction);
KW_SPELL(spell_prod);
KW_SPELL(spell_any);  // Any, All
KW_SPELL(spell_arg_extremum);
KW_SPELL(spell_combine);  // Reduce, Scan
KW_SPELL(spell_cumulative);
KW_SPELL(spell_contract);
// indexed.cpp
KW_SPELL(spell_gather);
KW_SPELL(spell_scatter);
KW_SPELL(spell_segment_index);
KW_SPELL(spell_segment);
KW_SPELL(spell_sort);
KW_SPELL(spell_top_k);
// view.cpp
KW_SPELL(spell_broadcast);
KW_SPELL(spell_rename);
KW_SPELL(spell_slice);
KW_SPELL(spell_pad);
KW_SPELL(spell_concat);
KW_SPELL(spell_split);
KW_SPELL(spell_merge);
KW_SPELL(spell_window);
KW_SPELL(spell_fold);
#undef KW_SPELL

}  // namespace kw::understand::reference
