#include <cstddef>
#include <string>
#include <string_view>

#include "tools/verify/collector.h"
#include "tools/verify/verify.h"

namespace berth::verify {
namespace {

// Ids may contain any characters; none may break the line or control the terminal.
std::string Quoted(const std::string& id) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "\"";
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      text += "\\x";
      text += kDigits[byte / 16];
      text += kDigits[byte % 16];
    } else {
      text += c;
    }
  }
  return text + "\"";
}

std::string Range(Bytes lower, Bytes upper) {
  return "[" + std::to_string(lower) + ", " + std::to_string(upper) + ")";
}

// What a plan is of: a table or a graph.
struct Subject {
  const Problem* table;
  const Graph* graph;

  [[nodiscard]] bool Has(const Residency& r) const {
    return r.tensor < (graph ? graph->tensors.size() : table->buffers.size());
  }
  [[nodiscard]] std::string Name(const Residency& r) const {
    if (!Has(r)) return "number " + std::to_string(r.tensor);
    return Quoted(graph ? graph->tensors[r.tensor].name : table->buffers[r.tensor].id);
  }
  [[nodiscard]] Bytes Alignment(const Residency& r) const {
    return graph ? graph->tensors[r.tensor].alignment : table->buffers[r.tensor].alignment;
  }
};

// Where one residency of several is meant.
std::string Named(const Subject& subject, const MemoryPlan& plan, std::size_t i) {
  const Residency& r = plan.residencies[i];
  const auto same = [&](std::size_t other) { return plan.residencies[other].tensor == r.tensor; };
  const bool several = (i > 0 && same(i - 1)) || (i + 1 < plan.residencies.size() && same(i + 1));
  return subject.Name(r) + (several ? " from step " + std::to_string(r.start) : "");
}

std::string DescribeCount(const Subject& subject, const MemoryPlan& plan) {
  if (subject.table != nullptr && subject.table->buffers.size() != plan.residencies.size()) {
    return "wrong count: " + std::to_string(subject.table->buffers.size()) + " buffers, but " +
           std::to_string(plan.residencies.size()) + " offsets";
  }
  return "wrong count: " + std::to_string(plan.memories.size()) +
         " memories, but this verifier knows plans of one";
}

// Of addresses.
std::string DescribeAddress(const Fault& fault, const Subject& subject, const MemoryPlan& plan) {
  const Residency& r = plan.residencies[fault.residency];
  const std::string name = Named(subject, plan, fault.residency);
  const std::string at = name + " lies at offset " + std::to_string(r.offset);
  switch (fault.kind) {
    case FaultKind::kNegative:
      return "negative: " + at;
    case FaultKind::kMisaligned:
      return "misaligned: " + at + ", not a multiple of " + std::to_string(subject.Alignment(r));
    case FaultKind::kPinBroken:
      return "pin broken: " + at + ", but is pinned to " +
             std::to_string(*subject.table->buffers[r.tensor].offset);
    case FaultKind::kBeyondCapacity:
      return "beyond capacity: " + name + " ends at byte " + std::to_string(fault.upper) +
             ", but the capacity is " + std::to_string(fault.lower);
    default:
      return "overlap: " + subject.Name(r) + " and " + subject.Name(plan.residencies[fault.other]) +
             " share bytes " + Range(fault.lower, fault.upper) + " at steps " +
             Range(fault.start, fault.end);
  }
}

std::string OperatorName(const Graph& graph, OperatorIndex v) {
  return "operator " + Quoted(graph.operators[v].name);
}
std::string TensorName(const Graph& graph, TensorIndex t) {
  return "tensor " + Quoted(graph.tensors[t].name);
}

