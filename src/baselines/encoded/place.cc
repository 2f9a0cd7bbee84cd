// Encodes the problem, asks the chosen solver, and believes nothing that it cannot check.

#include "baselines/encoded/place.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/try.h"
#include "baselines/encoded/cp.h"
#include "baselines/encoded/csp.h"
#include "baselines/encoded/encoding.h"
#include "baselines/encoded/ilp.h"
#include "baselines/encoded/meta_csp.h"
#include "baselines/milp/solve.h"
#include "place/minimize.h"

namespace berth::internal {
namespace {

// In each of these models a pair takes some hundred bytes.
constexpr std::int64_t kMostPairs = 5'000'000;
constexpr std::int64_t kNoNodeLimit = std::numeric_limits<std::int64_t>::max();

class Asking {
 public:
  explicit Asking(const Task& task) : task_(task) {}

  [[nodiscard]] Result<Ending> Run() {
    auto encoding = Encode(task_.problem, kMostPairs, task_.budget);
    if (!encoding) {
      return Ending{task_.budget.TimeIsUp() ? StopReason::kBudget : StopReason::kSize};
    }
    encoding_ = std::move(*encoding);
    if (task_.minimize) BeginFromAbove();
    if (task_.answered()) return Ending{};
    return task_.baseline == Baseline::kIlp ? RunIlp() : RunDeciders();
  }

 private:
  void BeginFromAbove() {
    PlaceOptions greedy;
    greedy.algorithm = Algorithm::kGreedy;
    Problem unlimited = task_.problem;
    unlimited.capacity.reset();
    Budget brief;  // Some milliseconds; the caller's is for the solver.
    const auto answer = Place(unlimited, greedy, brief);
    BERTH_CHECK(answer.has_value());
    if (!answer->best) return;
    task_.incumbent.Offer(PlacementOf(*answer->best).offsets, answer->placing.algorithm);
  }

  // A plan that is not on the grid may be a little higher than one that is.
  void RaiseBound(Grains grains) {
    task_.incumbent.RaiseBound(std::min(grains * encoding_.grain, task_.incumbent.height()));
  }

  // What `decision` about plans of at most `capacity` grains says, in bytes.
  [[nodiscard]] SearchAnswer Checked(Decision decision, Grains capacity) const {
    SearchAnswer answer;
    switch (decision.verdict) {
      case Decision::Verdict::kImpossible:
        answer.verdict = SearchAnswer::Verdict::kImpossible;
        break;
      case Decision::Verdict::kInconclusive:
        answer.verdict = SearchAnswer::Verdict::kInconclusive;
        break;
      case Decision::Verdict::kGaveUp:
        break;
      case Decision::Verdict::kFound:
        BERTH_CHECK(IsPlan(encoding_, capacity, decision.offsets));
        answer.verdict = SearchAnswer::Verdict::kFound;
        answer.offsets = std::move(decision.offsets);
        for (Bytes& offset : answer.offsets) offset *= encoding_.grain;
    }
    return answer;
  }

  void Learn(Decision decision, Grains capacity) {
    SearchAnswer answer = Checked(std::move(decision), capacity);
    if (answer.verdict == SearchAnswer::Verdict::kImpossible) RaiseBound(capacity + 1);
    if (answer.verdict == SearchAnswer::Verdict::kFound) {
      task_.incumbent.Offer(std::move(answer.offsets), task_.name);
    }
  }

