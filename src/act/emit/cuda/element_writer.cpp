#include "act/emit/cuda/element_writer.h"

namespace kw::act::cuda {
namespace {

constexpr std::string_view kFile = "templates/cuda/elements.cu";

}  // namespace

Level ElementWriter::level_of(const Axes& axes) const {
  if (axes.empty()) return Level::Point;
  return has(axes, nest_.inner) ? Level::Element : Level::Vector;
}

Lines ElementWriter::kernel() {
  if (nest_.all().size() > 1) first_ = names_.fresh("first_" + names_.variable(nest_.inner));
  const Parts parts = this->parts();
  for (const Value& value : kernel_.values)
    if (level_of(value.axes) == Level::Element) text_.work += instructions(value);
  text_.held = static_cast<int>(held_.size());
  Lines out = by_vectors(parts);
  if (plan_.accumulates || nest_.all().size() < 2 || text_.vectors.empty()) return out;
  text_.by_rows = text_.function + "_by_rows";
  text_.ragged = stored_alike_ && like_ && in_order(like_->second);
  out.line("");
  out.append(by_rows(parts));
  return out;
}

ElementWriter::Parts ElementWriter::parts() {
  Parts out;
  values_.open(Level::Point, &out.setup);
  Statements statements;
  std::vector<ValueId> stored;
  std::vector<Store> stores;
  std::vector<Accumulate> sums;
  for (const Stage& stage : kernel_.stages) {
    for (const Store& s : stage.stores) stores.push_back(s);
    for (const Store& s : stage.after_stores) stores.push_back(s);
    for (const Accumulate& s : stage.accumulates) sums.push_back(s);
  }
  for (const Store& s : stores)
    if (run_of(s.at, nest_.inner).neighbours && is_large(s.at) && !like_) like_ = {s.buffer, s.at};
  for (const Store& s : stores) {
    statements.push_back({s.value});
    stored.push_back(s.value);
  }
  for (const Accumulate& s : sums) statements.push_back({s.value});
  define(out.body, statements, stored);
  for (const Accumulate& s : sums) add_vectors(s, out.body);
  for (const Store& s : stores) store(s, out.body);
  finish(out.body);
  for (const Held& held : held_) {
    const std::string vector = lies_alike(held.buffer, held.at) ? "kw::load_piece<kVector>(" + held.address + ", whole)"
                                                                : beside(held.buffer, held.at);
    out.loads.line(held.name + "[v] = " + vector + ";");
  }
  out.held = held_vectors();
  return out;
}

Lines ElementWriter::by_vectors(const Parts& parts) {
  const Axes axes = nest_.all();
  Lines position;
  position.line("const Index element = vector * kVector;");
  if (axes.size() > 1) position.append(positions("element", axes, true));
  Lines declared = parts.held, kept;
  Lines again = used(position, parts.body.all());
  if (!parts.loads.empty()) again = used(keep(again, declared, kept), parts.body.all());
  Lines fetch = used(position, {&parts.loads, &kept});
  fetch.append(parts.loads);
  fetch.append(kept);
  const bool summed = plan_.accumulates;
  Skeleton skeleton = Skeleton::load(kFile, summed ? "summed_elements" : "elements");
  skeleton.name(summed ? "summed_kernel" : "kernel", text_.function)
      .list("parameters", parameter_list())
      .statements("setup", parts.setup)
      .expression("elements", parenthesised(names_.product(axes)))
      .statements("tiles", declared)
      .statements("fetch", fetch)
      .statements("position", again)
      .statements("vector", parts.body.vector)
      .statements("body", parts.body.element)
      .statements("stores", parts.body.stores);
  if (summed) skeleton.statements("shared", shared_).statements("sums", sums_).statements("finish", finish_);
  return skeleton.fill();
}

// Positions that took a division to find are known for every vector from when it was read: found again, they would
// cost as much as several elements do. What the later loop then says in the place of their definitions.
Lines ElementWriter::keep(const Lines& definitions, Lines& declared, Lines& kept) {
  Lines out;
  for (const std::string& line : definitions.all()) {
    const std::string name = line.substr(12, line.find(" =") - 12);  // const Index NAME = …
    if (name == "element") {
      out.line(line);
      continue;
    }
    const std::string held = names_.fresh(name + "_v");
    declared.line("Index " + held + "[kVectors];");
    kept.line(held + "[v] = " + name + ";");
    out.line("const Index " + name + " = " + held + "[v];");
  }
  return out;
}

Lines ElementWriter::by_rows(const Parts& parts) {
  Lines edges;
  edges.line(edges_of({nest_.inner}, "start + kw::thread()"));
  std::vector<const Lines*> users = parts.body.all();
  users.insert(users.end(), {&parts.loads, &edges});
  Lines place = used(positions("point", nest_.parallel, false), users);
  place.append(edges);
  return Skeleton::load(kFile, "row_elements")
      .name("row_kernel", text_.by_rows)
      .list("parameters", parameter_list())
      .statements("setup", parts.setup)
      .expression("length", names_.size(nest_.inner))
      .statements("place", place)
      .statements("tiles", parts.held)
      .name("first", first_)
      .statements("fetch", parts.loads)
      .statements("vector", parts.body.vector)
      .statements("body", parts.body.element)
      .statements("stores", parts.body.stores)
      .fill();
}

}  // namespace kw::act::cuda