std::string DescribeOrder(const Fault& fault, const Graph& graph) {
  const std::string at = " at step " + std::to_string(fault.start);
  const auto op = [&](OperatorIndex v) { return OperatorName(graph, v); };
  switch (fault.kind) {
    case FaultKind::kRepeated:
      return "repeated: " + op(fault.op) + " appears again" + at;
    case FaultKind::kMayNotRepeat:
      return "may not repeat: " + op(fault.op) + " runs again" + at + " but may run only once";
    case FaultKind::kMissing:
      return "missing: " + op(fault.op) + " is not in the order";
    case FaultKind::kNotMade:
      return "not made: " + op(fault.op) + at + " needs " + TensorName(graph, fault.tensor) +
             ", made only later by " + op(fault.other_op);
    case FaultKind::kTooEarly:
      return "too early: " + op(fault.op) + at + " must come after " + op(fault.other_op);
    default:
      return "other bytes: " + op(fault.op) + at + " reads " + TensorName(graph, fault.tensor) +
             (fault.other_op == kNone ? " before it is written"
                                      : " as written by " + op(fault.other_op)) +
             ", unlike in program order";
  }
}

// Of what the run finds.
std::string DescribeRun(const Fault& fault, const Graph& graph) {
  const std::string tensor = TensorName(graph, fault.tensor);
  const std::string step = "step " + std::to_string(fault.start);
  switch (fault.kind) {
    case FaultKind::kAbsent:
      return "absent: " + OperatorName(graph, fault.op) + " at " + step + " needs " + tensor +
             ", which is not in memory";
    case FaultKind::kClobbered:
      return "clobbered: " + (fault.op == kNone ? "the spill" : OperatorName(graph, fault.op)) +
             " at " + step + " does not find the latest value of " + tensor;
    case FaultKind::kWrongVersion: {
      const std::string held = fault.other_op == kNone
                                   ? "as it was before the run"
                                   : "as " + OperatorName(graph, fault.other_op) + " left it";
      if (fault.op == kNone) {
        return "wrong version: at the end " + tensor + ", a result, is " + held +
               ", unlike in program order";
      }
      return "wrong version: " + OperatorName(graph, fault.op) + " at " + step + " finds " +
             tensor + " " + held + ", unlike in program order";
    }
    case FaultKind::kNoCopy:
      return "no copy: " + tensor + " is retrieved at " + step +
             " but its latest value was never spilled";
    case FaultKind::kBrokenCopy:
      return "broken copy: " + tensor + " is copied before " + step +
             ", but not all bytes at both ends are then its own";
    case FaultKind::kFromNowhere:
      return "from nowhere: " + tensor + " is in memory from " + step +
             " but is neither retrieved nor created there";
    case FaultKind::kDeadSpill:
      return "dead spill: " + tensor + " is spilled at " + step + " but no operator needs it again";
    case FaultKind::kNeedlessSpill:
      return "needless spill: " + tensor + " is spilled at " + step +
             " although its copy off chip is valid";
    case FaultKind::kUselessResidency:
      return "useless residency: " + tensor + " is in memory until " + step +
             " but no operator creates or uses it there";
    default:
      return "lost result: " + tensor + " is neither in memory nor off chip at the end";
  }
}

std::string DescribeFault(const Fault& fault, const Subject& subject, const MemoryPlan& plan) {
  const auto figures = [&](const std::string& what, const std::string& actual) {
    return "the plan states " + what + std::to_string(fault.stated) + " bytes" +
           (fault.detail.empty() ? "" : " " + std::string(fault.detail)) + ", " + actual + " " +
           std::to_string(fault.actual);
  };
  switch (fault.kind) {
    case FaultKind::kUnknownOperator:
      return "unknown: no operator has the number " + std::to_string(fault.op) + " at step " +
             std::to_string(fault.start);
    case FaultKind::kRepeated:
    case FaultKind::kMayNotRepeat:
    case FaultKind::kMissing:
    case FaultKind::kNotMade:
    case FaultKind::kTooEarly:
    case FaultKind::kOtherBytes:
      return DescribeOrder(fault, *subject.graph);
    case FaultKind::kWrongCount:
      return DescribeCount(subject, plan);
    case FaultKind::kBadResidency:
      return "bad residency: number " + std::to_string(fault.residency) + ", of " +
             (subject.graph ? "tensor " : "buffer ") +
             subject.Name(plan.residencies[fault.residency]) + ", " + std::string(fault.detail);
    case FaultKind::kNegative:
    case FaultKind::kMisaligned:
    case FaultKind::kPinBroken:
    case FaultKind::kBeyondCapacity:
    case FaultKind::kOverlap:
      return DescribeAddress(fault, subject, plan);
    case FaultKind::kAbsent:
    case FaultKind::kClobbered:
    case FaultKind::kWrongVersion:
    case FaultKind::kBrokenCopy:
    case FaultKind::kNoCopy:
    case FaultKind::kFromNowhere:
    case FaultKind::kDeadSpill:
    case FaultKind::kNeedlessSpill:
    case FaultKind::kUselessResidency:
    case FaultKind::kLostResult:
      return DescribeRun(fault, *subject.graph);
    case FaultKind::kWrongHeight:
      return "wrong height: " + figures("", "but its residencies reach");
    case FaultKind::kWrongPeak:
      return "wrong peak: " + figures("", "but has");
    case FaultKind::kWrongTraffic:
      return "wrong traffic: " + figures("", "but has");
    case FaultKind::kWrongCost:
      return "wrong cost: the plan states that " +
             (fault.detail == Collector::kOperators
                  ? std::to_string(fault.stated) + " operators run again, but there are "
                  : "operators that run again cost " + std::to_string(fault.stated) +
                        ", but they cost ") +
             std::to_string(fault.actual);
  }
  return {};
}

