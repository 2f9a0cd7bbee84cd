// berth/budget.h -- how long a search may go on.
//
//   berth::Budget one_second(1.0);
//
//   berth::Budget reproducible;             // The same answer on every machine.
//   reproducible.SetNodeLimit(100'000);
//
//   berth::Budget until_stopped;            // From another thread or a signal handler:
//   until_stopped.Cancel();                 // the search ends with its best answer so far.
#ifndef BERTH_BUDGET_H_
#define BERTH_BUDGET_H_

#include <chrono>
#include <cstdint>

#include "berth/internal/spending.h"
#include "berth/result.h"  // Checks the version of the language.

namespace [[gnu::visibility("default")]] berth {

// Three limits on a search, any of which ends it with the best answer so far:
//
//   * a time limit, in seconds of wall-clock time. Answers then depend on the machine;
//   * a node limit, in nodes of search. The answer depends on the input, the options and the seed
//     alone: the same on every machine, compiler and build type;
//   * cancellation, from any thread, also before the search starts.
//
// What these limit is search. Before it, the input is checked and compiled, and after it the answer
// is checked, in near-linear time, about a second for a million operators or buffers. What follows
// the search is taken off its time. Up to that size a search ends within 5 % or 50 ms of its limit,
// and within 0.2 s of Cancel(), as far as these checks allow; once cancelled, inputs of more than
// 2^18 operators or buffers get no first plan: only the best so far or, of a graph, an order.
//
// A default-constructed Budget never ends. A Budget is used by one call at a time; a second call
// with the same Budget goes on where the first left off. Only Cancel() and cancelled() may be
// called from other threads.
class Budget : public internal::Spending {
 public:
  Budget() = default;
  explicit Budget(double seconds) { SetTimeLimit(seconds); }

  // A part of `whole`, for one of several searches that share it: ends when the whole does, or
  // after `share` (0 to 1) of the time that is left of it. Its nodes are spent of the whole, at the
  // latest when it is destroyed. The whole must outlive the part and must not be used until the
  // part is destroyed, except for Cancel() and cancelled().
  Budget(Budget& whole, double share) : Spending(whole) {
    if (!whole.has_time_limit()) return;
    const auto left = std::chrono::duration<double>(whole.deadline_ - Clock::now());
    SetTimeLimit(left.count() * share);
  }

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
};

}  // namespace berth

#endif  // BERTH_BUDGET_H_
