// PlanWithSpills(): which searches run, in which order, and when they end.
//
// First each known order gets a plan; least peaks, minimum cuts and what is live for certain give a bound
// for all orders. Then each known order is searched by itself, as a chain of operators: other orders have
// to beat the cheapest of these. Then beams over all orders, from narrow to wide, alternate with best-first
// search, which can prove a bound, as windows and segments along the best order do. Each search has a limit
// several times that of the one before, so easy graphs are solved at once, and for hard ones the last search
// takes most of the effort.
// Addresses come last, cheapest schedule first.
//
// Where sets of all operators do not fit the memory, each order gets a schedule in near-linear time,
// and the cheapest one counts.
//
// Without a limit the searches end when a default effort is spent. It counts operations, in units
// of a few nanoseconds, instead of time: the answer is the same on every machine.

#include "berth/spill.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/gap.h"
#include "base/side_by_side.h"
#include "base/text.h"
#include "base/try.h"
#include "base/wide.h"
#include "base/within_memory.h"
#include "graph/plan.h"
#include "spill/addresses.h"
#include "spill/cuts.h"
#include "spill/entry.h"
#include "spill/furthest.h"
#include "spill/layout.h"
#include "spill/model.h"
#include "spill/peak_bound.h"
#include "spill/prices.h"
#include "spill/search.h"
#include "spill/segments.h"
#include "spill/whole_bound.h"

namespace berth {

namespace {

using internal::AfterTask;
using internal::OpIndex;
using internal::SideBySide;
using internal::spill::Action;
using internal::spill::AddressAnswer;
using internal::spill::Addressed;
using internal::spill::AddressOptions;
using internal::spill::BestFirstAnswer;
using internal::spill::CutBound;
using internal::spill::Effort;
using internal::spill::FindAddresses;
using internal::spill::ImproveAddresses;
using internal::spill::kNoCost;
using internal::spill::Known;
using internal::spill::LayoutOf;
using internal::spill::Model;
using internal::spill::PriceBound;
using internal::spill::Schedule;
using internal::spill::Search;
using internal::spill::SegmentBound;
using internal::spill::SegmentOptions;
using internal::spill::WindowBound;

// For addresses, if the search was cancelled.
constexpr double kSecondsAfterCancel = 0.7;
// Then for those of schedules for less memory, in case that was too short.
constexpr double kSecondsForLessMemory = 0.3;
// The same for kManyOperators: a first plan is all that they get.
constexpr double kSecondsOfManyAfterCancel = 0.1;
// With more operators than this, the first schedule of an order is not searched: a beam takes
// quadratic time.
constexpr std::size_t kManyOperators = 4096;

// With more operators than this, placements are not repaired: each repair looks at all residencies.
constexpr std::size_t kMostRepaired = 16384;
// Nodes of each of their placements: one look by exact search would cost more than it finds.
constexpr std::int64_t kNodesOfMany = 1000;

class Planner {
 public:
  Planner(const Graph& graph, const SpillOptions& options, Model model, const Known& known,
          Budget& budget)
      : graph_(graph),
        options_(options),
        known_traffic_(known.traffic),
        budget_(budget),
        orders_(options.orders),
        model_(std::move(model)),
        bound_(known.traffic_bound) {
    if (orders_.empty()) orders_.push_back(ProgramOrder(graph));
    if (options.fixed_order) orders_.resize(1);
    effort_.most_bytes = options.most_bytes;
    if (!budget.has_time_limit() && !budget.has_node_limit()) effort_.work = kDefaultWork;
  }

