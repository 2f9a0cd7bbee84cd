// The door: encodes the problem, asks the chosen solver, and believes nothing that it cannot check.

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/text.h"
#include "baselines/encoded/cp.h"
#include "baselines/encoded/csp.h"
#include "baselines/encoded/encoding.h"
#include "baselines/encoded/ilp.h"
#include "baselines/encoded/meta_csp.h"
#include "baselines/milp/lp_file.h"
#include "baselines/milp/solve.h"
#include "berth/baselines.h"

namespace berth {
namespace internal {
namespace {

// Of a pair, in each of these models, some hundred bytes.
constexpr std::int64_t kMostPairs = 5'000'000;
constexpr std::int64_t kNoNodeLimit = std::numeric_limits<std::int64_t>::max();
// Minimising gives each question so many nodes, twice as many when it has learned nothing.
constexpr std::int64_t kFirstRoundNodes = 2000;
constexpr std::int64_t kMostRoundNodes = std::int64_t{1} << 60;

std::string EngineOf(std::string_view name, std::string_view version) {
  return version.empty() ? "" : std::string(name) + " " + std::string(version);
}

std::string IlpEngine() {
  const auto backend = milp::DefaultBackend();
  if (!backend) return "";
  const milp::BackendInfo& info = milp::Backends()[static_cast<std::size_t>(*backend)];
  return EngineOf(info.name, info.version);
}

// What is known so far.
struct Known {
  std::optional<Placement> best;
  std::string_view finder;
  Bytes lower_bound = 0;
};

class Asking {
 public:
  Asking(const Problem& problem, const SolverOptions& options, Budget& budget)
      : problem_(problem), options_(options), budget_(budget) {
    known_.lower_bound = MaxLiveLoad(problem).lower_bound;
    if (options.progress) {
      budget_.SetOnPoll([this] {
        const auto now = Budget::Clock::now();
        if (now < next_report_) return;
        next_report_ = now + std::chrono::milliseconds(100);
        Report();
      });
    }
  }
  ~Asking() {
    if (options_.progress) budget_.SetOnPoll(nullptr);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  [[nodiscard]] Result<void> Run() {
    if (budget_.cancelled()) {
      stopped_ = StopReason::kBudget;
      return {};
    }
    auto encoding = Encode(problem_, kMostPairs, budget_);
    if (!encoding) {
      stopped_ = budget_.TimeIsUp() ? StopReason::kBudget : StopReason::kSize;
      return {};
    }
    encoding_ = std::move(*encoding);
    if (PinsCollide()) {
      infeasible_ = true;
      return {};
    }
    Report();
    const bool minimize = options_.minimize || !problem_.capacity;
    if (minimize) BeginFromAbove();
    if (Answered(minimize)) return {};
    return options_.solver == Solver::kIlp ? RunIlp(minimize) : RunDeciders(minimize);
  }

  [[nodiscard]] PlaceAnswer Answer() {
    PlaceAnswer answer;
    answer.lower_bound = known_.lower_bound;
    answer.stopped = stopped_;
    if (known_.best) {
      answer.best = known_.best;
      answer.algorithm = known_.finder;
      BERTH_CHECK(known_.lower_bound <= known_.best->height);
    }
    const bool fits =
        known_.best && (!problem_.capacity || known_.best->height <= *problem_.capacity);
    if (fits) {
      answer.outcome =
          known_.best->height == known_.lower_bound ? Outcome::kOptimal : Outcome::kFeasible;
    } else if (infeasible_ || (problem_.capacity && known_.lower_bound > *problem_.capacity)) {
      answer.outcome = Outcome::kInfeasible;
    }
    return answer;
  }

 private:
  [[nodiscard]] bool PinsCollide() const {
    return std::any_of(encoding_.pairs.begin(), encoding_.pairs.end(), [this](const auto& pair) {
      const auto& i = encoding_.items[static_cast<std::size_t>(pair.i)].pin;
      const auto& j = encoding_.items[static_cast<std::size_t>(pair.j)].pin;
      return i && j &&
             std::any_of(pair.forbidden.begin(), pair.forbidden.end(), [&](const auto& interval) {
               return *j - *i > interval.lower && *j - *i < interval.upper;
             });
    });
  }

  void Report() const {
    if (!options_.progress) return;
    options_.progress({known_.best ? std::optional<Bytes>(known_.best->height) : std::nullopt,
                       known_.lower_bound, budget_.nodes_spent()});
  }

  [[nodiscard]] bool Answered(bool minimize) const {
    if (problem_.capacity && known_.lower_bound > *problem_.capacity) return true;
    if (!known_.best) return false;
    if (!minimize) return known_.best->height <= *problem_.capacity;
    return known_.best->height == known_.lower_bound;
  }

  void BeginFromAbove() {
    PlaceOptions greedy;
    greedy.algorithm = Algorithm::kGreedy;
    Problem unlimited = problem_;
    unlimited.capacity.reset();
    Budget brief;  // Some milliseconds; the caller's is for the solver.
    const auto answer = Place(unlimited, greedy, brief);
    BERTH_CHECK(answer.has_value());
    if (answer->best) Offer(answer->best->offsets, answer->algorithm);
  }

  // Keeps a plan if it is one, and lower. False if it is none.
  bool Offer(const std::vector<Bytes>& offsets, std::string_view finder) {
    Problem unlimited = problem_;
    unlimited.capacity.reset();
    Placement plan{offsets, Height(problem_, offsets)};
    if (!ValidatePlacement(unlimited, plan)) return false;
    if (known_.best && known_.best->height <= plan.height) return true;
    known_.best = std::move(plan);
    known_.finder = finder;
    Report();
    return true;
  }

  void RaiseBound(Grains grains) {
    Bytes bound = grains * encoding_.grain;
    // A plan that is not on the grid may be a little higher than one that is.
    if (known_.best) bound = std::min(bound, known_.best->height);
    if (bound <= known_.lower_bound) return;
    known_.lower_bound = bound;
    Report();
  }

  // What `decision` about plans of at most `capacity` grains says. True if it says something.
  bool Learn(const Decision& decision, Grains capacity) {
    if (decision.verdict == Decision::Verdict::kImpossible) {
      RaiseBound(capacity + 1);
      return true;
    }
    if (decision.verdict != Decision::Verdict::kFound) return false;
    std::vector<Bytes> offsets = decision.offsets;
    for (Bytes& offset : offsets) offset *= encoding_.grain;
    BERTH_CHECK(IsPlan(encoding_, capacity, decision.offsets));
    BERTH_CHECK(Offer(offsets, Info(options_.solver).name));
    return true;
  }

  Result<void> RunIlp(bool minimize) {
    // The lowest plan known, or the capacity, whichever is less.
    Bytes highest = minimize && known_.best ? known_.best->height : kMaxBytes;
    if (problem_.capacity) highest = std::min(highest, *problem_.capacity);
    const Grains capacity = encoding_.Within(highest);
    for (std::size_t x = 0; x < encoding_.items.size(); ++x) {
      if (encoding_.HighestOffset(x, capacity) < 0) {
        RaiseBound(capacity + 1);
        return {};
      }
    }
    std::optional<Grains> least;
    if (minimize) {
      least = std::min(RoundUp(known_.lower_bound, encoding_.grain) / encoding_.grain, capacity);
    }
    IlpModel ilp = BuildIlp(problem_, encoding_, capacity, least);
    if (minimize && known_.best && known_.best->height <= highest) {
      std::vector<Grains> start;
      for (std::size_t x = 0; x < encoding_.items.size(); ++x) {
        start.push_back(known_.best->offsets[x] / encoding_.grain);
      }
      if (IsPlan(encoding_, capacity, start)) ilp.model.start = IlpStart(encoding_, ilp, start);
    }
    const auto backend =
        options_.backend.empty() ? milp::DefaultBackend() : milp::BackendFromName(options_.backend);
    BERTH_CHECK(backend.has_value());
    auto answer = SolveIlp(encoding_, capacity, std::move(ilp), *backend, options_.seed, budget_);
    if (!answer) return tl::unexpected(answer.error());
    Learn(answer->decision, capacity);
    if (answer->bound && minimize) RaiseBound(std::min(*answer->bound, capacity + 1));
    SayWhyStopped(minimize, answer->decision.verdict == Decision::Verdict::kInconclusive);
    return {};
  }

  void SayWhyStopped(bool minimize, bool inconclusive) {
    if (Answered(minimize)) return;
    stopped_ = inconclusive && !budget_.Exhausted() ? StopReason::kAlgorithm : StopReason::kBudget;
  }

  Result<void> RunDeciders(bool minimize) {
    const Bytes highest = problem_.capacity.value_or(known_.best ? known_.best->height : 0);
    if ((options_.solver == Solver::kCp &&
         encoding_.Within(std::max(highest, known_.best ? known_.best->height : 0)) >
             kMostGrainsOfGecode) ||
        (options_.solver == Solver::kMetaCsp &&
         encoding_.items.size() > MetaCspSearch::kMostItems)) {
      stopped_ = StopReason::kSize;
      return {};
    }
    if (options_.solver == Solver::kCsp) csp_ = std::make_unique<CspSearch>(problem_, encoding_);
    if (options_.solver == Solver::kMetaCsp) meta_ = std::make_unique<MetaCspSearch>(encoding_);
    if (problem_.capacity && !(known_.best && known_.best->height <= *problem_.capacity)) {
      const Grains capacity = encoding_.Within(*problem_.capacity);
      Learn(Decide(capacity, kNoNodeLimit), capacity);
    }
    if (minimize && !budget_.Exhausted()) Minimize();
    SayWhyStopped(minimize, false);
    return {};
  }

  Decision Decide(Grains capacity, std::int64_t node_limit) {
    switch (options_.solver) {
      case Solver::kCp:
        return DecideByGecode(encoding_, capacity, {options_.seed, options_.restarts}, node_limit,
                              budget_);
      case Solver::kZ3:
        return DecideByZ3(encoding_, capacity, {options_.seed, options_.restarts}, node_limit,
                          budget_);
      case Solver::kCsp:
        return csp_->Decide(capacity, node_limit, budget_);
      case Solver::kMetaCsp:
        return meta_->Decide(capacity, node_limit, budget_);
      case Solver::kIlp:
        break;
    }
    BERTH_CHECK(false);
  }

  // Between the bound and the lowest plan there are three capacities worth asking about: the bound,
  // which often settles it; one grain below the plan, whose "no" proves it optimal; the middle,
  // which halves what is open. Nothing is concluded from giving up.
  void Minimize() {
    for (std::int64_t round = kFirstRoundNodes; !Answered(true); round = Doubled(round)) {
      bool learned = false;
      for (int question = 0; question < 3 && !Answered(true); ++question) {
        const Grains lowest = RoundUp(known_.lower_bound, encoding_.grain) / encoding_.grain;
        const Grains highest = (known_.best->height - 1) / encoding_.grain;
        if (highest < lowest) {
          // Less than a grain: a plan on the grid would be no lower.
          known_.lower_bound = known_.best->height;
          return;
        }
        const Grains middle = lowest + (highest - lowest) / 2;
        const Grains capacity =
            std::array{lowest, middle, highest}[static_cast<std::size_t>(question)];
        if ((question == 1 && middle == lowest) || (question == 2 && highest == lowest)) continue;
        learned = Learn(Decide(capacity, round), capacity) || learned;
        if (budget_.Exhausted()) return;
      }
      if (learned) round /= 2;  // Again at the same price.
    }
  }
  static std::int64_t Doubled(std::int64_t round) { return std::min(2 * round, kMostRoundNodes); }

  const Problem& problem_;
  const SolverOptions& options_;
  Budget& budget_;
  Encoding encoding_;
  Known known_;
  bool infeasible_ = false;  // At any capacity.
  StopReason stopped_ = StopReason::kAnswered;
  std::unique_ptr<CspSearch> csp_;
  std::unique_ptr<MetaCspSearch> meta_;
  Budget::Clock::time_point next_report_;
};

Result<void> Check(const SolverOptions& options) {
  if (static_cast<std::size_t>(options.solver) >= Solvers().size()) {
    return Fail(ErrorCode::kInvalidOptions, "option solver is number " +
                                                std::to_string(static_cast<int>(options.solver)) +
                                                ", which does not exist");
  }
  const SolverInfo& info = Info(options.solver);
  if (options.solver == Solver::kIlp && !options.backend.empty()) {
    const auto backend = milp::BackendFromName(options.backend);
    if (!backend) {
      return Fail(ErrorCode::kInvalidOptions,
                  "option backend is " + Quoted(options.backend) + " but must be cbc or highs");
    }
    return milp::CheckAvailable(*backend);
  }
  if (info.available()) return {};
  return Fail(ErrorCode::kUnsupported, "this build of Berth has no solver for " +
                                           std::string(info.name) + ": it needs " +
                                           std::string(info.package));
}

}  // namespace
}  // namespace internal

std::span<const SolverInfo> Solvers() {
  using internal::EngineOf;
  static const std::array kSolvers = {
      SolverInfo{Solver::kIlp, "ilp",
                 "Integer program: offsets, and a binary for which of two buffers lies above.",
                 "TelaMalloc (Maas et al., ASPLOS 2023), Figure 5", internal::IlpEngine(),
                 "CBC (Debian: coinor-libcbc-dev) or HiGHS"},
      SolverInfo{Solver::kCp, "cp",
                 "Constraint program: the same choices, propagated and branched on.",
                 "TelaMalloc (Maas et al., ASPLOS 2023), section 5.1",
                 EngineOf("Gecode", internal::GecodeVersion()), "Gecode (Debian: libgecode-dev)"},
      SolverInfo{Solver::kZ3, "z3", "The constraint program, by a solver that learns clauses.",
                 "TelaMalloc (Maas et al., ASPLOS 2023), section 5.1",
                 EngineOf("Z3", internal::Z3Version()), "Z3 (Debian: libz3-dev)"},
      SolverInfo{Solver::kCsp, "csp",
                 "Rectangle packing: the largest buffer first, at every offset in turn.",
                 "Huang and Korf, adapted as in MiniMalloc (Moffitt, ASPLOS 2023), section 8",
                 "Berth", ""},
      SolverInfo{Solver::kMetaCsp, "meta-csp",
                 "Rectangle packing: which of two buffers lies above, for the largest ones first.",
                 "Moffitt and Pollack (ICAPS 2006), adapted as in MiniMalloc, section 8", "Berth",
                 ""},
  };
  return kSolvers;
}

const SolverInfo& Info(Solver solver) {
  const auto at = static_cast<std::size_t>(solver);
  BERTH_CHECK(at < Solvers().size() && Solvers()[at].solver == solver);
  return Solvers()[at];
}

std::optional<Solver> SolverFromName(std::string_view name) {
  for (const SolverInfo& info : Solvers()) {
    if (info.name == name) return info.solver;
  }
  return std::nullopt;
}

Result<PlaceAnswer> PlaceWithSolver(const Problem& problem, const SolverOptions& options,
                                    Budget& budget) {
  const auto begin = Budget::Clock::now();
  if (auto checked = internal::Check(options); !checked) return tl::unexpected(checked.error());
  if (auto valid = Validate(problem); !valid) return tl::unexpected(valid.error());
  const std::int64_t nodes_before = budget.nodes_spent();
  internal::Asking asking(problem, options, budget);
  if (auto ran = asking.Run(); !ran) return tl::unexpected(ran.error());
  PlaceAnswer answer = asking.Answer();
  answer.nodes = budget.nodes_spent() - nodes_before;
  answer.seconds = std::chrono::duration<double>(Budget::Clock::now() - begin).count();
  return answer;
}

}  // namespace berth
