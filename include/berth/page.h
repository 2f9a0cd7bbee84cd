// berth/page.h -- a plan as one page that explains it: a file for any browser, offline.
//
// The page is one HTML file with everything in it: the program that draws it, which report/ holds,
// and the plan as JSON. It asks no network for anything, and runs nothing that a name contains.
#ifndef BERTH_PAGE_H_
#define BERTH_PAGE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/graph.h"
#include "berth/place.h"
#include "berth/plan.h"
#include "berth/plan_io.h"
#include "berth/problem.h"
#include "berth/spill.h"

namespace [[gnu::visibility("default")]] berth {

// Something that would lower what the plan needs, or tell more about it, as found by computing it.
struct Remedy {
  std::string title;   // "A capacity of 146 MiB".
  std::string detail;  // One or two sentences.
  // What would then be needed: proved for a plan that is known, else a bound below which none is.
  std::optional<Bytes> needs = {};
};

struct PageOptions {
  std::string command;       // That made the plan: "place".
  std::string verdict = {};  // Of the verifier; empty: nothing was there to verify.
  std::optional<Conflict> conflict = {};
  std::vector<Remedy> remedies = {};
  std::vector<std::string> notes = {};
};

// The page of a plan, of a search that found none, or of an order without addresses. Residencies of
// one tensor are joined by the moves between them. The same bytes for the same arguments.
// Cost: O(n log n).
[[nodiscard]] std::string WritePage(const PlanSubject& subject, const PlanAnswer& answer,
                                    const Provenance& provenance, const PageOptions& options);

// What a sweep found for one capacity.
struct SweepPoint {
  int number = 0;  // In the order in which capacities were asked for, from 0.
  Bytes capacity = 0;
  Outcome outcome = Outcome::kUnknown;
  std::optional<Bytes> avoidable = {};  // Traffic of the best plan; none where there is no plan.
  Bytes spilled = 0;                    // What of it is written, and what is read.
  Bytes retrieved = 0;
  Bytes traffic_bound = 0;      // Proved: no plan has less avoidable traffic.
  Bytes traffic_by_sum = 0;     // The least avoidable traffic found where bytes need only fit in sum.
  double seconds = 0;
};

// Off-chip traffic against capacity, for one model.
struct SweepCurve {
  std::string model;
  std::string input;  // What the answers depend on besides the capacity: a hash, and options.
  std::optional<Bytes> least = {};       // MR: what one operator needs.
  std::optional<Bytes> least_peak = {};  // MP: from here on nothing has to leave.
  bool fixed_order = false;              // Outcomes and bounds are about the order as written.
  std::vector<SweepPoint> points = {};
};

// The page of a sweep: a curve for each model. `provenance` are pairs of a title and what it says,
// such as the version and the limits. Cost: that of writing its points.
[[nodiscard]] std::string WritePage(
    const std::vector<SweepCurve>& curves,
    const std::vector<std::pair<std::string, std::string>>& provenance);

// The plan as events for Chrome's and Perfetto's viewers: one step of the schedule is a microsecond;
// a counter for the live bytes, a slice for each operator, and for each residency one with its size
// and offset. `name` is the model's.
[[nodiscard]] std::string WriteTrace(const PlanSubject& subject, const PlanAnswer& answer,
                                     const std::string& name);

}  // namespace berth

#endif  // BERTH_PAGE_H_
