#include "spill/furthest.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"

namespace berth::internal::spill {
namespace {

class Simulation {
 public:
  Simulation(const Model& model, Bytes capacity)
      : model_(model), capacity_(capacity), states_(model.storages.size()) {
    BERTH_CHECK(model.ordered);
    for (const StorageIndex s : model.storages.indices()) {
      states_[s.position()].writers = model.storages[s].writers;
    }
    schedule_.cost = 0;
    schedule_.actions.reserve(model.num_operators);
  }

  Schedule Run() {
    for (std::size_t i = 0; i < model_.num_operators; ++i) {
      const OpIndex v(i);
      schedule_.actions.push_back({v, MakeRoom(v)});
      Execute(v);
    }
    return std::move(schedule_);
  }

 private:
  struct State {
    bool resident = false;
    bool clean = false;         // With a valid copy off chip.
    std::size_t uses_done = 0;  // Of Model::users.
    std::int32_t writers = 0;   // That have not run.
  };
  using ByNextUse = std::set<std::pair<std::size_t, std::size_t>>;  // The position, the storage.

  State& StateOf(StorageIndex s) { return states_[s.position()]; }
  [[nodiscard]] std::size_t NextUse(StorageIndex s) const {
    return model_.users[s][states_[s.position()].uses_done].position();
  }

  // Those that are needed last; none of them by v, as v fits by itself.
  std::vector<StorageIndex> MakeRoom(OpIndex v) {
    Bytes over = resident_bytes_ + model_.elsewhere[v] - capacity_;
    for (const StorageIndex s : model_.used[v]) {
      if (!StateOf(s).resident) over += model_.storages[s].size;
    }
    for (const StorageIndex s : model_.made[v]) over += model_.storages[s].size;
    std::vector<StorageIndex> evicted;
    auto last = residents_.end();
    while (over > 0) {
      --last;
      evicted.emplace_back(last->second);
      over -= model_.storages[evicted.back()].size;
    }
    // The one needed first stays first; the very last of them was necessary.
    for (std::size_t k = evicted.size(); k-- > 0;) {
      const Bytes size = model_.storages[evicted[k]].size;
      if (size > -over) continue;
      over += size;
      evicted.erase(evicted.begin() + static_cast<std::ptrdiff_t>(k));
    }
    for (const StorageIndex s : evicted) {
      State& state = StateOf(s);
      const Bytes size = model_.storages[s].size;
      schedule_.cost += state.clean ? size : 2 * size;
      Leave(s);
    }
    std::sort(evicted.begin(), evicted.end());
    return evicted;
  }

  void Leave(StorageIndex s) {
    residents_.erase({NextUse(s), s.position()});
    StateOf(s).resident = false;
    resident_bytes_ -= model_.storages[s].size;
  }

  void Execute(OpIndex v) {
    for (const StorageIndex s : model_.used[v]) {
      State& state = StateOf(s);
      if (state.resident) {
        Leave(s);
      } else {
        state.clean = true;
      }
      ++state.uses_done;
    }
    for (const StorageIndex s : model_.written[v]) {
      StateOf(s).clean = false;
      --StateOf(s).writers;
    }
    for (const auto& list : {model_.used[v], model_.made[v]}) {
      for (const StorageIndex s : list) Enter(s);
    }
  }

  // After its access, unless that was its last.
  void Enter(StorageIndex s) {
    State& state = StateOf(s);
    if (state.uses_done == model_.users[s].size()) return;
    state.resident = true;
    resident_bytes_ += model_.storages[s].size;
    residents_.emplace(NextUse(s), s.position());
    // The last value of a result is written in any case, so it may be written at once.
    if (model_.storages[s].result && state.writers == 0) state.clean = true;
  }

  const Model& model_;
  Bytes capacity_;
  std::vector<State> states_;
  ByNextUse residents_;
  Bytes resident_bytes_ = 0;
  Schedule schedule_;
};

}  // namespace

Schedule FurthestFirst(const Model& model, Bytes capacity) {
  return Simulation(model, capacity).Run();
}

}  // namespace berth::internal::spill
