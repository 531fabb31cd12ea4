// Sums over points that ride along: every worker adds to a slice of its own, which a later step sums up; or all add to
// the same one, in any order.
#include "act/emit/cuda/writer.h"

namespace kw::act::cuda {

std::string Writer::add_to(const std::string& to, const std::string& value, const std::string& before) const {
  if (program_.atomic) return "kw::add_atomically(" + to + ", " + value + ");";
  return "kw::store(" + to + ", " + before + value + ");";
}

void Writer::clear_slice(const Accumulate& sum, const std::string& worker, bool by_block) {
  if (program_.atomic) return;  // a step before the kernel does
  const std::string start = by_block ? "kw::thread()" : "0", step = by_block ? "kw::threads()" : "1";
  const std::string size = names_.product(axes_of_access(sum.at));
  sums_.line("for (Index i = " + start + "; i < " + size + "; i += " + step + ") kw::store(" + buffer(sum.buffer).name +
             ".at(" + worker + ") + i, 0);");
}

std::string Writer::total_of(const Accumulate& sum) {
  const std::string type = sum_type(sum), total = names_.fresh(buffer(sum.buffer).name + "_total");
  sums_.line("kw::Total<true, " + type + "> " + total + " = 0;");
  const std::string name = names_.fresh(buffer(sum.buffer).name + "_sum");
  const std::string parts = share(name, type, "kw::kMostWarps");
  finish_.line(type + " " + name + " = static_cast<" + type + ">(" + total + ");");
  finish_.line("kw::block_reduce(0, kw::part<kw::Sum>(" + name + ", " + parts + "));");
  finish_.line("if (kw::thread() == 0) " + add_to(address(sum.buffer, sum.at, false, slice("kw::block()")), name, ""));
  ++text_.other_sums;
  return total;
}

void Writer::add_vectors(const Accumulate& sum, Body& body) {
  const std::string total = total_of(sum), type = sum_type(sum);
  const std::string part = names_.fresh(buffer(sum.buffer).name + "_part");
  body.vector.line(type + " " + part + " = 0;");
  Lines& loop = loop_of(body, {sum.value});
  loop.line(part + " += " + values_.expressions.as(sum.value, type) + ";");
  body.stores.line(total + " += " + part + ";");
}

}  // namespace kw::act::cuda
