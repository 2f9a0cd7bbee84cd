#include "recompute/improve.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace berth::internal::recompute {
namespace {

constexpr std::size_t kMostCandidates = 24;  // Tried where a sequence exceeds the capacity.
constexpr std::size_t kMostTimes = 4;        // As long as the order: no sequence becomes longer.
constexpr int kMostPerturbed = 3;
// Trials without a better sequence before the other way of changing takes its turn.
constexpr std::int64_t kFirstTrials = 2'000;
constexpr std::int64_t kMostTrials = 64'000;
constexpr std::int64_t kTrialsOfPrune = 4;
constexpr std::size_t kFirstHistory = 400;
constexpr std::size_t kMostHistory = 12'800;
constexpr std::int64_t kTrialsForBetter = 20;
constexpr double kDearer = 1.3;
constexpr double kCheaper = 0.9;
constexpr double kChanceOfMove = 0.6;
constexpr double kChanceOfReturn = 0.25;

}  // namespace

Improver::Improver(const Model& model, Bytes capacity, bool fixed_order, std::uint64_t seed,
                   Work& work, Budget& budget)
    : model_(model),
      fixed_order_(fixed_order),
      random_(seed),
      work_(work),
      budget_(budget),
      measurer_(model, capacity) {}

Measure Improver::Of(const Sequence& sequence) {
  work_.left -= static_cast<std::int64_t>(sequence.size());
  static_cast<void>(budget_.SpendNode());
  return measurer_.Of(sequence);
}

std::vector<Improver::Pause> Improver::PausesAt(const Sequence& sequence,
                                                std::size_t position) const {
  struct Latest {
    std::int32_t version = kMakes;
    std::size_t step = 0;
    bool done = false;
    bool returned = false;  // Its version is what the next touch finds.
  };
  std::vector<Latest> latest(model_.storages.size());
  std::vector<char> ran(model_.num_operators(), 0);
  std::vector<Pause> pauses;
  for (std::size_t step = 0; step < sequence.size(); ++step) {
    if (model_.IsReturn(sequence[step])) {
      Latest& state = latest[model_.Returned(sequence[step])];
      state.done = state.done || step >= position;
      state.returned = !state.done;
      if (!state.done) state.step = step;
      continue;
    }
    const bool repeat = std::exchange(ran[sequence[step]], 1) != 0;
    for (const Touch& touch : model_.TouchesOf(sequence[step])) {
      if (touch.only_first && repeat) continue;
      Latest& state = latest[touch.storage];
      if (step < position) {
        state = {touch.leaves, step, false, false};
        continue;
      }
      if (state.done) continue;
      state.done = true;
      const StorageInfo& info = model_.storages[touch.storage];
      if (step == position || touch.finds == kMakes || info.size == 0) continue;
      if (state.returned) state.version = touch.finds;
      if (state.version == kMakes || !model_.MayDrop(touch.storage, state.version)) continue;
      pauses.push_back({touch.storage, state.step, step, state.version});
    }
  }
  for (Storage s = 0; s < model_.storages.size(); ++s) {
    const StorageInfo& info = model_.storages[s];
    const Latest& state = latest[s];
    if (state.done || !info.result || info.size == 0 || state.version == kMakes) continue;
    if (state.version > info.again || model_.MayCopy(s)) continue;  // Or it leaves at no cost.
    pauses.push_back({s, state.step, sequence.size(), state.version});
  }
  return pauses;
}

