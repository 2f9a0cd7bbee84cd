#include "tools/verify/verify_spill.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tools/verify/verify_order.h"

namespace berth::internal {
namespace {

// A value of a tensor, by its writer; the number of operators stands for the initial value.
struct Value {
  TensorIndex tensor;
  OperatorIndex writer;
  friend bool operator==(const Value&, const Value&) = default;
};

// The memory, cut wherever a residency begins or ends.
class Memory {
 public:
  Memory(const Graph& graph, const SpillPlan& plan) {
    for (const Residency& r : plan.residencies) {
      cuts_.insert(r.offset);
      cuts_.insert(r.offset + graph.tensors[r.tensor].bytes);
    }
    for (const Bytes cut : cuts_) pieces_[cut] = std::nullopt;
  }
  void Write(Bytes lower, Bytes upper, const Value& value) {
    for (auto p = pieces_.lower_bound(lower); p != pieces_.end() && p->first < upper; ++p) {
      p->second = value;
    }
  }
  [[nodiscard]] bool Holds(Bytes lower, Bytes upper, const Value& value) const {
    for (auto p = pieces_.lower_bound(lower); p != pieces_.end() && p->first < upper; ++p) {
      if (p->second != value) return false;
    }
    return true;
  }

 private:
  std::set<Bytes> cuts_;
  std::map<Bytes, std::optional<Value>> pieces_;
};

class Run {
 public:
  Run(const Graph& graph, const Counting& counting, std::optional<Bytes> capacity,
      const SpillPlan& plan)
      : graph_(graph), counting_(counting), capacity_(capacity), plan_(plan) {}

  SpillReport Go() {
    const OrderReport order = VerifyOrder(graph_, plan_.order);
    if (!order.ok()) {
      Add({SpillFaultKind::kBadOrder, none(), none(), graph_.tensors.size(), no_operator(), 0});
      return report_;
    }
    ReadGraph();
    if (!CheckResidencies()) return report_;
    if (!CheckOverlaps()) return report_;
    Play();
    if (report_.height != plan_.height) {
      Add({SpillFaultKind::kWrongHeight, none(), none(), graph_.tensors.size(), no_operator(), 0});
    }
    if (!(report_.traffic == plan_.traffic)) {
      Add({SpillFaultKind::kWrongTraffic, none(), none(), graph_.tensors.size(), no_operator(), 0});
    }
    return report_;
  }

 private:
  [[nodiscard]] std::size_t none() const { return plan_.residencies.size(); }
  [[nodiscard]] OperatorIndex no_operator() const { return graph_.operators.size(); }
  [[nodiscard]] Step steps() const { return static_cast<Step>(plan_.order.size()); }
  void Add(const SpillFault& fault) {
    if (report_.faults.size() < SpillReport::kMostFaults) {
      report_.faults.push_back(fault);
    } else {
      report_.more = true;
    }
  }
  // Sums from untrusted plans saturate above every valid figure.
  static void Count(Bytes bytes, Bytes& sum) { sum = std::min(sum + bytes, kMaxBytes + 1); }
  [[nodiscard]] TensorIndex Base(TensorIndex t) const {
    const auto& alias = graph_.tensors[t].alias_of;
    return alias ? *alias : t;
  }
  [[nodiscard]] bool Counts(TensorIndex t) const {
    const Tensor& tensor = graph_.tensors[t];
    if (tensor.alias_of || tensor.bytes == 0) return false;
    if (tensor.kind == TensorKind::kInput) return counting_.inputs;
    const bool weight =
        tensor.kind == TensorKind::kParameter || tensor.kind == TensorKind::kConstant;
    return !weight || counting_.parameters;
  }

