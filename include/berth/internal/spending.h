// berth/internal/spending.h -- what searches do with a Budget. Not for users: see berth/budget.h.
#ifndef BERTH_INTERNAL_SPENDING_H_
#define BERTH_INTERNAL_SPENDING_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace berth::internal {

// Of inputs with more operators, tensors or buffers than this, nothing more is compiled or placed
// once a search is cancelled: that alone would take longer than a search may go on.
inline constexpr std::size_t kMostAfterCancel = std::size_t{1} << 18;

class [[gnu::visibility("default")]] Spending {
 public:
  using Clock = std::chrono::steady_clock;

  Spending(const Spending&) = delete;
  Spending& operator=(const Spending&) = delete;

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

  // Counts work between nodes, in units of about a nanosecond: 8 bytes read, or one step of a loop.
  // False once time is up or the search was cancelled, whatever the nodes. So a loop that calls this
  // ends soon after either, and one that never sees it return false gives the answer that it would
  // give without it. The clock is read every kPollWork units.
  [[nodiscard]] bool SpendWork(std::int64_t units) {
    work_spent_ += units;
    if (stopped_) return false;
    until_work_poll_ -= units;
    if (until_work_poll_ > 0) return true;
    (void)Poll();
    return !stopped_;
  }

  // Ends when `leader` does by time or cancellation, too, but spends nothing of it. `leader` must
  // outlive this.
  void Follow(Spending & leader) {
    whole_ = &leader;
    follows_only_ = true;
  }
  // The same on another thread than that of `leader`, whose listeners are not called from there.
  void FollowBeside(Spending & leader) {
    Follow(leader);
    is_beside_ = true;
  }
  // Counts what `follower`, whose own spending ends here, has spent.
  void Absorb(const Spending& follower) {
    nodes_spent_ += follower.nodes_spent_;
    work_spent_ += follower.work_spent_;
  }

  // True once any limit is reached. Reads the clock.
  [[nodiscard]] bool Exhausted() { return exhausted_ || nodes_spent_ >= node_limit_ || !Poll(); }

  // True once time is up or the search was cancelled. Reads the clock; safe from any thread.
  [[nodiscard]] bool TimeIsUp() const noexcept {
    const bool up = cancelled_.load(std::memory_order_relaxed) ||
                    (whole_ != nullptr && whole_->TimeIsUp()) ||
                    (deadline_ != Clock::time_point::max() && Clock::now() >= deadline_);
    if (up) looks_after_end_.fetch_add(1, std::memory_order_relaxed);
    return up;
  }
  // How often TimeIsUp(), and so any poll of this or of a part, has found that it is. What ends soon
  // asks few times.
  [[nodiscard]] std::int64_t looks_after_end() const noexcept {
    return looks_after_end_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] std::int64_t nodes_spent() const noexcept { return nodes_spent_; }
  // What SpendWork() has counted; of parts, once they are destroyed.
  [[nodiscard]] std::int64_t work_spent() const noexcept { return work_spent_; }
  [[nodiscard]] std::int64_t node_limit() const noexcept { return node_limit_; }
  [[nodiscard]] bool has_time_limit() const noexcept {
    return deadline_ != Clock::time_point::max();
  }
  // Infinity without a time limit.
  [[nodiscard]] double seconds_left() const {
    if (!has_time_limit()) return std::numeric_limits<double>::infinity();
    return std::chrono::duration<double>(deadline_ - Clock::now()).count();
  }
  [[nodiscard]] bool has_node_limit() const noexcept { return node_limit_ != kNoNodeLimit; }

 protected:
  static constexpr std::int64_t kNoNodeLimit = std::numeric_limits<std::int64_t>::max();

  Spending() = default;
  // A part of `whole`.
  explicit Spending(Spending & whole) : whole_(&whole) {
    if (whole.has_node_limit()) node_limit_ = whole.node_limit_ - whole.nodes_spent_;
  }
  ~Spending() {
    if (whole_ == nullptr || follows_only_) return;
    whole_->nodes_spent_ += nodes_spent_;
    whole_->work_spent_ += work_spent_;
  }

  Clock::time_point deadline_ = Clock::time_point::max();
  std::int64_t node_limit_ = kNoNodeLimit;
  std::atomic<bool> cancelled_{false};

 private:
  friend class PollListener;
  friend class TimeKept;
  static constexpr int kPollInterval = 256;
  static constexpr std::int64_t kPollWork = std::int64_t{1} << 21;  // Some milliseconds.

  [[gnu::visibility("hidden")]] bool Poll();

  Spending* whole_ = nullptr;  // That this is a part of, or follows.
  bool follows_only_ = false;
  bool is_beside_ = false;  // On another thread than `whole_`.
  std::int64_t nodes_spent_ = 0;
  int until_poll_ = 1;  // The first node polls: a search cancelled before its start visits none.
  std::int64_t work_spent_ = 0;
  std::int64_t until_work_poll_ = kPollWork;
  bool stopped_ = false;  // By time or cancellation.
  bool exhausted_ = false;
  mutable std::atomic<std::int64_t> looks_after_end_{0};
  class PollListener* listeners_ = nullptr;  // The latest first.
};

// While it lives, `on_poll` is called about every 256 nodes of `budget` or of a part of it, and about every
// 20 ms while other threads search for it, from the searching thread: for progress, or to cancel.
// Listeners of one budget are called side by side, and end in the reverse order of their beginning.
class [[gnu::visibility("default")]] PollListener {
 public:
  PollListener(Spending & budget, std::function<void()> on_poll)
      : budget_(budget), on_poll_(std::move(on_poll)), next_(budget.listeners_) {
    budget_.listeners_ = this;
  }
  ~PollListener() { budget_.listeners_ = next_; }
  PollListener(const PollListener&) = delete;
  PollListener& operator=(const PollListener&) = delete;

 private:
  friend class Spending;
  Spending& budget_;
  const std::function<void()> on_poll_;
  PollListener* const next_;
};

// While it lives, the time of `budget`, if limited, ends `seconds` earlier: kept for what follows the
// search. A search that it has ended does not go on afterwards.
class TimeKept {
 public:
  TimeKept(Spending& budget, double seconds) : budget_(budget), deadline_(budget.deadline_) {
    if (!budget.has_time_limit()) return;
    budget.deadline_ -= std::chrono::duration_cast<Spending::Clock::duration>(
        std::chrono::duration<double>(seconds));
  }
  ~TimeKept() { budget_.deadline_ = deadline_; }
  TimeKept(const TimeKept&) = delete;
  TimeKept& operator=(const TimeKept&) = delete;

 private:
  Spending& budget_;
  const Spending::Clock::time_point deadline_;
};

inline bool Spending::Poll() {
  until_poll_ = kPollInterval;
  for (const Spending* budget = this; budget != nullptr;
       budget = budget->is_beside_ ? nullptr : budget->whole_) {
    for (const PollListener* each = budget->listeners_; each != nullptr; each = each->next_) {
      each->on_poll_();
    }
  }
  until_work_poll_ = kPollWork;
  stopped_ = stopped_ || TimeIsUp();
  exhausted_ = exhausted_ || stopped_;
  return !exhausted_;
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_SPENDING_H_
