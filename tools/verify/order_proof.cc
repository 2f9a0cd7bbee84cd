// The steps of a proof about orders, one line each, by the rules of docs/algorithms/proofs.md.

#include "tools/verify/order_proof.h"

#include <algorithm>
#include <memory>
#include <string>

#include "tools/verify/order_flow.h"
#include "tools/verify/order_states.h"

namespace berth::verify {
namespace {

class OrderChecker {
 public:
  OrderChecker(const OrderModel& model, ProofLines& lines, OrderProofReport& report)
      : model_(model), lines_(lines), report_(report), net_(model) {}

  void Run() {
    if (lines_.NextLine() != "proof") throw FalseStep{"expected the 'proof'"};
    lines_.EndLine();
    while (!is_done_) CheckLine(lines_.NextLine());
    if (lines_.NextLine() != "end") throw FalseStep{"expected the 'end'"};
    lines_.EndLine();
    if (!lines_.AtEnd()) throw FalseStep{"more text after the end"};
  }

 private:
  void CheckLine(std::string_view word) {
    if (word == "backwards" && states_ == nullptr) {
      states_ = std::make_unique<OrderStates>(net_, true, report_.refuted);
      return lines_.EndLine();
    }
    if (word == "only" || word == "late" || word == "states") {
      if (states_ == nullptr) {
        states_ = std::make_unique<OrderStates>(net_, false, report_.refuted);
      }
      if (word == "only") return states_->ReadOnly(lines_);
      if (word == "late") return states_->ReadLate(lines_);
      states_->Check(lines_);
      report_.states = states_->states();
      is_done_ = true;
      return;
    }
    // Constraints change what operators wait for, so they come before all that is said of states.
    if (states_ != nullptr) throw FalseStep{"expected 'only', 'late' or 'states'"};
    if (word == "start" || word == "finish") {
      CheckEnd(word == "start");
    } else if (word == "cut") {
      CheckCut();
    } else if (word == "before") {
      CheckBefore();
    } else {
      throw FalseStep{"'" + std::string(word.substr(0, 40)) + "' is no step"};
    }
  }

  // The bytes that are live before, or after, all operators.
  void CheckEnd(bool start) {
    lines_.EndLine();
    Bytes live = model_.always;
    for (const OrderTensor& tensor : model_.tensors) {
      if (start ? tensor.maker == kNobody : tensor.to_end) live += tensor.bytes;
    }
    if (live <= report_.refuted) {
      throw FalseStep{std::to_string(live) + " bytes are live there, which are within the limit"};
    }
    is_done_ = true;
  }

  // "cut 4 ...": operator 4 runs within the limit in no order.
  void CheckCut() {
    ExpectAbove(lines_.Index(model_.operators), kNobody, kNobody);
    is_done_ = true;
  }

  // "before 3 5 at 5 ...": operator 3 runs before operator 5 in all orders within the limit.
  void CheckBefore() {
    const std::size_t first = lines_.Index(model_.operators);
    const std::size_t second = lines_.Index(model_.operators);
    lines_.Expect("at");
    const std::size_t at = lines_.Index(model_.operators);
    if (at != first && at != second) throw FalseStep{"the step is that of another operator"};
    if (at == first) {
      ExpectAbove(at, second, kNobody);
    } else {
      ExpectAbove(at, kNobody, first);
    }
    net_.Add(first, second);
  }

  void ExpectAbove(std::size_t v, std::size_t with, std::size_t without) {
    ++report_.flows;
    const Bytes bound = BoundByFlow(net_, v, with, without, lines_);
    if (bound > report_.refuted) return;
    throw FalseStep{"the flow shows " + std::to_string(bound) +
                    " bytes, which are within the limit"};
  }

  const OrderModel& model_;
  ProofLines& lines_;
  OrderProofReport& report_;
  OrderNet net_;
  std::unique_ptr<OrderStates> states_;
  bool is_done_ = false;
};

// Where the two differ first; `proof` is that of the proof.
std::string Difference(const OrderModel& proof, const OrderModel& graph) {
  if (proof.operators != graph.operators) {
    return "the graph has " + std::to_string(graph.operators) + " operators";
  }
  for (std::size_t v = 0; v < proof.operators; ++v) {
    if (proof.waits[v] == graph.waits[v]) continue;
    return "operator " + std::to_string(v) + " waits for others there";
  }
  if (proof.always != graph.always) {
    return std::to_string(graph.always) + " bytes are always live there";
  }
  const auto [mine, other] = std::mismatch(proof.tensors.begin(), proof.tensors.end(),
                                           graph.tensors.begin(), graph.tensors.end());
  if (mine == proof.tensors.end() || other == graph.tensors.end()) {
    return std::to_string(graph.tensors.size()) + " of its tensors count";
  }
  const std::string name = "tensor " + std::to_string(mine - proof.tensors.begin());
  if (mine->bytes != other->bytes) {
    return name + " has " + std::to_string(other->bytes) + " bytes there";
  }
  return name + " has another maker or other users there";
}

void Check(ProofLines& lines, const OrderModel* graph, OrderProofReport& report) {
  const OrderHead head = ReadOrderHead(lines);
  report.is_optimal = head.is_optimal;
  report.refuted = head.is_optimal ? head.claimed - 1 : head.claimed;
  report.operators = head.model.operators;
  if (graph != nullptr && !(head.model == *graph)) {
    throw FalseStep{"the proof is about another graph: " + Difference(head.model, *graph),
                    head.model_line};
  }
  if (head.is_optimal) {
    const Bytes peak = PeakOf(head.model, head.order);
    if (peak != head.claimed) {
      throw FalseStep{"the order has a peak of " + std::to_string(peak) + " bytes"};
    }
  }
  OrderChecker(head.model, lines, report).Run();
}

}  // namespace

bool IsOrderProof(std::string_view proof) { return proof.starts_with("berth-order-proof "); }

OrderProofReport CheckOrderProof(std::string_view proof, const OrderModel* graph) {
  OrderProofReport report;
  ProofLines lines(proof);
  try {
    Check(lines, graph, report);
  } catch (const FalseStep& step) {
    report.fault = step.what;
    report.line = step.line != 0 ? step.line : lines.number();
  }
  return report;
}

}  // namespace berth::verify
