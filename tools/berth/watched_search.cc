#include "tools/berth/watched_search.h"

#include <signal.h>
#include <sys/resource.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <atomic>

namespace berth::cli {
namespace {

// The budget that a signal cancels.
std::atomic<Budget*> running_budget{nullptr};

extern "C" void CancelRunningBudget(int) {
  if (Budget* budget = running_budget.load()) budget->Cancel();
}

void HandleSignals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// The share of the memory that one search may fill with its states.
constexpr Bytes kShareOfStates = 4;
constexpr Bytes kLeastForStates = Bytes{1} << 20;
// Blocks from this size on go back to the system when they are freed, and leave no holes.
constexpr int kLargeBlock = 1 << 20;

}  // namespace

void LimitMemory(const std::optional<Bytes>& limit) {
  rlimit data{};
  if (!limit || getrlimit(RLIMIT_DATA, &data) != 0) return;
  const auto wanted = static_cast<rlim_t>(*limit);
  if (data.rlim_max != RLIM_INFINITY && wanted > data.rlim_max) return;
  data.rlim_cur = wanted;
  static_cast<void>(setrlimit(RLIMIT_DATA, &data));
#ifdef __GLIBC__
  static_cast<void>(mallopt(M_MMAP_THRESHOLD, kLargeBlock));
#endif
}

std::size_t StatesWithin(const std::optional<Bytes>& limit, std::size_t most_bytes) {
  if (!limit) return most_bytes;
  const Bytes states = std::max(*limit / kShareOfStates, kLeastForStates);
  return std::min(most_bytes, static_cast<std::size_t>(states));
}

WatchedSearch::WatchedSearch(const SearchArguments& arguments, double kept)
    : options_(arguments.options), memory_limit_(arguments.memory_limit) {
  LimitMemory(memory_limit_);
  if (arguments.time_limit) {
    budget_.SetTimeLimit(*arguments.time_limit * (1 - kept));
    if (budget_.has_time_limit()) {
      deadline_ = std::chrono::steady_clock::now() +
                  std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                      std::chrono::duration<double>(*arguments.time_limit));
    }
  }
  if (arguments.node_limit) budget_.SetNodeLimit(*arguments.node_limit);
  options_.progress = [this](const Progress& progress) { progress_.Update(progress); };
  running_budget = &budget_;
  HandleSignals(CancelRunningBudget);
}

WatchedSearch::~WatchedSearch() {
  HandleSignals(SIG_DFL);
  running_budget = nullptr;
}

Result<PlanAnswer> WatchedSearch::Place(const Problem& problem) {
  auto answer = berth::Place(problem, options_, budget_);
  progress_.Stop();
  return answer;
}

Result<Conflict> WatchedSearch::Explain(const Problem& problem) {
  auto conflict = berth::Explain(problem, options_, budget_);
  progress_.Stop();
  return conflict;
}

Result<PlanAnswer> WatchedSearch::Schedule(const Graph& graph, ScheduleOptions options) {
  options.most_bytes = StatesWithin(memory_limit_, options.most_bytes);
  options.progress = options_.progress;
  auto answer = berth::Schedule(graph, options, budget_);
  progress_.Stop();
  return answer;
}

Result<PlanAnswer> WatchedSearch::Plan(const Graph& graph, PlanOptions options) {
  options.schedule.most_bytes = StatesWithin(memory_limit_, options.schedule.most_bytes);
  options.schedule.progress = options_.progress;
  const bool costs = !options.memories.memories.empty() && !options.spill;
  options.place.progress = [this, costs](const Progress& progress) {
    progress_.Update(progress, costs);
  };
  auto plan = berth::Plan(graph, options, budget_);
  progress_.Stop();
  return plan;
}

}  // namespace berth::cli
