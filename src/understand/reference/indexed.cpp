#include <algorithm>

#include "understand/reference/spelling.h"

namespace kw::understand::reference {

using ir::AxisId;
using ir::DType;
using ir::kUnit;
using ir::Op;
using ir::Type;

namespace {

// "[:, index]": an index at one position; what follows it needs no colons.
std::string indexed_at(int position, size_t rank, const std::string& index) {
  std::string out;
  if (position + 1 == static_cast<int>(rank) && rank > 2) return "[..., " + index + "]";
  for (int i = 0; i < position; ++i) out += ":, ";
  return "[" + out + index + "]";
}

Expression as_index(Body& body, Expression index) {
  return index.number ? index : body.cast(std::move(index), Type(DType::I64));
}

// Several dimensions at the end taken as one: ".flatten(1)"; for none a unit is added.
std::string flattened_end(size_t count, size_t rank) {
  if (count == 1) return "";
  return count == 0 ? "[..., None]" : ".flatten(" + std::to_string(rank - count) + ")";
}

}  // namespace

Expression spell_gather(Body& body, const Site& site) {
  AxisId axis = site.node.as<ir::AxisList>().axes[0];
  Expression data = site.value(0), index = as_index(body, site.value(1));
  // Constant along the axis: there is nothing to pick. An index out of range would still be an error in the graph.
  if (data.number || !holds(data.dims, axis)) data = body.with_axes(std::move(data), {axis});
  int at = position(data.dims, axis);
  if (index.number) {
    Layout dims = data.dims;
    dims.erase(dims.begin() + at);
    return {data.within(Binding::Postfix) + indexed_at(at, data.dims.size(), index.text), Binding::Postfix, dims,
            data.type, false};
  }

  Layout batch, kept, picked;  // shared; of the data alone; of the index alone
  for (AxisId a : without_units(data.dims))
    if (a != axis) (holds(index.dims, a) ? batch : kept).push_back(a);
  for (AxisId a : without_units(index.dims))
    if (a == axis || !holds(data.dims, a)) picked.push_back(a);
  if (batch.empty()) {
    index = body.arranged(index, picked);
    Layout dims = data.dims;
    dims.erase(dims.begin() + at);
    dims.insert(dims.begin() + at, picked.begin(), picked.end());
    return {data.within(Binding::Postfix) + indexed_at(at, data.dims.size(), index.text), Binding::Postfix, dims,
            data.type, false};
  }

  // take_along_dim broadcasts data [batch, kept, axis] and index [batch, 1, picked] against each other.
  Layout rest = without_units(data.dims);
  std::erase(rest, axis);
  Layout data_dims = rest, index_dims, dims = rest;
  data_dims.push_back(axis);
  for (AxisId a : rest) index_dims.push_back(holds(index.dims, a) ? a : kUnit);
  index_dims.insert(index_dims.end(), picked.begin(), picked.end());
  dims.insert(dims.end(), picked.begin(), picked.end());
  data = body.arranged(std::move(data), data_dims);
  index = body.arranged(std::move(index), index_dims);
  std::string text = "torch.take_along_dim(" + data.text + ", " + index.within(Binding::Postfix) +
                     flattened_end(picked.size(), index_dims.size()) + ", dim=-1)";
  if (picked.empty()) text += ".squeeze(-1)";
  if (picked.size() > 1) {
    std::string sizes;
    for (AxisId a : picked) sizes += (sizes.empty() ? "" : ", ") + body.axis_size(a);
    text += ".unflatten(-1, (" + sizes + "))";
  }
  return {text, Binding::Postfix, dims, data.type, false};
}

Expression spell_scatter(Body& body, const Site& site) {
  AxisId axis = site.node.as<ir::AxisList>().axes[0];
  bool add = site.node.op == Op::ScatterAdd;
  Type type = held(site.type);
  Expression base = body.cast(body.with_axes(site.value(0), {axis}), type);
  Expression index = body.tensor(as_index(body, site.value(1)), Type(DType::I64));
  Expression value = body.cast(site.value(2), type);

  Layout result = without_units(base.dims);
  for (AxisId a : site.node.axes)
    if (!holds(result, a)) result.insert(result.begin(), a);
  Layout rest = result;
  std::erase(rest, axis);
  Layout scattered;  // what is scattered into the axis, also where the values are constant along it
  for (size_t i : {1, 2})
    for (AxisId a : body.graph[site.node.args[i]].axes)
      if (!holds(rest, a) && !holds(scattered, a)) scattered.push_back(a);
  std::sort(scattered.begin(), scattered.end());  // of equal indices the last in this order wins

  // One index for whole rows of the base.
  if (add && scattered.size() == 1 && without_units(index.dims) == scattered) {
    Layout value_dims = result;
    value_dims[static_cast<size_t>(position(result, axis))] = scattered[0];
    base = body.arranged(std::move(base), result, true);
    index = body.arranged(std::move(index), scattered);
    value = body.arranged(std::move(value), value_dims, true);
    std::string dim = dim_text(position(result, axis), result.size());
    return {base.within(Binding::Postfix) + ".index_add(" + dim + ", " + index.text + ", " + value.text + ")",
            Binding::Postfix, result, type, false};
  }

  Layout dims = rest, source = rest;
  dims.push_back(axis);
  source.insert(source.end(), scattered.begin(), scattered.end());
  base = body.arranged(std::move(base), dims, true);
  std::string tail = flattened_end(scattered.size(), source.size());
  index = body.arranged(std::move(index), source, true);
  value = body.arranged(std::move(value), source, true);
  return {base.within(Binding::Postfix) + (add ? ".scatter_add(-1, " : ".scatter(-1, ") +
              index.within(Binding::Postfix) + tail + ", " + value.within(Binding::Postfix) + tail + ")",
          Binding::Postfix, dims, type, false};
}

Expression spell_segment_index(Body& body, const Site& site) {
  const ir::SegmentAttr& attr = site.node.as<ir::SegmentAttr>();
  Expression offsets = body.with_axes(site.value(0), {attr.offsets});
  Layout dims = without_units(offsets.dims);
  std::erase(dims, attr.offsets);
  dims.push_back(attr.offsets);
  offsets = body.arranged(std::move(offsets), dims);
  dims.back() = attr.rows;
  return {body.local("segment_index") + "(" + offsets.text + ", " + body.axis_size(attr.rows) + ")", Binding::Postfix,
          dims, Type(DType::I64), false};
}

Expression spell_segment(Body& body, const Site& site) {
  const ir::SegmentAttr& attr = site.node.as<ir::SegmentAttr>();
  Expression x = body.with_axes(site.value(0), {attr.rows}), offsets = body.with_axes(site.value(1), {attr.offsets});
  Layout batch = without_units(offsets.dims);
  std::erase(batch, attr.offsets);
  Layout others;
  for (AxisId a : without_units(x.dims))
    if (a != attr.rows && !holds(batch, a)) others.push_back(a);
  // [batch, rows, others] and [batch, offsets]
  Layout dims = batch, offset_dims = batch;
  offset_dims.push_back(attr.offsets);
  dims.push_back(attr.rows);
  dims.insert(dims.end(), others.begin(), others.end());
  x = body.arranged(std::move(x), dims, true);
  offsets = body.arranged(std::move(offsets), offset_dims);
  std::string kind = site.node.op == Op::SegmentSum ? "sum" : site.node.op == Op::SegmentMax ? "amax" : "amin";
  dims[batch.size()] = attr.segments;
  return {body.local("segment_reduce") + "(" + x.text + ", " + offsets.text + ", \"" + kind + "\")", Binding::Postfix,
          dims, held(site.type), false};
}

Expression spell_sort(Body& body, const Site& site) {
  const ir::SortAttr& attr = site.node.as<ir::SortAttr>();
  Expression x = body.with_axes(site.value(0), {attr.axis});
  std::string text = x.within(Binding::Postfix) + ".sort(dim=" + dim_text(position(x.dims, attr.axis), x.dims.size()) +
                     (attr.descending ? ", descending=True" : "") + ", stable=True)" +
                     (site.node.op == Op::Sort ? ".values" : ".indices");
  return {text, Binding::Postfix, x.dims, held(site.type), false};
}

// torch.topk may return any of equal values; a stable sort returns the first.
Expression spell_top_k(Body& body, const Site& site) {
  const ir::TopKAttr& attr = site.node.as<ir::TopKAttr>();
  Expression x = body.with_axes(site.value(0), {attr.axis});
  int at = position(x.dims, attr.axis);
  std::string text = x.within(Binding::Postfix) + ".sort(dim=" + dim_text(at, x.dims.size()) +
                     (attr.largest ? ", descending=True" : "") + ", stable=True)" +
                     (site.node.op == Op::TopK ? ".values" : ".indices") +
                     indexed_at(at, x.dims.size(), ":" + body.axis_size(attr.to));
  x.dims[static_cast<size_t>(at)] = attr.to;
  return {text, Binding::Postfix, x.dims, held(site.type), false};
}

}  // namespace kw::understand::reference
