// c/options.h -- the request: options by name, and searches that they limit and watch.
#ifndef BERTH_C_OPTIONS_H_
#define BERTH_C_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "berth/berth.h"
#include "berth/budget.h"
#include "berth/memories.h"
#include "berth/model.h"
#include "berth/plan.h"
#include "berth/repack.h"
#include "berth/table_io.h"
#include "c/call.h"

struct berth_canceller {
  berth::Budget budget;
};

namespace berth::internal::c {

struct GraphInput;

struct Settings {
  PlanOptions plan;  // Without a capacity.
  std::optional<Bytes> capacity;
  std::optional<Capacity> budget;
  bool recompute = false;  // Within the budget, what does not fit is made again,
  bool no_spill = false;   // and not copied, even where a device has a link.
  std::optional<double> time_limit;
  std::optional<std::int64_t> node_limit;
  ModelOptions model;
  std::optional<Endpoints> endpoints;  // None: by the names of columns; of arrays, half-open.
  std::string problem;                 // The name or the number of one in a file; empty: the only.
  std::vector<Capacity> budgets;       // Of a sweep,
  int points = 20;                     // or how many of them.
  std::vector<Memory> memories;        // Of a plan of a graph; with names of those that tensors
  std::string cost_unit = "ns";        // may be in, separated by commas; empty: any.
  std::string activations_in;
  std::string weights_in;
  std::string stage_weights_in;  // Where copies of weights may be kept for a while; empty: nowhere.
  bool spill = false;            // What does not fit these memories is copied out and back.
  bool may_move = false;         // Tensors are copied from one of these memories to another,
  bool prefetch = false;         // while operators run,
  std::int64_t copy_latency = 0;  // with so many nanoseconds for each copy.
  RepackOptions repack;           // Without `place`.
};

}  // namespace berth::internal::c

struct berth_options {
  berth::internal::c::Settings settings;
  berth_progress_function progress = nullptr;
  void* user = nullptr;
  berth_canceller* canceller = nullptr;
};

namespace berth::internal::c {

// The defaults for NULL.
[[nodiscard]] const berth_options& OptionsOf(const berth_options* options);
// What is asked of Plan(). Error: kInvalidOptions for a capacity beside a budget.
[[nodiscard]] Result<PlanOptions> PlanOptionsOf(const Settings& settings);
// What is asked of Plan() for `graph`: that, with the memories and with the link of the device that
// gives the operators their costs. Error: kInvalidOptions, also for the
// name of a memory that is not there.
[[nodiscard]] Result<PlanOptions> PlanOptionsFor(const Settings& settings, const GraphInput& input);
// Error: kInvalidOptions for a budget or memories, which `call` has no use for.
[[nodiscard]] Result<void> RefuseBudget(const Settings& settings, const char* call);
// Error: kInvalidOptions for an option of repacking that is not at its default, of calls that do not
// repack.
[[nodiscard]] Result<void> RefuseRepack(const Settings& settings);

// Every option, in the order of berth_option_at().
[[nodiscard]] std::vector<OptionInfo> AllOptions();

// A search as the options limit it. It reports from its own polls: a thread that did would cost more
// than most searches take, and could not make the search end sooner than its next poll.
class Watch {
 public:
  // `limited`: with the limits of the options; otherwise only cancellation ends the search.
  Watch(const berth_options& options, bool limited);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // To be called by the search; empty if nobody wants to know.
  [[nodiscard]] std::function<void(const Progress&)> progress();
  template <typename Search>
  auto Run(const Search& search) -> decltype(search(std::declval<Budget&>())) {
    std::optional<decltype(search(std::declval<Budget&>()))> result;
    RunWatched([&] { result.emplace(search(budget_)); });
    return *std::move(result);
  }

 private:
  static constexpr std::chrono::milliseconds kInterval{50};

  void RunWatched(const std::function<void()>& search);
  // Of polls on other threads, none is reported.
  void ReportNowAndThen();

  const berth_options& options_;
  Budget budget_;
  const std::thread::id caller_ = std::this_thread::get_id();
  const Budget::Clock::time_point begin_ = Budget::Clock::now();
  Budget::Clock::time_point next_report_ = begin_ + kInterval;
  Progress latest_;
  std::exception_ptr thrown_;  // By the progress function.
};

}  // namespace berth::internal::c

#endif  // BERTH_C_OPTIONS_H_