  // The tensors that each operator uses, and the last use of each tensor in this order.
  void ReadGraph() {
    const std::size_t tensors = graph_.tensors.size();
    needs_.resize(no_operator());
    gives_.resize(no_operator());
    made_.assign(tensors, false);
    result_.assign(tensors, false);
    last_use_.assign(tensors, -1);
    last_value_.assign(tensors, -1);
    for (TensorIndex t = 0; t < tensors; ++t) {
      if (graph_.tensors[t].output) result_[Base(t)] = true;
    }
    for (OperatorIndex v = 0; v < no_operator(); ++v) {
      const Operator& op = graph_.operators[v];
      for (const TensorIndex t : op.outputs) {
        if (Base(t) == t) {
          gives_[v].insert(t);
          made_[t] = true;
        }
      }
      const auto need = [&](TensorIndex t) {
        if (!gives_[v].contains(Base(t))) needs_[v].insert(Base(t));
      };
      for (const TensorIndex t : op.inputs) need(t);
      for (const TensorIndex t : op.outputs) need(t);
      for (const TensorIndex t : op.mutates) need(t);
      for (const TensorIndex t : op.mutates) gives_[v].insert(t);
    }
    for (Step s = 0; s < steps(); ++s) {
      const OperatorIndex v = plan_.order[static_cast<std::size_t>(s)];
      for (const TensorIndex t : needs_[v]) last_use_[t] = s;
      for (const TensorIndex t : gives_[v]) {
        last_use_[t] = s;
        last_value_[t] = s;
        if (!made_[t]) result_[t] = true;  // An input with a new value must be written back.
      }
    }
  }

  bool CheckResidencies() {
    bool good = true;
    for (std::size_t i = 0; i < none(); ++i) {
      const Residency& r = plan_.residencies[i];
      const bool known = r.tensor < graph_.tensors.size();
      const bool shaped = known && Counts(r.tensor) && r.start >= 0 && r.start < r.end &&
                          r.end <= steps() && r.offset <= kMaxBytes && r.offset >= -kMaxBytes;
      if (!shaped) {
        Add({SpillFaultKind::kBadResidency, i, none(), known ? r.tensor : graph_.tensors.size(),
             no_operator(), r.start});
        good = false;
        continue;
      }
      const Tensor& tensor = graph_.tensors[r.tensor];
      const Bytes top = r.offset + tensor.bytes;
      report_.height = std::max(report_.height, top);
      if (r.offset < 0 || (capacity_ && top > *capacity_)) {
        Add({SpillFaultKind::kBeyondCapacity, i, none(), r.tensor, no_operator(), r.start});
      }
      if (r.offset % tensor.alignment != 0) {
        Add({SpillFaultKind::kMisaligned, i, none(), r.tensor, no_operator(), r.start});
      }
    }
    return good;
  }

  // False if a tensor is in memory twice at once, or if too many residencies overlap to continue.
  bool CheckOverlaps() {
    std::vector<std::size_t> by_start(none());
    for (std::size_t i = 0; i < none(); ++i) by_start[i] = i;
    std::sort(by_start.begin(), by_start.end(), [&](std::size_t a, std::size_t b) {
      return plan_.residencies[a].start < plan_.residencies[b].start;
    });
    std::vector<std::size_t> open;
    for (const std::size_t i : by_start) {
      const Residency& r = plan_.residencies[i];
      std::erase_if(open, [&](std::size_t j) { return plan_.residencies[j].end <= r.start; });
      for (const std::size_t j : open) {
        const Residency& other = plan_.residencies[j];
        if (other.tensor == r.tensor) {
          Add({SpillFaultKind::kBadResidency, i, j, r.tensor, no_operator(), r.start});
          return false;
        } else if (r.offset < other.offset + graph_.tensors[other.tensor].bytes &&
                   other.offset < r.offset + graph_.tensors[r.tensor].bytes) {
          Add({SpillFaultKind::kOverlap, std::min(i, j), std::max(i, j), r.tensor, no_operator(),
               r.start});
          if (report_.more) return false;
        }
      }
      open.push_back(i);
    }
    return true;
  }

