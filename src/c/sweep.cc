// Sweeps in the C interface.

#include "berth/sweep.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "berth/page.h"
#include "berth/sweep_io.h"
#include "c/call.h"
#include "c/handles.h"
#include "c/options.h"

struct berth_sweep {
  std::vector<berth::SweepCurve> curves;  // One.
  [[nodiscard]] const std::vector<berth::SweepPoint>& points() const {
    return curves.front().points;
  }
};

namespace berth::internal::c {
namespace {

constexpr double kSecondsForAll = 50;

const berth_sweep& SweepOf(const berth_sweep* sweep) {
  Require(sweep != nullptr, "sweep is NULL");
  return *sweep;
}

Result<SweepCurve> SweepGraph(const GraphInput& input, const berth_options& request) {
  const Settings& settings = request.settings;
  if (!settings.memories.empty()) {
    return Fail(ErrorCode::kInvalidOptions,
                "memory: berth_sweep_graph() has one memory; sweep with berth_plan_graph()");
  }
  if (settings.budget || settings.capacity) {
    return Fail(ErrorCode::kInvalidOptions, "capacity and budget: a sweep has many; use budgets");
  }
  const Graph& graph = input.model.graph;
  SweepOptions options;
  options.capacities = settings.budgets;
  options.points = settings.points;
  options.plan = settings.plan;
  if (settings.no_spill && !settings.recompute) {
    return Fail(ErrorCode::kInvalidOptions, "no_spill: only with recompute");
  }
  options.plan.recompute = settings.recompute;
  if (settings.recompute && !settings.no_spill && input.options.device) {
    options.plan.link = input.options.device->link;
  }
  options.plan.spill = !options.plan.recompute || options.plan.link.has_value();
  options.seconds_each = settings.time_limit;
  options.nodes_each = settings.node_limit;
  Watch watch(request, /*limited=*/false);
  // The limits are for the points, not for the capacities themselves.
  const NamedBudgets named = BERTH_TRY(
      watch.Run([&](Budget& budget) { return NamedBudgetsOf(graph, options.plan, budget); }));
  options.plan.budgets = named;
  options.plan.place.progress = watch.progress();
  options.plan.schedule.progress = options.plan.place.progress;
  SweepCurve curve = BERTH_TRY(watch.Run([&](Budget& budget) {
    if (!settings.time_limit && !settings.node_limit) budget.SetTimeLimit(kSecondsForAll);
    return Sweep(graph, options, budget);
  }));
  Provenance from;
  from.input_hash = HashOfInput(input);
  from.options = options.plan;
  from.in_place = input.options.in_place;
  from.fused = input.options.fuse;
  from.reading = input.model.reading;
  curve.model = Printable(input.name);
  curve.input = SweepInput(from, curve.fixed_order, graph);
  return curve;
}

}  // namespace
}  // namespace berth::internal::c

namespace c = berth::internal::c;
using berth::Result;

extern "C" {

berth_status berth_sweep_graph(const berth_graph* graph, const berth_options* options,
                               berth_sweep** sweep, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(sweep != nullptr, "the place for the sweep is NULL");
    berth::SweepCurve curve = BERTH_TRY(c::SweepGraph(*c::InputOf(graph), c::OptionsOf(options)));
    *sweep = new berth_sweep{{std::move(curve)}};
    return {};
  });
}

void berth_sweep_free(berth_sweep* sweep) { delete sweep; }
size_t berth_sweep_count(const berth_sweep* sweep) {
  return sweep == nullptr ? 0 : sweep->points().size();
}

berth_status berth_sweep_at(const berth_sweep* sweep, size_t index, berth_sweep_point* out,
                            berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const auto& points = c::SweepOf(sweep).points();
    c::RequireIndex(index, points.size(), "point");
    const berth::SweepPoint& from = points[index];
    berth_sweep_point point = {0,
                               from.capacity,
                               c::OutcomeOf(from.outcome),
                               from.avoidable.value_or(-1),
                               from.spilled,
                               from.retrieved,
                               from.traffic_bound,
                               from.traffic_by_sum,
                               from.seconds,
                               -1,
                               0,
                               0,
                               0,
                               0,
                               nullptr};
    if (const auto& run = sweep->curves.front().run; run && from.cost) {
      if (from.has_plan()) point.cost = from.cost->total();
      point.copy_cost = from.cost->copies;
      point.cost_bound = from.cost->bound;
      point.repeats = from.cost->operators;
      point.of_run = run->cost;
      point.cost_unit = run->unit.c_str();
    }
    c::Fill(out, point);
    return {};
  });
}

berth_status berth_sweep_to_csv(const berth_sweep* sweep, berth_text** csv, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Give(csv, berth::WriteSweepCsv(c::SweepOf(sweep).curves));
    return {};
  });
}

berth_status berth_sweep_to_page(const berth_sweep* sweep, berth_text** html, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Give(html, berth::WritePage(c::SweepOf(sweep).curves, {{"berth version", BERTH_VERSION}}));
    return {};
  });
}

}  // extern "C"
