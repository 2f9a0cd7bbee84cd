// tools/verify/collector.h -- lists the first faults and counts the others.
#ifndef BERTH_TOOLS_VERIFY_COLLECTOR_H_
#define BERTH_TOOLS_VERIFY_COLLECTOR_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "tools/verify/verify.h"
#include "tools/verify/wide.h"

namespace berth::verify {

[[nodiscard]] inline Bytes Clamp(Wide value) {
  return static_cast<Bytes>(std::clamp<Wide>(value, std::numeric_limits<Bytes>::min(),
                                             std::numeric_limits<Bytes>::max()));
}

class Collector {
 public:
  Collector(std::size_t max_faults, PlanReport& report)
      : max_faults_(max_faults), report_(report) {}

  [[nodiscard]] std::size_t room() const { return max_faults_ - report_.faults.size(); }
  void Add(const Fault& fault) {
    if (room() > 0) {
      report_.faults.push_back(fault);
    } else {
      ++report_.more;
    }
  }
  void AddUnlisted(std::int64_t count) { report_.more += count; }
  // A fault of `kind` if a figure of the plan is not what it should be.
  void Compare(FaultKind kind, Bytes stated, Bytes actual, std::string_view detail = {}) {
    if (stated == actual) return;
    Fault fault;
    fault.kind = kind;
    fault.stated = stated;
    fault.actual = actual;
    fault.detail = detail;
    Add(fault);
  }
  void Compare(const Traffic& stated, const Traffic& actual) {
    Compare(FaultKind::kWrongTraffic, stated.spilled, actual.spilled, "spilled");
    Compare(FaultKind::kWrongTraffic, stated.retrieved, actual.retrieved, "retrieved");
    Compare(FaultKind::kWrongTraffic, stated.compulsory_in, actual.compulsory_in,
            "of compulsory traffic in");
    Compare(FaultKind::kWrongTraffic, stated.compulsory_out, actual.compulsory_out,
            "of compulsory traffic out");
  }
  void Compare(const Recomputed& stated, const Recomputed& actual) {
    Compare(FaultKind::kWrongCost, static_cast<Bytes>(stated.operators),
            static_cast<Bytes>(actual.operators), kOperators);
    Compare(FaultKind::kWrongCost, stated.cost, actual.cost, "cost");
  }
  // Of kWrongCost: how many operators run again.
  static constexpr std::string_view kOperators = "operators";
  [[nodiscard]] bool found_any() const { return !report_.ok(); }

 private:
  std::size_t max_faults_;
  PlanReport& report_;
};

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_COLLECTOR_H_
