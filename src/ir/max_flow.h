// Maximum flow in a directed network (Dinic), for the minimum cut that it proves.
//
//   MaxFlow net(3);
//   net.edge(0, 1, 5);
//   net.edge(1, 2, 3);
//   net.run(0, 2);            // 3
//   net.reaches_sink(1);      // false: the cut is the edge 1 → 2
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kw::ir {

class MaxFlow {
 public:
  // Of an edge that no finite cut contains.
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;

  explicit MaxFlow(int vertices) : out_(static_cast<std::size_t>(vertices)) {}
  void edge(int from, int to, int64_t capacity);
  int64_t run(int source, int sink);
  // After run: whether flow could still be pushed from the vertex to the sink. The edges from a vertex that does not to
  // one that does are the minimum cut nearest the sink.
  bool reaches_sink(int vertex) const { return reaches_sink_[static_cast<std::size_t>(vertex)]; }

 private:
  struct Edge {
    int to;
    int64_t left;  // capacity not used yet; the edge at index ^ 1 is its reverse
  };
  bool level_from(int source, int sink);
  int64_t push(int source, int sink);
  void mark_sink_side(int sink);

  std::vector<Edge> edges_;
  std::vector<std::vector<int>> out_;  // edge indices by vertex
  std::vector<int> level_;
  std::vector<std::size_t> next_;
  std::vector<bool> reaches_sink_;
};

}  // namespace kw::ir
