#include "baselines/telamalloc/policy.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace berth::internal {
namespace {

// How far the threshold of phases falls each time, in percent of the capacity.
constexpr std::int64_t kThresholdStep = 10;

constexpr double kMostNoise = 0.5;

std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace

Policy::Policy(const Instance& instance, const TelaMallocOptions& options)
    : instance_(instance), options_(options) {
  const std::size_t n = instance.num_buffers();
  contention_.assign(n, 0);
  for (const BufferIndex b : instance.buffers()) {
    for (const Piece& piece : instance.pieces_of(b)) {
      for (SectionIndex s = piece.first; s < piece.last; ++s) {
        contention_[b.position()] = std::max(contention_[b.position()], instance.section_load[s]);
      }
    }
  }
  const auto lifetime = [&](std::int32_t b) {
    return instance.end[BufferIndex(b)] - instance.start[BufferIndex(b)];
  };
  const auto size = [&](std::int32_t b) { return instance.size[BufferIndex(b)]; };
  const auto area = [&](std::int32_t b) { return Measure(b, 2); };
  std::vector<std::int32_t> order(n);
  const auto rank_by = [&](std::size_t k, auto key) {
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::int32_t x, std::int32_t y) { return key(x, y); });
    rank_[k].resize(n);
    for (std::size_t r = 0; r < n; ++r) rank_[k][At(order[r])] = static_cast<std::int32_t>(r);
  };
  rank_by(0, [&](std::int32_t x, std::int32_t y) {
    return std::tuple(-lifetime(x), -size(x), x) < std::tuple(-lifetime(y), -size(y), y);
  });
  rank_by(1, [&](std::int32_t x, std::int32_t y) {
    return std::tuple(-size(x), -lifetime(x), x) < std::tuple(-size(y), -lifetime(y), y);
  });
  rank_by(2, [&](std::int32_t x, std::int32_t y) {
    return std::tuple(-area(x), -size(x), x) < std::tuple(-area(y), -size(y), y);
  });
  MakeParts();
}

// The key of an order. Size times lifetime need not fit in 64 bits; it is rounded the same way
// on every machine.
double Policy::Measure(Block b, std::size_t order) const {
  const BufferIndex at(b);
  const auto lifetime = static_cast<double>(instance_.end[at] - instance_.start[at]);
  const auto size = static_cast<double>(instance_.size[at]);
  return order == 0 ? lifetime : order == 1 ? size : size * lifetime;
}

void Policy::MakeParts() {
  blocks_.clear();
  for (const BufferIndex b : instance_.buffers()) blocks_.push_back(b.value());
  part_begin_ = {0};
  const auto n = static_cast<std::int32_t>(blocks_.size());
  if (!options_.split) {
    part_begin_.push_back(n);
    return;
  }
  std::sort(blocks_.begin(), blocks_.end(), [&](Block x, Block y) {
    return std::pair(instance_.first[BufferIndex(x)], x) <
           std::pair(instance_.first[BufferIndex(y)], y);
  });
  SectionIndex reach;
  for (std::int32_t k = 0; k < n; ++k) {
    const BufferIndex b(blocks_[At(k)]);
    // Nothing before crosses the border to here.
    if (k > part_begin_.back() && instance_.first[b] >= reach) part_begin_.push_back(k);
    reach = std::max(reach, instance_.last[b]);
  }
  if (n > 0) part_begin_.push_back(n);
}

void Policy::Start(Bytes capacity) {
  capacity_ = capacity;
  low_rank_ = rank_[2];
  const std::size_t n = blocks_.size();
  is_placed_.assign(n, 0);
  phase_of_.assign(n, 0);
  placed_.clear();
  changes_.clear();
  marks_.clear();
  phases_.clear();
  part_phase_begin_ = {0};
  for (auto& order : orders_) order = blocks_;
  for (std::int32_t part = 0; part < num_parts(); ++part) {
    MakePhases(part);
    part_phase_begin_.push_back(static_cast<std::int32_t>(phases_.size()));
  }
  for (std::size_t k = 0; k < kOrders; ++k) {
    for (const Phase& phase : phases_) {
      std::sort(orders_[k].begin() + phase.begin, orders_[k].begin() + phase.end,
                [&](Block x, Block y) { return rank_[k][At(x)] < rank_[k][At(y)]; });
    }
    used_[k].clear();
    for (const Phase& phase : phases_) used_[k].push_back(phase.begin);
  }
}

