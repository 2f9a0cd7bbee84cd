// Two pieces touch when an edge of one lies on an edge of the other. Both axes are swept the same
// way: all upper and lower edges at one byte are sorted by time and merged, then all ends and starts
// at one step, sorted by address. Disjoint rectangles touch O(n) times.
//
// Buffers are coloured smallest last (Matula and Beck, "Smallest-last ordering and clustering and
// graph coloring algorithms", JACM 1983): the buffer with the fewest neighbours is removed until
// none is left, and colours are given in reverse order of removal, so that each buffer meets few
// coloured neighbours. Rectangles that touch along edges form a planar graph, every part of which
// has a vertex with at most five neighbours, so six colours always suffice. Gaps can split a buffer
// into several rectangles, and then nothing is guaranteed: a buffer whose neighbours use every
// colour takes the one that is used least among them.
#include "report/coloring.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>

namespace berth::internal::report {
namespace {

struct Edge {
  std::int64_t at;    // The byte of a horizontal edge, the step of a vertical one.
  std::int64_t from;  // Along the edge.
  std::int64_t to;
  std::size_t buffer;
};

using Neighbors = std::vector<std::vector<std::size_t>>;

void Connect(std::vector<Edge> ending, std::vector<Edge> beginning, Neighbors& neighbors) {
  const auto before = [](const Edge& a, const Edge& b) {
    return std::tie(a.at, a.from, a.to, a.buffer) < std::tie(b.at, b.from, b.to, b.buffer);
  };
  std::sort(ending.begin(), ending.end(), before);
  std::sort(beginning.begin(), beginning.end(), before);
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < ending.size() && j < beginning.size()) {
    const Edge& a = ending[i];
    const Edge& b = beginning[j];
    if (a.at == b.at && a.from < b.to && b.from < a.to && a.buffer != b.buffer) {
      neighbors[a.buffer].push_back(b.buffer);
      neighbors[b.buffer].push_back(a.buffer);
    }
    // Edges of one side that lie on one line are disjoint: the one that ends first is done.
    if (std::tie(a.at, a.to) < std::tie(b.at, b.to)) {
      ++i;
    } else {
      ++j;
    }
  }
}

Neighbors FindNeighbors(std::size_t count, const std::vector<DrawnPiece>& pieces) {
  std::vector<Edge> tops;
  std::vector<Edge> bottoms;
  std::vector<Edge> ends;
  std::vector<Edge> starts;
  for (const DrawnPiece& piece : pieces) {
    tops.push_back({piece.upper, piece.start, piece.end, piece.buffer});
    bottoms.push_back({piece.lower, piece.start, piece.end, piece.buffer});
    ends.push_back({piece.end, piece.lower, piece.upper, piece.buffer});
    starts.push_back({piece.start, piece.lower, piece.upper, piece.buffer});
  }
  Neighbors neighbors(count);
  Connect(std::move(tops), std::move(bottoms), neighbors);
  Connect(std::move(ends), std::move(starts), neighbors);
  for (std::vector<std::size_t>& row : neighbors) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  return neighbors;
}

std::vector<std::size_t> SmallestLast(const Neighbors& neighbors) {
  std::set<std::pair<std::size_t, std::size_t>> left;  // Neighbours left, buffer.
  std::vector<std::size_t> degree(neighbors.size());
  for (std::size_t i = 0; i < neighbors.size(); ++i) {
    degree[i] = neighbors[i].size();
    left.emplace(degree[i], i);
  }
  std::vector<std::size_t> order;
  while (!left.empty()) {
    const std::size_t smallest = left.begin()->second;
    left.erase(left.begin());
    order.push_back(smallest);
    for (const std::size_t neighbor : neighbors[smallest]) {
      if (left.erase({degree[neighbor], neighbor}) == 0) continue;
      left.emplace(--degree[neighbor], neighbor);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::uint64_t Hash(const std::string& id) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a.
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash ^ (hash >> 32);
}

}  // namespace

std::vector<int> ColorBuffers(const Problem& problem, const std::vector<DrawnPiece>& pieces,
                              int colors) {
  const std::size_t count = problem.buffers.size();
  const Neighbors neighbors = FindNeighbors(count, pieces);
  std::vector<int> color_of(count, -1);
  std::vector<int> taken(static_cast<std::size_t>(colors));
  for (const std::size_t buffer : SmallestLast(neighbors)) {
    std::fill(taken.begin(), taken.end(), 0);
    for (const std::size_t neighbor : neighbors[buffer]) {
      if (color_of[neighbor] >= 0) ++taken[static_cast<std::size_t>(color_of[neighbor])];
    }
    const int fewest = *std::min_element(taken.begin(), taken.end());
    const auto choices = std::count(taken.begin(), taken.end(), fewest);
    auto choice = Hash(problem.buffers[buffer].id) % static_cast<std::uint64_t>(choices);
    int color = 0;
    while (taken[static_cast<std::size_t>(color)] != fewest || choice-- > 0) ++color;
    color_of[buffer] = color;
  }
  return color_of;
}

}  // namespace berth::internal::report
