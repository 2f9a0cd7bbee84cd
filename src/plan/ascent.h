// plan/ascent.h -- multipliers of a Lagrangian relaxation, made better by subgradients (Held, Wolfe and Crowder,
// Mathematical Programming 6, 1974).
#ifndef BERTH_PLAN_ASCENT_H_
#define BERTH_PLAN_ASCENT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "berth/budget.h"

namespace berth::internal::plan {

struct Multiplier {
  std::int64_t value = 0;  // At first, and at the end.
  double unit = 1;         // About how large it will be: steps are in these.
  double most = 1e15;      // It is from 0 to this.
};

// Changes the multipliers until the bound is `upper`, no round helps any more, or too many cells were visited.
// The best ones stay set. Returns their bound.
//   Relaxation::Set(multipliers): the bound with these, at least 0;
//   Relaxation::FindExcess(excess): by multiplier, what the solution of that bound uses beyond what there is.
template <typename Relaxation>
std::int64_t Ascend(Relaxation& relaxation, std::vector<Multiplier>& multipliers,
                    std::int64_t upper, std::size_t cells, Budget& budget) {
  constexpr int kRounds = 400;
  constexpr int kPatience = 12;  // Rounds without a better bound before steps get shorter.
  constexpr double kShortest = 1e-4;
  constexpr std::size_t kMostWork = 150'000'000;  // Cells visited.
  std::vector<double> exact;
  exact.reserve(multipliers.size());
  for (const Multiplier& each : multipliers) exact.push_back(static_cast<double>(each.value));
  std::vector<double> excess(exact.size(), 0);
  std::int64_t value = relaxation.Set(multipliers);
  std::int64_t bound = value;
  std::vector<Multiplier> best = multipliers;
  double length = 1;
  int failed = 0;
  for (int round = 0; round < kRounds && bound < upper && length > kShortest; ++round) {
    if (budget.TimeIsUp() || static_cast<std::size_t>(round) * cells > kMostWork) break;
    relaxation.FindExcess(excess);
    double norm = 0;
    for (std::size_t i = 0; i < excess.size(); ++i) {
      const Multiplier& each = multipliers[i];
      excess[i] *= each.unit;
      const bool at_end = excess[i] < 0 ? exact[i] <= 0 : exact[i] >= each.most;
      if (at_end) excess[i] = 0;
      norm += excess[i] * excess[i];
    }
    if (norm <= 0) break;
    const double step = length * static_cast<double>(upper - value) / norm;
    for (std::size_t i = 0; i < excess.size(); ++i) {
      Multiplier& each = multipliers[i];
      exact[i] = std::clamp(exact[i] + step * each.unit * excess[i], 0.0, each.most);
      each.value = static_cast<std::int64_t>(exact[i]);
    }
    value = relaxation.Set(multipliers);
    if (value > bound) {
      bound = value;
      best = multipliers;
      failed = 0;
    } else if (++failed == kPatience) {
      failed = 0;
      length /= 2;
    }
  }
  multipliers = std::move(best);
  return relaxation.Set(multipliers);
}

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_ASCENT_H_
