#include "schedule/beam.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/walk.h"

namespace berth::internal::schedule {
namespace {

// Work per state, in units of a few nanoseconds.
constexpr std::int64_t kWorkOfState = 100;

// How a kept state was reached.
struct Origin {
  std::uint32_t parent = 0;
  Op op = 0;
};

struct Node {
  Standing at;
  std::uint64_t hash = 0;
  Origin origin;
  std::uint32_t slot = 0;  // Index into the level's words.
};

struct Level {
  std::vector<Node> nodes;
  std::vector<Word> words;
};

bool Better(const Node& a, const Node& b, bool live_first) {
  if (live_first && a.at.live != b.at.live) return a.at.live < b.at.live;
  if (a.at.peak != b.at.peak) return a.at.peak < b.at.peak;
  if (a.at.live != b.at.live) return a.at.live < b.at.live;
  if (a.hash != b.hash) return a.hash < b.hash;
  return a.slot < b.slot;
}

// Keeps the best `width` distinct states.
void Trim(Level& level, std::size_t width, std::size_t stride, bool live_first) {
  std::sort(level.nodes.begin(), level.nodes.end(),
            [&](const Node& a, const Node& b) { return Better(a, b, live_first); });
  std::vector<Node> kept;
  kept.reserve(std::min(width, level.nodes.size()));
  std::vector<Word> words;
  words.reserve(std::min(width, level.nodes.size()) * stride);
  // Equal states have equal live bytes and hashes. The one of lowest peak comes first, but others
  // may lie between, so all kept states of the same hash are compared.
  std::vector<std::uint64_t> hashes;
  for (Node node : level.nodes) {
    if (kept.size() >= width) break;
    const Word* const state = level.words.data() + node.slot * stride;
    bool duplicate = false;
    for (std::size_t k = 0; k < kept.size() && !duplicate; ++k) {
      duplicate = hashes[k] == node.hash &&
                  std::memcmp(words.data() + k * stride, state, stride / 2 * sizeof(Word)) == 0;
    }
    if (duplicate) continue;
    node.slot = static_cast<std::uint32_t>(kept.size());
    kept.push_back(node);
    hashes.push_back(node.hash);
    words.insert(words.end(), state, state + stride);
  }
  level.nodes = std::move(kept);
  level.words = std::move(words);
}

// The order that ends at `last`, whose parents are in `origins` up to `root`.
std::vector<Op> Trace(const Walker& walker, const std::vector<Origin>& origins, Origin last,
                      std::uint32_t root, std::size_t num_ops) {
  // The path back, last operator first; then it is run again with what dominance added.
  std::vector<Op> chosen;
  for (; last.parent != root; last = origins[last.parent]) chosen.push_back(last.op);
  std::vector<Op> order;
  order.reserve(num_ops);
  std::vector<Word> state(walker.state_words());
  Standing at = walker.Start(state.data());
  walker.RunDominant(state.data(), at, &order);
  for (std::size_t k = chosen.size(); k-- > 0;) {
    order.push_back(chosen[k]);
    walker.Run(state.data(), at, chosen[k]);
    walker.RunDominant(state.data(), at, &order);
  }
  return order;
}

}  // namespace

BeamAnswer Beam(const Instance& instance, const BeamLimits& limits, Budget& budget) {
  const Walker walker(instance, limits.floor, limits.dominance);
  const std::size_t stride = walker.state_words();
  const std::size_t n = instance.num_ops;
  std::vector<Level> levels(n + 1);
  std::vector<Origin> origins;  // Of all kept states.
  std::vector<Word> scratch(stride);

  const auto add = [&](const Standing& at, Origin origin) {
    std::size_t done = 0;
    for (std::size_t k = 0; k < stride / 2; ++k) {
      done += static_cast<std::size_t>(std::popcount(scratch[k]));
    }
    Level& level = levels[done];
    const auto slot = static_cast<std::uint32_t>(level.words.size() / stride);
    level.words.insert(level.words.end(), scratch.begin(), scratch.end());
    level.nodes.push_back({at, walker.Hash(scratch.data()), origin, slot});
    if (level.nodes.size() >= 8 * limits.width + 64)
      Trim(level, limits.width, stride, limits.live_first);
  };

  std::int64_t work = 0;
  constexpr std::uint32_t kRoot = ~std::uint32_t{0};
  Standing at = walker.Start(scratch.data());
  if (at.peak > limits.limit) return {};
  walker.RunDominant(scratch.data(), at);
  add(at, {kRoot, 0});
  for (std::size_t done = 0; done < n; ++done) {
    Level level = std::move(levels[done]);
    levels[done] = {};
    Trim(level, limits.width, stride, limits.live_first);
    for (const Node& node : level.nodes) {
      if (!budget.SpendNode()) return {};
      if (work > limits.most_work) return {std::nullopt, true};
      const auto id = static_cast<std::uint32_t>(origins.size());
      origins.push_back(node.origin);
      const Word* const state = level.words.data() + node.slot * stride;
      bool stopped = false;
      ForEachBit(state + walker.words(), walker.words(), [&](std::size_t bit) {
        const Op op = static_cast<Op>(bit);
        // A wide graph has many ready operators, and their states are long.
        stopped =
            stopped || !budget.SpendWork(static_cast<std::int64_t>(kWorkOfState + 4 * stride));
        if (stopped) return;
        if (walker.StepBytes(state, node.at, op) > limits.limit) return;
        std::copy(state, state + stride, scratch.begin());
        Standing next = node.at;
        walker.Run(scratch.data(), next, op);
        const std::int64_t looks = Walker::kWorkOfLook * walker.RunDominant(scratch.data(), next);
        work += kWorkOfState + looks;
        stopped = !budget.SpendWork(looks);
        add(next, {id, op});
      });
      if (stopped) return {};
    }
  }
  Trim(levels[n], 1, stride, false);
  if (levels[n].nodes.empty()) return {};
  return {Trace(walker, origins, levels[n].nodes[0].origin, kRoot, n), false};
}

}  // namespace berth::internal::schedule