std::vector<Improver::State> Improver::StatesAt(const Sequence& sequence,
                                                std::size_t position) const {
  std::vector<State> states(model_.storages.size());
  for (Storage s = 0; s < states.size(); ++s) {
    if (model_.storages[s].given) states[s].version = 0;
  }
  std::vector<char> ran(model_.num_operators(), 0);
  for (std::size_t step = 0; step < sequence.size(); ++step) {
    if (model_.IsReturn(sequence[step])) {
      State& state = states[model_.Returned(sequence[step])];
      state.returned = step < position;
      state.seen = state.seen || step >= position;
      continue;
    }
    const bool repeat = std::exchange(ran[sequence[step]], 1) != 0;
    for (const Touch& touch : model_.TouchesOf(sequence[step])) {
      if (touch.only_first && repeat) continue;
      State& state = states[touch.storage];
      if (std::exchange(state.returned, false)) {
        state.version = touch.finds;
        if (step >= position) state.last = position;  // It has been back since before.
      }
      if (step < position) {
        state.version = touch.leaves;
        state.last = step;
      } else if (!state.seen) {
        state.seen = true;
        state.stays = touch.finds != kMakes;
      }
    }
  }
  for (Storage s = 0; s < states.size(); ++s) {
    const bool kept = model_.storages[s].result && !model_.MayCopy(s);
    if (!states[s].seen && kept) states[s].stays = true;
  }
  return states;
}

// Lists what has to run so that the storage of `pause` is there again. False if that cannot be.
bool Improver::ListReturn(const Pause& pause, std::size_t around, std::vector<State>& states,
                          std::vector<Op>& batch) const {
  std::vector<char> listed(model_.num_operators(), 0);
  // A stack instead of recursion: chains may be as long as the graph.
  std::vector<Frame> stack = {{pause.storage, pause.version}};
  std::vector<char> open(model_.storages.size(), 0);
  open[pause.storage] = 1;
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next > frame.version) {
      open[frame.storage] = 0;
      states[frame.storage].version = frame.version;
      states[frame.storage].last = pause.to;
      stack.pop_back();
      continue;
    }
    const Op u = model_.storages[frame.storage].chain[static_cast<std::size_t>(frame.next)];
    std::optional<Frame> missing;
    if (!FindMissing(u, frame.storage, states, around, missing)) return false;
    if (missing && missing->loads) {
      batch.push_back(model_.ReturnOf(missing->storage));
      states[missing->storage].last = pause.to;
      continue;
    }
    if (missing) {
      if (std::exchange(open[missing->storage], 1) != 0) return false;
      stack.push_back(*missing);
      continue;
    }
    if (listed[u] == 0) {
      listed[u] = 1;
      batch.push_back(u);
    }
    ++stack.back().next;
  }
  return true;
}

