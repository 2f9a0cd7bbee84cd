// Random instances of a search, and what is true of them, by enumerating all sets of operators.
#ifndef BERTH_TESTS_SCHEDULE_BRUTE_H_
#define BERTH_TESTS_SCHEDULE_BRUTE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/random.h"
#include "schedule/instance.h"

namespace berth::internal::schedule {

inline constexpr Bytes kNone = std::numeric_limits<Bytes>::max();

// Up to 9 operators numbered in a valid order; buffers with one creator.
inline Instance RandomInstance(std::uint64_t seed) {
  Random random(seed);
  const auto n = static_cast<std::size_t>(random.Uniform(2, 9));
  std::vector<std::pair<Op, Op>> edges;
  std::vector<FlowBuffer> buffers;
  for (Op v = 0; v < n; ++v) {
    for (Op u = 0; u < v; ++u) {
      if (random.Chance(0.15)) edges.emplace_back(u, v);
    }
    for (std::int64_t k = random.Uniform(0, 2); k > 0; --k) {
      FlowBuffer buffer{random.Uniform(1, 20), false, random.Chance(0.1), {v}, {}};
      for (Op w = v + 1; w < n; ++w) {
        if (!random.Chance(0.3)) continue;
        buffer.consumers.push_back(w);
        edges.emplace_back(v, w);
      }
      if (buffer.consumers.empty()) buffer.consumers = {v};
      buffers.push_back(std::move(buffer));
    }
  }
  if (random.Chance(0.3)) {
    buffers.push_back({random.Uniform(1, 20), true, false, {}, {static_cast<Op>(n - 1)}});
  }
  return MakeInstance(n, random.Uniform(0, 3), edges, std::move(buffers));
}

// Every property of an instance, by enumerating all downsets.
struct Brute {
  explicit Brute(const Instance& instance)
      : n(instance.num_ops), is_downset(std::size_t{1} << n), live(std::size_t{1} << n) {
    for (std::uint32_t s = 0; s < is_downset.size(); ++s) {
      is_downset[s] = true;
      for (Op v = 0; v < n; ++v) {
        for (const Op p : instance.predecessors[v]) {
          if ((s >> v & 1) != 0 && (s >> p & 1) == 0) is_downset[s] = false;
        }
      }
      live[s] = instance.base;
      for (const FlowBuffer& buffer : instance.buffers) {
        if (Made(buffer, s) && Needed(buffer, s)) live[s] += buffer.bytes;
      }
    }
    step.assign(n, std::vector<Bytes>(is_downset.size(), kNone));
    for (Op v = 0; v < n; ++v) {
      for (std::uint32_t s = 0; s < is_downset.size(); ++s) {
        const std::uint32_t after = s | std::uint32_t{1} << v;
        if (!is_downset[s] || after == s || !is_downset[after]) continue;
        step[v][s] = instance.base;
        for (const FlowBuffer& buffer : instance.buffers) {
          if (Made(buffer, after) && Needed(buffer, s)) step[v][s] += buffer.bytes;
        }
      }
    }
  }
  static bool Made(const FlowBuffer& buffer, std::uint32_t s) {
    if (buffer.from_start) return true;
    return std::any_of(buffer.creators.begin(), buffer.creators.end(),
                       [&](Op c) { return (s >> c & 1) != 0; });
  }
  static bool Needed(const FlowBuffer& buffer, std::uint32_t s) {
    if (buffer.to_end) return true;
    return std::any_of(buffer.consumers.begin(), buffer.consumers.end(),
                       [&](Op k) { return (s >> k & 1) == 0; });
  }
  // The least step of v over the downsets with `inside` and without `outside` (-1: any).
  [[nodiscard]] Bytes LeastStep(Op v, int inside, int outside) const {
    Bytes least = kNone;
    for (std::uint32_t s = 0; s < is_downset.size(); ++s) {
      if (inside >= 0 && (s >> inside & 1) == 0) continue;
      if (outside >= 0 && (s >> outside & 1) != 0) continue;
      least = std::min(least, step[v][s]);
    }
    return least;
  }
  [[nodiscard]] Bytes LeastPeak() const {
    std::vector<Bytes> peak(is_downset.size(), kNone);
    peak[0] = live[0];
    for (std::uint32_t s = 0; s < peak.size(); ++s) {
      if (peak[s] == kNone) continue;
      for (Op v = 0; v < n; ++v) {
        if (step[v][s] == kNone) continue;
        Bytes& next = peak[s | std::uint32_t{1} << v];
        next = std::min(next, std::max(peak[s], step[v][s]));
      }
    }
    return peak.back();
  }

  std::size_t n;
  std::vector<bool> is_downset;
  std::vector<Bytes> live;
  std::vector<std::vector<Bytes>> step;
};

inline std::vector<Op> Program(std::size_t n) {
  std::vector<Op> order(n);
  std::iota(order.begin(), order.end(), Op{0});
  return order;
}

}  // namespace berth::internal::schedule

#endif  // BERTH_TESTS_SCHEDULE_BRUTE_H_
