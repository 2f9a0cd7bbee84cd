#include <cstddef>
#include <memory>
#include <vector>

#include "base/check.h"
#include "baselines/encoded/cp.h"

#ifdef BERTH_HAS_GECODE

#include <gecode/int.hh>
#include <gecode/minimodel.hh>
#include <gecode/search.hh>

namespace berth::internal {
namespace {

// What stops a search: limits between nodes, the clock also within them.
class Stopper : public Gecode::Search::Stop {
 public:
  Stopper(Budget& budget, std::int64_t node_limit) : budget_(budget), left_(node_limit) {}

  bool stop(const Gecode::Search::Statistics& statistics, const Gecode::Search::Options&) override {
    // With restarts the count begins anew with each of them.
    const auto now = static_cast<std::int64_t>(statistics.node);
    for (std::int64_t node = now < told_ ? 0 : told_; node < now && !stopped_; ++node) {
      stopped_ = left_-- <= 0 || !budget_.SpendNode();
    }
    told_ = now;
    stopped_ = stopped_ || (++looks_ % 16 == 0 && budget_.TimeIsUp());
    return stopped_;
  }
  // Cheap: it rarely reads the clock.
  bool TimeIsUp() {
    stopped_ = stopped_ || (++looks_ % 4096 == 0 && budget_.TimeIsUp());
    return stopped_;
  }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  Budget& budget_;
  std::int64_t left_;
  std::int64_t told_ = 0;
  std::int64_t looks_ = 0;
  bool stopped_ = false;
};

// Two small buffers that push each other up climb to the capacity one size at a time, which can
// take far too long, and all of it is one node. This propagator runs whenever a
// position changes, and fails when time is up; what the search then says does not count.
class Watch : public Gecode::NaryPropagator<Gecode::Int::IntView, Gecode::Int::PC_INT_BND> {
  using Base = Gecode::NaryPropagator<Gecode::Int::IntView, Gecode::Int::PC_INT_BND>;

 public:
  Watch(Gecode::Home home, Gecode::ViewArray<Gecode::Int::IntView>& views, Stopper& stopper)
      : Base(home, views), stopper_(stopper) {}
  Watch(Gecode::Space& home, Watch& other) : Base(home, other), stopper_(other.stopper_) {}
  Gecode::Actor* copy(Gecode::Space& home) override { return new (home) Watch(home, *this); }
  Gecode::PropCost cost(const Gecode::Space&, const Gecode::ModEventDelta&) const override {
    return Gecode::PropCost::unary(Gecode::PropCost::LO);
  }
  Gecode::ExecStatus propagate(Gecode::Space&, const Gecode::ModEventDelta&) override {
    return stopper_.TimeIsUp() ? Gecode::ES_FAILED : Gecode::ES_FIX;
  }

 private:
  Stopper& stopper_;
};

class Plan : public Gecode::Space {
 public:
  Plan(const Encoding& encoding, Grains capacity, Stopper& stopper)
      : positions_(*this, static_cast<int>(encoding.items.size())) {
    for (std::size_t x = 0; x < encoding.items.size(); ++x) {
      const Encoding::Item& item = encoding.items[x];
      positions_[static_cast<int>(x)] =
          Gecode::IntVar(*this, static_cast<int>(item.pin.value_or(0) / item.alignment),
                         static_cast<int>(encoding.HighestOffset(x, capacity) / item.alignment));
    }
    Gecode::BoolVarArgs choices;
    for (const std::size_t p : PairsByArea(encoding))
      choices << AddPair(encoding, encoding.pairs[p]);
    for (std::size_t x = 0; x < encoding.items.size(); ++x) {
      if (encoding.items[x].twin >= 0) {
        Gecode::rel(*this, positions_[encoding.items[x].twin], Gecode::IRT_LQ,
                    positions_[static_cast<int>(x)]);
      }
    }
    Gecode::ViewArray<Gecode::Int::IntView> watched(*this, Gecode::IntVarArgs(positions_));
    (void)new (*this) Watch(*this, watched, stopper);
    choices_ = Gecode::BoolVarArray(*this, choices);
    // Of those that have failed as often, the pair of the largest rectangles first.
    Gecode::branch(*this, choices_, Gecode::BOOL_VAR_AFC_MAX(0.99), Gecode::BOOL_VAL_MIN());
    // Every constraint that is left is one of differences, and those hold at the least positions.
    Gecode::assign(*this, positions_, Gecode::INT_ASSIGN_MIN());
  }
  Plan(Plan& other) : Gecode::Space(other) {
    positions_.update(*this, other.positions_);
    choices_.update(*this, other.choices_);
  }
  Gecode::Space* copy() override { return new Plan(*this); }

