#include "act/emit/cuda/entry_writer.h"

namespace kw::act::cuda {

EntryText ElementEntries::run() {
  const bool summed = text_.plan.accumulates;
  const std::string n = sizes_.product(text_.plan.nest.all());
  const std::string per_thread = number(summed ? p_.whole_elements : p_.element_elements);
  auto launch = [&](Variant& v, const std::string& length) {
    v.most_threads = p_.element_threads;
    v.block = number(p_.element_threads);
    const std::string each = length == "1" ? "4" : per_thread;
    v.arguments = {length == "1" ? "1" : vector_constant(), each};
    v.grid = summed ? workers_.most : "ceil_div(" + n + ", " + number(p_.element_threads) + "*" + each + ")";
  };
  const bool flat = flat_when_dense();
  // A block has a share of a row, so that most rows are one share.
  auto by_rows = [&](Variant& v, const std::string& vector, const std::string& each) {
    v.function = text_.by_rows;
    v.dense = v.unit = true;
    if (v.parts == 1)
      aligned(v);
    else
      partly_aligned(v);
    v.guards.push_back(short_index(n));
    const std::string length = bracket(sizes_.inner(true));
    v.most_threads = p_.element_threads;
    v.block = "min(" + number(p_.element_threads) + ", 32*max(1, ceil_div(" + length + ", " + each + "*32)))";
    v.arguments = {vector, each, v.ragged ? "true" : "false"};
    v.grid = "ceil_div(" + n + ", max(1, " + sizes_.inner(true) + "))*ceil_div(" + length + ", " + each + "*" +
             v.block + ")";
  };
  if (!text_.vectors.empty()) {
    Variant v{.suffix = "",
              .why = flat ? "Tensors without gaps, all in the same order: one run of vectors."
                          : "Vectors along the innermost axis."};
    v.dense = v.unit = true;
    v.wide_index = flat;
    v.has_rest = flat && !summed && !text_.sizes.empty() && text_.sizes.back().axis == text_.plan.nest.inner &&
                 knows_no_position();
    if (flat)
      for (BufferId id : text_.vectors) v.guards.push_back("starts(" + buffer(id).name + ", 16)");
    else
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
  } else if (!text_.by_rows.empty()) {
    for (int64_t parts : {2, 4}) {
      if (is_mixed()) continue;
      Variant v{.suffix = parts == 2 ? "_halves" : "_quarters",
                .why = parts == 2 ? "Rows of whole halves of vectors." : "Rows of whole quarters of vectors."};
      v.parts = parts;
      by_rows(v, vector_constant(parts), per_thread);
      write(v);
    }
    if (text_.ragged) {
      Variant v{.suffix = "_ragged", .why = "Rows that begin anywhere: vectors of memory, of which rows have parts."};
      v.ragged = true;
      by_rows(v, vector_constant(), per_thread);
      write(v);
    } else {
      Variant v{.suffix = "_narrow", .why = "Rows that begin anywhere, and not alike: an element at a time."};
      by_rows(v, "1", number(p_.narrow_elements));
      v.guards = {short_index(n)};
      write(v);
    }
  }
  for (bool wide : {false, true}) {
    Variant v{.suffix = wide ? "_large" : "_strided",
              .why = wide ? "More elements than an int counts." : "Any strides."};
    v.wide_index = wide;
    if (!wide) v.guards.push_back(short_index(n));
    launch(v, "1");
    write(v);
  }
  return std::move(out_);
}

}  // namespace kw::act::cuda
