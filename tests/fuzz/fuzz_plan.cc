// A plan that ReadPlan() accepts, in any of its formats, can be trusted by the rest of the
// library: valid buffers, tops within range, a correct height. It equals itself, survives writing
// and reading, and its page contains it as data. A rejected plan gets one line that begins with the
// name of the file. A plan that ReadPlanFor() accepts for a graph can be checked, and if it is valid
// it survives writing and reading.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "berth/diff.h"
#include "berth/io.h"
#include "tests/fuzz/require.h"
#include "tests/graph/build.h"

namespace {

using berth::internal::Require;

bool SameBuffers(const berth::PlanFile& x, const berth::PlanFile& y) {
  if (x.problem.buffers.size() != y.problem.buffers.size()) return false;
  for (std::size_t b = 0; b < x.problem.buffers.size(); ++b) {
    const berth::Buffer& one = x.problem.buffers[b];
    const berth::Buffer& other = y.problem.buffers[b];
    if (one.id != other.id || one.start != other.start || one.end != other.end ||
        one.size != other.size) {
      return false;
    }
  }
  return x.placement.offsets == y.placement.offsets && x.placement.height == y.placement.height;
}

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

void CheckError(const berth::Error& error) {
  Require(error.message.substr(0, 2) == "p:", error.message.c_str());
  Require(error.message.find('\n') == std::string::npos, "an error of several lines");
}

void CheckGraphPlan(const std::string& text) {
  static const berth::Graph graph = berth::internal::OneSpill().graph;
  const auto read = berth::ReadPlanFor(graph, {}, text, "p");
  if (!read) return CheckError(read.error());
  // Valid or not, there is an answer.
  if (!berth::ValidatePlan(graph, {}, read->capacity, read->plan)) return;
  berth::PlanAnswer answer;
  answer.best = read->plan;
  answer.capacity = read->capacity;
  answer.spills = read->spills;
  answer.recomputes = read->recomputes;
  const auto again = berth::ReadPlanFor(graph, {}, berth::WritePlanJson(graph, answer, {}), "p");
  Require(again.has_value() && again->plan == read->plan && again->capacity == read->capacity,
          "a plan of a graph written out reads differently");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  CheckGraphPlan(text);
  const auto plan = berth::ReadPlan(text, "p");
  if (!plan) {
    CheckError(plan.error());
    return 0;
  }
  const auto& buffers = plan->problem.buffers;
  Require(berth::Validate(plan->problem).has_value(), "the buffers of a plan are not valid");
  Require(plan->placement.offsets.size() == buffers.size(), "an offset for each buffer");
  berth::Bytes height = 0;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    const berth::Bytes offset = plan->placement.offsets[b];
    Require(offset >= 0 && offset <= berth::kMaxBytes - buffers[b].size, "a top out of range");
    height = std::max(height, offset + buffers[b].size);
  }
  Require(plan->placement.height == height, "not the height of the buffers");

  const berth::PlanDiff diff = berth::Compare(*plan, *plan).value();
  Require(diff.same() && diff.same_order && diff.unchanged == buffers.size(),
          "a plan differs from itself");
  // Pages take long, so only those of small plans are made.
  if (size < 2000) {
    const std::string page = berth::WritePage(*plan, *plan, diff);
    Require(Count(page, "<script") == 2 && Count(page, "</script") == 2,
            "a name closes the page's data");
  }
  berth::PlanAnswer answer;
  answer.best = berth::PlanOf(plan->problem, plan->placement.offsets);
  const auto again = berth::ReadPlan(berth::WritePlanJson(plan->problem, answer, {}), "p");
  Require(again.has_value() && SameBuffers(*plan, *again), "written out it reads differently");
  const auto table = berth::ReadPlan(berth::WriteCsv(plan->problem, &plan->placement.offsets), "p");
  Require(table.has_value() && SameBuffers(*plan, *table), "as a table it reads differently");
  return 0;
}