  // `seconds` were spent before `begin`.
  Result<PlanAnswer> Run(Budget::Clock::time_point begin, double seconds) {
    const std::int64_t nodes_before = budget_.nodes_spent();
    PlanAnswer answer;
    answer.capacity = options_.capacity;
    answer.spills = true;
    answer.fixed_order = options_.fixed_order;
    answer.least = LeastOf(model_);
    if (answer.least.bytes > options_.capacity) {
      answer.outcome = Outcome::kInfeasible;
    } else {
      {
        // To make and check the last plan takes up to three times as long as what precedes the search.
        const std::chrono::duration<double> set_up = Budget::Clock::now() - begin;
        const internal::TimeKept kept(budget_, 3 * (seconds + set_up.count()));
        FindSchedules();
        if (!schedules_.empty() && schedules_.front().cost < known_traffic_) {
          BERTH_TRY(FindAnyPlan(answer));
        }
      }
      answer.traffic_bound = std::max(bound_, address_bound_);
      if (!schedules_.empty()) answer.traffic_by_sum = schedules_.front().cost;
      CheckPlan(answer);
    }
    answer.height_bound = answer.least.bytes;
    answer.nodes = budget_.nodes_spent() - nodes_before;
    answer.seconds = std::chrono::duration<double>(Budget::Clock::now() - begin).count();
    answer.spilling = {answer.outcome, answer.stopped, "spills", answer.nodes, answer.seconds, {}};
    internal::AdmitUnsized(graph_, options_.counting, answer);
    return answer;
  }