// The first storage that `u` needs and that has to be made again, if there is one; `made` is what it
// runs for. False if `u` cannot run.
bool Improver::FindMissing(Op u, Storage made, const std::vector<State>& states, std::size_t around,
                           std::optional<Frame>& missing) const {
  for (const Touch& touch : model_.TouchesOf(u)) {
    if (touch.only_first || touch.storage == made) continue;
    const State& state = states[touch.storage];
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

std::optional<Sequence> Improver::WithReturn(const Sequence& sequence, const Pause& pause,
                                             std::size_t around) {
  work_.left -= static_cast<std::int64_t>(sequence.size());
  if (pause.version > model_.storages[pause.storage].again) return std::nullopt;
  std::vector<State> states = StatesAt(sequence, pause.to);
  std::vector<Op> batch;
  if (!ListReturn(pause, around, states, batch)) return std::nullopt;
  return WithBatch(sequence, pause, batch);
}

// The storage of `pause` is copied back.
std::optional<Sequence> Improver::WithCopy(const Sequence& sequence, const Pause& pause) {
  if (!model_.MayCopy(pause.storage)) return std::nullopt;
  work_.left -= static_cast<std::int64_t>(sequence.size());
  return WithBatch(sequence, pause, {model_.ReturnOf(pause.storage)});
}

std::optional<Sequence> Improver::WithBatch(const Sequence& sequence, const Pause& pause,
                                            const std::vector<Op>& batch) const {
  if (sequence.size() + batch.size() > kMostTimes * model_.num_operators() + 16) {
    return std::nullopt;
  }
  Sequence longer;
  longer.reserve(sequence.size() + batch.size());
  const auto at = sequence.begin() + static_cast<std::ptrdiff_t>(pause.to);
  longer.insert(longer.end(), sequence.begin(), at);
  longer.insert(longer.end(), batch.begin(), batch.end());
  longer.insert(longer.end(), at, sequence.end());
  return longer;
}

bool Improver::Repair(Sequence& sequence) {
  Measure now = Of(sequence);
  if (!now.valid) return false;
  while (now.excess > 0) {
    if (Ended()) return false;
    std::vector<Pause> pauses = PausesAt(sequence, now.peak_at);
    const auto value = [&](const Pause& pause) {
      const StorageInfo& info = model_.storages[pause.storage];
      const std::int64_t price = info.Price(pause.version, model_.linked);
      return (static_cast<double>(price) + 1) /
             (static_cast<double>(info.size) * static_cast<double>(pause.to - pause.from));
    };
    std::stable_sort(pauses.begin(), pauses.end(),
                     [&](const Pause& a, const Pause& b) { return value(a) < value(b); });
    if (pauses.size() > kMostCandidates) pauses.resize(kMostCandidates);
    std::optional<Sequence> best;
    Measure best_measure;
    double best_value = 0;
    for (const Pause& pause : pauses) {
      if (Ended()) return false;
      // Inputs that have left are made again, or stay.
      for (const int way : {0, 1, 2}) {
        std::optional<Sequence> tried =
            way == 2 ? WithCopy(sequence, pause)
                     : WithReturn(sequence, pause, way == 0 ? now.peak_at : std::size_t{0});
        if (!tried) continue;
        const Measure measure = Of(*tried);
        if (!measure.valid || measure.excess >= now.excess) continue;
        const double freed = static_cast<double>(now.excess - measure.excess);
        const double each = freed / (static_cast<double>(measure.cost - now.cost) + 1);
        if (each <= best_value) continue;
        best_value = each;
        best = std::move(tried);
        best_measure = measure;
      }
    }
    if (!best) return false;
    sequence = std::move(*best);
    now = best_measure;
  }
  return true;
}

std::vector<std::size_t> Improver::Repeats(const Sequence& sequence) const {
  std::vector<std::size_t> repeats;
  std::vector<char> ran(model_.num_actions(), 0);
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const bool again = std::exchange(ran[sequence[i]], 1) != 0;
    if (again || model_.IsReturn(sequence[i])) repeats.push_back(i);
  }
  return repeats;
}

void Improver::Prune(Sequence& sequence) {
  for (bool again = true; again;) {
    again = false;
    std::vector<std::size_t> repeats = Repeats(sequence);
    std::stable_sort(repeats.begin(), repeats.end(), [&](std::size_t a, std::size_t b) {
      return model_.cost[sequence[a]] > model_.cost[sequence[b]];
    });
    // Positions shift as executions are taken out.
    std::vector<std::size_t> gone;
    for (const std::size_t position : repeats) {
      if (Ended()) return;
      const auto before = static_cast<std::size_t>(
          std::count_if(gone.begin(), gone.end(), [&](std::size_t g) { return g < position; }));
      Sequence shorter = sequence;
      shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(position - before));
      if (!Of(shorter).fits()) continue;
      sequence = std::move(shorter);
      gone.push_back(position);
      again = true;
    }
  }
}