std::string DescribeReport(const PlanReport& report, const Subject& subject,
                           const MemoryPlan& plan) {
  if (report.ok()) return "no faults; height " + std::to_string(report.height) + " bytes\n";
  std::string text;
  for (const Fault& fault : report.faults) text += DescribeFault(fault, subject, plan) + "\n";
  if (report.more > 0) {
    text += "and " + std::to_string(report.more) + " more " +
            (report.more == 1 ? "fault" : "faults") + "\n";
  }
  return text;
}

}  // namespace

std::string_view ToString(FaultKind kind) {
  switch (kind) {
    case FaultKind::kUnknownOperator:
      return "unknown-operator";
    case FaultKind::kRepeated:
      return "repeated";
    case FaultKind::kMayNotRepeat:
      return "may-not-repeat";
    case FaultKind::kMissing:
      return "missing";
    case FaultKind::kNotMade:
      return "not-made";
    case FaultKind::kTooEarly:
      return "too-early";
    case FaultKind::kOtherBytes:
      return "other-bytes";
    case FaultKind::kWrongCount:
      return "wrong-count";
    case FaultKind::kBadResidency:
      return "bad-residency";
    case FaultKind::kNegative:
      return "negative";
    case FaultKind::kMisaligned:
      return "misaligned";
    case FaultKind::kPinBroken:
      return "pin-broken";
    case FaultKind::kBeyondCapacity:
      return "beyond-capacity";
    case FaultKind::kOverlap:
      return "overlap";
    case FaultKind::kAbsent:
      return "absent";
    case FaultKind::kClobbered:
      return "clobbered";
    case FaultKind::kWrongVersion:
      return "wrong-version";
    case FaultKind::kBrokenCopy:
      return "broken-copy";
    case FaultKind::kNoCopy:
      return "no-copy";
    case FaultKind::kFromNowhere:
      return "from-nowhere";
    case FaultKind::kDeadSpill:
      return "dead-spill";
    case FaultKind::kNeedlessSpill:
      return "needless-spill";
    case FaultKind::kUselessResidency:
      return "useless-residency";
    case FaultKind::kLostResult:
      return "lost-result";
    case FaultKind::kWrongHeight:
      return "wrong-height";
    case FaultKind::kWrongPeak:
      return "wrong-peak";
    case FaultKind::kWrongTraffic:
      return "wrong-traffic";
    case FaultKind::kWrongCost:
      return "wrong-cost";
  }
  return {};
}

std::string Describe(const Fault& fault, const Problem& table, const MemoryPlan& plan) {
  return DescribeFault(fault, {&table, nullptr}, plan);
}
std::string Describe(const Fault& fault, const Graph& graph, const MemoryPlan& plan) {
  return DescribeFault(fault, {nullptr, &graph}, plan);
}
std::string Describe(const PlanReport& report, const Problem& table, const MemoryPlan& plan) {
  return DescribeReport(report, {&table, nullptr}, plan);
}
std::string Describe(const PlanReport& report, const Graph& graph, const MemoryPlan& plan) {
  return DescribeReport(report, {nullptr, &graph}, plan);
}

}  // namespace berth::verify
