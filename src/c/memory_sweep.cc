// Sweeps of one memory of several in the C interface.

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "base/try.h"
#include "berth/page.h"
#include "berth/sweep.h"
#include "berth/sweep_io.h"
#include "c/call.h"
#include "c/handles.h"
#include "c/options.h"

struct berth_memory_sweep {
  std::vector<berth::MemoryPoint> points;
  berth::MemorySweepPage page;
};

namespace berth::internal::c {
namespace {

constexpr double kSecondsEach = 1;

const berth_memory_sweep& SweepOf(const berth_memory_sweep* sweep) {
  Require(sweep != nullptr, "sweep is NULL");
  return *sweep;
}

// The index of the memory that is swept.
Result<std::size_t> FindMemory(const Settings& settings, const std::string& name) {
  const auto at = std::find_if(settings.memories.begin(), settings.memories.end(),
                               [&](const Memory& memory) { return memory.name == name; });
  if (at != settings.memories.end()) {
    return static_cast<std::size_t>(at - settings.memories.begin());
  }
  return Fail(ErrorCode::kInvalidOptions, "memory: there is no memory " + Quoted(name));
}

Result<std::vector<Bytes>> CapacitiesOf(const Settings& settings) {
  std::vector<Bytes> capacities;
  for (const Capacity& each : settings.budgets) {
    const auto* const bytes = std::get_if<Bytes>(&each);
    if (bytes == nullptr) {
      return Fail(ErrorCode::kInvalidOptions,
                  "budgets: the capacities of one of several memories are bytes");
    }
    capacities.push_back(*bytes);
  }
  return capacities;
}

Result<berth_memory_sweep> SweepGraph(const GraphInput& input, const berth_options& request,
                                      const std::string& name) {
  const Settings& settings = request.settings;
  if (settings.budget || settings.capacity || settings.node_limit) {
    return Fail(
        ErrorCode::kInvalidOptions,
        "capacity, budget and node_limit: berth_sweep_memory() takes budgets and time_limit");
  }
  MemorySweepOptions options;
  options.memory = BERTH_TRY(FindMemory(settings, name));
  options.capacities = BERTH_TRY(CapacitiesOf(settings));
  options.points = settings.points;
  BERTH_TRY(Validate(input.model.graph));
  options.plan = BERTH_TRY(PlanOptionsFor(settings, input));
  options.seconds_each = settings.time_limit.value_or(kSecondsEach);
  berth_memory_sweep sweep;
  sweep.page.model = Printable(input.name);
  sweep.page.input = HashOfInput(input);
  sweep.page.memory = name;
  sweep.page.memories = options.plan.memories.memories;
  sweep.page.cost_unit = settings.cost_unit;
  sweep.page.may_move = options.plan.memories.may_move;
  sweep.page.prefetch = options.plan.memories.prefetch;
  sweep.page.fixed_order =
      options.plan.order || options.plan.schedule.algorithm == ScheduleAlgorithm::kProgram;
  Watch watch(request, /*limited=*/false);
  options.plan.place.progress = watch.progress();
  options.plan.schedule.progress = options.plan.place.progress;
  sweep.points = BERTH_TRY(
      watch.Run([&](Budget& budget) { return SweepMemory(input.model.graph, options, budget); }));
  return sweep;
}

}  // namespace
}  // namespace berth::internal::c

namespace c = berth::internal::c;
using berth::Result;

extern "C" {

berth_status berth_sweep_memory(const berth_graph* graph, const berth_options* options,
                                const char* name, berth_memory_sweep** sweep, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(sweep != nullptr, "the place for the sweep is NULL");
    c::Require(name != nullptr, "the name of the memory is NULL");
    berth_memory_sweep made =
        BERTH_TRY(c::SweepGraph(*c::InputOf(graph), c::OptionsOf(options), name));
    *sweep = new berth_memory_sweep(std::move(made));
    return {};
  });
}

void berth_memory_sweep_free(berth_memory_sweep* sweep) { delete sweep; }
size_t berth_memory_sweep_count(const berth_memory_sweep* sweep) {
  return sweep == nullptr ? 0 : sweep->points.size();
}

size_t berth_memory_sweep_memory_count(const berth_memory_sweep* sweep) {
  return sweep == nullptr ? 0 : sweep->page.memories.size();
}

berth_status berth_memory_sweep_at(const berth_memory_sweep* sweep, size_t index,
                                   berth_memory_point* out, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_memory_sweep& from = c::SweepOf(sweep);
    c::RequireIndex(index, from.points.size(), "point");
    const berth::MemoryPoint& point = from.points[index];
    c::Fill(out, {0, point.capacity, c::OutcomeOf(point.outcome), point.cost.unplaced,
                  point.cost_bound.unplaced, point.cost.cost, point.cost_bound.cost, point.copies,
                  point.seconds, from.page.cost_unit.c_str()});
    return {};
  });
}

berth_status berth_memory_sweep_use(const berth_memory_sweep* sweep, size_t index, size_t memory,
                                    berth_memory* out, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_memory_sweep& from = c::SweepOf(sweep);
    c::RequireIndex(index, from.points.size(), "point");
    const berth::MemoryPoint& point = from.points[index];
    c::RequireIndex(memory, from.page.memories.size(), "memory");
    const berth::Memory& of = from.page.memories[memory];
    const bool swept = of.name == from.page.memory;
    const std::int64_t capacity = swept ? point.capacity : of.capacity.value_or(-1);
    const berth::MemoryUse use =
        memory < point.uses.size() ? point.uses[memory] : berth::MemoryUse{};
    c::Fill(out, {0, of.name.c_str(), capacity, use.height, use.peak});
    return {};
  });
}

berth_status berth_memory_sweep_to_csv(const berth_memory_sweep* sweep, berth_text** csv,
                                       berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_memory_sweep& from = c::SweepOf(sweep);
    c::Give(csv, berth::WriteMemorySweepCsv(from.points, from.page.cost_unit, from.page.may_move));
    return {};
  });
}

berth_status berth_memory_sweep_to_page(const berth_memory_sweep* sweep, berth_text** html,
                                        berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_memory_sweep& from = c::SweepOf(sweep);
    c::Give(html, berth::WritePage(from.points, from.page, {{"berth version", BERTH_VERSION}}));
    return {};
  });
}

}  // extern "C"