// One execution elsewhere. False if the sequence did not change.
bool Improver::Move(Sequence& sequence) {
  const auto size = static_cast<std::int64_t>(sequence.size());
  const auto from = static_cast<std::size_t>(random_.Uniform(0, size - 1));
  const Op v = sequence[from];
  std::size_t first = from;  // Where `v` runs first.
  for (std::size_t i = 0; i < from; ++i) {
    if (sequence[i] == v) {
      first = i;
      break;
    }
  }
  const bool returns = model_.IsReturn(v);
  if (returns) first = from;
  const bool repeat = first != from || returns;
  if (!repeat && fixed_order_) return false;
  // The range of positions that it may move to, between what it waits for and what waits for it.
  std::size_t lower = repeat && !returns ? first + 1 : 0;
  std::size_t upper = sequence.size() - 1;
  if (!repeat) {
    std::vector<char> ran(model_.num_actions(), 0);
    const auto& before = model_.predecessors[v];
    const auto& after = model_.successors[v];
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const Op u = sequence[i];
      if (i < from && std::binary_search(before.begin(), before.end(), u) && ran[u] == 0) {
        lower = i + 1;
      }
      if (i > from && std::find(after.begin(), after.end(), u) != after.end()) {
        upper = i - 1;
        break;
      }
      ran[u] = 1;
    }
  }
  if (lower >= upper) return false;
  const auto to = static_cast<std::size_t>(
      random_.Uniform(static_cast<std::int64_t>(lower), static_cast<std::int64_t>(upper)));
  if (to == from) return false;
  const auto at = [&](std::size_t i) { return sequence.begin() + static_cast<std::ptrdiff_t>(i); };
  if (to > from) {
    std::rotate(at(from), at(from + 1), at(to + 1));
  } else {
    std::rotate(at(to), at(from), at(from + 1));
  }
  return true;
}