 private:
  struct Stage {
    std::size_t width;
    std::size_t max_sets;
    std::size_t states;  // Of the best-first search that follows.
  };
  static constexpr std::array<Stage, 5> kStages = {{
      {1, 16, 2'000},
      {16, 64, 20'000},
      {64, 64, 100'000},
      {256, 64, 400'000},
      {1500, 64, std::numeric_limits<std::size_t>::max()},
  }};
  static constexpr std::size_t kStagesOfKnown = 2;  // For one order, before other searches.
  static constexpr std::size_t kStagesOfLast = 4;   // The same, after the search over all orders.
  static constexpr std::size_t kStageTogether = 2;  // The beams from here on run side by side.
  static constexpr std::size_t kWindowStage = 1;    // The bound by windows comes after its beams.
  static constexpr std::size_t kSegmentStage = 2;   // Segment bounds come before this stage.
  static constexpr int kPriceIterations = 2000;
  static constexpr std::int64_t kDefaultWork = 8'000'000'000;
  static constexpr std::array<int, 4> kAlphas = {0, 4, 8, 16};

  [[nodiscard]] Bytes best_cost() const {
    return schedules_.empty() ? known_traffic_ : std::min(known_traffic_, schedules_.front().cost);
  }
  [[nodiscard]] bool proved() const { return bound_ >= best_cost(); }
  [[nodiscard]] bool done() const { return proved() || IsNear(best_cost()); }
  // Of a plan with this traffic: as near to the bound as was asked for.
  [[nodiscard]] bool IsNear(Bytes traffic) const {
    if (options_.gap == 0 || traffic == kNoCost) return false;
    return traffic <= internal::MostWithin(std::max(bound_, address_bound_), options_.gap);
  }

  void Report() const {
    if (!options_.progress) return;
    options_.progress({best_cost(), std::min(bound_, best_cost()),
                       nodes_outside_ + search_budget_->nodes_spent()});
  }

  // No plan has less traffic.
  void Prove(Bytes bound) {
    if (bound <= bound_) return;
    bound_ = std::min(bound, best_cost());
    Report();
  }

  // `operators` are those of the model that the schedule's actions name, in its order; empty: the
  // schedule's own.
  void Add(Schedule schedule, const std::vector<OpIndex>& operators) {
    for (Action& action : schedule.actions) {
      if (!operators.empty()) action.op = operators[action.op.position()];
    }
    const auto place =
        std::upper_bound(schedules_.begin(), schedules_.end(), schedule.cost,
                         [](Bytes cost, const Schedule& other) { return cost < other.cost; });
    schedules_.insert(place, std::move(schedule));
    Report();
  }

  // The order of the cheapest schedule.
  [[nodiscard]] std::vector<OpIndex> BestOrder() const {
    std::vector<OpIndex> best;
    best.reserve(model_.num_operators);
    for (const Action& action : schedules_.front().actions) best.push_back(action.op);
    return best;
  }

  void FindSchedules() {
    // The rest of the budget is for addresses.
    constexpr int kShare = 8;
    Budget part(budget_, 1 - 1.0 / kShare);
    if (budget_.has_node_limit()) {
      part.SetNodeLimit(part.node_limit() - part.node_limit() / kShare);
    }
    search_budget_ = &part;
    const auto search = [&] {
      FindSchedulesWithinPart();
      return true;
    };
    if (!internal::WithinMemory(search)) {
      if (schedules_.empty()) throw std::bad_alloc();
      out_of_states_ = true;
    }
    out_of_budget_ = part.Exhausted();
    out_of_work_ = out_of_work_ || effort_.spent();
    search_budget_ = nullptr;
  }
  // A share of the remaining time and work, for one of several searches.
  class Share {
   public:
    Share(Planner& planner, std::int64_t part, std::int64_t of)
        : planner_(planner),
          budget_(*planner.search_budget_, static_cast<double>(part) / static_cast<double>(of)),
          whole_(std::exchange(planner.search_budget_, &budget_)),
          kept_(planner.effort_.work - planner.effort_.work / of * part) {
      planner.effort_.work -= kept_;
      planner.nodes_outside_ += whole_->nodes_spent();
    }
    ~Share() {
      planner_.out_of_work_ = planner_.out_of_work_ || planner_.effort_.spent();
      planner_.effort_.work += kept_;
      planner_.nodes_outside_ -= whole_->nodes_spent();
      planner_.search_budget_ = whole_;
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

   private:
    Planner& planner_;
    Budget budget_;
    Budget* whole_;
    std::int64_t kept_;
  };
  [[nodiscard]] Budget& search_budget() const { return *search_budget_; }
  [[nodiscard]] bool Exhausted() const { return effort_.spent() || search_budget_->Exhausted(); }

  // Sets of operators for each operator must fit the memory several times.
  [[nodiscard]] bool IsLarge() const {
    return internal::spill::BytesOfAncestors(model_.num_operators) > options_.most_bytes / 8;
  }

  // Cancelled, with more operators than get a plan afterwards.
  [[nodiscard]] bool GivesUp() const {
    return budget_.cancelled() && model_.num_operators > internal::kMostAfterCancel;
  }

  // Of a chain, whatever the budget.
  [[nodiscard]] Schedule FirstSchedule(const Model& chain) const {
    if (chain.num_operators > kManyOperators) {
      return internal::spill::FurthestFirst(chain, options_.capacity);
    }
    Budget unlimited;
    Effort needed{.most_bytes = options_.most_bytes};
    bool exact = false;
    auto found = Search(chain, options_.capacity, options_.rules, nullptr, needed)
                     .Beam({1, 4, 1}, kNoCost, exact, unlimited);
    BERTH_CHECK(found.has_value());
    return std::move(*found);
  }

  void FindSchedulesWithinPart() {
    // A first plan for each, whatever the budget; the best one is searched first.
    std::vector<std::pair<Bytes, std::vector<OpIndex>>> known;
    for (const Order& order : orders_) {
      if (IsLarge() && !known.empty() && Exhausted()) break;
      if (GivesUp()) return;
      std::vector<OpIndex> reduced = internal::spill::ReduceOrder(model_, order);
      const Model chain = internal::spill::WithOrder(model_, reduced);
      if (GivesUp()) return;
      Schedule found = FirstSchedule(chain);
      const Bytes cost = found.cost;
      Add(std::move(found), reduced);
      if (cost == 0) return;
      known.emplace_back(cost, std::move(reduced));
    }
    std::stable_sort(known.begin(), known.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (IsLarge()) {
      out_of_states_ = true;
      return;
    }
    if (Exhausted()) return;
    if (!options_.fixed_order) {
      if (!AddAncestors(model_, search_budget())) return;
      BoundAllOrders();
      if (done()) return;
    }
    for (std::size_t i = 0; i < known.size(); ++i) {
      // An equal share for each order that is left, and for the search over all orders.
      {
        const Share share(
            *this, 1, options_.fixed_order ? 1 : static_cast<std::int64_t>(known.size() - i + 1));
        Deepen(internal::spill::WithOrder(model_, known[i].second), known[i].second,
               options_.fixed_order ? kStages.size() : kStagesOfKnown);
      }
      if (done()) return;
    }
    if (options_.fixed_order) return;
    polished_ = best_cost();
    {
      const Share share(*this, 4, 5);
      Deepen(model_, {}, kStages.size());
    }
    if (done()) return;
    // Without a proof: search the best order and the known ones further.
    const std::vector<OpIndex> best = BestOrder();
    Deepen(internal::spill::WithOrder(model_, best), best, kStagesOfLast);
    for (const auto& [cost, order] : known) {
      if (Exhausted()) return;
      Deepen(internal::spill::WithOrder(model_, order), order, kStagesOfLast);
    }
  }

  // The bounds that need no schedules, each with a part of the budget.
  void BoundAllOrders() {
    const SpillRules& rules = options_.rules;
    const Bytes capacity = options_.capacity;
    if (rules.peaks) {
      const Share share(*this, 1, 4);
      Budget part(search_budget(), 1);
      LimitNodes(part);
      Prove(internal::spill::PeakBound(graph_, options_.counting, model_, capacity,
                                       options_.most_bytes, options_.threads, part));
    }
    if (rules.cuts && !done()) {
      const Share share(*this, 1, 4);
      Prove(CutBound(model_, capacity, BestOrder(), best_cost(), effort_, search_budget()));
    }
    if (rules.whole && !done()) {
      const Share share(*this, 1, 2);
      Budget part(search_budget(), 1);
      LimitNodes(part);
      Prove(internal::spill::WholeBound(model_, capacity, best_cost(), effort_, part));
    }
  }
  // If nodes are limited: nearly all of them are for schedules.
  static void LimitNodes(Budget& bound) {
    constexpr int kPart = 16;
    if (bound.has_node_limit()) bound.SetNodeLimit(bound.node_limit() / kPart);
  }

  // Searches the best order by itself: the search over all orders may miss its best schedule.
  void Polish() {
    if (done() || best_cost() >= polished_ || Exhausted()) return;
    const std::vector<OpIndex> order = BestOrder();
    Deepen(internal::spill::WithOrder(model_, order), order, kStagesOfKnown);
    polished_ = best_cost();
  }

  void BoundByWindows(const Model& model) {
    if (!options_.rules.segments) return;
    const Share share(*this, 1, 4);
    Budget part(search_budget(), 1);
    LimitNodes(part);
    Prove(WindowBound(model, options_.capacity, options_.rules, BestOrder(), best_cost(),
                      options_.threads, effort_, part));
  }

  // What a beam takes.
  struct Expense {
    std::int64_t nodes = 0;
    std::int64_t work = 0;
    void Raise(const Expense& other) {
      nodes = std::max(nodes, other.nodes);
      work = std::max(work, other.work);
    }
  };

  // The beams of a stage, one after the other; with prices in the bound, a single one. Each looks for less than
  // those before it have found. True if nothing cheaper than the best schedule exists. Raises `most` to
  // the most that one of them has taken.
  bool RunBeams(Search& search, const Stage& stage, const std::vector<OpIndex>& order, bool priced,
                Expense& most) {
    for (const int alpha : kAlphas) {
      if (priced && alpha > 0) break;  // The bound has the price of memory in it.
      bool exact = false;
      const Expense before{search_budget().nodes_spent(), effort_.work};
      auto found =
          search.Beam({stage.width, alpha, stage.max_sets}, best_cost(), exact, search_budget());
      most.Raise({search_budget().nodes_spent() - before.nodes, before.work - effort_.work});
      if (found) Add(std::move(*found), order);
      if (exact) return true;
      if (done() || best_cost() == 0 || Exhausted()) break;
    }
    return false;
  }

  // Whether an equal share of what is left is enough for each beam of a stage, if one of the stage before took
  // `before`: a beam of twice the width takes about twice as much.
  [[nodiscard]] bool HasEnough(std::size_t stage, const Expense& before) const {
    const auto shares = static_cast<std::int64_t>(kAlphas.size() * kStages[stage].width);
    const auto width_before = static_cast<std::int64_t>(kStages[stage - 1].width);
    const auto is_enough = [&](std::int64_t taken, std::int64_t left) {
      return taken <= left / shares * width_before;
    };
    return is_enough(before.nodes, search_budget().node_limit() - search_budget().nodes_spent()) &&
           is_enough(before.work, effort_.work);
  }

  // The same side by side, each with an equal share of the nodes, the work and the memory.
  bool RunBeamsTogether(const Search& search, const Stage& stage, const std::vector<OpIndex>& order,
                        Expense& most) {
    struct Beam {
      Effort effort;
      std::optional<Schedule> found;
      bool exact = false;
      std::int64_t nodes = 0;
    };
    constexpr auto kBeams = static_cast<std::int64_t>(kAlphas.size());
    const Effort share{effort_.work / kBeams, effort_.most_bytes / kAlphas.size()};
    const Bytes limit = best_cost();
    std::vector<Beam> beams(kAlphas.size(), {share, std::nullopt});
    SideBySide tasks(beams.size(), beams.size(), search_budget());
    tasks.Run(options_.threads, [&](std::size_t i, Budget& own) {
      Beam& beam = beams[i];
      Search mine(search, beam.effort);
      beam.found = mine.Beam({stage.width, kAlphas[i], stage.max_sets}, limit, beam.exact, own);
      beam.nodes = own.nodes_spent();
      const bool least = beam.found && beam.found->cost <= bound_;
      return beam.exact || least ? AfterTask::kEnd : AfterTask::kGoOn;
    });
    bool exact = false;
    for (std::size_t i = 0; i < beams.size() && tasks.counts(i); ++i) {
      const Expense taken{beams[i].nodes, share.work - beams[i].effort.work};
      most.Raise(taken);
      effort_.work -= taken.work;
      if (beams[i].found && beams[i].found->cost < best_cost()) {
        Add(*std::move(beams[i].found), order);
      }
      exact = beams[i].exact;
    }
    return exact;
  }

  // Beams and best-first searches in turn. With an order, a proof holds for that order only.
  // `model` has the operators in `order`; without an order it is the graph's own.
  void Deepen(const Model& model, const std::vector<OpIndex>& order, std::size_t num_stages) {
    Search search(model, options_.capacity, options_.rules, nullptr, effort_);
    std::unique_ptr<SegmentBound> segments;
    std::unique_ptr<PriceBound> prices;
    const bool is_chain = !order.empty();
    const bool proves = !is_chain || options_.fixed_order;
    const auto prove = [&](Bytes bound) {
      if (proves) Prove(bound);
    };
    if (is_chain && options_.rules.prices && best_cost() > 0) {
      prices = std::make_unique<PriceBound>(model, options_.capacity);
      prices->Improve(best_cost(), kPriceIterations, effort_, search_budget());
      prove(prices->value());
      if (prices->value() >= best_cost()) return;
      search.SetBound(prices.get());
    }
    Expense of_beam;  // The most that one took so far.
    for (std::size_t stage = 0; stage < num_stages; ++stage) {
      if (done() || best_cost() == 0) break;
      if (stage == kSegmentStage && options_.rules.segments && !is_chain) {
        segments =
            std::make_unique<SegmentBound>(model, options_.capacity, options_.rules, BestOrder(),
                                           SegmentOptions{}, effort_, search_budget());
        prove(segments->value());
        if (done() || Exhausted()) break;
        // A bound far below the best cost is not worth its time as an estimate.
        if (segments->value() / 3 >= best_cost() / 4) search.SetBound(segments.get());
      }
      if (!is_chain) search.SetHint(BestOrder());
      const bool together =
          stage >= kStageTogether && !search.has_bound() && HasEnough(stage, of_beam);
      const bool exact = together
                             ? RunBeamsTogether(search, kStages[stage], order, of_beam)
                             : RunBeams(search, kStages[stage], order, prices != nullptr, of_beam);
      if (exact) {
        prove(best_cost());
        return;
      }
      if (done() || best_cost() == 0 || Exhausted()) break;
      if (stage == kWindowStage && !is_chain) BoundByWindows(model);
      if (done() || Exhausted()) break;
      const auto limit = static_cast<std::size_t>(options_.max_states);
      BestFirstAnswer proof =
          search.BestFirst(best_cost(), std::min(kStages[stage].states, limit), search_budget());
      if (proof.best) Add(std::move(*proof.best), order);
      prove(proof.bound);
      if (!is_chain) {
        search.Release();  // Polish() may use as much memory.
        Polish();
      }
      if (proof.complete || Exhausted()) break;
      if (kStages[stage].states >= limit || proof.out_of_memory) {
        out_of_states_ = true;
        break;
      }
    }
    if (best_cost() == 0) bound_ = 0;
  }

  // The order of all operators, if the plan must have it; otherwise null.
  [[nodiscard]] const Order* FixedOrder() const {
    return options_.fixed_order ? &orders_.front() : nullptr;
  }

  [[nodiscard]] internal::spill::Layout LayoutOfBest() const {
    return LayoutOf(graph_, model_, schedules_.front(), FixedOrder());
  }

  // Addresses within the budget or, once that is cancelled, within kSecondsAfterCancel.
  Result<AddressAnswer> AddressesOf(const Schedule& schedule, const AddressOptions& options) {
    const auto find = [&](Budget& budget) {
      return FindAddresses(graph_, LayoutOf(graph_, model_, schedule, FixedOrder()), options,
                           options_.placer, budget);
    };
    AddressAnswer found;
    if (!budget_.cancelled()) {
      auto answer = internal::WithinMemory([&] { return find(budget_); });
      if (answer) {
        found = BERTH_TRY(*std::move(answer));
      } else {
        out_of_states_ = true;
      }
      if (!budget_.cancelled()) return found;
    }
    // A schedule is worth nothing without addresses, and a search for them that was cut short
    // spills all that can be spilled.
    if (!after_cancel_.has_time_limit()) {
      after_cancel_.SetTimeLimit(model_.num_operators > kManyOperators ? kSecondsOfManyAfterCancel
                                                                       : kSecondsAfterCancel);
    }
    AddressAnswer again = BERTH_TRY(find(after_cancel_));
    const auto traffic = [](const AddressAnswer& each) {
      return each.best ? each.best->plan.traffic.avoidable() : kNoCost;
    };
    return traffic(again) < traffic(found) ? std::move(again) : std::move(found);
  }

  Result<void> FindAnyPlan(PlanAnswer& answer) {
    if (!options_.placer) {
      answer.best = internal::spill::PlanOf(LayoutOfBest());
      internal::StateUse(graph_, *answer.best);
      return {};
    }
    if (model_.num_operators > kMostRepaired) return FindPlanForLess(budget_, answer);
    BERTH_TRY(FindPlan(answer));
    // A search for addresses that was cut short has spilled all that can be spilled.
    const bool least = answer.best && answer.best->traffic.avoidable() <= best_cost();
    if (least || !budget_.cancelled() || model_.num_operators > kManyOperators) return {};
    Budget after_cancel(kSecondsForLessMemory);
    return FindPlanForLess(after_cancel, answer);
  }

  // The cheapest schedules first, until one gets addresses without additional traffic. What is left then
  // is for the best plan. An equal share for each schedule was tried: placements of the first one, which
  // counts most, are then too short where time is.
  Result<void> FindPlan(PlanAnswer& answer) {
    constexpr std::size_t kMostSchedules = 4;
    const std::size_t most = std::min(kMostSchedules, schedules_.size());
    AddressOptions address_options;
    address_options.capacity = options_.capacity;
    address_options.most_bytes = options_.most_bytes;
    address_options.enough = schedules_.front().cost;
    if (options_.gap > 0) {
      address_options.enough =
          std::max(address_options.enough, internal::MostWithin(bound_, options_.gap));
    }
    if (known_traffic_ != kNoCost) address_options.limit = known_traffic_ - 1;
    std::optional<Addressed> best;
    Bytes bound = 0;  // Of its order.
    for (std::size_t i = 0; i < most && schedules_[i].cost <= address_options.limit; ++i) {
      if (address_bound_ > address_options.limit) break;
      AddressAnswer found = BERTH_TRY(AddressesOf(schedules_[i], address_options));
      NoteEnd(found);
      if (options_.fixed_order) address_bound_ = std::max(address_bound_, found.bound);
      if (!found.best) continue;
      best = std::move(found.best);
      bound = found.bound;
      address_options.limit = best->plan.traffic.avoidable() - 1;
    }
    if (!best) return {};
    const bool limited = budget_.has_time_limit() || budget_.has_node_limit();
    const Bytes enough = std::max({address_options.enough, bound, address_bound_});
    if (limited && best->plan.traffic.avoidable() > enough) {
      address_options.limit = best->plan.traffic.avoidable();
      addresses_.out_of_nodes = false;  // The limit counts.
      auto improved = internal::WithinMemory([&] {
        return ImproveAddresses(graph_, *best, address_options, options_.placer, budget_);
      });
      if (improved) {
        AddressAnswer better = BERTH_TRY(*std::move(improved));
        best = std::move(better.best);
        NoteEnd(better);
      } else {
        out_of_states_ = true;
      }
    }
    if (best->plan.traffic.avoidable() <= enough) addresses_ = {};
    answer.best = std::move(best->plan);
    return {};
  }
  void NoteEnd(const AddressAnswer& found) {
    addresses_.out_of_budget = addresses_.out_of_budget || found.out_of_budget;
    addresses_.out_of_nodes = addresses_.out_of_nodes || found.out_of_nodes;
  }

  // Repairing the placement of many tensors would take quadratic time. A schedule for less memory
  // leaves gaps between the tensors: which memory is right for the placement to fit is found by
  // halving. A plan that spills all there is always fits, but for alignments.
  Result<void> FindPlanForLess(Budget& budget, PlanAnswer& answer) {
    constexpr int kMostTries = 8;
    constexpr Bytes kFineness = 64;  // Of the capacity.
    const std::vector<OpIndex> order = BestOrder();
    std::optional<Model> chain;  // In that order; made when it is needed.
    AddressOptions address_options;
    address_options.capacity = options_.capacity;
    address_options.nodes_of_first = kNodesOfMany;
    Bytes fits = answer.least.bytes;
    Bytes exceeds = options_.capacity;
    Bytes target = options_.capacity;  // The memory that `schedule` is for.
    Schedule schedule = schedules_.front();
    double seconds = 0;  // The longest try.
    for (int tries = 0; tries < kMostTries && budget.seconds_left() > seconds; ++tries) {
      const auto start = Budget::Clock::now();
      if (budget.Exhausted()) break;
      auto found = BERTH_TRY(
          internal::spill::PlaceLayout(graph_, LayoutOf(graph_, model_, schedule, FixedOrder()),
                                       address_options, options_.placer, budget));
      if (!found) break;
      const Bytes height = found->height();
      if (height <= options_.capacity) {
        if (!answer.best || found->traffic.avoidable() < answer.best->traffic.avoidable()) {
          answer.best = std::move(*found);
          CheckValid(*answer.best);
        }
        if (tries == 0) break;
        fits = target;
      } else {
        exceeds = target;
      }
      if (exceeds - fits <= options_.capacity / kFineness) break;
      target = fits + (exceeds - fits) / 2;
      if (!chain) chain = internal::spill::WithOrder(model_, order);
      schedule = internal::spill::FurthestFirst(*chain, target);
      for (Action& action : schedule.actions) action.op = order[action.op.position()];
      const std::chrono::duration<double> spent = Budget::Clock::now() - start;
      seconds = std::max(seconds, spent.count());
    }
    if (!answer.best && !GivesUp()) {
      answer.best = internal::spill::SpillAll(graph_, LayoutOfBest(), options_.capacity);
      if (answer.best) CheckValid(*answer.best);
    }
    return {};
  }

  void CheckValid(const MemoryPlan& plan) const {
    const auto valid = ValidatePlan(graph_, options_.counting, options_.capacity, plan);
    if (!valid) internal::CheckFailed(valid.error().message.c_str(), __FILE__, __LINE__);
  }

  // Outcome, bound and reason of the answer, whose plan must be valid.
  void CheckPlan(PlanAnswer& answer) {
    if (!answer.best) {
      answer.outcome = Outcome::kUnknown;
    } else {
      // The bound of alignments takes as long as all other checks.
      answer.placement_bound =
          model_.num_operators > kMostRepaired
              ? answer.best->peak()
              : MaxLiveLoad(internal::UnnamedProblemOf(graph_, *answer.best)).lower_bound;
      const bool proved = answer.best->traffic.avoidable() <= answer.traffic_bound;
      answer.outcome = proved ? Outcome::kOptimal : Outcome::kFeasible;
      const bool checked = options_.placer && model_.num_operators > kMostRepaired;
      if (!checked) CheckValid(*answer.best);
    }
    if (answer.outcome != Outcome::kOptimal) {
      answer.stopped = answer.best && IsNear(answer.best->traffic.avoidable()) ? StopReason::kGap
                       : out_of_budget_ || addresses_.out_of_budget || budget_.Exhausted()
                           ? StopReason::kBudget
                       : out_of_work_ || addresses_.out_of_nodes ? StopReason::kEffort
                       : out_of_states_                          ? StopReason::kSize
                                                                 : StopReason::kAlgorithm;
    }
  }

  const Graph& graph_;
  const SpillOptions& options_;
  const Bytes known_traffic_;
  Budget& budget_;
  Budget after_cancel_;              // For addresses; limited when it is first needed.
  Budget* search_budget_ = nullptr;  // Of the search for schedules, while it runs.
  std::int64_t nodes_outside_ = 0;   // Spent by this search before that part of the budget began.
  bool out_of_budget_ = false;       // That search.
  std::vector<Order> orders_;        // Those to begin with; with a fixed order it alone.
  Model model_;
  std::vector<Schedule> schedules_;  // Cheapest first; of equal ones, the first found.
  Bytes bound_;
  Bytes address_bound_ = 0;   // The same, but counts addresses.
  Bytes polished_ = kNoCost;  // The cost of the cheapest schedule that is the best of its order.
  Effort effort_;
  bool out_of_states_ = false;
  bool out_of_work_ = false;
  // Of addresses with more traffic than the cheapest schedule.
  struct {
    bool out_of_budget = false;
    bool out_of_nodes = false;
  } addresses_;
};

}  // namespace

Placer DefaultPlacer() {
  return [](const Problem& problem, Budget& budget) { return Place(problem, {}, budget); };
}

LeastMemory FindLeastMemory(const Graph& graph, const Counting& counting) {
  return internal::spill::LeastOf(
      internal::spill::CompileModel(graph, counting, /*with_ancestors=*/false));
}

namespace internal::spill {
namespace {

// All but the graph itself.
Result<void> Check(const Graph& graph, const SpillOptions& options) {
  BERTH_TRY(ValidateTraffic(graph, options.counting));
  for (const Order& order : options.orders) {
    BERTH_TRY(ValidateOrder(graph, order));
  }
  if (options.capacity < 0 || options.capacity > kMaxBytes) {
    return Fail(ErrorCode::kInvalidOptions, "the capacity is " + std::to_string(options.capacity) +
                                                " bytes but must be from 0 to 2^60");
  }
  BERTH_TRY(internal::ValidateGap(options.gap));
  if (options.max_states < 1) {
    return Fail(ErrorCode::kInvalidOptions,
                "max_states is " + std::to_string(options.max_states) + ", less than 1");
  }
  if (options.threads < 1 || options.threads > 256) {
    return Fail(ErrorCode::kInvalidOptions,
                "threads is " + std::to_string(options.threads) + " but must be from 1 to 256");
  }
  return internal::ValidateMostBytes(options.most_bytes);
}

}  // namespace

LeastMemory LeastOf(const Model& model) {
  LeastMemory least;
  for (std::size_t i = 0; i < model.num_operators; ++i) {
    const Bytes needs = model.needs[OpIndex(i)];
    if (needs > least.bytes) least = {model.operators[i], needs};
  }
  return least;
}

Result<PlanAnswer> PlanValid(const Graph& graph, const SpillOptions& options, Model model,
                             double seconds, const Known& known, Budget& budget) {
  const auto begin = Budget::Clock::now();
  BERTH_TRY(Check(graph, options));
  return Planner(graph, options, std::move(model), known, budget).Run(begin, seconds);
}

}  // namespace internal::spill

Result<PlanAnswer> PlanWithSpills(const Graph& graph, const SpillOptions& options, Budget& budget) {
  const auto begin = Budget::Clock::now();
  BERTH_TRY(Validate(graph));
  BERTH_TRY(internal::spill::Check(graph, options));
  Model model = internal::spill::CompileModel(graph, options.counting, /*with_ancestors=*/false);
  return Planner(graph, options, std::move(model), {}, budget).Run(begin, 0);
}

}  // namespace berth
