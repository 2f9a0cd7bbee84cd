#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "baselines/encoded/cp.h"

#ifdef BERTH_HAS_Z3

#include <z3++.h>

namespace berth::internal {
namespace {

// Interrupts Z3 when time is up. Z3 ignores interrupts before it starts, so they are repeated.
class Watchdog {
 public:
  Watchdog(z3::context& context, const Budget& budget)
      : thread_([this, &context, &budget] {
          std::unique_lock lock(mutex_);
          while (!wake_.wait_for(lock, std::chrono::milliseconds(5), [this] { return done_; })) {
            if (budget.TimeIsUp()) context.interrupt();
          }
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;  // Last: it uses all of the above.
};

z3::check_result CheckWithin(const Budget& budget, z3::context& context, z3::solver& solver) {
  const Watchdog watchdog(context, budget);
  return solver.check();
}

std::int64_t ConflictsOf(const z3::solver& solver) {
  const z3::stats statistics = solver.statistics();
  for (unsigned k = 0; k < statistics.size(); ++k) {
    if (statistics.key(k) == "conflicts") return statistics.uint_value(k);
  }
  return 0;
}

Decision Decide(const Encoding& encoding, Grains capacity, const CpOptions& options,
                std::int64_t node_limit, Budget& budget) {
  using Verdict = Decision::Verdict;
  z3::context context;
  z3::solver solver(context);
  z3::params params(context);
  // 2^32 - 1 is no limit.
  constexpr std::int64_t kMostConflicts = 4'000'000'000;
  const std::int64_t left = budget.node_limit() - budget.nodes_spent();
  params.set("max_conflicts", static_cast<unsigned>(std::min({node_limit, left, kMostConflicts})));
  params.set("random_seed", static_cast<unsigned>(options.seed % 1'000'000'000));
  solver.set(params);

  const auto number = [&context](Grains value) {
    return context.int_val(static_cast<std::int64_t>(value));
  };
  z3::expr_vector offsets(context);  // Each a multiple of a position.
  z3::expr_vector positions(context);
  for (std::size_t x = 0; x < encoding.items.size(); ++x) {
    const Encoding::Item& item = encoding.items[x];
    const z3::expr position = context.int_const(("pos" + std::to_string(x)).c_str());
    solver.add(position >= number(item.pin.value_or(0) / item.alignment));
    solver.add(position <= number(encoding.HighestOffset(x, capacity) / item.alignment));
    positions.push_back(position);
    offsets.push_back(item.alignment == 1 ? position : number(item.alignment) * position);
  }
  for (const Encoding::Pair& pair : encoding.pairs) {
    z3::expr_vector regions(context);
    for (std::size_t region = 0; region < pair.num_regions(); ++region) {
      std::vector<Difference> differences;
      AppendRegion(pair, region, differences);
      z3::expr_vector holds(context);
      for (const Difference& difference : differences) {
        holds.push_back(offsets[difference.to] - offsets[difference.from] >=
                        number(difference.least));
      }
      regions.push_back(z3::mk_and(holds));
    }
    // The regions exclude each other by what they say.
    solver.add(z3::mk_or(regions));
  }
  for (std::size_t x = 0; x < encoding.items.size(); ++x) {
    const int twin = encoding.items[x].twin;
    if (twin >= 0) solver.add(positions[twin] <= positions[static_cast<int>(x)]);
  }

  const z3::check_result result = CheckWithin(budget, context, solver);
  const std::int64_t conflicts = ConflictsOf(solver);
  for (std::int64_t node = 0; node < conflicts; ++node) (void)budget.SpendNode();
  if (result == z3::unsat) return {Verdict::kImpossible, {}};
  if (result != z3::sat) return {};
  Decision decision{Verdict::kFound, {}};
  const z3::model model = solver.get_model();
  for (std::size_t x = 0; x < encoding.items.size(); ++x) {
    const z3::expr value = model.eval(positions[static_cast<int>(x)], true);
    decision.offsets.push_back(value.get_numeral_int64() * encoding.items[x].alignment);
  }
  return decision;
}

}  // namespace

const char* Z3Version() {
  static const std::string kVersion = [] {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned build = 0;
    unsigned revision = 0;
    Z3_get_version(&major, &minor, &build, &revision);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(build);
  }();
  return kVersion.c_str();
}

Decision DecideByZ3(const Encoding& encoding, Grains capacity, const CpOptions& options,
                    std::int64_t node_limit, Budget& budget) {
  for (std::size_t x = 0; x < encoding.items.size(); ++x) {
    if (encoding.HighestOffset(x, capacity) < 0) return {Decision::Verdict::kImpossible, {}};
  }
  if (budget.Exhausted()) return {};
  try {
    return Decide(encoding, capacity, options, node_limit, budget);
  } catch (const z3::exception&) {
    return {};  // Interrupted while it built its formula, or out of memory.
  }
}

}  // namespace berth::internal

#else

namespace berth::internal {

const char* Z3Version() { return ""; }
Decision DecideByZ3(const Encoding&, Grains, const CpOptions&, std::int64_t, Budget&) {
  BERTH_CHECK(false);
}

}  // namespace berth::internal

#endif
