#include "ir/max_flow.h"

#include <algorithm>

#include "base/result.h"

namespace kw::ir {

void MaxFlow::edge(int from, int to, int64_t capacity) {
  out_[static_cast<size_t>(from)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({to, capacity});
  out_[static_cast<size_t>(to)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({from, 0});
}

bool MaxFlow::level_from(int source, int sink) {
  level_.assign(out_.size(), -1);
  level_[static_cast<size_t>(source)] = 0;
  std::vector<int> queue{source};
  for (size_t head = 0; head < queue.size(); ++head) {
    size_t at = static_cast<size_t>(queue[head]);
    for (int e : out_[at]) {
      const Edge& edge = edges_[static_cast<size_t>(e)];
      if (edge.left == 0 || level_[static_cast<size_t>(edge.to)] >= 0) continue;
      level_[static_cast<size_t>(edge.to)] = level_[at] + 1;
      queue.push_back(edge.to);
    }
  }
  return level_[static_cast<size_t>(sink)] >= 0;
}

// One augmenting path along the levels, found without recursion: graphs are as deep as they are long.
int64_t MaxFlow::push(int source, int sink) {
  std::vector<int> path;
  int at = source;
  while (at != sink) {
    size_t v = static_cast<size_t>(at);
    bool advanced = false;
    for (; next_[v] < out_[v].size(); ++next_[v]) {
      int e = out_[v][next_[v]];
      const Edge& edge = edges_[static_cast<size_t>(e)];
      if (edge.left == 0 || level_[static_cast<size_t>(edge.to)] != level_[v] + 1) continue;
      path.push_back(e);
      at = edge.to;
      advanced = true;
      break;
    }
    if (advanced) continue;
    if (path.empty()) return 0;
    at = edges_[static_cast<size_t>(path.back() ^ 1)].to;
    path.pop_back();
    ++next_[static_cast<size_t>(at)];
  }
  int64_t flow = kUnlimited;
  for (int e : path) flow = std::min(flow, edges_[static_cast<size_t>(e)].left);
  for (int e : path) {
    edges_[static_cast<size_t>(e)].left -= flow;
    edges_[static_cast<size_t>(e ^ 1)].left += flow;
  }
  return flow;
}

int64_t MaxFlow::run(int source, int sink) {
  int64_t total = 0;
  while (level_from(source, sink)) {
    next_.assign(out_.size(), 0);
    while (int64_t flow = push(source, sink)) {
      KW_ASSERT(flow < kUnlimited, "a path of unlimited edges leads from the source to the sink");
      total += flow;
    }
  }
  mark_sink_side(sink);
  return total;
}

void MaxFlow::mark_sink_side(int sink) {
  reaches_sink_.assign(out_.size(), false);
  reaches_sink_[static_cast<size_t>(sink)] = true;
  std::vector<int> queue{sink};
  for (size_t head = 0; head < queue.size(); ++head) {
    for (int e : out_[static_cast<size_t>(queue[head])]) {
      const Edge& backward = edges_[static_cast<size_t>(e ^ 1)];  // into this vertex
      size_t from = static_cast<size_t>(edges_[static_cast<size_t>(e)].to);
      if (backward.left == 0 || reaches_sink_[from]) continue;
      reaches_sink_[from] = true;
      queue.push_back(static_cast<int>(from));
    }
  }
}

}  // namespace kw::ir
