// The plan of a table: buffers with fixed lifetimes, gaps and pins.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "tools/verify/addresses.h"
#include "tools/verify/collector.h"
#include "tools/verify/pieces.h"
#include "tools/verify/sort.h"
#include "tools/verify/verify.h"

namespace berth::verify {
namespace {

Fault FaultOf(std::size_t buffer) {
  Fault fault;
  fault.residency = buffer;
  return fault;
}

// Why a residency is not the one of its buffer; empty if it is.
std::string_view WhyBad(const Residency& residency, std::size_t b, const Buffer& buffer) {
  if (residency.tensor != b) return "is not that of its buffer";
  if (residency.start != buffer.start || residency.end != buffer.end) {
    return "does not have the lifetime of its buffer";
  }
  if (residency.comes_in || residency.written_out) return "is copied, but a table has no spills";
  if (residency.memory != 0) return "is in another memory, but there is one only";
  return {};
}

bool CheckShape(const Problem& table, const MemoryPlan& plan, Collector& collector) {
  if (plan.residencies.size() != table.buffers.size() || plan.memories.size() != 1) {
    collector.Add(Fault{});
    return false;
  }
  if (!plan.order.empty()) {
    Fault fault;
    fault.kind = FaultKind::kUnknownOperator;
    fault.op = plan.order.front();
    collector.Add(fault);
  }
  for (std::size_t b = 0; b < plan.residencies.size(); ++b) {
    Fault fault = FaultOf(b);
    fault.kind = FaultKind::kBadResidency;
    fault.detail = WhyBad(plan.residencies[b], b, table.buffers[b]);
    fault.start = plan.residencies[b].start;
    if (!fault.detail.empty()) collector.Add(fault);
  }
  return !collector.found_any();
}

// The most bytes live at one step.
void MeasurePeak(const Problem& table, PlanReport& report) {
  // At each step, what ends comes before what begins.
  std::vector<AtTime> changes;
  changes.reserve(2 * table.buffers.size());
  for (const Buffer& buffer : table.buffers) {
    ForEachPiece(buffer, [&](Step start, Step end, Bytes lower, Bytes upper) {
      changes.push_back({2 * start + 1, upper - lower});
      changes.push_back({2 * end, lower - upper});
    });
  }
  SortByTime(changes);
  Bytes live = 0;
  for (const AtTime& change : changes) {
    live += change.item;
    if (live <= report.peak) continue;
    report.peak = live;
    report.peak_step = change.time >> 1;
  }
}

void CheckOffsets(const Problem& table, std::optional<Bytes> capacity,
                  const std::vector<Bytes>& offsets, Collector& collector, PlanReport& report) {
  std::vector<Rectangle> rectangles;
  rectangles.reserve(offsets.size());
  Wide height = std::numeric_limits<Bytes>::min();
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    const Buffer& buffer = table.buffers[b];
    const Wide offset = offsets[b];
    height = std::max(height, offset + buffer.size);
    CheckAddress({FaultOf(b), offsets[b], buffer.size, buffer.alignment, buffer.offset}, capacity,
                 collector);
    ForEachPiece(buffer, [&](Step start, Step end, Bytes lower, Bytes upper) {
      rectangles.push_back({b, start, end, offset + lower, offset + upper});
    });
  }
  if (!offsets.empty()) report.height = Clamp(height);
  FindOverlaps(std::move(rectangles), collector);
}

}  // namespace

PlanReport VerifyPlan(const Problem& table, const MemoryPlan& plan, std::size_t max_faults) {
  return VerifyPlan(table, table.capacity, plan, max_faults);
}

PlanReport VerifyPlan(const Problem& table, std::optional<Bytes> capacity, const MemoryPlan& plan,
                      std::size_t max_faults) {
  PlanReport report;
  Collector collector(max_faults, report);
  if (!CheckShape(table, plan, collector)) return report;
  MeasurePeak(table, report);
  if (plan.addressed) {
    std::vector<Bytes> offsets;
    offsets.reserve(plan.residencies.size());
    for (const Residency& residency : plan.residencies) offsets.push_back(residency.offset);
    CheckOffsets(table, capacity, offsets, collector, report);
    collector.Compare(FaultKind::kWrongHeight, plan.height(), report.height);
  }
  collector.Compare(FaultKind::kWrongPeak, plan.peak(), report.peak);
  collector.Compare(plan.traffic, report.traffic);
  return report;
}

PlanReport VerifyOffsets(const Problem& table, const std::vector<Bytes>& offsets,
                         std::size_t max_faults) {
  PlanReport report;
  Collector collector(max_faults, report);
  if (offsets.size() != table.buffers.size()) {
    collector.Add(Fault{});
    return report;
  }
  MeasurePeak(table, report);
  CheckOffsets(table, table.capacity, offsets, collector, report);
  return report;
}

MemoryPlan AsPlan(const Problem& table, const std::vector<Bytes>& offsets) {
  MemoryPlan plan;
  plan.memories.emplace_back();
  for (std::size_t b = 0; b < offsets.size(); ++b) {
    Residency& residency = plan.residencies.emplace_back();
    residency.tensor = b;
    residency.offset = offsets[b];
    if (b >= table.buffers.size()) continue;
    residency.start = table.buffers[b].start;
    residency.end = table.buffers[b].end;
  }
  return plan;
}

}  // namespace berth::verify