// Each block belongs to the first of the falling thresholds that the load reaches where it is live,
// and there to the first such range of time.
void Policy::MakePhases(std::int32_t part) {
  const std::int32_t from = part_begin_[At(part)];
  const std::int32_t to = part_begin_[At(part) + 1];
  if (from == to) return;
  if (!options_.phases || options_.strategy != TelaMallocOptions::Strategy::kCandidates) {
    for (std::int32_t k = from; k < to; ++k) {
      phase_of_[At(blocks_[At(k)])] = static_cast<std::int32_t>(phases_.size());
    }
    phases_.push_back({from, to});
    return;
  }
  struct Grouped {
    std::int64_t threshold;  // How many steps below 100 %.
    std::int32_t range;      // The section where the range begins.
    Block block;
  };
  std::vector<Grouped> grouped;
  grouped.reserve(At(to - from));
  // What is at least (100 - step x k) percent of the capacity, rounded up.
  const auto threshold = [&](std::int64_t k) {
    const std::int64_t percent = std::max<std::int64_t>(100 - kThresholdStep * k, 0);
    return capacity_ / 100 * percent + (capacity_ % 100 * percent + 99) / 100;
  };
  for (std::int32_t k = from; k < to; ++k) {
    const Block b = blocks_[At(k)];
    std::int64_t level = 0;
    while (contention_[At(b)] < threshold(level)) ++level;
    const Bytes least = threshold(level);
    std::int32_t range = instance_.first[BufferIndex(b)].value();
    const std::int32_t last = instance_.last[BufferIndex(b)].value();
    while (range < last && instance_.section_load[SectionIndex(range)] < least) ++range;
    grouped.push_back({level, range, b});
  }
  std::sort(grouped.begin(), grouped.end(), [](const Grouped& x, const Grouped& y) {
    return std::tuple(x.threshold, x.range, x.block) < std::tuple(y.threshold, y.range, y.block);
  });
  for (std::size_t k = 0; k < grouped.size(); ++k) {
    bool same = k > 0 && grouped[k].threshold == grouped[k - 1].threshold;
    const Bytes least = threshold(grouped[k].threshold);
    for (std::int32_t s = k > 0 ? grouped[k - 1].range : 0; same && s < grouped[k].range; ++s) {
      same = instance_.section_load[SectionIndex(s)] >= least;
    }
    const auto at = from + static_cast<std::int32_t>(k);
    if (!same) phases_.push_back({at, at});
    ++phases_.back().end;
    phase_of_[At(grouped[k].block)] = static_cast<std::int32_t>(phases_.size()) - 1;
    for (auto& order : orders_) order[At(at)] = grouped[k].block;
  }
}

void Policy::BeginPart(std::int32_t part) {
  part_ = part;
  first_phase_ = part_phase_begin_[At(part)];
  num_unplaced_ = part_begin_[At(part) + 1] - part_begin_[At(part)];
  placed_.clear();
  changes_.clear();
  marks_.clear();
}

void Policy::Set(std::int32_t& where, std::int32_t value) {
  if (where == value) return;
  changes_.push_back({&where, where});
  where = value;
}

Policy::Block Policy::First(std::int32_t phase, std::size_t order) {
  std::int32_t& used = used_[order][At(phase)];
  std::int32_t k = used;
  while (k < phases_[At(phase)].end && is_placed(orders_[order][At(k)])) ++k;
  Set(used, k);
  return k < phases_[At(phase)].end ? orders_[order][At(k)] : kNoBlock;
}

