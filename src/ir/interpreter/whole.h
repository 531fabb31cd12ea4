// The primitives that need their operands complete, one file per family.
#pragma once

#include "ir/interpreter/meaning.h"

namespace kw::ir::interpreter {

// leaves.cpp
Status whole_const(WholeCall& call);
Status whole_size_of(WholeCall& call);
Status whole_iota(WholeCall& call);
Status whole_random(WholeCall& call);
// scan.cpp
Status whole_cumsum(WholeCall& call);
Status whole_cumprod(WholeCall& call);
Status whole_cummax(WholeCall& call);
Status whole_cummin(WholeCall& call);
Status whole_cumlogsumexp(WholeCall& call);
// combine.cpp
Status whole_reduce(WholeCall& call);
Status whole_scan(WholeCall& call);
// indexed.cpp
Status whole_gather(WholeCall& call);
Status whole_scatter_add(WholeCall& call);
Status whole_scatter_set(WholeCall& call);
// segment.cpp
Status whole_segment_index(WholeCall& call);
Status whole_segment_sum(WholeCall& call);
Status whole_segment_max(WholeCall& call);
Status whole_segment_min(WholeCall& call);
// views.cpp
Status view_broadcast(ViewCall& call);
Status view_rename(ViewCall& call);
Status view_slice(ViewCall& call);
Status view_split(ViewCall& call);
Status view_merge(ViewCall& call);
Status whole_pad(WholeCall& call);
Status whole_concat(WholeCall& call);
// window.cpp
Status whole_window(WholeCall& call);
Status whole_fold(WholeCall& call);
// order.cpp
Status whole_arg_max(WholeCall& call);
Status whole_arg_min(WholeCall& call);
Status whole_sort(WholeCall& call);
Status whole_arg_sort(WholeCall& call);
Status whole_top_k(WholeCall& call);
Status whole_arg_top_k(WholeCall& call);
// contract.cpp
Status whole_contract(WholeCall& call);

}  // namespace kw::ir::interpreter
