#include "spill/layout.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"

namespace berth::internal::spill {
namespace {

// Walks the residencies of one storage, adding their traffic.
template <typename Visit>
void ForEachResidency(const Stays& stays, Step steps, Traffic& traffic, Visit visit) {
  std::size_t last_write = 0;  // One past the last access that writes.
  for (std::size_t i = 0; i < stays.accesses.size(); ++i) {
    if (stays.accesses[i].writes) last_write = i + 1;
  }
  bool copied = stays.given;  // The copy off chip has the latest value.
  if (stays.given) traffic.compulsory_in += stays.size;
  if (stays.result) traffic.compulsory_out += stays.size;
  for (std::size_t begin = 0; begin < stays.accesses.size();) {
    std::size_t last = begin;
    while (last + 1 < stays.accesses.size() && stays.kept[last] != 0) ++last;
    const bool ends = last + 1 == stays.accesses.size();
    const bool to_end = ends && stays.result && stays.kept[last] != 0;
    Residency residency;
    residency.tensor = stays.tensor;
    residency.start = stays.accesses[begin].step;
    residency.end = to_end ? steps : stays.accesses[last].step + 1;
    residency.comes_in = begin > 0 || stays.given;
    if (begin > 0) traffic.retrieved += stays.size;
    for (std::size_t i = begin; i <= last; ++i) {
      if (stays.accesses[i].writes) copied = false;
    }
    const bool needed = !ends || (stays.result && !to_end);
    if (needed && !copied) {
      residency.written_out = true;
      copied = true;
      // The last value of a result is written in any case.
      if (!stays.result || last + 1 < last_write) traffic.spilled += stays.size;
    }
    visit(residency);
    begin = last + 1;
  }
}

}  // namespace

Layout LayoutOf(const Graph& graph, const Model& model, const Schedule& schedule,
                const Order* order) {
  Layout layout;
  if (order != nullptr) {
    layout.order = *order;
  } else {
    std::vector<OpIndex> scheduled;
    scheduled.reserve(schedule.actions.size());
    for (const Action& action : schedule.actions) scheduled.push_back(action.op);
    layout.order = ExpandOrder(graph, model, scheduled);
  }
  std::vector<Step> step_of(graph.operators.size(), 0);
  for (std::size_t s = 0; s < layout.order.size(); ++s) {
    step_of[layout.order[s]] = static_cast<Step>(s);
  }
  const auto step = [&](OpIndex v) { return step_of[model.operators[v.position()]]; };

  layout.storages.reserve(model.storages.size());
  for (const StorageIndex s : model.storages.indices()) {
    const Stored& stored = model.storages[s];
    Stays stays;
    stays.tensor = stored.tensor;
    stays.size = stored.size;
    stays.given = stored.creator.value() < 0;
    stays.result = stored.result;
    if (!stays.given) stays.accesses.push_back({step(stored.creator), true});
    for (const OpIndex u : model.users[s]) {
      const auto written = model.written[u];
      stays.accesses.push_back({step(u), std::binary_search(written.begin(), written.end(), s)});
    }
    std::sort(stays.accesses.begin(), stays.accesses.end(),
              [](const Access& a, const Access& b) { return a.step < b.step; });
    stays.kept.assign(stays.accesses.size(), 1);
    if (!stays.kept.empty()) stays.kept.back() = 0;
    layout.storages.push_back(std::move(stays));
  }
  for (const Action& action : schedule.actions) {
    const Step now = step(action.op);
    for (const StorageIndex s : action.evicted) {
      Stays& stays = layout.storages[s.position()];
      const auto next =
          std::lower_bound(stays.accesses.begin(), stays.accesses.end(), now,
                           [](const Access& access, Step before) { return access.step < before; });
      BERTH_CHECK(next != stays.accesses.begin() && next != stays.accesses.end());
      stays.kept[static_cast<std::size_t>(next - stays.accesses.begin()) - 1] = 0;
    }
  }
  return layout;
}

MemoryPlan PlanOf(const Layout& layout) {
  MemoryPlan plan;
  plan.order = layout.order;
  plan.addressed = false;
  for (const Stays& stays : layout.storages) {
    ForEachResidency(stays, layout.steps(), plan.traffic,
                     [&](const Residency& residency) { plan.residencies.push_back(residency); });
  }
  return plan;
}

Bytes AvoidableTraffic(const Layout& layout) {
  Traffic traffic;
  for (const Stays& stays : layout.storages) {
    ForEachResidency(stays, layout.steps(), traffic, [](const Residency&) {});
  }
  return traffic.avoidable();
}

std::vector<Bytes> LoadOf(const Layout& layout) {
  std::vector<Bytes> load(layout.order.size() + 1, 0);
  Traffic traffic;
  for (const Stays& stays : layout.storages) {
    ForEachResidency(stays, layout.steps(), traffic, [&](const Residency& residency) {
      load[static_cast<std::size_t>(residency.start)] += stays.size;
      load[static_cast<std::size_t>(residency.end)] -= stays.size;
    });
  }
  for (std::size_t s = 1; s < load.size(); ++s) load[s] += load[s - 1];
  load.pop_back();
  return load;
}

}  // namespace berth::internal::spill