  Result<Ending> RunIlp() {
    // The lowest plan known, or the capacity, whichever is less.
    Bytes highest = std::min(task_.minimize ? task_.incumbent.height() : kMaxBytes, kMaxBytes);
    if (task_.problem.capacity) highest = std::min(highest, *task_.problem.capacity);
    const Grains capacity = encoding_.Within(highest);
    for (std::size_t x = 0; x < encoding_.items.size(); ++x) {
      if (encoding_.HighestOffset(x, capacity) < 0) {
        RaiseBound(capacity + 1);
        return Ending{};
      }
    }
    std::optional<Grains> least;
    if (task_.minimize) {
      const Bytes bound = RoundUp(task_.incumbent.lower_bound(), encoding_.grain);
      least = std::min(bound / encoding_.grain, capacity);
    }
    IlpModel ilp = BuildIlp(task_.problem, encoding_, capacity, least);
    if (task_.minimize && task_.incumbent.height() <= highest) {
      std::vector<Grains> start = *task_.incumbent.offsets();
      for (Grains& offset : start) offset /= encoding_.grain;
      if (IsPlan(encoding_, capacity, start)) ilp.model.start = IlpStart(encoding_, ilp, start);
    }
    const auto backend = task_.settings.ilp_solver == "any"
                             ? milp::DefaultBackend()
                             : milp::BackendFromName(task_.settings.ilp_solver);
    BERTH_CHECK(backend.has_value());
    IlpAnswer answer = BERTH_TRY(
        SolveIlp(encoding_, capacity, std::move(ilp), *backend, task_.seed, task_.budget));
    const bool inconclusive = answer.decision.verdict == Decision::Verdict::kInconclusive;
    Learn(std::move(answer.decision), capacity);
    if (answer.bound && task_.minimize) RaiseBound(std::min(*answer.bound, capacity + 1));
    return Ending{inconclusive && !task_.budget.Exhausted() ? StopReason::kAlgorithm
                                                            : StopReason::kBudget};
  }

  Ending RunDeciders() {
    if (IsTooLarge()) return {StopReason::kSize};
    if (task_.baseline == Baseline::kCsp) {
      csp_ = std::make_unique<CspSearch>(task_.problem, encoding_);
    } else if (task_.baseline == Baseline::kMetaCsp) {
      meta_ = std::make_unique<MetaCspSearch>(encoding_);
    }
    if (task_.problem.capacity && task_.incumbent.height() > *task_.problem.capacity) {
      const Grains capacity = encoding_.Within(*task_.problem.capacity);
      Learn(Decide(capacity, kNoNodeLimit), capacity);
    }
    if (task_.minimize && !task_.answered() && !task_.budget.Exhausted()) {
      (void)Minimize(Questions(), task_.incumbent, kNoNodeLimit, task_.budget);
    }
    return {StopReason::kBudget};
  }

  [[nodiscard]] bool IsTooLarge() const {
    if (task_.baseline == Baseline::kMetaCsp) {
      return encoding_.items.size() > MetaCspSearch::kMostItems;
    }
    if (task_.baseline != Baseline::kCp) return false;
    const Bytes known = task_.incumbent.has_plan() ? task_.incumbent.height() : 0;
    return encoding_.Within(std::max(known, task_.problem.capacity.value_or(0))) >
           kMostGrainsOfGecode;
  }

  [[nodiscard]] Decider Questions() {
    return {Heights(encoding_.grain), 0,
            [this](Bytes bytes, std::int64_t node_limit) -> SearchAnswer {
              if (task_.budget.Exhausted()) return {};
              const Grains capacity = encoding_.Within(bytes);
              return Checked(Decide(capacity, node_limit), capacity);
            },
            [this] { return task_.name; }};
  }

  Decision Decide(Grains capacity, std::int64_t node_limit) {
    const CpOptions cp{task_.seed, task_.settings.cp_restarts};
    switch (task_.baseline) {
      case Baseline::kCp:
        return DecideByGecode(encoding_, capacity, cp, node_limit, task_.budget);
      case Baseline::kZ3:
        return DecideByZ3(encoding_, capacity, cp, node_limit, task_.budget);
      case Baseline::kCsp:
        return csp_->Decide(capacity, node_limit, task_.budget);
      case Baseline::kMetaCsp:
        return meta_->Decide(capacity, node_limit, task_.budget);
      default:
        BERTH_CHECK(false);
    }
  }

  const Task& task_;
  Encoding encoding_;
  std::unique_ptr<CspSearch> csp_;
  std::unique_ptr<MetaCspSearch> meta_;
};

}  // namespace

Result<Ending> RunSolver(const Task& task) {
  if (task.baseline == Baseline::kIlp && task.settings.ilp_solver != "any") {
    BERTH_TRY(milp::CheckAvailable(*milp::BackendFromName(task.settings.ilp_solver)));
  }
  return Asking(task).Run();
}

std::string IlpEngine() {
  const auto backend = milp::DefaultBackend();
  if (!backend) return "";
  const milp::BackendInfo& info = milp::Backends()[static_cast<std::size_t>(*backend)];
  return std::string(info.name) + " " + std::string(info.version);
}

}  // namespace berth::internal
