// base/side_by_side.h -- independent parts of one search, on several threads, with the same result.
//
// A search that has several things to do next does them one after the other, or side by side: what it does
// must not depend on the number of threads. So each task has a budget of its own, with a share of the nodes
// that are left, if these are limited, and tasks are counted in their sequence:
//
//   task      0        1        2        3
//   returns   kGoOn    kEnd     -        -        One thread never begins 2 and 3. Several have begun
//             counts   counts   thrown away       them ahead: they are cancelled, and nothing counts.
#ifndef BERTH_BASE_SIDE_BY_SIDE_H_
#define BERTH_BASE_SIDE_BY_SIDE_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "base/parallel.h"
#include "berth/budget.h"

namespace berth::internal {

// Tasks of less work, in units of a few nanoseconds, are over before threads have begun.
inline constexpr std::int64_t kLeastWorkForThreads = 2'000'000;

// In one group no task may return kEnd where one before it returns kEndGroup: which of them comes first would
// depend on the number of threads.
enum class AfterTask {
  kGoOn,
  kEndGroup,  // The tasks after this one in its group are not needed,
  kEnd,       // or none after this one.
};

class SideBySide {
 public:
  // Tasks 0 to `count` - 1, each `group` of them in sequence a group. `budget` is not to be used while they
  // run, except to cancel it.
  SideBySide(std::size_t count, std::size_t group, Budget& budget)
      : count_(count), group_(group), budget_(budget), left_(count), end_(count), budgets_(count) {
    for (std::size_t begin = 0; begin < count; begin += group_) {
      ends_.push_back(std::min(begin + group_, count));
    }
  }

  // Calls `task(i, own)` for each, from up to `threads` threads, and returns once all have ended. The time
  // limit of the budget, and its cancellation, end each task, and are all that `own` knows of time. Where
  // few nodes are left, or a share is less than the `most_nodes` that a task may need for any result, the
  // tasks run one after the other, each with all that are left.
  template <typename Task>
  void Run(int threads, const Task& task, std::int64_t most_nodes = 0) {
    constexpr std::int64_t kFewNodes = 256;
    const std::int64_t left = budget_.node_limit() - budget_.nodes_spent();
    const auto share = left / static_cast<std::int64_t>(std::max<std::size_t>(count_, 1));
    const bool limited = budget_.has_node_limit();
    if (limited && share < std::max(most_nodes, kFewNodes)) {
      RunInTurn(task, [&] { return budget_.node_limit() - budget_.nodes_spent(); });
      return;
    }
    if (limited) {
      for (Budget& own : budgets_) own.SetNodeLimit(share);
    }
    if (threads <= 1 || count_ <= 1) {
      RunInTurn(task, [&] { return share; });
      return;
    }
    RunOnThreads(threads, count_, [&] { Work(task); });
    for (std::size_t i = 0; i < count_; ++i) {
      if (counts(i)) budget_.Absorb(budgets_[i]);
    }
  }

  // Whether what task `i` has done counts; what it has changed otherwise must be thrown away.
  [[nodiscard]] bool counts(std::size_t i) const { return i < end_ && i < ends_[i / group_]; }

 private:
  // If what it stands for ends by an exception, all tasks end soon.
  class CancelsUnlessEnded {
   public:
    explicit CancelsUnlessEnded(SideBySide& all) : all_(all) {}
    ~CancelsUnlessEnded() {
      if (ended_) return;
      const std::lock_guard<std::mutex> lock(all_.mutex_);
      for (Budget& own : all_.budgets_) own.Cancel();
      all_.end_ = 0;
    }
    CancelsUnlessEnded(const CancelsUnlessEnded&) = delete;
    CancelsUnlessEnded& operator=(const CancelsUnlessEnded&) = delete;
    void End() { ended_ = true; }

   private:
    SideBySide& all_;
    bool ended_ = false;
  };
  // While it lives, a task runs.
  class Running {
   public:
    explicit Running(SideBySide& all) : all_(all) {}
    ~Running() {
      const std::lock_guard<std::mutex> lock(all_.mutex_);
      --all_.left_;
      all_.one_ended_.notify_all();
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    SideBySide& all_;
  };

  void Apply(std::size_t task, AfterTask after) {
    if (after == AfterTask::kGoOn) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    std::size_t& end = after == AfterTask::kEnd ? end_ : ends_[task / group_];
    end = std::min(end, task + 1);
    for (std::size_t i = task + 1; i < count_; ++i) {
      if (!counts(i)) budgets_[i].Cancel();
    }
  }
  [[nodiscard]] bool IsNeeded(std::size_t task) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counts(task);
  }

  template <typename Task, typename NodesLeft>
  void RunInTurn(const Task& task, const NodesLeft& nodes_left) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (!counts(i)) continue;
      budgets_[i].Follow(budget_);
      if (budget_.has_node_limit()) budgets_[i].SetNodeLimit(nodes_left());
      Apply(i, task(i, budgets_[i]));
      budget_.Absorb(budgets_[i]);
    }
  }

  template <typename Task>
  void Work(const Task& task) {
    const bool is_caller = std::this_thread::get_id() == caller_;
    for (;;) {
      const std::size_t i = next_.fetch_add(1);
      if (i >= count_) break;
      const Running running(*this);
      CancelsUnlessEnded task_at_hand(*this);
      if (IsNeeded(i)) {
        if (is_caller) {
          budgets_[i].Follow(budget_);
        } else {
          budgets_[i].FollowBeside(budget_);
        }
        Apply(i, task(i, budgets_[i]));
      }
      task_at_hand.End();
    }
    if (is_caller) Wait();
  }
  // Meanwhile those who listen to the budget hear of it: they may cancel it.
  void Wait() {
    constexpr std::chrono::milliseconds kPoll{20};
    CancelsUnlessEnded waiting(*this);  // A listener may throw.
    std::unique_lock<std::mutex> lock(mutex_);
    while (!one_ended_.wait_for(lock, kPoll, [&] { return left_ == 0; })) {
      lock.unlock();
      static_cast<void>(budget_.Exhausted());
      lock.lock();
    }
    waiting.End();
  }

  const std::size_t count_;
  const std::size_t group_;
  Budget& budget_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;  // Of all that follows but the budgets.
  std::condition_variable one_ended_;
  std::size_t left_;               // Tasks that have not ended.
  std::size_t end_;                // Tasks from here on do not count;
  std::vector<std::size_t> ends_;  // the same by group.
  std::vector<Budget> budgets_;
};

}  // namespace berth::internal

#endif  // BERTH_BASE_SIDE_BY_SIDE_H_
