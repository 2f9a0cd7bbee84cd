// berth/budget.h -- how long a search may go on.
#ifndef BERTH_BUDGET_H_
#define BERTH_BUDGET_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "berth/result.h"  // Checks the version of the language.

namespace [[gnu::visibility("default")]] berth {

// Three limits on a search, any of which ends it with the best answer so far:
//
//   * a time limit, in seconds of wall-clock time. Answers then depend on the machine;
//   * a node limit, in nodes of search. The answer depends on the input, the options and the seed
//     alone: the same on every machine, compiler and build type;
//   * cancellation, from any thread, also before the search starts.
//
// A default-constructed Budget never ends. A Budget is used by one call at a time; a second call
// with the same Budget goes on where the first left off. Only Cancel() and cancelled() may be
// called from other threads.
class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  Budget() = default;
  // A part of `whole`, for one of several searches that share it: ends when the whole does, or
  // after `share` (0 to 1) of the time that is left of it. Its nodes are spent of the whole, at the
  // latest when it is destroyed. The whole must outlive it and is not to be used meanwhile but for
  // Cancel() and cancelled().
  Budget(Budget& whole, double share) : whole_(&whole) {
    node_limit_ = whole.has_node_limit() ? whole.node_limit_ - whole.nodes_spent_ : node_limit_;
    if (!whole.has_time_limit()) return;
    const auto left = std::chrono::duration<double>(whole.deadline_ - Clock::now());
    SetTimeLimit(left.count() * share);
  }
  ~Budget() {
    if (whole_ != nullptr) whole_->nodes_spent_ += nodes_spent_;
  }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // Ends the search `seconds` from now. Negative counts as zero; anything past 1e9 as no limit.
  void SetTimeLimit(double seconds) {
    if (!(seconds < 1e9)) {
      deadline_ = Clock::time_point::max();
      return;
    }
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(seconds < 0 ? 0 : seconds));
  }

  // Ends the search once it has visited `nodes` nodes. Negative counts as zero.
  void SetNodeLimit(std::int64_t nodes) { node_limit_ = nodes < 0 ? 0 : nodes; }

  // Ends the search soon. Safe from any thread and from a signal handler.
  void Cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool cancelled() const noexcept {
    return cancelled_.load(std::memory_order_relaxed);
  }

  // Called about every 256 nodes, from the searching thread; for progress. May be empty.
  void SetOnPoll(std::function<void()> on_poll) { on_poll_ = std::move(on_poll); }

  // The rest is for searches.

  // Counts one node. False once any limit is reached, and from then on. Cost: a few instructions;
  // the clock is read every kPollInterval nodes.
  [[nodiscard]] bool SpendNode() {
    if (exhausted_ || nodes_spent_ >= node_limit_) {
      exhausted_ = true;
      return false;
    }
    ++nodes_spent_;
    return --until_poll_ > 0 || Poll();
  }

  // True once any limit is reached. Reads the clock.
  [[nodiscard]] bool Exhausted() { return exhausted_ || nodes_spent_ >= node_limit_ || !Poll(); }

  // True once time is up or the search was cancelled. Reads the clock; safe from any thread.
  [[nodiscard]] bool TimeIsUp() const noexcept {
    return cancelled() || (whole_ != nullptr && whole_->TimeIsUp()) ||
           (deadline_ != Clock::time_point::max() && Clock::now() >= deadline_);
  }

  [[nodiscard]] std::int64_t nodes_spent() const noexcept { return nodes_spent_; }
  [[nodiscard]] std::int64_t node_limit() const noexcept { return node_limit_; }
  [[nodiscard]] bool has_time_limit() const noexcept {
    return deadline_ != Clock::time_point::max();
  }
  [[nodiscard]] bool has_node_limit() const noexcept {
    return node_limit_ != std::numeric_limits<std::int64_t>::max();
  }

 private:
  static constexpr int kPollInterval = 256;

  bool Poll() {
    until_poll_ = kPollInterval;
    if (on_poll_) on_poll_();
    for (const Budget* whole = whole_; whole != nullptr; whole = whole->whole_) {
      if (whole->on_poll_) whole->on_poll_();
    }
    exhausted_ = exhausted_ || TimeIsUp();
    return !exhausted_;
  }

  Budget* whole_ = nullptr;  // That this is a part of.
  Clock::time_point deadline_ = Clock::time_point::max();
  std::int64_t node_limit_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t nodes_spent_ = 0;
  int until_poll_ = 1;  // The first node polls: a search cancelled before its start visits none.
  bool exhausted_ = false;
  std::function<void()> on_poll_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace berth

#endif  // BERTH_BUDGET_H_