void Improver::Exchange(Sequence& sequence, std::int64_t bound, std::int64_t patience,
                        const std::function<void(const Sequence&)>& found) {
  std::int64_t trials = kFirstTrials;
  std::size_t history = kFirstHistory;
  bool from_order = false;
  for (std::int64_t failed = 0; failed < patience && !Ended(); failed += 2 * trials) {
    const Measure before = Of(sequence);
    if (before.fits() && before.cost <= bound) return;
    // By turns from the best sequence, and from its first executions alone.
    Climb(from_order ? WithoutRepeats(sequence) : sequence, history, bound, trials, sequence,
          found);
    Perturb(sequence, bound, trials / kTrialsOfPrune, found);
    const Measure after = Of(sequence);
    if (after.fits() && (!before.fits() || after.cost < before.cost)) {
      failed = 0;
      from_order = false;
      continue;
    }
    if (from_order) {
      trials = std::min(2 * trials, kMostTrials);
      history = std::min(2 * history, kMostHistory);
    }
    from_order = !from_order;
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

// From a sequence that fits: some executions are added or moved, then all that have become needless
// are taken out.
void Improver::Perturb(Sequence& sequence, std::int64_t bound, std::int64_t patience,
                       const std::function<void(const Sequence&)>& found) {
  Measure best = Of(sequence);
  for (std::int64_t failures = 0; best.fits() && failures < patience && best.cost > bound;
       ++failures) {
    if (Ended()) return;
    Sequence tried = sequence;
    bool changed = false;
    const auto times = random_.Uniform(1, kMostPerturbed);
    for (std::int64_t k = 0; k < times; ++k) {
      changed = (random_.Chance(0.5) ? Move(tried) : AddReturn(tried, best)) || changed;
    }
    if (!changed || !Of(tried).fits()) continue;
    Prune(tried);
    const Measure after = Of(tried);
    if (!after.fits() || after.cost > best.cost) continue;
    const bool better = after.cost < best.cost;
    best = after;
    sequence = std::move(tried);
    if (!better) continue;
    failures = 0;
    found(sequence);
  }
}

// What is added, moved or taken out is accepted if it is no worse than what was accepted
// `length` trials ago (late acceptance hill climbing, Burke and Bykov, 2017). Bytes above the capacity have a
// price, which rises while the sequence does not fit and falls while it does.
void Improver::Climb(Sequence current, std::size_t length, std::int64_t bound,
                     std::int64_t patience, Sequence& sequence,
                     const std::function<void(const Sequence&)>& found) {
  Measure now = Of(current);
  if (!now.valid) return;
  std::optional<std::int64_t> best;
  if (const Measure known = Of(sequence); known.fits()) best = known.cost;
  double byte_price = FirstBytePrice();
  const auto value = [&](const Measure& measure) {
    return static_cast<double>(measure.cost) + byte_price * static_cast<double>(measure.excess);
  };
  std::vector<double> history(length, value(now));
  std::int64_t failures = 0;
  for (std::size_t trial = 0; failures < patience; ++trial, ++failures) {
    if ((best && *best <= bound) || Ended()) break;
    Sequence tried = current;
    if (!Change(tried, now)) continue;
    const Measure measure = Of(tried);
    if (!measure.valid) continue;
    double& past = history[trial % length];
    const double new_value = value(measure);
    if (new_value <= value(now) || new_value <= past) {
      // What is better, even if it is not yet the best, is worth more trials.
      if (new_value < value(now)) failures -= std::min<std::int64_t>(failures, kTrialsForBetter);
      current = std::move(tried);
      now = measure;
      if (now.fits() && (!best || now.cost < *best)) {
        Prune(current);
        now = Of(current);
        best = now.cost;
        sequence = current;
        failures = 0;
        found(sequence);
      }
    }
    past = std::min(past, value(now));
    if (trial % length == length - 1) {
      byte_price *= now.fits() ? kCheaper : kDearer;
      std::fill(history.begin(), history.end(), value(now));
    }
  }
}

// What a byte of one step is worth if everything that waits were made again.
double Improver::FirstBytePrice() const {
  double costs = 1;
  double bytes = 1;
  for (Storage s = 0; s < model_.storages.size(); ++s) {
    const StorageInfo& info = model_.storages[s];
    if (!model_.MayDrop(s, 0)) continue;
    costs += static_cast<double>(info.Price(0, model_.linked));
    bytes += static_cast<double>(info.size);
  }
  return costs / bytes;
}

// Makes a random storage again before a random use.
bool Improver::AddReturn(Sequence& sequence, const Measure& measure) {
  // Where the memory is full, if it is too small.
  const bool at_peak = measure.excess > 0 && random_.Chance(0.5);
  const auto around = at_peak ? std::min(measure.peak_at, sequence.size() - 1)
                              : static_cast<std::size_t>(random_.Uniform(
                                    0, static_cast<std::int64_t>(sequence.size()) - 1));
  const std::vector<Pause> pauses = PausesAt(sequence, around);
  work_.left -= static_cast<std::int64_t>(sequence.size());
  if (pauses.empty()) return false;
  const auto pick =
      static_cast<std::size_t>(random_.Uniform(0, static_cast<std::int64_t>(pauses.size()) - 1));
  const bool made = pauses[pick].version <= model_.storages[pauses[pick].storage].again;
  const bool copied = model_.MayCopy(pauses[pick].storage) && (!made || random_.Chance(0.5));
  auto longer = copied ? WithCopy(sequence, pauses[pick])
                       : WithReturn(sequence, pauses[pick], random_.Chance(0.5) ? around : 0);
  if (!longer) return false;
  sequence = std::move(*longer);
  return true;
}

bool Improver::Change(Sequence& sequence, const Measure& measure) {
  const double draw = random_.Real();
  if (draw < kChanceOfMove) return Move(sequence);
  if (draw < kChanceOfMove + kChanceOfReturn) return AddReturn(sequence, measure);
  const std::vector<std::size_t> repeats = Repeats(sequence);
  if (repeats.empty()) return Move(sequence);
  const auto pick =
      static_cast<std::size_t>(random_.Uniform(0, static_cast<std::int64_t>(repeats.size()) - 1));
  sequence.erase(sequence.begin() + static_cast<std::ptrdiff_t>(repeats[pick]));
  return true;
}

}  // namespace berth::internal::recompute
