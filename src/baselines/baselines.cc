// The door: checks what it is given, asks one method, and validates what that has found.

#include "berth/baselines.h"

#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "baselines/encoded/cp.h"
#include "baselines/encoded/place.h"
#include "baselines/settings.h"
#include "baselines/task.h"
#include "baselines/telamalloc/place.h"
#include "berth/allocators.h"
#include "model/answer.h"
#include "model/instance.h"
#include "place/incumbent.h"

namespace berth {
namespace internal {
namespace {

std::string EngineOf(std::string_view name, std::string_view version) {
  return version.empty() ? "" : std::string(name) + " " + std::string(version);
}

Result<Ending> RunAllocatorOf(const Task& task) {
  AllocatorRun run = BERTH_TRY(RunAllocator(task.problem, task.baseline == Baseline::kBfc
                                                              ? RuntimeAllocator::kBfc
                                                              : RuntimeAllocator::kPytorchCaching));
  task.incumbent.Offer(std::move(run.offsets), task.name);
  return Ending{};
}

Result<Ending> RunBaseline(const Task& task) {
  switch (task.baseline) {
    case Baseline::kTelaMalloc:
      return RunTelaMalloc(task);
    case Baseline::kBfc:
    case Baseline::kPytorchCaching:
      return RunAllocatorOf(task);
    default:
      return RunSolver(task);
  }
}

Result<void> CheckBaseline(Baseline baseline, const Settings& settings) {
  if (static_cast<std::size_t>(baseline) >= Baselines().size()) {
    return Fail(ErrorCode::kInvalidOptions, "option baseline is number " +
                                                std::to_string(static_cast<int>(baseline)) +
                                                ", which does not exist");
  }
  const BaselineInfo& info = Info(baseline);
  // A solver that is asked for by name has an error of its own.
  const bool named = baseline == Baseline::kIlp && settings.ilp_solver != "any";
  if (info.available() || named) return {};
  return Fail(ErrorCode::kUnsupported, "this build of Berth has no solver for " +
                                           std::string(info.name) + ": it needs " +
                                           std::string(info.package));
}

StopReason WhyStopped(const Task& task, const Ending& ending) {
  if (task.answered()) return StopReason::kAnswered;
  if (ending.stopped) return *ending.stopped;
  return task.budget.Exhausted() ? StopReason::kBudget : StopReason::kAlgorithm;
}

// Of a problem whose pins do not collide.
Result<PlanAnswer> Ask(const Problem& problem, const BaselineOptions& options,
                       const Settings& settings, Budget& budget) {
  Incumbent incumbent(problem, MaxLiveLoad(problem).lower_bound, options.progress, budget);
  const Task task{problem,
                  options.baseline,
                  Info(options.baseline).name,
                  options.minimize || !problem.capacity,
                  options.seed,
                  settings,
                  incumbent,
                  budget};
  Ending ending;
  if (!budget.cancelled()) ending = BERTH_TRY(RunBaseline(task));
  PlanAnswer answer;
  answer.outcome = incumbent.outcome();
  answer.height_bound = incumbent.lower_bound();
  answer.stopped = WhyStopped(task, ending);
  answer.placing.stats = ending.stats;
  if (incumbent.has_plan()) {
    const Placement placement{*incumbent.offsets(), incumbent.height()};
    BERTH_CHECK(ValidateOffsets(problem, placement).has_value());
    BERTH_CHECK(answer.height_bound <= placement.height);
    answer.best = PlanOf(problem, placement.offsets);
    answer.placing.algorithm = incumbent.finder();
  }
  return answer;
}

}  // namespace
}  // namespace internal

std::span<const BaselineInfo> Baselines() {
  using internal::EngineOf;
  static const std::array kBaselines = {
      BaselineInfo{Baseline::kTelaMalloc, "telamalloc",
                   "Search by heuristics over constraint propagation, with conflict-directed "
                   "backtracking; proves little.",
                   "TelaMalloc (Maas et al., ASPLOS 2023), sections 4 and 5", "Berth", "", true},
      BaselineInfo{
          Baseline::kBfc, "bfc",
          "Simulates TensorFlow's run-time allocator: best fit with coalescing, 256-byte chunks.",
          "TensorFlow, bfc_allocator.cc", "Berth", "", false},
      BaselineInfo{
          Baseline::kPytorchCaching, "pytorch-caching",
          "Simulates PyTorch's run-time allocator: two pools of segments, 512-byte blocks.",
          "PyTorch 1.11, CUDACachingAllocator.cpp; the baseline of OLLA (arXiv "
          "2210.12924), Figure 8",
          "Berth", "", false},
      BaselineInfo{Baseline::kIlp, "ilp",
                   "Integer program: offsets, and a binary for which of two buffers lies above.",
                   "TelaMalloc (Maas et al., ASPLOS 2023), Figure 5", internal::IlpEngine(),
                   "CBC (Debian: coinor-libcbc-dev) or HiGHS", true},
      BaselineInfo{
          Baseline::kCp, "cp", "Constraint program: the same choices, propagated and branched on.",
          "TelaMalloc (Maas et al., ASPLOS 2023), section 5.1",
          EngineOf("Gecode", internal::GecodeVersion()), "Gecode (Debian: libgecode-dev)", true},
      BaselineInfo{Baseline::kZ3, "z3", "The constraint program, by a solver that learns clauses.",
                   "TelaMalloc (Maas et al., ASPLOS 2023), section 5.1",
                   EngineOf("Z3", internal::Z3Version()), "Z3 (Debian: libz3-dev)", true},
      BaselineInfo{Baseline::kCsp, "csp",
                   "Rectangle packing: the largest buffer first, at every offset in turn.",
                   "Huang and Korf, adapted as in MiniMalloc (Moffitt, ASPLOS 2023), section 8",
                   "Berth", "", true},
      BaselineInfo{
          Baseline::kMetaCsp, "meta-csp",
          "Rectangle packing: which of two buffers lies above, for the largest ones first.",
          "Moffitt and Pollack (ICAPS 2006), adapted as in MiniMalloc, section 8", "Berth", "",
          true},
  };
  return kBaselines;
}

const BaselineInfo& Info(Baseline baseline) {
  const auto at = static_cast<std::size_t>(baseline);
  BERTH_CHECK(at < Baselines().size() && Baselines()[at].baseline == baseline);
  return Baselines()[at];
}

std::optional<Baseline> BaselineFromName(std::string_view name) {
  for (const BaselineInfo& info : Baselines()) {
    if (info.name == name) return info.baseline;
  }
  return std::nullopt;
}

Result<PlanAnswer> PlaceWithBaseline(const Problem& problem, const BaselineOptions& options,
                                     Budget& budget) {
  const auto begin = Budget::Clock::now();
  const internal::Settings settings = BERTH_TRY(internal::ParseSettings(options));
  BERTH_TRY(internal::CheckBaseline(options.baseline, settings));
  BERTH_TRY(Validate(problem));
  const std::int64_t nodes_before = budget.nodes_spent();
  PlanAnswer answer;
  if (internal::CollidingPins(problem)) {
    answer.outcome = Outcome::kInfeasible;
    answer.height_bound = MaxLiveLoad(problem).lower_bound;
  } else {
    answer = BERTH_TRY(internal::Ask(problem, options, settings, budget));
  }
  answer.capacity = problem.capacity;
  internal::FinishPlacing(budget.nodes_spent() - nodes_before, begin, answer);
  return answer;
}

}  // namespace berth
