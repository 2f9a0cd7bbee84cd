// Changes of the model and spills, tried one by one and together. Fewer changes come first, and a
// combination is not tried where one of its parts suffices: it could only do more than was asked.

#include "plan/model_remedies.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "berth/bytes.h"
#include "berth/recompute.h"
#include "berth/schedule.h"
#include "berth/spill.h"
#include "plan/chains.h"
#include "plan/strips.h"

namespace berth::internal::plan {
namespace {

// The first plan with spills, made before any search, examines all resident tensors at every step.
constexpr std::size_t kLargeForSpills = 100'000'000;
constexpr std::size_t kLargeForRecomputation = 20'000;  // Operators.

bool Includes(const Variant& whole, const Variant& part) {
  return whole.parts != part.parts && (whole.parts & part.parts) == part.parts;
}

// The changes that can be made to a graph, alone and together.
std::vector<Variant> VariantsOf(const Graph& graph, const AdviceOptions& options) {
  std::vector<Variant> variants;
  variants.push_back({"", {}, graph, 0, {}, {}});
  for (std::size_t m = 0; m < options.models.size(); ++m) {
    const ModelChange& model = options.models[m];
    if (model.graph == graph) continue;
    variants.push_back({model.title, {model.change}, model.graph, 4U << m, {}, {}});
  }
  // Each of the variants so far, changed once more.
  const auto change_all = [&](std::string_view title, const char* option, unsigned part,
                              auto transform) {
    for (std::size_t i = 0, end = variants.size(); i < end; ++i) {
      Variant variant = variants[i];
      variant.title += variant.title.empty() ? "" : " and ";
      variant.title += title;
      variant.title.front() = static_cast<char>(std::toupper(variant.title.front()));
      variant.changes.push_back({option, "on"});
      variant.graph = transform(std::move(variant.graph));
      variant.parts |= part;
      if (variant.graph == variants[i].graph) continue;
      variants.push_back(std::move(variant));
    }
  };
  if (options.fuse) change_all("fused element-wise operators", "fuse", 2U, Fuse);
  if (options.in_place) change_all("outputs written over inputs", "in-place", 1U, ReuseInPlace);
  std::stable_sort(variants.begin(), variants.end(), [](const Variant& x, const Variant& y) {
    return std::popcount(x.parts) < std::popcount(y.parts);
  });
  return variants;
}

std::string Flags(const std::vector<OptionChange>& changes) {
  std::string text;
  for (const OptionChange& change : changes) text += (text.empty() ? "" : " ") + change.flag();
  return text;
}

// "8 B of traffic, written and read: proved the least."
std::string TrafficOf(const PlanAnswer& answer) {
  const std::string where = answer.fixed_order ? " in program order" : "";
  return FormatBytesExactly(answer.best->traffic.avoidable()) + " of traffic, written and read" +
         (answer.outcome == Outcome::kOptimal ? ": proved the least" + where + "."
                                              : "; no plan" + where + " has less than " +
                                                    FormatBytesExactly(answer.traffic_bound) + ".");
}

constexpr std::size_t kMostChains = 32;
// Each split makes a graph: fewer are tried in large graphs, none in very large ones.
constexpr std::size_t kMostOperatorsMade = 4'000'000;
constexpr std::size_t kLargeForStrips = 100'000;

struct SplitModel {
  SplitGraph graph;
  std::vector<OperatorStrips> chains;
  Bytes peak = 0;
};

// Tries to lower one graph.
class Splitting {
 public:
  Splitting(SplitGraph graph, const Counting& counting, Budget& budget)
      : counting_(counting),
        budget_(budget),
        whole_{std::move(graph), {}, 0},
        left_(kMostOperatorsMade / (whole_.graph.graph.operators.size() + 1)) {
    whole_.peak = Live(whole_.graph.graph, whole_.graph.order, counting).peak;
  }

  [[nodiscard]] const SplitModel& whole() const { return whole_; }

  // Chains are split until the peak is within the goal, or no chain lowers it. The lowest of the
  // graphs on the way is returned.
  SplitModel Towards(const ChainGoal& goal) {
    SplitModel now = whole_;
    SplitModel lowest = whole_;
    while (now.chains.size() < kMostChains && lowest.peak > goal.enough && left_ > 0) {
      if (budget_.TimeIsUp()) break;
      const auto found = FindChain(now.graph.graph, now.graph.order, counting_, goal, budget_);
      if (!found) break;
      --left_;
      now.chains.push_back(StripsIn(now.graph.graph, *found));
      now.graph = SplitIntoStrips(now.graph.graph, now.graph.order, found->chain, found->strips);
      now.peak = Live(now.graph.graph, now.graph.order, counting_).peak;
      if (IsWorthwhile(lowest.peak - now.peak, lowest.peak)) lowest = now;
    }
    return lowest;
  }