  // Step by step: ending residencies are spilled where the plan says so, beginning ones are
  // retrieved, and the operator checks its inputs and writes its outputs.
  void Play() {
    Memory memory(graph_, plan_);
    const std::size_t tensors = graph_.tensors.size();
    std::vector<std::optional<Value>> store(tensors);  // Off chip.
    std::vector<OperatorIndex> writer(tensors, no_operator());
    std::vector<std::size_t> at(tensors, none());  // Current residency of each tensor.
    std::vector<bool> brought(tensors, false);
    std::vector<std::vector<std::size_t>> begins(plan_.order.size() + 1);
    std::vector<std::vector<std::size_t>> ends(plan_.order.size() + 1);
    std::vector<bool> touched(none(), false);
    for (std::size_t i = 0; i < none(); ++i) {
      begins[static_cast<std::size_t>(plan_.residencies[i].start)].push_back(i);
      ends[static_cast<std::size_t>(plan_.residencies[i].end)].push_back(i);
    }
    for (TensorIndex t = 0; t < tensors; ++t) {
      if (!Counts(t) || last_use_[t] < 0) continue;
      if (!made_[t]) {
        store[t] = Value{t, no_operator()};
        Count(graph_.tensors[t].bytes, report_.traffic.compulsory_in);
      }
      if (result_[t]) Count(graph_.tensors[t].bytes, report_.traffic.compulsory_out);
    }
    for (Step s = 0; s <= steps(); ++s) {
      for (const std::size_t i : ends[static_cast<std::size_t>(s)]) {
        const Residency& r = plan_.residencies[i];
        const Value latest{r.tensor, writer[r.tensor]};
        const Bytes bytes = graph_.tensors[r.tensor].bytes;
        if (!touched[i]) {
          Add({SpillFaultKind::kUselessResidency, i, none(), r.tensor, no_operator(), s});
        }
        if (r.written_out) {
          if (last_use_[r.tensor] < s && !result_[r.tensor]) {
            Add({SpillFaultKind::kDeadSpill, i, none(), r.tensor, no_operator(), s});
          } else if (store[r.tensor] == latest) {
            Add({SpillFaultKind::kNeedlessSpill, i, none(), r.tensor, no_operator(), s});
          } else if (!memory.Holds(r.offset, r.offset + bytes, latest)) {
            Add({SpillFaultKind::kClobbered, i, none(), r.tensor, no_operator(), s});
          }
          if (!result_[r.tensor] || s <= last_value_[r.tensor]) {
            Count(bytes, report_.traffic.spilled);
          }
          store[r.tensor] = latest;
        }
        if (s < steps() && at[r.tensor] == i) at[r.tensor] = none();
      }
      if (s == steps()) break;
      const OperatorIndex v = plan_.order[static_cast<std::size_t>(s)];
      for (const std::size_t i : begins[static_cast<std::size_t>(s)]) {
        const Residency& r = plan_.residencies[i];
        at[r.tensor] = i;
        if (!r.comes_in) {
          if (!gives_[v].contains(r.tensor) || needs_[v].contains(r.tensor)) {
            Add({SpillFaultKind::kFromNowhere, i, none(), r.tensor, no_operator(), s});
          }
          continue;
        }
        const Bytes bytes = graph_.tensors[r.tensor].bytes;
        const Value latest{r.tensor, writer[r.tensor]};
        if (store[r.tensor] != latest) {
          Add({SpillFaultKind::kNoCopy, i, none(), r.tensor, no_operator(), s});
        }
        if (store[r.tensor]) memory.Write(r.offset, r.offset + bytes, *store[r.tensor]);
        const bool compulsory = !made_[r.tensor] && !brought[r.tensor];
        brought[r.tensor] = true;
        if (!compulsory) Count(bytes, report_.traffic.retrieved);
      }
      for (const TensorIndex t : needs_[v]) Look(memory, at, writer, touched, v, t, s);
      for (const TensorIndex t : gives_[v]) {
        writer[t] = v;
        if (!Counts(t)) continue;
        if (at[t] == none()) {
          Add({SpillFaultKind::kAbsent, none(), none(), t, v, s});
          continue;
        }
        touched[at[t]] = true;
        const Residency& r = plan_.residencies[at[t]];
        memory.Write(r.offset, r.offset + graph_.tensors[t].bytes, {t, v});
      }
      // Its inputs must have survived its writes, and its outputs must be in memory.
      for (const TensorIndex t : needs_[v]) Look(memory, at, writer, touched, v, t, s);
      for (const TensorIndex t : gives_[v]) Look(memory, at, writer, touched, v, t, s);
    }
    for (TensorIndex t = 0; t < tensors; ++t) {
      if (!result_[t] || !Counts(t) || last_use_[t] < 0) continue;
      const Value latest{t, writer[t]};
      if (store[t] == latest) continue;
      const bool stays =
          at[t] != none() && plan_.residencies[at[t]].end == steps() &&
          memory.Holds(plan_.residencies[at[t]].offset,
                       plan_.residencies[at[t]].offset + graph_.tensors[t].bytes, latest);
      if (!stays) Add({SpillFaultKind::kLostResult, none(), none(), t, no_operator(), steps()});
    }
  }

