#include "tools/verify/order_states.h"

#include <algorithm>
#include <string>
#include <utility>

namespace berth::verify {
namespace {

constexpr std::size_t kMostEntries = std::size_t{1} << 26;
constexpr std::size_t kMostCandidates = std::size_t{1} << 25;
constexpr std::size_t kMostBytesKnown = std::size_t{1} << 30;

std::string Named(std::size_t v) { return "operator " + std::to_string(v); }

}  // namespace

OrderStates::OrderStates(OrderNet& net, bool backwards, Bytes limit)
    : net_(net),
      model_(net.model()),
      backwards_(backwards),
      limit_(limit),
      n_(model_.operators),
      member_(n_, true),
      before_(n_),
      after_(n_),
      begins_(n_),
      ends_(n_),
      enders_(model_.tensors.size()),
      begun_(model_.tensors.size(), 0),
      left_(model_.tensors.size(), 0),
      live_(model_.always) {}

void OrderStates::ReadOnly(ProofLines& lines) {
  if (is_filled_) throw FalseStep{"'only' stands once, before 'late'"};
  member_.assign(n_, false);
  while (lines.HasWord()) member_[lines.Index(n_)] = true;
  Fill();
}

// The tensors and the waits of the members.
void OrderStates::Fill() {
  is_filled_ = true;
  kept_ = member_;
  for (std::size_t v = 0; v < n_; ++v) {
    net_.Work(net_.before(v).size() + 1);
    if (!member_[v]) continue;
    for (const std::size_t u : net_.before(v)) {
      if (!member_[u]) continue;
      before_[backwards_ ? u : v].push_back(backwards_ ? v : u);
      after_[backwards_ ? v : u].push_back(backwards_ ? u : v);
    }
  }
  for (std::size_t t = 0; t < model_.tensors.size(); ++t) FillOne(t);
}

// Where the tensor is live whatever operators that are no members do: from its maker, or if that is no
// member, from the first of its users that wait for it, through its maker and the last of its users.
void OrderStates::FillOne(std::size_t t) {
  const OrderTensor& tensor = model_.tensors[t];
  net_.Work(tensor.users.size() + 1);
  std::vector<std::size_t> to;
  std::vector<std::size_t> later;
  for (const std::size_t k : tensor.users) {
    if (!member_[k]) continue;
    to.push_back(k);
    const std::vector<std::size_t>& waits = model_.waits[k];
    const bool after_maker =
        k == tensor.maker || std::binary_search(waits.begin(), waits.end(), tensor.maker);
    if (after_maker) later.push_back(k);
  }
  const bool made = tensor.maker != kNobody && member_[tensor.maker];
  const bool has_maker = std::find(to.begin(), to.end(), tensor.maker) != to.end();
  if (made && !tensor.to_end && !has_maker) to.push_back(tensor.maker);
  const bool start = tensor.maker == kNobody;
  std::vector<std::size_t> from = made ? std::vector<std::size_t>{tensor.maker} : later;
  if (start ? to.empty() && !tensor.to_end : from.empty()) return;
  if (start) from.clear();
  const bool first = backwards_ ? tensor.to_end : start;  // Live before all of them.
  const bool last = backwards_ ? start : tensor.to_end;
  if (backwards_) from.swap(to);
  for (const std::size_t v : from) begins_[v].push_back(t);
  for (const std::size_t v : to) ends_[v].push_back(t);
  // As if one had run, or one never ran.
  begun_[t] = first ? 1 : 0;
  left_[t] = last ? 1 : to.size();
  if (first) live_ += tensor.bytes;
  enders_[t] = std::move(to);
}

void OrderStates::Reach(std::size_t v, bool earlier, std::vector<bool>& marks) {
  std::vector<std::size_t> queue = {v};
  for (std::size_t k = 0; k < queue.size(); ++k) {
    const std::vector<std::size_t>& row = earlier ? before_[queue[k]] : after_[queue[k]];
    net_.Work(row.size() + 1);
    for (const std::size_t u : row) {
      if (marks[u]) continue;
      marks[u] = true;
      queue.push_back(u);
    }
  }
}

// Whatever has run, such an operator is the last user of nothing.
void OrderStates::ReadLate(ProofLines& lines) {
  if (!is_filled_) Fill();
  std::vector<bool> later(n_);
  while (lines.HasWord()) {
    const std::size_t v = lines.Index(n_);
    if (!member_[v]) throw FalseStep{Named(v) + " is not one of those"};
    std::fill(later.begin(), later.end(), false);
    net_.Work(n_);
    Reach(v, false, later);
    for (const std::size_t t : ends_[v]) {
      const std::vector<std::size_t>& to = enders_[t];
      net_.Work(to.size());
      if (std::any_of(to.begin(), to.end(), [&](std::size_t k) { return later[k]; })) continue;
      throw FalseStep{"tensor " + std::to_string(t) + " may end at " + Named(v)};
    }
    kept_[v] = false;
  }
}

// The late operators that kept operator `v` waits for, and the next kept ones before it.
void OrderStates::FindLateOf(std::size_t v) {
  std::vector<std::pair<std::size_t, std::size_t>> stack = {{v, 0}};
  while (!stack.empty()) {
    auto& [u, next] = stack.back();
    if (next == before_[u].size()) {
      if (u != v) late_of_[v].push_back(u);
      stack.pop_back();
      continue;
    }
    const std::size_t p = before_[u][next++];
    net_.Work(1);
    if (std::exchange(seen_[p], v + 1) == v + 1) continue;
    if (++entries_ > kMostEntries) throw FalseStep{"too many late operators"};
    if (kept_[p]) {
      kept_after_[p].push_back(v);
      ++missing_[v];
    } else {
      stack.emplace_back(p, 0);
    }
  }
}

void OrderStates::FindAllLate() {
  late_of_.resize(n_);
  kept_after_.resize(n_);
  missing_.assign(n_, 0);
  done_.assign(n_, false);
  place_.assign(n_, kNobody);
  seen_.assign(n_, 0);
  for (std::size_t v = 0; v < n_; ++v) {
    if (!kept_[v]) continue;
    ++kept_left_;
    FindLateOf(v);
    if (missing_[v] == 0) AddReady(v);
  }
}

void OrderStates::AddReady(std::size_t v) {
  place_[v] = ready_.size();
  ready_.push_back(v);
}

void OrderStates::RemoveReady(std::size_t v) {
  const std::size_t place = std::exchange(place_[v], kNobody);
  const std::size_t last = ready_.back();
  ready_.pop_back();
  if (last == v) return;
  ready_[place] = last;
  place_[last] = place;
}

// Leaves live_ as it is in the step of `v`, and then what is live after it.
void OrderStates::Run(std::size_t v) {
  trail_.push_back(v);
  done_[v] = true;
  net_.Work(begins_[v].size() + ends_[v].size() + 1);
  for (const std::size_t t : ends_[v]) {
    if (--left_[t] == 0 && begun_[t] > 0) live_ -= model_.tensors[t].bytes;
  }
  if (!kept_[v]) return;
  --kept_left_;
  RemoveReady(v);
  for (const std::size_t w : kept_after_[v]) {
    if (--missing_[w] == 0) AddReady(w);
  }
}

Bytes OrderStates::RunBlock(std::size_t v) {
  Bytes highest = live_;
  const auto run = [&](std::size_t u) {
    for (const std::size_t t : begins_[u]) {
      if (begun_[t]++ == 0 && left_[t] > 0) live_ += model_.tensors[t].bytes;
    }
    highest = std::max(highest, live_);
    Run(u);
  };
  net_.Work(late_of_[v].size() + kept_after_[v].size());
  for (const std::size_t u : late_of_[v]) {
    if (!done_[u]) run(u);
  }
  run(v);
  return highest;
}

void OrderStates::Undo() {
  const std::size_t v = trail_.back();
  trail_.pop_back();
  done_[v] = false;
  if (kept_[v]) {
    for (const std::size_t w : kept_after_[v]) {
      if (missing_[w]++ == 0) RemoveReady(w);
    }
    AddReady(v);
    ++kept_left_;
  }
  for (const std::size_t t : ends_[v]) {
    if (left_[t]++ == 0 && begun_[t] > 0) live_ += model_.tensors[t].bytes;
  }
  for (const std::size_t t : begins_[v]) {
    if (--begun_[t] == 0 && left_[t] > 0) live_ -= model_.tensors[t].bytes;
  }
}

void OrderStates::UndoTo(std::size_t trail) {
  while (trail_.size() > trail) Undo();
}

// All orders pass through the state after `pivot`, as each other operator waits for it or is waited for.
void OrderStates::BeginAt(std::size_t pivot) {
  if (!kept_[pivot]) throw FalseStep{Named(pivot) + " is late"};
  std::vector<bool> earlier(n_, false);
  std::vector<bool> later(n_, false);
  Reach(pivot, true, earlier);
  Reach(pivot, false, later);
  for (std::size_t v = 0; v < n_; ++v) {
    if (!kept_[v] || v == pivot || earlier[v] || later[v]) continue;
    throw FalseStep{Named(v) + " may run before or after " + Named(pivot)};
  }
  while (!done_[pivot]) {
    const auto next = std::find_if(ready_.begin(), ready_.end(),
                                   [&](std::size_t v) { return v == pivot || earlier[v]; });
    if (next == ready_.end()) throw FalseStep{Named(pivot) + " cannot run"};
    net_.Work(ready_.size());
    (void)RunBlock(*next);
  }
}

// "run 5 6": each of them is ready, fits and leaves no more live than there was.
void OrderStates::RunAtOnce(ProofLines& lines) {
  if (!lines.HasWord() || !lines.NextIs("run")) return;
  lines.Expect("run");
  do {
    const std::size_t v = lines.Index(n_);
    if (!IsReady(v)) throw FalseStep{Named(v) + " is not ready"};
    const Bytes before = live_;
    const Bytes step = RunBlock(v);
    if (step > limit_) throw FalseStep{Named(v) + " takes " + std::to_string(step) + " bytes"};
    if (live_ > before) throw FalseStep{Named(v) + " leaves more bytes live than before it"};
  } while (lines.HasWord() && !lines.NextIs("is") && !lines.NextIs("as"));
}

// The steps from the present state that do not exceed the limit: each of them needs a line.
void OrderStates::OpenState(std::size_t trail) {
  if (kept_left_ == 0) throw FalseStep{"all operators have run within the limit"};
  const std::size_t first = candidates_.size();
  const std::vector<std::size_t> ready = ready_;
  for (const std::size_t v : ready) {
    const std::size_t mark = trail_.size();
    if (RunBlock(v) <= limit_) candidates_.push_back({v, false});
    UndoTo(mark);
  }
  if (candidates_.size() > kMostCandidates) throw FalseStep{"too many steps on one path"};
  path_.push_back({trail, first, candidates_.size() - first});
}

// "on 4 run 5 6 as 1" or "on 4 is 1"
void OrderStates::CheckChild(ProofLines& lines) {
  const std::size_t v = lines.Index(n_);
  Frame& frame = path_.back();
  const auto first = candidates_.begin() + static_cast<std::ptrdiff_t>(frame.candidates);
  const auto found =
      std::find_if(first, candidates_.end(), [&](const Candidate& c) { return c.op == v; });
  net_.Work(candidates_.size() - frame.candidates);
  if (found == candidates_.end()) throw FalseStep{Named(v) + " is no step within the limit"};
  if (std::exchange(found->done, true)) throw FalseStep{Named(v) + " had its turn"};
  --frame.open;
  const std::size_t trail = trail_.size();
  (void)RunBlock(v);
  RunAtOnce(lines);
  const auto number = static_cast<std::int64_t>(known_.size());
  if (lines.HasWord() && lines.NextIs("is")) {
    lines.Expect("is");
    if (number == 0) throw FalseStep{"no state has a number yet"};
    const auto same = static_cast<std::size_t>(lines.Number(1, number)) - 1;
    net_.Work(n_ / 64);
    if (known_[same] != done_) throw FalseStep{"that is another state"};
    lines.EndLine();
    UndoTo(trail);
    return;
  }
  ++count_;
  if (lines.HasWord()) {
    lines.Expect("as");
    (void)lines.Number(number + 1, number + 1);
    if (known_.size() + 1 > kMostBytesKnown / (n_ / 8 + 64))
      throw FalseStep{"too many states with a number"};
    known_.push_back(done_);
  }
  lines.EndLine();
  OpenState(trail);
}

// Leaves the states of which all steps had their turn.
void OrderStates::Close() {
  while (!path_.empty() && path_.back().open == 0) {
    UndoTo(path_.back().trail);
    candidates_.resize(path_.back().candidates);
    path_.pop_back();
  }
}

void OrderStates::Check(ProofLines& lines) {
  if (!is_filled_) Fill();
  FindAllLate();
  if (lines.HasWord() && lines.NextIs("from")) {
    lines.Expect("from");
    BeginAt(lines.Index(n_));
  }
  RunAtOnce(lines);
  lines.EndLine();
  ++count_;
  OpenState(trail_.size());
  for (Close(); !path_.empty(); Close()) {
    if (lines.NextLine() != "on") throw FalseStep{"expected 'on': a step is left out"};
    CheckChild(lines);
  }
}

}  // namespace berth::verify
