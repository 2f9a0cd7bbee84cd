#include "baselines/telamalloc/backtracking.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace berth::internal {

Random* BacktrackRule::Restarts() { return nullptr; }

void BacktrackRule::Placed(std::span<const PathStep> /*path*/, std::int32_t /*depth*/) {}

std::string_view ToString(Feature feature) {
  static constexpr std::array<std::string_view, kNumFeatures> kNames = {
      "size",         "lifetime",          "contention", "level",      "times_in_reason",
      "times_target", "backtracks_within", "same_phase", "backtracks", "levels_up",
      "blamed",       "blamed_after"};
  return kNames[static_cast<std::size_t>(feature)];
}

void ComputeFeatures(const MajorBacktrack& stuck, std::vector<float>& rows) {
  rows.resize(stuck.points.size() * kNumFeatures);
  // Through double: the quotient of two whole numbers, rounded once to 53 and once to 24 bits.
  const auto share = [](std::int64_t part, std::int64_t of) {
    return static_cast<float>(static_cast<double>(part) /
                              static_cast<double>(std::max<std::int64_t>(of, 1)));
  };
  std::int64_t blamed_after = 0;
  for (std::size_t k = stuck.points.size(); k > 0; --k) {
    const BacktrackPoint& point = stuck.points[k - 1];
    float* const row = rows.data() + (k - 1) * kNumFeatures;
    const auto set = [&](Feature feature, float value) {
      row[static_cast<std::size_t>(feature)] = value;
    };
    const auto count = [&](Feature feature, std::int64_t value) {
      set(feature, static_cast<float>(value));
    };
    set(Feature::kSize, share(point.size, stuck.capacity));
    set(Feature::kLifetime, share(point.lifetime, stuck.time));
    set(Feature::kContention, share(point.contention, stuck.capacity));
    count(Feature::kLevel, point.level);
    count(Feature::kTimesInReason, point.times_in_reason);
    count(Feature::kTimesTarget, point.times_target);
    count(Feature::kBacktracksWithin, point.backtracks_within);
    count(Feature::kSamePhase, point.same_phase ? 1 : 0);
    count(Feature::kBacktracks, stuck.backtracks);
    count(Feature::kLevelsUp, stuck.depth - point.level);
    count(Feature::kBlamed, point.is_blamed ? 1 : 0);
    count(Feature::kBlamedAfter, blamed_after);
    if (point.is_blamed) ++blamed_after;
  }
}

void AddTopsOfRanges(std::int32_t depth, std::vector<std::int32_t>& levels) {
  const std::size_t given = levels.size();
  std::size_t k = 0;
  std::int64_t last = 4;
  for (std::int64_t first = 0; first < depth; first = last + 1, last = last == 4 ? 8 : 2 * last) {
    while (k < given && levels[k] < first) ++k;
    if (k == given || levels[k] > last) levels.push_back(static_cast<std::int32_t>(first));
  }
  std::inplace_merge(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(given),
                     levels.end());
}

}  // namespace berth::internal