 private:
  [[nodiscard]] static OperatorStrips StripsIn(const Graph& graph, const ChainInStrips& found) {
    const auto& [chain, strips, peak] = found;
    OperatorStrips text;
    for (const OperatorIndex v : chain.operators) {
      text.operators.push_back(graph.operators[v].name);
    }
    text.axis = chain.axis;
    text.strips = static_cast<std::int64_t>(strips.rows.size());
    text.rows = strips.height;
    text.result = strips.rows.back().back().end;
    text.halo = strips.halo;
    text.recomputed = strips.recomputed;
    text.made = strips.made;
    return text;
  }

  const Counting& counting_;
  Budget& budget_;
  SplitModel whole_;
  std::size_t left_;  // Graphs to be made.
};

Bytes RecomputedIn(const std::vector<OperatorStrips>& chains) {
  Bytes sum = 0;
  for (const OperatorStrips& chain : chains) sum += chain.recomputed;
  return sum;
}

// What strips cost: bytes computed again, then operators to run.
auto WorkOf(const std::vector<OperatorStrips>& chains) {
  std::int64_t runs = 0;
  for (const OperatorStrips& chain : chains) {
    runs += chain.strips * static_cast<std::int64_t>(chain.operators.size());
  }
  return std::pair(RecomputedIn(chains), runs);
}

// The best of several ways: one chain at a time cannot see what the next ones will allow. If nothing
// is within `enough`, peaks about as low as the one that was reached are asked for with less work.
SplitModel SplitChains(SplitGraph graph, const Counting& counting, Bytes enough, Budget& budget) {
  Splitting splitting(std::move(graph), counting, budget);
  SplitModel best = splitting.whole();
  const auto try_goal = [&](Bytes goal) {
    for (const bool other : {false, true}) {
      SplitModel found = splitting.Towards({goal, other});
      const Bytes peak = std::max(found.peak, enough);
      const Bytes least = std::max(best.peak, enough);
      const bool less_work = WorkOf(found.chains) < WorkOf(best.chains);
      if (IsWorthwhile(least - peak, least) || (peak <= least && less_work)) {
        best = std::move(found);
      }
    }
  };
  try_goal(enough);
  if (best.chains.empty() || best.peak <= enough) return best;
  try_goal(0);
  try_goal(best.peak);
  try_goal(best.peak - best.peak / 8);
  return best;
}

std::string RowsText(std::int64_t rows) {
  return std::to_string(rows) + (rows == 1 ? " row" : " rows");
}

// "12.5 KiB, 1.3 % of what these operators make, is computed more than once"
std::string WorkText(const std::vector<OperatorStrips>& chains) {
  const Bytes recomputed = RecomputedIn(chains);
  Bytes made = 0;
  for (const OperatorStrips& chain : chains) made += chain.made;
  if (recomputed == 0) return "nothing is computed twice";
  const long tenths =
      std::lround(1000.0 * static_cast<double>(recomputed) / static_cast<double>(made));
  const std::string percent = tenths == 0
                                  ? "less than 0.1"
                                  : std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
  return FormatBytes(recomputed) + " (" + percent +
         " % of what these operators make) is computed more than once";
}

// "Conv_3" to "Relu_4"
std::string NameOf(const OperatorStrips& chain) {
  return Quoted(chain.operators.front()) + " to " + Quoted(chain.operators.back());
}

std::string DetailOf(const std::vector<OperatorStrips>& chains) {
  constexpr std::size_t kMostNamed = 3;
  std::string text;
  if (chains.size() == 1) {
    const OperatorStrips& chain = chains.front();
    text = "A strip is " + std::to_string(chain.rows) + " of the " + RowsText(chain.result) +
           " of the result along axis " + std::to_string(chain.axis) + ", its halo " +
           RowsText(chain.halo);
  } else {
    for (std::size_t i = 0; i < chains.size() && i < kMostNamed; ++i) {
      const OperatorStrips& chain = chains[i];
      text += (i == 0 ? "" : "; ") + NameOf(chain) + " into " + std::to_string(chain.strips) +
              " along axis " + std::to_string(chain.axis) + " (halo " + RowsText(chain.halo) + ")";
    }
    if (chains.size() > kMostNamed) {
      text += "; " + std::to_string(chains.size() - kMostNamed) + " more";
    }
  }
  return text + "; " + WorkText(chains) +
         ". Berth does not rewrite the model: the runtime's operators must be able to read and "
         "write some rows of a tensor.";
}

Remedy RemedyOf(const Variant& variant, std::vector<OperatorStrips> chains, Bytes memory,
                std::optional<Bytes> capacity) {
  Remedy remedy{RemedyKind::kStrips, "", "", memory};
  remedy.title = chains.size() == 1 ? "Split " + NameOf(chains.front()) + " into " +
                                          std::to_string(chains.front().strips) + " strips"
                                    : "Split " + std::to_string(chains.size()) +
                                          " chains of operators into strips";
  if (!variant.changes.empty()) remedy.title += ", with " + Flags(variant.changes);
  remedy.fits = capacity && memory <= *capacity;
  remedy.detail = "Estimate: the plan then needs " + FormatBytesExactly(memory);
  remedy.detail += remedy.fits ? ", and fits. " : ". ";
  if (capacity && !remedy.fits) {
    remedy.detail += FormatBytesExactly(memory - *capacity) + " are missing. ";
  }
  remedy.detail += DetailOf(chains);
  remedy.estimated = true;
  remedy.strips = std::move(chains);
  return remedy;
}

}  // namespace

ModelRemedies::ModelRemedies(const Graph& graph, const PlanOptions& plan, const PlanAnswer& answer,
                             const AdviceOptions& options, RemedySearch& search)
    : graph_(graph),
      plan_(plan),
      answer_(answer),
      search_(search),
      variants_(VariantsOf(graph, options)) {
  if (!answer.spills && answer.best) {
    variants_.front().memory = answer.best->addressed ? answer.best->height() : answer.best->peak();
  }
  if (answer.best) variants_.front().order = answer.best->order;
}

// An estimate alone does not end the search: nobody may be able to follow it.
bool ModelRemedies::anything_fits() const {
  return std::any_of(remedies_.begin(), remedies_.end(),
                     [](const Remedy& remedy) { return remedy.fits && !remedy.estimated; });
}

bool ModelRemedies::PartFits(const Variant& variant) const {
  return answer_.capacity &&
         std::any_of(variants_.begin(), variants_.end(), [&](const Variant& part) {
           return Includes(variant, part) && part.memory && *part.memory <= *answer_.capacity;
         });
}

Bytes ModelRemedies::LeastOfParts(const Variant& variant) const {
  Bytes least = kMaxBytes;
  for (const Variant& part : variants_) {
    if (Includes(variant, part) && part.memory) least = std::min(least, *part.memory);
  }
  return least;
}

void ModelRemedies::PlanGraph(const Graph& graph, const std::optional<Order>& order,
                              Variant& variant) {
  PlanOptions options = plan_;
  options.schedule.progress = nullptr;
  options.spill = false;
  options.recompute = false;
  options.capacity = std::nullopt;
  options.place.minimize = true;
  if (order) options.order = order;
  if (answer_.capacity) {
    options.capacity = *answer_.capacity;
    options.place.minimize = false;
  }
  const std::size_t size = graph.operators.size() + graph.tensors.size();
  const auto found =
      search_.Look(variant.title, NodesFor(kOrderNodes + kPlaceNodes, size),
                   [&](Budget& budget) { return berth::Plan(graph, options, budget); });
  if (!found || !*found || !(*found)->best || !(*found)->best->addressed) return;
  const MemoryPlan& best = *(*found)->best;
  search_.Found(variant.title);
  const bool only_ordered = answer_.best && !answer_.best->addressed && !answer_.capacity;
  const Bytes memory = only_ordered ? best.peak() : best.height();
  if (variant.memory && *variant.memory <= memory) return;
  variant.memory = memory;
  variant.order = best.order;
}

void ModelRemedies::Plan(Variant& variant) { PlanGraph(variant.graph, std::nullopt, variant); }

void ModelRemedies::TryChanges() {
  for (Variant& variant : variants_) {
    if (variant.parts == 0 || PartFits(variant)) continue;
    const Bytes before = LeastOfParts(variant);
    Plan(variant);
    if (!variant.memory || !IsWorthwhile(before - *variant.memory, before)) continue;
    const bool fits = answer_.capacity && *variant.memory <= *answer_.capacity;
    std::string detail =
        Flags(variant.changes) + ": the plan then needs " + FormatBytesExactly(*variant.memory);
    if (before != kMaxBytes) detail += ", " + FormatBytes(before - *variant.memory) + " less";
    detail += fits ? ", and fits." : ".";
    if (answer_.capacity && !fits) {
      detail += " " + FormatBytesExactly(*variant.memory - *answer_.capacity) + " are missing.";
    }
    Remedy remedy{RemedyKind::kModel, variant.title, std::move(detail), variant.memory};
    remedy.fits = fits;
    remedy.changes = variant.changes;
    remedies_.push_back(std::move(remedy));
  }
}

std::optional<Remedy> ModelRemedies::Split(const Variant& variant) {
  constexpr unsigned kInPlace = 1;  // Decides nothing until the strips are known.
  const auto whole = std::find_if(variants_.begin(), variants_.end(), [&](const Variant& other) {
    return other.parts == (variant.parts & ~kInPlace);
  });
  const auto& operators = whole->graph.operators;
  const bool any = std::any_of(operators.begin(), operators.end(),
                               [](const Operator& op) { return !op.receptive_fields.empty(); });
  if (!any || operators.size() > kLargeForStrips) return std::nullopt;
  const Counting& counting = plan_.schedule.counting;
  const Bytes enough = answer_.capacity.value_or(0);
  SplitGraph split{{}, whole->order.value_or(ProgramOrder(whole->graph))};
  split.graph = WithoutFused(whole->graph, split.order);
  Variant best{
      variant.title + (variant.title.empty() ? "O" : " and o") + "perators computed in strips",
      {},
      {},
      variant.parts,
      {},
      {}};
  auto model = search_.Look(best.title, kOrderNodes, [&](Budget& budget) {
    return SplitChains(std::move(split), counting, enough, budget);
  });
  if (!model || model->chains.empty()) return std::nullopt;
  split = std::move(model->graph);
  if ((variant.parts & kInPlace) != 0) split.graph = ReuseInPlace(std::move(split.graph));
  PlanGraph(split.graph, split.order, best);
  const bool fits = best.memory && answer_.capacity && *best.memory <= *answer_.capacity;
  // Another order may do with less.
  if (!fits && !answer_.fixed_order) PlanGraph(split.graph, std::nullopt, best);
  if (!best.memory) return std::nullopt;
  return RemedyOf(variant, std::move(model->chains), *best.memory, answer_.capacity);
}

void ModelRemedies::TryStrips() {
  for (const Variant& variant : variants_) {
    if (variant.parts != 0 && (!answer_.capacity || anything_fits())) return;
    auto remedy = Split(variant);
    if (!remedy) continue;
    if (variant.parts != 0) {
      // Only where this decides whether it fits.
      if (!remedy->fits || (variant.memory && *variant.memory <= *answer_.capacity)) continue;
    } else {
      const Bytes before = answer_.spills ? answer_.least_peak : variant.memory.value_or(kMaxBytes);
      if (!IsWorthwhile(before - *remedy->needs, before)) continue;
    }
    const bool fits = remedy->fits;
    remedies_.push_back(*std::move(remedy));
    if (fits) return;
  }
}

std::optional<Remedy> ModelRemedies::Spill(RemedyKind kind, const Variant& variant,
                                           Bytes capacity) {
  const Graph& graph = variant.graph;
  const std::string what = kind == RemedyKind::kSpill && capacity == answer_.capacity
                               ? (variant.title.empty() ? "" : variant.title + " with ") +
                                     "tensors that are spilled and retrieved (--budget)"
                               : "a capacity of " + FormatBytes(capacity) + " with spills";
  if (search_.TooLong(what, graph.operators.size() * graph.tensors.size() > kLargeForSpills)) {
    return std::nullopt;
  }
  const bool program = plan_.schedule.algorithm == ScheduleAlgorithm::kProgram && !plan_.order;
  const bool fixed = answer_.fixed_order;
  SpillOptions options;
  options.capacity = capacity;
  options.counting = plan_.schedule.counting;
  options.fixed_order = fixed;
  options.placer = [this](const Problem& problem, Budget& own) {
    PlaceOptions place = plan_.place;
    place.minimize = false;
    return Place(problem, place, own);
  };
  if (!fixed) options.orders.push_back(ProgramOrder(graph));
  if (variant.order) options.orders.push_back(*variant.order);
  if (fixed && answer_.best) options.orders = {answer_.best->order};
  const auto found =
      search_.Look(what, NodesFor(kSpillNodes, graph.operators.size() + graph.tensors.size()),
                   [&](Budget& budget) { return PlanWithSpills(graph, options, budget); });
  if (!found || !*found || !(*found)->best) return std::nullopt;
  const PlanAnswer& answer = **found;
  if (!answer.fits()) return std::nullopt;
  search_.Found(what);
  Remedy remedy{kind,
                variant.title,
                "",
                capacity,
                answer.outcome == Outcome::kOptimal,
                answer.best->traffic.avoidable()};
  remedy.fits = answer_.capacity && capacity <= *answer_.capacity;
  remedy.changes = variant.changes;
  remedy.changes.push_back({"budget", std::to_string(capacity)});
  // Only these two are orders of plans with spills.
  const bool any_order = !answer_.spills && !answer_.recomputes;
  if (any_order && (plan_.order || plan_.schedule.algorithm != ScheduleAlgorithm::kAuto)) {
    remedy.changes.push_back({"order", "auto"});
  } else if (fixed && program) {
    remedy.changes.push_back({"order", "program"});
  }
  remedy.detail =
      Flags(remedy.changes) + " fits" +
      (remedy.traffic == 0 ? ": nothing has to be spilled." : " with " + TrafficOf(answer));
  return remedy;
}

std::optional<Remedy> ModelRemedies::Recompute(const Variant& variant, Bytes capacity) {
  const Graph& graph = variant.graph;
  const std::string what = "operators that run again (--budget with --recompute)";
  if (search_.TooLong(what, graph.operators.size() > kLargeForRecomputation)) return std::nullopt;
  const bool program = plan_.schedule.algorithm == ScheduleAlgorithm::kProgram && !plan_.order;
  RecomputeOptions options;
  options.capacity = capacity;
  options.counting = plan_.schedule.counting;
  options.fixed_order = answer_.fixed_order;
  options.most_bytes = plan_.schedule.most_bytes;
  options.placer = [this](const Problem& problem, Budget& own) {
    PlaceOptions place = plan_.place;
    place.minimize = false;
    return Place(problem, place, own);
  };
  if (!options.fixed_order) options.orders.push_back(ProgramOrder(graph));
  if (variant.order) options.orders.push_back(*variant.order);
  const auto found =
      search_.Look(what, NodesFor(kRecomputeNodes, graph.operators.size()),
                   [&](Budget& budget) { return PlanWithRecomputation(graph, options, budget); });
  if (!found || !*found || !(*found)->best || !(*found)->fits()) return std::nullopt;
  const PlanAnswer& answer = **found;
  search_.Found(what);
  const OperatorCosts costs = CostsOf(graph);
  const auto all = std::accumulate(costs.of.begin(), costs.of.end(), 0.0);
  const Recomputed& again = answer.best->recomputed;
  const bool proved = answer.outcome == Outcome::kOptimal;
  Remedy remedy{RemedyKind::kRecompute, "Run operators again", "", capacity, proved};
  remedy.recompute_cost = again.cost;
  remedy.fits = answer_.capacity && capacity <= *answer_.capacity;
  remedy.changes = {{"budget", std::to_string(capacity)}, {"recompute", "on"}};
  if (!options.fixed_order &&
      (plan_.order || plan_.schedule.algorithm != ScheduleAlgorithm::kAuto)) {
    remedy.changes.push_back({"order", "auto"});
  } else if (options.fixed_order && program) {
    remedy.changes.push_back({"order", "program"});
  }
  // Costs are rounded up, bounds down.
  const auto share = [&](std::int64_t cost, bool down) {
    const double millionths = all > 0 ? 1e6 * static_cast<double>(cost) / all : 0;
    return FormatPercentage(
        static_cast<std::int64_t>(down ? std::floor(millionths) : std::ceil(millionths)));
  };
  remedy.detail = Flags(remedy.changes) + " fits";
  if (again.operators == 0) {
    remedy.detail += ": no operator has to run again.";
    return remedy;
  }
  remedy.detail += ": " + std::to_string(again.operators) +
                   (again.operators == 1 ? " execution" : " executions") + " more, at " +
                   share(again.cost, false) + " of the cost of one run" +
                   (proved                       ? ": proved the least without spills."
                    : answer.recompute_bound > 0 ? "; no plan without spills has less than " +
                                                       share(answer.recompute_bound, true) + "."
                                                 : "; less may be possible.");
  if (costs.unit == "bytes") {
    remedy.detail += " Costs are the bytes that operators read and write; --device gives times.";
  }
  return remedy;
}

void ModelRemedies::TryRecomputation() {
  const bool other = std::any_of(remedies_.begin(), remedies_.end(), [](const Remedy& remedy) {
    return remedy.fits && !remedy.estimated && remedy.traffic.value_or(0) == 0;
  });
  const Variant& model = variants_.front();
  if (other || (!answer_.capacity && !model.memory)) return;
  const Bytes least = FindLeastMemory(graph_, plan_.schedule.counting).bytes;
  Bytes capacity = answer_.capacity.value_or(0);
  if (!answer_.capacity) {
    capacity = (least + *model.memory) / 2;
    if (!IsWorthwhile(*model.memory - capacity, *model.memory)) return;
  }
  if (least > capacity) return;
  if (auto remedy = Recompute(model, capacity)) remedies_.push_back(*std::move(remedy));
}

void ModelRemedies::TrySpills() {
  if (!answer_.capacity || anything_fits()) return;
  int fewest = -1;
  for (const Variant& variant : variants_) {
    const int changes = std::popcount(variant.parts);
    if (fewest >= 0 && changes > fewest) break;
    if (answer_.spills && changes == 0) continue;  // That is what was asked for.
    if (FindLeastMemory(variant.graph, plan_.schedule.counting).bytes > *answer_.capacity) continue;
    auto remedy = Spill(RemedyKind::kSpill, variant, *answer_.capacity);
    if (!remedy) continue;
    remedy->title = variant.title.empty() ? "Spill and retrieve tensors"
                                          : variant.title + ", and tensors spilled and retrieved";
    remedies_.push_back(*std::move(remedy));
    fewest = changes;
  }
}

std::optional<Bytes> ModelRemedies::EnlargeBudget(const Variant& variant) {
  const Bytes least = FindLeastMemory(variant.graph, plan_.schedule.counting).bytes;
  Bytes peak = variant.memory.value_or(variant.parts == 0 ? answer_.least_peak : 0);
  if (peak == 0) peak = 2 * least;
  for (const Bytes capacity : std::set<Bytes>{least, (least + peak) / 2, peak}) {
    if (capacity <= *answer_.capacity || capacity < least) continue;
    auto remedy = Spill(RemedyKind::kLargerBudget, variant, capacity);
    if (!remedy) continue;
    remedy->title = (variant.title.empty() ? "A" : variant.title + ", and a") +
                    std::string(" capacity of ") + FormatBytes(capacity) +
                    (remedy->traffic == 0 ? "" : " with spills");
    remedies_.push_back(*std::move(remedy));
    return capacity;
  }
  return std::nullopt;
}

std::optional<Bytes> ModelRemedies::TryLargerBudgets() {
  if (!answer_.capacity || (!answer_.spills && anything_fits())) return std::nullopt;
  const auto enough = EnlargeBudget(variants_.front());
  if (anything_fits()) return enough;
  // The changes together need the least.
  const auto& counting = plan_.schedule.counting;
  const auto least =
      std::min_element(variants_.begin(), variants_.end(), [&](const Variant& x, const Variant& y) {
        return FindLeastMemory(x.graph, counting).bytes < FindLeastMemory(y.graph, counting).bytes;
      });
  if (least->parts != 0) EnlargeBudget(*least);
  return enough;
}

void ModelRemedies::TryLowerBudget() {
  if (answer_.capacity || !variants_.front().memory) return;
  const Bytes now = *variants_.front().memory;
  const Bytes least = FindLeastMemory(graph_, plan_.schedule.counting).bytes;
  const Bytes capacity = (least + now) / 2;
  if (!IsWorthwhile(now - capacity, now)) return;
  auto remedy = Spill(RemedyKind::kSpill, variants_.front(), capacity);
  if (!remedy) return;
  remedy->title = "Spill and retrieve tensors";
  remedies_.push_back(*std::move(remedy));
}

}  // namespace berth::internal::plan
