// Two pieces touch when an edge of one lies on an edge of the other. Edges are cut by both axes
// alike: all upper edges and all lower edges at one byte are sorted by time and merged; then all
// ends and all starts at one step, sorted by address. Disjoint rectangles touch O(n) times.
//
// Buffers are then coloured in the order of time: each takes a colour that no coloured neighbour
// has, or, should all be taken, the one that the fewest have.
#include "report/coloring.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

namespace berth::internal {
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
  return neighbors;
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
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return problem.buffers[a].start < problem.buffers[b].start;
  });
  std::vector<int> color_of(count, -1);
  std::vector<int> taken(static_cast<std::size_t>(colors));
  for (const std::size_t buffer : order) {
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

}  // namespace berth::internal