std::int32_t Policy::PresentPhase(std::int32_t last_phase) {
  if (last_phase >= 0 && First(last_phase, 0) != kNoBlock) return last_phase;
  const std::int32_t end = part_phase_begin_[At(part_) + 1];
  for (std::int32_t phase = first_phase_; phase < end; ++phase) {
    if (First(phase, 0) != kNoBlock) return phase;
  }
  return -1;
}

std::array<Policy::Block, Policy::kOrders> Policy::FirstOf(std::int32_t phase) {
  std::array<Block, kOrders> blocks{};
  for (std::size_t order = 0; order < kOrders; ++order) blocks[order] = First(phase, order);
  return blocks;
}

Policy::Block Policy::Next(Cursor& cursor, std::int32_t last_phase) {
  using Strategy = TelaMallocOptions::Strategy;
  if (options_.strategy != Strategy::kCandidates) {
    const std::size_t order = options_.strategy == Strategy::kLifetime ? 0
                              : options_.strategy == Strategy::kSize   ? 1
                                                                       : 2;
    const std::int32_t phase = part_phase_begin_[At(part_)];
    (void)First(phase, order);
    cursor.next = std::max(cursor.next, used_[order][At(phase)]);
    while (cursor.next < phases_[At(phase)].end) {
      const Block b = orders_[order][At(cursor.next++)];
      if (!is_placed(b)) return b;
    }
    return kNoBlock;
  }
  const std::int32_t end = part_phase_begin_[At(part_) + 1];
  while (cursor.phase < end) {
    const std::int32_t phase = cursor.phase == kPresent ? last_phase : cursor.phase;
    const bool had_its_turn = cursor.phase != kPresent && phase == last_phase;
    if (phase >= 0 && !had_its_turn && cursor.next < static_cast<std::int32_t>(kOrders)) {
      const Block b = First(phase, At(cursor.next++));
      if (b != kNoBlock) return b;
      if (phase == first_phase_) Set(first_phase_, phase + 1);
    }
    cursor.next = 0;
    cursor.phase = std::max(cursor.phase + 1, first_phase_);
  }
  return kNoBlock;
}

Policy::Block Policy::NextLowest(const learning::Engine& engine, LowRank& after) const {
  Block best = kNoBlock;
  LowRank lowest;
  for (std::int32_t k = part_begin_[At(part_)]; k < part_begin_[At(part_) + 1]; ++k) {
    const Block b = blocks_[At(k)];
    if (is_placed(b)) continue;
    const LowRank rank{engine.lowest(b), low_rank_[At(b)]};
    if (rank > after && (best == kNoBlock || rank < lowest)) {
      best = b;
      lowest = rank;
    }
  }
  if (best != kNoBlock) after = lowest;
  return best;
}

void Policy::DisturbLowest(Random& random) {
  std::vector<std::pair<double, Block>> order;
  const auto which = static_cast<std::size_t>(random.Uniform(0, kOrders - 1));
  for (const BufferIndex b : instance_.buffers()) {
    order.emplace_back(-Measure(b.value(), which) * (1 + kMostNoise * random.Real()), b.value());
  }
  std::sort(order.begin(), order.end());
  for (std::size_t r = 0; r < order.size(); ++r) {
    low_rank_[At(order[r].second)] = static_cast<std::int32_t>(r);
  }
}

void Policy::Place(Block b) {
  marks_.push_back(changes_.size());
  placed_.push_back(b);
  is_placed_[At(b)] = 1;
  --num_unplaced_;
}

void Policy::Undo() {
  for (; changes_.size() > marks_.back(); changes_.pop_back()) {
    *changes_.back().where = changes_.back().old;
  }
  is_placed_[At(placed_.back())] = 0;
  marks_.pop_back();
  placed_.pop_back();
  ++num_unplaced_;
}

std::vector<std::vector<Policy::Block>> Policy::Phases() const {
  std::vector<std::vector<Block>> phases;
  for (const Phase& phase : phases_) {
    phases.emplace_back(orders_[0].begin() + phase.begin, orders_[0].begin() + phase.end);
    std::sort(phases.back().begin(), phases.back().end());
  }
  return phases;
}

}  // namespace berth::internal