  [[nodiscard]] std::vector<Grains> Offsets(const Encoding& encoding) const {
    std::vector<Grains> offsets;
    for (std::size_t x = 0; x < encoding.items.size(); ++x) {
      offsets.push_back(positions_[static_cast<int>(x)].val() * encoding.items[x].alignment);
    }
    return offsets;
  }

 private:
  // The choices of one pair, each of which implies the constraints of its region.
  Gecode::BoolVarArgs AddPair(const Encoding& encoding, const Encoding::Pair& pair) {
    const int regions = static_cast<int>(pair.num_regions());
    Gecode::BoolVarArgs chosen(*this, regions, 0, 1);
    if (regions == 2) {
      Gecode::rel(*this, chosen[0], Gecode::IRT_NQ, chosen[1]);
    } else {
      Gecode::linear(*this, chosen, Gecode::IRT_EQ, 1);
    }
    for (int region = 0; region < regions; ++region) {
      std::vector<Difference> differences;
      AppendRegion(pair, static_cast<std::size_t>(region), differences);
      for (const Difference& difference : differences) {
        const auto coefficient = [&](std::int32_t x) {
          return static_cast<int>(encoding.items[static_cast<std::size_t>(x)].alignment);
        };
        Gecode::linear(*this,
                       Gecode::IntArgs({coefficient(difference.to), -coefficient(difference.from)}),
                       Gecode::IntVarArgs({positions_[difference.to], positions_[difference.from]}),
                       Gecode::IRT_GQ, static_cast<int>(difference.least),
                       Gecode::Reify(chosen[region], Gecode::RM_IMP));
      }
    }
    // Of two choices the second is the negation of the first.
    return regions == 2 ? Gecode::BoolVarArgs({chosen[0]}) : chosen;
  }

  Gecode::IntVarArray positions_;
  Gecode::BoolVarArray choices_;
};

template <typename Engine>
Decision Run(Engine& engine, const Encoding& encoding, const Stopper& stop) {
  using Verdict = Decision::Verdict;
  const std::unique_ptr<Plan> plan(engine.next());
  if (plan) return {Verdict::kFound, plan->Offsets(encoding)};
  // The engine may report that it was stopped when only its own restarts ended a search.
  return {stop.stopped() ? Verdict::kGaveUp : Verdict::kImpossible, {}};
}

}  // namespace

const char* GecodeVersion() { return GECODE_VERSION; }

Decision DecideByGecode(const Encoding& encoding, Grains capacity, const CpOptions& options,
                        std::int64_t node_limit, Budget& budget) {
  BERTH_CHECK(capacity <= kMostGrainsOfGecode);
  for (std::size_t x = 0; x < encoding.items.size(); ++x) {
    if (encoding.HighestOffset(x, capacity) < 0) return {Decision::Verdict::kImpossible, {}};
  }
  if (encoding.items.empty()) return {Decision::Verdict::kFound, {}};
  if (budget.Exhausted()) return {};
  Stopper stop(budget, node_limit);
  Gecode::Search::Options search;
  search.stop = &stop;
  search.threads = 1;
  const auto plan = std::make_unique<Plan>(encoding, capacity, stop);
  // The engine for restarts does not give back what it holds if the root fails.
  if (plan->status() == Gecode::SS_FAILED) {
    return {stop.stopped() ? Decision::Verdict::kGaveUp : Decision::Verdict::kImpossible, {}};
  }
  if (!options.restarts) {
    Gecode::DFS<Plan> engine(plan.get(), search);
    return Run(engine, encoding, stop);
  }
  search.cutoff = Gecode::Search::Cutoff::luby(250);
  search.nogoods_limit = 128;
  Gecode::RBS<Plan, Gecode::DFS> engine(plan.get(), search);
  return Run(engine, encoding, stop);
}

}  // namespace berth::internal

#else

namespace berth::internal {

const char* GecodeVersion() { return ""; }
Decision DecideByGecode(const Encoding&, Grains, const CpOptions&, std::int64_t, Budget&) {
  BERTH_CHECK(false);
}

}  // namespace berth::internal

#endif
