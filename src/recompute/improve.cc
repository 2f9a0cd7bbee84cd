#include "recompute/improve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "base/numbers.h"

namespace berth::internal::recompute {
namespace {

constexpr std::size_t kMostCandidates = 24;  // Tried where a sequence exceeds the capacity.
constexpr std::size_t kMostTimes = 4;        // As long as the order: no sequence becomes longer.
constexpr int kMostPerturbed = 3;
constexpr std::int64_t kTrialsForHistory = 10;  // In which nothing better is found.
constexpr std::int64_t kTrialsOfPrune = 4;
constexpr std::int64_t kTrialsOfRebuild = 10;
// Of the sequence; the shortest stretch is this part of the longest.
constexpr double kLongestStretch = 0.5;
constexpr double kShortestPart = 0.01;
constexpr double kNoise = 1.5;
constexpr std::size_t kMostHistory = 51'200;
constexpr std::size_t kTrialsPerReport = 4096;
constexpr std::int64_t kTrialsForBetter = 20;
constexpr std::size_t kHistoriesOfCalm[] = {100, 300, 1'000};
// For each trial of the history so many without less pressure, and as many again for so many executions.
constexpr std::int64_t kTrialsOfCalm = 10;
constexpr std::int64_t kExecutionsOfCalm = 40;
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kLargestStep = 7;
constexpr double kLargestSlack = 6;
constexpr double kDearer = 1.3;
constexpr double kCheaper = 0.9;
constexpr double kChanceOfNear = 0.5;
constexpr int kMostTries = 32;
constexpr double kChanceOfMove = 0.6;
constexpr double kChanceOfReturn = 0.25;
// While the sequence does not fit: of a move over the peak, and below a cost of swapping repeats.
constexpr double kChanceOfAcross = 0.5;
constexpr double kChanceOfSwap = 0.15;
// Elements that are looked at so quickly that they count as one.
constexpr std::size_t kScannedAsOne = 8;

}  // namespace

Improver::Improver(const Model& model, Bytes capacity, bool fixed_order, std::uint64_t seed,
                   Work& work, Budget& budget)
    : model_(model),
      fixed_order_(fixed_order),
      random_(seed),
      work_(work),
      budget_(budget),
      timeline_(model, capacity),
      held_(model.storages.size()),
      held_in_(model.storages.size(), 0),
      listed_(model.num_operators(), 0),
      open_(model.storages.size(), 0) {}

void Improver::Count() {
  work_.left -= timeline_.work() - std::exchange(counted_, timeline_.work());
}

void Improver::Load(const Sequence& sequence) {
  timeline_.Set(sequence);
  Count();
}

// A changed sequence is a node of the budget.
Improver::State Improver::Change(const std::vector<Edit>& edits) {
  timeline_.Change(edits);
  Count();
  static_cast<void>(budget_.SpendNode());
  return Now();
}

void Improver::UndoTo(std::size_t changes) {
  timeline_.UndoTo(changes);
  Count();
}

Improver::State Improver::Now() const {
  return {timeline_.valid(), timeline_.cost(), timeline_.excess(), timeline_.fits()};
}

std::vector<Pause> Improver::PausesAt(std::size_t position) const {
  std::vector<Pause> pauses;
  for (Storage s = 0; s < model_.storages.size(); ++s) {
    if (const auto pause = timeline_.PauseAt(s, position)) pauses.push_back(*pause);
  }
  return pauses;
}

// What will be held just before `position` once all that is listed so far has run there.
Held& Improver::HeldNow(Storage s, std::size_t position) {
  if (std::exchange(held_in_[s], list_) != list_) held_[s] = timeline_.HeldAt(s, position);
  return held_[s];
}

// Lists what has to run so that the storage of `pause` is there again. False if that cannot be.
bool Improver::ListReturn(const Pause& pause, std::size_t around, double most,
                          std::vector<Op>& batch) {
  ++list_;
  // A stack instead of recursion: chains may be as long as the graph.
  std::vector<Frame> stack = {{pause.storage, pause.version}};
  open_[pause.storage] = 1;
  bool possible = true;
  double cost = 0;
  while (!stack.empty() && possible) {
    Frame& frame = stack.back();
    if (frame.next > frame.version) {
      open_[frame.storage] = 0;
      Held& held = HeldNow(frame.storage, pause.to);
      held.version = frame.version;
      held.last = pause.to;
      stack.pop_back();
      continue;
    }
    const Op u = model_.storages[frame.storage].chain[static_cast<std::size_t>(frame.next)];
    std::optional<Frame> missing;
    possible = FindMissing(u, frame.storage, pause, around, missing);
    if (!possible) break;
    if (missing && missing->loads) {
      batch.push_back(model_.ReturnOf(missing->storage));
      HeldNow(missing->storage, pause.to).last = pause.to;
      continue;
    }
    if (missing) {
      possible = std::exchange(open_[missing->storage], 1) == 0;
      if (possible) stack.push_back(*missing);
      continue;
    }
    if (std::exchange(listed_[u], 1) == 0) {
      batch.push_back(u);
      cost += static_cast<double>(model_.cost[u]);
      possible = cost <= most;
    }
    ++stack.back().next;
  }
  for (const Frame& frame : stack) open_[frame.storage] = 0;
  for (const Op u : batch) {
    if (!model_.IsReturn(u)) listed_[u] = 0;
  }
  return possible;
}

// The first storage that `u` needs and that has to be made again, if there is one; `made` is what it
// runs for. False if `u` cannot run.
bool Improver::FindMissing(Op u, Storage made, const Pause& pause, std::size_t around,
                           std::optional<Frame>& missing) {
  for (const Touch& touch : model_.TouchesOf(u)) {
    if (touch.only_first || touch.storage == made) continue;
    const Held& state = HeldNow(touch.storage, pause.to);
    const StorageInfo& info = model_.storages[touch.storage];
    if (touch.finds == kMakes) {
      // It would lose a later version that is still needed.
      if (state.version > 0 && state.stays) return false;
      continue;
    }
    const bool right = state.version == touch.finds;
    if (right && (info.size == 0 || state.stays || state.last >= around)) continue;
    if (!right && state.stays && state.version != kMakes) return false;
    // Given and linked: off chip until its first use, which is one that follows.
    if (right && model_.MayCopy(touch.storage) && !(info.given && state.last == 0) &&
        (touch.finds > info.again || info.in_cost + info.OutCost(touch.finds) <=
                                         info.price[static_cast<std::size_t>(touch.finds)])) {
      missing = Frame{touch.storage, touch.finds, 0, true};
      return true;
    }
    if (touch.finds > info.again) {
      if (right) continue;  // It stays longer.
      return false;
    }
    missing = Frame{touch.storage, touch.finds};
    return true;
  }
  return true;
}

std::optional<std::vector<Edit>> Improver::Return(const Pause& pause, std::size_t around,
                                                  double most) {
  if (pause.version > model_.storages[pause.storage].again) return std::nullopt;
  std::vector<Op> batch;
  if (!ListReturn(pause, around, most, batch)) return std::nullopt;
  return Insert(pause.to, batch);
}

// The storage of `pause` is copied back.
std::optional<std::vector<Edit>> Improver::Copy(const Pause& pause) const {
  if (!model_.MayCopy(pause.storage)) return std::nullopt;
  return Insert(pause.to, {model_.ReturnOf(pause.storage)});
}

std::optional<std::vector<Edit>> Improver::Insert(std::size_t at,
                                                  const std::vector<Op>& batch) const {
  if (timeline_.size() + batch.size() > kMostTimes * model_.num_operators() + 16) {
    return std::nullopt;
  }
  std::vector<Edit> edits;
  edits.reserve(batch.size());
  for (const Op v : batch) edits.push_back({Edit::kNowhere, at + edits.size(), v});
  return edits;
}

bool Improver::Repair(Sequence& sequence, std::int64_t most) {
  Load(sequence);
  const bool fits = RepairNow(most);
  sequence = timeline_.Get();
  return fits;
}

// `noise`: prices of what may leave are changed at random by up to this factor.
bool Improver::RepairNow(std::int64_t most, double noise) {
  State now = Now();
  if (!now.valid) return false;
  while (now.excess > 0) {
    if (now.cost > most || Ended()) return false;
    const std::size_t peak = Peak();
    std::vector<Pause> pauses = PausesAt(peak);
    const auto value = [&](const Pause& pause) {
      const StorageInfo& info = model_.storages[pause.storage];
      const std::int64_t price = info.Price(pause.version, model_.linked);
      return (static_cast<double>(price) + 1) /
             (static_cast<double>(info.size) * static_cast<double>(pause.to - pause.from));
    };
    std::stable_sort(pauses.begin(), pauses.end(),
                     [&](const Pause& a, const Pause& b) { return value(a) < value(b); });
    if (pauses.size() > kMostCandidates) pauses.resize(kMostCandidates);
    std::optional<std::vector<Edit>> best;
    double best_value = 0;
    for (const Pause& pause : pauses) {
      if (Ended()) return false;
      // Inputs that have left are made again, or stay.
      for (const int way : {0, 1, 2}) {
        auto edits =
            way == 2 ? Copy(pause) : Return(pause, way == 0 ? peak : std::size_t{0}, kNever);
        if (!edits) continue;
        const std::size_t before = timeline_.changes();
        const State state = Change(*edits);
        UndoTo(before);
        if (!state.valid || state.excess >= now.excess) continue;
        double each =
            (now.excess - state.excess) / (static_cast<double>(state.cost - now.cost) + 1);
        if (noise > 1) each *= std::exp((2 * random_.Real() - 1) * std::log(noise));
        if (each <= best_value) continue;
        best_value = each;
        best = std::move(edits);
      }
    }
    if (!best) return false;
    now = Change(*best);
  }
  return now.fits;
}

void Improver::Prune(Sequence& sequence) {
  Load(sequence);
  PruneNow();
  sequence = timeline_.Get();
}

// What is taken out here can be put back by UndoTo().
void Improver::PruneNow() {
  for (bool again = true; again;) {
    again = false;
    std::vector<std::size_t> repeats = Repeats();
    std::stable_sort(repeats.begin(), repeats.end(), [&](std::size_t a, std::size_t b) {
      return model_.cost[timeline_.at(a)] > model_.cost[timeline_.at(b)];
    });
    // Positions shift as executions are taken out.
    std::vector<std::size_t> gone;
    for (const std::size_t position : repeats) {
      if (Ended()) return;
      const auto before = static_cast<std::size_t>(
          std::count_if(gone.begin(), gone.end(), [&](std::size_t g) { return g < position; }));
      const std::size_t changes = timeline_.changes();
      const std::size_t from = position - before;
      if (!Change({{from, Edit::kNowhere, timeline_.at(from)}}).fits) {
        UndoTo(changes);
        continue;
      }
      gone.push_back(position);
      again = true;
    }
  }
}

// The positions that the execution at `from` may move to, between what it waits for and what waits for
// it. False if there are none.
bool Improver::RangeOf(std::size_t from, std::size_t& lower, std::size_t& upper) const {
  const Op v = timeline_.at(from);
  lower = 0;
  upper = timeline_.size() - 1;
  if (timeline_.IsRepeat(from)) {
    if (!model_.IsReturn(v)) lower = timeline_.FirstOf(v) + 1;
    return lower < upper;
  }
  if (fixed_order_) return false;
  for (const Op u : model_.predecessors[v]) lower = std::max(lower, timeline_.FirstOf(u) + 1);
  for (const Op u : model_.successors[v]) upper = std::min(upper, timeline_.FirstOf(u) - 1);
  return lower < upper;
}

// From 1 to `most`, with a uniform logarithm: 1 to 2 is as likely as 4 to 8. 0 if that is the most.
std::size_t Improver::SomeDistance(std::size_t most) {
  const double largest = std::log(static_cast<double>(most) + 1);
  return std::min(most, static_cast<std::size_t>(std::exp(random_.Real() * largest)));
}

// One execution elsewhere; mostly not far.
bool Improver::MoveSome() {
  if (!fixed_order_ && timeline_.excess() > 0 && random_.Chance(kChanceOfAcross))
    return MoveAcrossPeak();
  const std::size_t from = SomePosition();
  std::size_t lower = 0;
  std::size_t upper = 0;
  if (!RangeOf(from, lower, upper)) return false;
  if (random_.Chance(kChanceOfNear)) {
    const std::size_t distance = SomeDistance(upper - lower);
    lower = std::max(lower, from - std::min(from, distance));
    upper = std::min(upper, from + distance);
  }
  return MoveInto(from, lower, upper);
}

// One execution, mostly near the peak, to the other side of it: most other moves change nothing where the
// sequence does not fit.
bool Improver::MoveAcrossPeak() {
  const std::size_t peak = Peak();
  const std::size_t last = timeline_.size() - 1;
  const std::size_t distance = SomeDistance(last);
  const std::size_t from =
      random_.Chance(0.5) ? peak - std::min(peak, distance) : std::min(last, peak + distance);
  std::size_t lower = 0;
  std::size_t upper = 0;
  if (!RangeOf(from, lower, upper)) return false;
  const bool forward = from <= peak;
  (forward ? lower : upper) = forward ? std::max(lower, peak) : std::min(upper, peak);
  if (lower <= upper && random_.Chance(kChanceOfNear)) {
    const std::size_t most = SomeDistance(upper - lower);
    (forward ? upper : lower) = forward ? std::min(upper, lower + most) : upper - most;
  }
  return MoveInto(from, lower, upper);
}

// To somewhere from `lower` to `upper`.
bool Improver::MoveInto(std::size_t from, std::size_t lower, std::size_t upper) {
  if (lower > upper) return false;
  const auto to = static_cast<std::size_t>(
      random_.Uniform(static_cast<std::int64_t>(lower), static_cast<std::int64_t>(upper)));
  if (to == from) return false;
  Change({{from, to, timeline_.at(from)}});
  return true;
}

void Improver::Exchange(Sequence& sequence, const std::vector<Sequence>& orders, std::int64_t bound,
                        std::int64_t patience, Effort& effort,
                        const std::function<void(const Sequence&)>& found) {
  const auto state_of = [&](const Sequence& of) {
    Load(of);
    return Now();
  };
  const auto is_better = [](const State& a, const State& b) {
    return a.fits && (!b.fits || a.cost < b.cost);
  };
  const std::function<void(const Sequence&)> nobody = [](const Sequence&) {};
  State best = state_of(sequence);
  for (std::int64_t failed = 0; failed < patience && !Ended();) {
    if (best.fits && best.cost <= bound) return;
    if (effort.turn % Effort::kTurns != Effort::kTurns - 1) {
      failed += Attempt(sequence, effort.history, bound, sequence, found);
    } else {
      // What this leads to is good only in the end. Meanwhile nothing is compared with the best.
      Sequence other = StartOf(effort.turn, sequence, orders);
      State now = state_of(other);
      for (bool better = true; better && !Ended();) {
        const std::int64_t trials =
            Attempt(other, effort.history, bound, other, best.fits ? nobody : found);
        const State after = state_of(other);
        better = is_better(after, now) && after.cost > bound;
        if (!better) failed += trials;
        now = after;
      }
      if (is_better(now, best)) {
        sequence = std::move(other);
        found(sequence);
      }
    }
    const State after = state_of(sequence);
    if (is_better(after, best)) {
      failed = 0;
      effort.turn = 0;
      best = after;
    } else if (!Ended() && effort.turn++ % Effort::kTurns == Effort::kTurns - 1) {
      const auto times = static_cast<std::size_t>(Luby(effort.number++));
      effort.history = std::min(kMostHistory, Effort::kLeast * times);
    }
  }
}

std::int64_t Improver::Attempt(const Sequence& start, std::size_t history, std::int64_t bound,
                               Sequence& sequence,
                               const std::function<void(const Sequence&)>& found) {
  const std::int64_t trials = kTrialsForHistory * static_cast<std::int64_t>(history);
  const std::int64_t work = work_.left;
  Climb(start, history, bound, trials, sequence, found);
  const std::int64_t below = ClimbBelow(sequence, history, bound, trials, found);
  const std::int64_t part = (work - work_.left) / 4;
  Perturb(sequence, bound, {trials / kTrialsOfPrune, part}, found);
  Rebuild(sequence, bound, {trials / kTrialsOfRebuild, part}, found);
  return 2 * trials + below;
}

// By turns the first executions of the best sequence, or an order.
Sequence Improver::StartOf(std::size_t turn, const Sequence& sequence,
                           const std::vector<Sequence>& orders) const {
  const std::size_t k = turn / Effort::kTurns % (orders.size() + 1);
  return k == 0 || fixed_order_ ? WithoutRepeats(sequence) : orders[k - 1];
}

// A long history ends lower, a short one sooner.
void Improver::Calm(Sequence& sequence) {
  Load(sequence);
  if (!Now().fits) return;
  const Sequence start = sequence;
  timeline_.CountPressure();
  double least = timeline_.pressure();
  for (const std::size_t length : kHistoriesOfCalm) CalmFrom(start, length, sequence, least);
}

// Late acceptance, as in Climb(), of what costs no more. `sequence` becomes one of less pressure than `least`,
// which becomes what that has.
void Improver::CalmFrom(const Sequence& start, std::size_t length, Sequence& sequence,
                        double& least) {
  Load(start);
  timeline_.CountPressure();
  State now = Now();
  double pressure = timeline_.pressure();
  double best = pressure;
  std::vector<double> history(length, pressure);
  const auto trials = kTrialsOfCalm * static_cast<std::int64_t>(length);
  const auto patience =
      trials + trials / kExecutionsOfCalm * static_cast<std::int64_t>(timeline_.size());
  std::int64_t failures = 0;
  for (std::size_t trial = 0; failures < patience && best > 0 && !Ended(); ++trial, ++failures) {
    if (!MoveSome()) continue;
    const State tried = Now();
    double& past = history[trial % length];
    const double after = tried.fits && tried.cost <= now.cost ? timeline_.pressure() : kNever;
    if (after > pressure && after > past) {
      UndoTo(0);
    } else {
      now = tried;
      pressure = after;
      timeline_.Keep();
      if (pressure < best) {
        if (pressure < 0.999 * best) failures = 0;
        best = pressure;
      }
      if (pressure < least) {
        least = pressure;
        sequence = timeline_.Get();
      }
    }
    past = std::min(past, pressure);
  }
}

Sequence Improver::WithoutRepeats(const Sequence& sequence) const {
  Sequence order;
  std::vector<char> ran(model_.num_operators(), 0);
  for (const Op v : sequence) {
    if (model_.IsReturn(v)) continue;
    if (std::exchange(ran[v], 1) == 0) order.push_back(v);
  }
  return order;
}

// From a sequence that fits: what `modify` makes of it, if anything, is pruned, and stays if it costs no
// more. False once the search has to end.
template <typename Modify>
bool Improver::Descend(Sequence& sequence, std::int64_t bound, const Patience& patience,
                       const std::function<void(const Sequence&)>& found, Modify modify) {
  Load(sequence);
  State best = Now();
  const std::int64_t least_left = work_.left - patience.work;
  for (std::int64_t failures = 0; best.fits && failures < patience.trials && best.cost > bound;
       ++failures) {
    if (Ended()) return false;
    if (work_.left < least_left) break;
    if (!modify()) continue;
    if (timeline_.fits()) PruneNow();
    const State after = Now();
    if (!after.fits || after.cost > best.cost) {
      UndoTo(0);
      continue;
    }
    const bool better = after.cost < best.cost;
    best = after;
    timeline_.Keep();
    if (!better) continue;
    sequence = timeline_.Get();
    failures = 0;
    found(sequence);
  }
  return true;
}

// Some executions are added or moved, then all that have become needless are taken out.
void Improver::Perturb(Sequence& sequence, std::int64_t bound, const Patience& patience,
                       const std::function<void(const Sequence&)>& found) {
  const bool whole = Descend(sequence, bound, patience, found, [&] {
    bool changed = false;
    const auto most_copied = static_cast<double>(Now().cost);
    const auto times = random_.Uniform(1, kMostPerturbed);
    for (std::int64_t k = 0; k < times && timeline_.valid(); ++k) {
      changed = (random_.Chance(0.5) ? MoveSome() : ReturnSome(kNever, most_copied)) || changed;
    }
    return changed;
  });
  if (whole) sequence = timeline_.Get();  // It may be another one of the same cost.
}

// All repeats of a stretch are taken out, and what then exceeds the capacity is repaired at prices that
// are a little different each time.
void Improver::Rebuild(Sequence& sequence, std::int64_t bound, const Patience& patience,
                       const std::function<void(const Sequence&)>& found) {
  static_cast<void>(Descend(sequence, bound, patience, found, [&] {
    const double part = kLongestStretch * std::exp(std::log(kShortestPart) * random_.Real());
    const auto half = static_cast<std::size_t>(static_cast<double>(timeline_.size()) * part) / 2;
    const std::size_t middle = SomePosition();
    const std::size_t first = middle - std::min(middle, half);
    std::vector<Edit> gone;
    for (std::size_t at = std::min(timeline_.size(), middle + half); at-- > first;) {
      if (timeline_.IsRepeat(at)) gone.push_back({at, Edit::kNowhere, timeline_.at(at)});
    }
    if (gone.empty()) return false;
    Change(gone);
    static_cast<void>(RepairNow(kMostCost, kNoise));
    return true;
  }));
}

// What is added, moved or taken out is accepted if it is no worse than what was accepted
// `length` trials ago (late acceptance hill climbing, Burke and Bykov, 2017). Bytes above the capacity have a
// price, which rises while the sequence does not fit and falls while it does.
void Improver::Climb(const Sequence& start, std::size_t length, std::int64_t bound,
                     std::int64_t patience, Sequence& sequence,
                     const std::function<void(const Sequence&)>& found) {
  Load(sequence);
  std::optional<std::int64_t> best;
  if (const State known = Now(); known.fits) best = known.cost;
  Load(start);
  State now = Now();
  if (!now.valid) return;
  bool reported = true;
  double byte_price = FirstBytePrice();
  // From what fits not all the way back, but to a different point each time.
  if (now.fits) byte_price *= std::exp2(kLargestStep * random_.Real());
  const auto value = [&](const State& state) {
    return static_cast<double>(state.cost) + byte_price * state.excess;
  };
  std::vector<double> history(length, value(now));
  std::int64_t failures = 0;
  for (std::size_t trial = 0; failures < patience; ++trial, ++failures) {
    if ((best && *best <= bound) || Ended()) break;
    double& past = history[trial % length];
    if (!ChangeSome(std::max(value(now), past) - static_cast<double>(now.cost))) continue;
    const State tried = Now();
    if (!tried.valid) {
      UndoTo(0);
      continue;
    }
    const double new_value = value(tried);
    if (new_value <= value(now) || new_value <= past) {
      // What is better, even if it is not yet the best, is worth more trials.
      if (new_value < value(now)) failures -= std::min<std::int64_t>(failures, kTrialsForBetter);
      now = tried;
      if (now.fits && (!best || now.cost < *best)) {
        best = now.cost;
        sequence = timeline_.Get();
        failures = 0;
        reported = false;
      }
      timeline_.Keep();
    } else {
      UndoTo(0);
    }
    past = std::min(past, value(now));
    if (!reported && trial % kTrialsPerReport == 0) {
      found(sequence);
      reported = true;
    }
    if (trial % length == length - 1) {
      byte_price *= now.fits ? kCheaper : kDearer;
      std::fill(history.begin(), history.end(), value(now));
    }
  }
  if (reported) return;
  Load(sequence);
  PruneNow();
  sequence = timeline_.Get();
  found(sequence);
}

// Sequences of less cost by one repeat or more, that no longer fit, until one fits again. As in graph coloring
// with a fixed number of colors, where the fewest conflicts are looked for, a cost that may not be exceeded
// leads further than a price of bytes. How many trials were made.
std::int64_t Improver::ClimbBelow(Sequence& sequence, std::size_t length, std::int64_t bound,
                                  std::int64_t patience,
                                  const std::function<void(const Sequence&)>& found) {
  Load(sequence);
  std::int64_t trials = 0;
  std::int64_t reported_at = 0;
  bool reported = true;
  while (Now().fits && Now().cost > bound) {
    const std::int64_t most = Now().cost - 1;
    if (!RemoveDownTo(most)) break;
    trials += LowerExcess(length, most, patience);
    if (!Now().fits) break;
    PruneNow();
    timeline_.Keep();
    sequence = timeline_.Get();
    reported = trials - reported_at >= static_cast<std::int64_t>(kTrialsPerReport);
    if (!reported) continue;
    found(sequence);
    reported_at = trials;
  }
  if (!reported) found(sequence);
  return trials;
}

// Takes out repeats, until what is left costs at most that. False if it does not.
bool Improver::RemoveDownTo(std::int64_t most) {
  for (int failed = 0; Now().cost > most; ++failed) {
    if (failed == kMostTries || Ended() || !RemoveOne()) return false;
    if (!Now().valid) {
      UndoTo(0);
      continue;
    }
    timeline_.Keep();
    failed = -1;
  }
  return true;
}

// Late acceptance, as in Climb(), of fewer bytes above the capacity, until there are none, or `patience` trials
// in a row have found nothing less. How many trials were made.
std::int64_t Improver::LowerExcess(std::size_t length, std::int64_t most, std::int64_t patience) {
  State now = Now();
  // Not less than at first alone: that would stay near the best sequence.
  std::vector<double> history(length, now.excess * std::exp2(kLargestSlack * random_.Real()));
  double least = now.excess;
  std::int64_t trials = 0;
  for (std::int64_t failures = 0; failures < patience && !now.fits && !Ended(); ++failures) {
    double& past = history[static_cast<std::size_t>(trials++) % length];
    const bool changed = random_.Chance(kChanceOfSwap)
                             ? SwapSome(most)
                             : ChangeSome(static_cast<double>(most - now.cost));
    if (!changed) continue;
    const State tried = Now();
    if (!tried.valid || tried.cost > most || (tried.excess > now.excess && tried.excess > past)) {
      UndoTo(0);
    } else {
      now = tried;
      timeline_.Keep();
      if (now.excess < least) failures = 0;
      least = std::min(least, now.excess);
    }
    past = std::min(past, now.excess);
  }
  return trials;
}

// What a byte of one step is worth if all that there is were made again once.
double Improver::FirstBytePrice() const {
  double costs = 1;
  double bytes = 1;
  for (Storage s = 0; s < model_.storages.size(); ++s) {
    if (model_.MayDrop(s, 0)) {
      costs += static_cast<double>(model_.storages[s].Price(0, model_.linked));
    }
  }
  for (std::size_t p = 0; p < timeline_.size(); ++p)
    bytes += static_cast<double>(timeline_.load(p));
  return costs / bytes;
}

// The scans of these two count as work.
std::size_t Improver::Peak() {
  work_.left -= static_cast<std::int64_t>(timeline_.size() / kScannedAsOne);
  return timeline_.Peak();
}
std::vector<std::size_t> Improver::Repeats() {
  work_.left -= static_cast<std::int64_t>(timeline_.size());
  return timeline_.Repeats();
}

std::size_t Improver::SomePosition() {
  return static_cast<std::size_t>(
      random_.Uniform(0, static_cast<std::int64_t>(timeline_.size()) - 1));
}

// A random one of what can be dropped around `position`, if a few storages tried have one.
std::optional<Pause> Improver::SomePauseAt(std::size_t position) {
  const auto last = static_cast<std::int64_t>(model_.storages.size()) - 1;
  for (int tries = 0; tries < kMostTries && last >= 0; ++tries) {
    const auto s = static_cast<Storage>(random_.Uniform(0, last));
    if (const auto pause = timeline_.PauseAt(s, position)) return pause;
  }
  return std::nullopt;
}

// The cheaper way to have a version again is the more likely one.
double Improver::ChanceOfCopy(const StorageInfo& info, std::int32_t version) {
  const auto made = static_cast<double>(info.price[static_cast<std::size_t>(version)]) + 1;
  const auto copied = static_cast<double>(info.in_cost + info.OutCost(version)) + 1;
  return made / (made + copied);
}

// Makes a random storage again before a random use.
bool Improver::ReturnSome(double most, double most_copied) {
  // Where the memory is full, if it is too small.
  const bool at_peak = timeline_.excess() > 0 && random_.Chance(0.5);
  const std::size_t around = at_peak ? Peak() : SomePosition();
  const std::optional<Pause> pause = SomePauseAt(around);
  if (!pause) return false;
  const StorageInfo& info = model_.storages[pause->storage];
  const bool made = pause->version <= info.again;
  const bool copied = model_.MayCopy(pause->storage) &&
                      static_cast<double>(info.in_cost) <= most_copied &&
                      (!made || random_.Chance(ChanceOfCopy(info, pause->version)));
  const auto edits = copied ? Copy(*pause) : Return(*pause, random_.Chance(0.5) ? around : 0, most);
  if (!edits) return false;
  Change(*edits);
  return true;
}

bool Improver::RemoveSome() {
  for (int tries = 0; tries < kMostTries; ++tries) {
    const std::size_t at = SomePosition();
    if (!timeline_.IsRepeat(at)) continue;
    Change({{at, Edit::kNowhere, timeline_.at(at)}});
    return true;
  }
  return false;
}

// As RemoveSome(), but finds one if there is any.
bool Improver::RemoveOne() {
  if (RemoveSome()) return true;
  const std::vector<std::size_t> repeats = Repeats();
  if (repeats.empty()) return false;
  const auto last = static_cast<std::int64_t>(repeats.size()) - 1;
  const std::size_t at = repeats[static_cast<std::size_t>(random_.Uniform(0, last))];
  Change({{at, Edit::kNowhere, timeline_.at(at)}});
  return true;
}

// One repeat less, and something else made again or copied, at no more than `most` together.
bool Improver::SwapSome(std::int64_t most) {
  if (!RemoveOne()) return false;
  if (Now().valid) {
    const auto left = static_cast<double>(most - Now().cost);
    if (ReturnSome(left, left)) return true;
  }
  UndoTo(0);
  return false;
}

bool Improver::ChangeSome(double most) {
  const double draw = random_.Real();
  if (draw < kChanceOfMove) return MoveSome();
  if (draw < kChanceOfMove + kChanceOfReturn) return ReturnSome(most, most);
  return RemoveSome() || MoveSome();
}

}  // namespace berth::internal::recompute
