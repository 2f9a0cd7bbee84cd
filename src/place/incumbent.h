// place/incumbent.h -- what a search knows so far: its lowest plan, and a bound that no plan beats.
#ifndef BERTH_PLACE_INCUMBENT_H_
#define BERTH_PLACE_INCUMBENT_H_

#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/place.h"
#include "berth/problem.h"

namespace berth::internal {

class Incumbent {
 public:
  static constexpr Bytes kNoPlan = std::numeric_limits<Bytes>::max();

  // `progress` may be empty. While this lives, it is told of the budget's nodes too.
  Incumbent(const Problem& problem, Bytes lower_bound,
            std::function<void(const Progress&)> progress, Budget& budget)
      : problem_(problem),
        lower_bound_(lower_bound),
        progress_(std::move(progress)),
        budget_(budget) {
    Report();
    if (progress_) listener_.emplace(budget_, [this] { ReportNowAndThen(); });
  }
  Incumbent(const Incumbent&) = delete;
  Incumbent& operator=(const Incumbent&) = delete;

  // Keeps a valid plan if it is lower than the best one. `finder` names what found it, and must
  // outlive this.
  void Offer(std::vector<Bytes> offsets, std::string_view finder) {
    const Bytes height = Height(problem_, offsets);
    if (height >= height_) return;
    offsets_ = std::move(offsets);
    height_ = height;
    finder_ = finder;
    Report();
  }
  // No plan is lower than `bound`.
  void RaiseBound(Bytes bound) {
    if (bound <= lower_bound_) return;
    lower_bound_ = bound;
    Report();
  }

  [[nodiscard]] bool has_plan() const { return height_ != kNoPlan; }
  [[nodiscard]] bool is_optimal() const { return height_ <= lower_bound_; }
  [[nodiscard]] Bytes height() const { return height_; }  // kNoPlan without a plan.
  [[nodiscard]] Bytes lower_bound() const { return lower_bound_; }
  // As far as is known now.
  [[nodiscard]] Outcome outcome() const {
    if (has_plan() && (!problem_.capacity || height_ <= *problem_.capacity)) {
      return is_optimal() ? Outcome::kOptimal : Outcome::kFeasible;
    }
    if (problem_.capacity && lower_bound_ > *problem_.capacity) return Outcome::kInfeasible;
    return Outcome::kUnknown;
  }
  [[nodiscard]] std::string_view finder() const { return finder_; }
  [[nodiscard]] const std::vector<Bytes>* offsets() const {
    return has_plan() ? &offsets_ : nullptr;
  }

 private:
  void Report() const {
    if (!progress_) return;
    progress_({has_plan() ? std::optional<Bytes>(height_) : std::nullopt, lower_bound_,
               budget_.nodes_spent()});
  }

  void ReportNowAndThen() {
    const auto now = Budget::Clock::now();
    if (now < next_report_) return;
    next_report_ = now + std::chrono::milliseconds(100);
    Report();
  }

  const Problem& problem_;
  std::vector<Bytes> offsets_;
  Bytes height_ = kNoPlan;
  Bytes lower_bound_;
  std::string_view finder_;
  std::function<void(const Progress&)> progress_;
  Budget& budget_;
  Budget::Clock::time_point next_report_;
  std::optional<PollListener> listener_;
};

}  // namespace berth::internal

#endif  // BERTH_PLACE_INCUMBENT_H_
