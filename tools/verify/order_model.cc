#include "tools/verify/order_model.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tools/verify/touches.h"

namespace berth::verify {
namespace {

void SortOnce(std::vector<std::size_t>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

// "wait 3 0 2": operator 3 waits for 0 and 2.
void ReadWait(ProofLines& lines, OrderModel& model) {
  const std::size_t v = lines.Index(model.operators);
  std::vector<std::size_t>& row = model.waits[v];
  if (!row.empty()) throw FalseStep{"operator " + std::to_string(v) + " has such a line already"};
  while (lines.HasWord()) {
    const std::size_t u = lines.Index(v);
    if (!row.empty() && u <= row.back()) throw FalseStep{"operators are not in increasing order"};
    row.push_back(u);
  }
  if (row.empty()) throw FalseStep{"an operator is missing"};
}

// "tensor 8 from 2 to 4 7", "tensor 8 to 3", "tensor 8 from 2 end".
OrderTensor ReadTensor(ProofLines& lines, std::size_t operators) {
  OrderTensor tensor;
  tensor.bytes = lines.Number(1, kMaxBytes);
  if (lines.HasWord() && lines.NextIs("from")) {
    lines.Expect("from");
    tensor.maker = lines.Index(operators);
  }
  if (lines.HasWord() && lines.NextIs("end")) {
    lines.Expect("end");
    tensor.to_end = true;
    lines.EndLine();
    return tensor;
  }
  lines.Expect("to");
  while (lines.HasWord()) {
    const std::size_t user = lines.Index(operators);
    if (!tensor.users.empty() && user <= tensor.users.back()) {
      throw FalseStep{"operators are not in increasing order"};
    }
    tensor.users.push_back(user);
  }
  if (tensor.users.empty()) throw FalseStep{"an operator is missing"};
  return tensor;
}

void ReadModel(ProofLines& lines, OrderModel& model) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  model.operators = static_cast<std::size_t>(lines.Number(0, kMost));
  lines.EndLine();
  // Almost every operator has a line. Without this, a short text could take much memory.
  constexpr std::size_t kWithoutLines = std::size_t{1} << 16;
  if (model.operators > kWithoutLines + lines.bytes_left()) {
    throw FalseStep{"more operators than the text can be about"};
  }
  model.waits.resize(model.operators);
  std::string_view word = lines.NextLine();
  for (; word == "wait"; word = lines.NextLine()) ReadWait(lines, model);
  if (word != "always") throw FalseStep{"expected 'wait', or 'always' and bytes"};
  model.always = lines.Number(0, kMaxBytes);
  lines.EndLine();
  if (lines.NextLine() != "tensors") throw FalseStep{"expected the number of 'tensors'"};
  const std::int64_t count = lines.Number(0, kMost);
  lines.EndLine();
  Bytes room = kMaxBytes - model.always;  // No sum of sizes exceeds 2^60.
  for (std::int64_t t = 0; t < count; ++t) {
    if (lines.NextLine() != "tensor") throw FalseStep{"expected a 'tensor'"};
    OrderTensor tensor = ReadTensor(lines, model.operators);
    if (tensor.bytes > room) throw FalseStep{"the sizes add up to more than 2^60"};
    room -= tensor.bytes;
    model.tensors.push_back(std::move(tensor));
  }
}

}  // namespace

OrderModel OrderModelOf(const Graph& graph, const Counting& counting) {
  OrderModel model;
  model.operators = graph.operators.size();
  model.waits.resize(model.operators);
  std::vector<std::size_t> maker(graph.tensors.size(), kNobody);
  for (std::size_t v = 0; v < model.operators; ++v) {
    for (const TensorIndex t : graph.operators[v].outputs) maker[t] = v;
  }
  std::vector<std::vector<std::size_t>> users(graph.tensors.size());
  const std::vector<Touches> touches = AllTouches(graph);
  for (std::size_t v = 0; v < model.operators; ++v) {
    const Operator& op = graph.operators[v];
    std::vector<std::size_t>& row = model.waits[v];
    const auto wait_for = [&](TensorIndex t) {
      if (maker[t] != kNobody) row.push_back(maker[t]);
    };
    for (const TensorIndex t : op.inputs) wait_for(t);
    for (const TensorIndex t : op.mutates) wait_for(t);
    row.insert(row.end(), op.after.begin(), op.after.end());
    SortOnce(row);
    for (const TensorIndex base : touches[v].needs) users[base].push_back(v);
  }
  const std::vector<bool> results = Results(graph);
  for (TensorIndex t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (!Counts(tensor, counting)) continue;
    if (maker[t] == kNobody && (results[t] || IsWeight(tensor))) {
      model.always += tensor.bytes;
      continue;
    }
    if (maker[t] == kNobody && users[t].empty()) continue;
    OrderTensor entry{tensor.bytes, maker[t], results[t], {}};
    if (!entry.to_end) entry.users = std::move(users[t]);
    if (!entry.to_end && entry.users.empty()) entry.users = {entry.maker};
    model.tensors.push_back(std::move(entry));
  }
  return model;
}

OrderHead ReadOrderHead(ProofLines& lines) {
  OrderHead head;
  const ProofClaim claim = ReadClaim(lines, "berth-order-proof", "proof of orders");
  head.is_optimal = claim.is_optimal;
  head.claimed = claim.value;
  if (lines.NextLine() != "operators") throw FalseStep{"expected the number of 'operators'"};
  head.model_line = lines.number();
  ReadModel(lines, head.model);
  if (!head.is_optimal) return head;
  if (lines.NextLine() != "order") throw FalseStep{"expected the 'order'"};
  head.order_line = lines.number();
  while (lines.HasWord()) head.order.push_back(lines.Index(head.model.operators));
  return head;
}

Bytes PeakOf(const OrderModel& model, const std::vector<std::size_t>& order) {
  std::vector<std::size_t> step(model.operators, kNobody);
  for (std::size_t s = 0; s < order.size(); ++s) {
    if (step[order[s]] != kNobody) {
      throw FalseStep{"operator " + std::to_string(order[s]) + " comes twice in the order"};
    }
    step[order[s]] = s;
  }
  for (std::size_t v = 0; v < model.operators; ++v) {
    if (step[v] == kNobody) {
      throw FalseStep{"operator " + std::to_string(v) + " is missing in the order"};
    }
    for (const std::size_t u : model.waits[v]) {
      if (step[u] < step[v]) continue;
      throw FalseStep{"operator " + std::to_string(v) + " runs before " + std::to_string(u) +
                      ", which it waits for"};
    }
  }
  // The change of the live bytes at each step.
  std::vector<Bytes> change(model.operators + 1, 0);
  Bytes peak = model.always;
  for (const OrderTensor& tensor : model.tensors) {
    const std::size_t begin = tensor.maker == kNobody ? 0 : step[tensor.maker];
    std::size_t end = tensor.to_end ? model.operators : begin + 1;
    for (const std::size_t user : tensor.users) end = std::max(end, step[user] + 1);
    change[begin] += tensor.bytes;
    change[end] -= tensor.bytes;
  }
  Bytes live = model.always;
  for (std::size_t s = 0; s < model.operators; ++s) {
    live += change[s];
    peak = std::max(peak, live);
  }
  return peak;
}

}  // namespace berth::verify
