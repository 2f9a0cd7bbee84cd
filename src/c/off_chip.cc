// How long a run with copies off chip takes, in the C interface.

#include "berth/off_chip.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/try.h"
#include "berth/answer.h"
#include "berth/graph.h"
#include "c/call.h"
#include "c/handles.h"

struct berth_off_chip_run {
  berth::OffChipRun run;
  std::vector<berth_interval> operators;
  double avoidable_pj = -1;
  double compulsory_pj = -1;
};

namespace berth::internal::c {
namespace {

Result<Link> LinkOf(const GraphInput& input) {
  const std::optional<Device>& device = input.options.device;
  if (device && device->link) return *device->link;
  return Fail(ErrorCode::kInvalidOptions,
              device ? "device: it has no link, which says how long copies take"
                     : "device: the graph has none, whose link says how long copies take");
}

Result<berth_off_chip_run*> RunOf(const berth_plan& plan) {
  Require(plan.graph != nullptr, "the plan is one of a table");
  Require(plan.answer.best.has_value(), "there is no plan");
  const MemoryPlan& best = *plan.answer.best;
  const Link link = BERTH_TRY(LinkOf(*plan.graph));
  berth_off_chip_run found;
  found.run = BERTH_TRY(RunOffChip(plan.graph->model.graph, link, best));
  found.operators.reserve(found.run.operators.size());
  for (const TimedRun::Interval& each : found.run.operators) {
    found.operators.push_back({each.begin, each.end});
  }
  if (link.picojoules_per_byte) {
    const Traffic& traffic = best.traffic;
    found.avoidable_pj = *link.picojoules_per_byte * static_cast<double>(traffic.avoidable());
    found.compulsory_pj = *link.picojoules_per_byte *
                          static_cast<double>(traffic.compulsory_in + traffic.compulsory_out);
  }
  return new berth_off_chip_run(std::move(found));
}

const berth_off_chip_run& Given(const berth_off_chip_run* run) {
  Require(run != nullptr, "run is NULL");
  return *run;
}

}  // namespace
}  // namespace berth::internal::c

namespace c = berth::internal::c;
using berth::Result;

extern "C" {

berth_status berth_run_off_chip(const berth_plan* plan, berth_off_chip_run** run,
                                berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(run != nullptr, "the place for the run is NULL");
    *run = BERTH_TRY(c::RunOf(c::PlanOf(plan)));
    return {};
  });
}

void berth_off_chip_run_free(berth_off_chip_run* run) { delete run; }

berth_status berth_off_chip_run_summary(const berth_off_chip_run* run, berth_off_chip_summary* out,
                                        berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_off_chip_run& from = c::Given(run);
    c::Fill(out, {0, from.run.time, from.run.computing, from.run.copying, from.run.stalled,
                  from.avoidable_pj, from.compulsory_pj});
    return {};
  });
}

size_t berth_off_chip_run_copy_count(const berth_off_chip_run* run) {
  return run == nullptr ? 0 : run->run.copies.size();
}

berth_status berth_off_chip_run_copy(const berth_off_chip_run* run, size_t index,
                                     berth_off_chip_copy* out, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const auto& copies = c::Given(run).run.copies;
    c::RequireIndex(index, copies.size(), "copy");
    const berth::OffChipCopy& copy = copies[index];
    c::Fill(out, {0, copy.residency, copy.out, copy.avoidable, copy.after, copy.before,
                  copy.transfer.begin, copy.transfer.end});
    return {};
  });
}

const berth_interval* berth_off_chip_run_operators(const berth_off_chip_run* run, size_t* count) {
  const bool none = run == nullptr || run->operators.empty();
  if (count != nullptr) *count = none ? 0 : run->operators.size();
  return none ? nullptr : run->operators.data();
}

}  // extern "C"
