// c/options.h -- the request: options by name, and searches that they limit and watch.
#ifndef BERTH_C_OPTIONS_H_
#define BERTH_C_OPTIONS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "berth/berth.h"
#include "berth/budget.h"
#include "berth/model.h"
#include "berth/plan.h"
#include "berth/table_io.h"
#include "c/call.h"

struct berth_canceller {
  berth::Budget budget;
};

namespace berth::internal::c {

struct Settings {
  PlanOptions plan;  // Without a capacity.
  std::optional<Bytes> capacity;
  std::optional<Capacity> budget;
  std::optional<double> time_limit;
  std::optional<std::int64_t> node_limit;
  ModelOptions model;
  std::optional<Endpoints> endpoints;  // None: by the names of columns; of arrays, half-open.
  std::vector<Capacity> budgets;       // Of a sweep,
  int points = 20;                     // or how many of them.
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
// Error: kInvalidOptions for a budget, which `call` has no use for.
[[nodiscard]] Result<void> RefuseBudget(const Settings& settings, const char* call);

// Every option, in the order of berth_option_at().
[[nodiscard]] std::vector<OptionInfo> AllOptions();

// A search as the options limit it. With a progress function it runs on a thread of its own, and the
// calling thread reports and listens, so that the caller is heard at once whatever the search does.
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
  void RunWatched(const std::function<void()>& search);
  void Listen(std::unique_lock<std::mutex>& lock);

  const berth_options& options_;
  Budget budget_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // Of the rest.
  std::condition_variable ended_;
  bool done_ = false;
  Progress latest_;
};

}  // namespace berth::internal::c

#endif  // BERTH_C_OPTIONS_H_