  void Look(const Memory& memory, const std::vector<std::size_t>& at,
            const std::vector<OperatorIndex>& writer, std::vector<bool>& touched, OperatorIndex v,
            TensorIndex t, Step s) {
    if (!Counts(t)) return;
    SpillFault fault{SpillFaultKind::kAbsent, at[t], none(), t, v, s};
    if (at[t] != none()) {
      touched[at[t]] = true;
      const Residency& r = plan_.residencies[at[t]];
      if (memory.Holds(r.offset, r.offset + graph_.tensors[t].bytes, {t, writer[t]})) return;
      fault.kind = SpillFaultKind::kClobbered;
    }
    const auto same = [&](const SpillFault& other) { return other == fault; };
    if (std::none_of(report_.faults.begin(), report_.faults.end(), same)) Add(fault);
  }

  const Graph& graph_;
  const Counting& counting_;
  std::optional<Bytes> capacity_;
  const SpillPlan& plan_;
  SpillReport report_;
  std::vector<std::set<TensorIndex>> needs_;  // Of each operator, without those it creates.
  std::vector<std::set<TensorIndex>> gives_;  // Tensors to which it gives a new value.
  std::vector<bool> made_;
  std::vector<bool> result_;
  std::vector<Step> last_use_;
  std::vector<Step> last_value_;
};

}  // namespace

SpillReport VerifySpillPlan(const Graph& graph, const Counting& counting,
                            std::optional<Bytes> capacity, const SpillPlan& plan) {
  return Run(graph, counting, capacity, plan).Go();
}

std::string Describe(const SpillFault& fault, const Graph& graph, const SpillPlan& plan) {
  const std::string tensor = fault.tensor < graph.tensors.size()
                                 ? "tensor \"" + graph.tensors[fault.tensor].name + "\""
                                 : "no tensor";
  const std::string op = fault.op < graph.operators.size()
                             ? "operator \"" + graph.operators[fault.op].name + "\""
                             : "no operator";
  const std::string step = "step " + std::to_string(fault.step);
  switch (fault.kind) {
    case SpillFaultKind::kBadOrder:
      return "bad order: the graph cannot run in this order";
    case SpillFaultKind::kBadResidency:
      return "bad residency: number " + std::to_string(fault.residency) + ", of " + tensor +
             ", is not of a counted tensor within the order, or overlaps another in time";
    case SpillFaultKind::kBeyondCapacity:
      return "beyond capacity: " + tensor + " from " + step;
    case SpillFaultKind::kMisaligned:
      return "misaligned: " + tensor + " from " + step;
    case SpillFaultKind::kOverlap: {
      const auto name = [&](std::size_t r) {
        return "\"" + graph.tensors[plan.residencies[r].tensor].name + "\"";
      };
      return "overlap: " + name(fault.residency) + " and " + name(fault.other) +
             " share bytes at " + step;
    }
    case SpillFaultKind::kAbsent:
      return "absent: " + op + " at " + step + " needs " + tensor + ", which is not in memory";
    case SpillFaultKind::kClobbered:
      return "clobbered: " + op + " at " + step + " does not find the latest value of " + tensor;
    case SpillFaultKind::kNoCopy:
      return "no copy: " + tensor + " is retrieved at " + step +
             " but its latest value was never spilled";
    case SpillFaultKind::kFromNowhere:
      return "from nowhere: " + tensor + " is in memory from " + step +
             " but is neither retrieved nor created there";
    case SpillFaultKind::kDeadSpill:
      return "dead spill: " + tensor + " is spilled at " + step + " but no operator needs it again";
    case SpillFaultKind::kNeedlessSpill:
      return "needless spill: " + tensor + " is spilled at " + step +
             " although its copy off chip is valid";
    case SpillFaultKind::kUselessResidency:
      return "useless residency: " + tensor + " is in memory until " + step +
             " but no operator creates or uses it there";
    case SpillFaultKind::kLostResult:
      return "lost result: " + tensor + " is neither in memory nor off chip at the end";
    case SpillFaultKind::kWrongTraffic:
      return "wrong traffic: the stated traffic differs from the actual traffic";
    case SpillFaultKind::kWrongHeight:
      return "wrong height: the stated height differs from that of the residencies";
  }
  return "";
}

}  // namespace berth::internal
