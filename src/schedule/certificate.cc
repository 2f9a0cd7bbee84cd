#include "schedule/certificate.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace berth::internal::schedule {
namespace {

void Append(std::string& line, std::int64_t number) {
  line += ' ';
  line += std::to_string(number);
}

}  // namespace

Certificates::Certificates(const Instance& instance, std::vector<Constraint> constraints,
                           Bytes limit, Budget& budget)
    : instance_(instance),
      constraints_(std::move(constraints)),
      limit_(limit),
      budget_(budget),
      added_in_(instance.num_ops),
      added_out_(instance.num_ops),
      needed_(constraints_.size(), false) {
  for (Op v = 0; v < instance.num_ops; ++v) {
    for (const Op p : instance.predecessors[v]) edges_.emplace_back(p, v);
  }
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    added_out_[constraints_[c].first].push_back(c);
    added_in_[constraints_[c].second].push_back(c);
  }
}

// The instance with the first `count` constraints.
Instance Certificates::Constrained(std::size_t count) const {
  std::vector<Constraint> edges = edges_;
  edges.insert(edges.end(), constraints_.begin(),
               constraints_.begin() + static_cast<std::ptrdiff_t>(count));
  return MakeInstance(instance_.num_ops, instance_.base, edges, instance_.buffers);
}

Certificates::Reached Certificates::Reach(std::size_t count, bool earlier, Op v, Op more) const {
  const std::size_t n = instance_.num_ops;
  Reached reached{std::vector<Op>(n, Cut::kNoOp), std::vector<std::size_t>(n, kInstance),
                  std::vector<std::uint32_t>(n, 0)};
  std::vector<Op> level;
  for (const Op start : {v, more}) {
    if (start == Cut::kNoOp) continue;
    reached.parent[start] = start;
    level.push_back(start);
  }
  while (!level.empty()) {
    for (std::size_t k = 0; k < level.size(); ++k) {
      const Op u = level[k];
      for (const Op w : earlier ? instance_.predecessors[u] : instance_.successors[u]) {
        if (reached(w)) continue;
        reached.parent[w] = u;
        reached.count[w] = reached.count[u];
        level.push_back(w);
      }
    }
    std::vector<Op> next;
    for (const Op u : level) {
      for (const std::size_t c : earlier ? added_in_[u] : added_out_[u]) {
        const Op w = earlier ? constraints_[c].first : constraints_[c].second;
        if (c >= count || reached(w)) continue;
        reached.parent[w] = u;
        reached.along[w] = c;
        reached.count[w] = reached.count[u] + 1;
        next.push_back(w);
      }
    }
    level = std::move(next);
  }
  return reached;
}

void Certificates::NeedWay(const Reached& reached, Op v) {
  for (; reached.parent[v] != v; v = reached.parent[v]) {
    if (reached.along[v] != kInstance) needed_[reached.along[v]] = true;
  }
}

// The way to one of `ops` that were reached.
void Certificates::NeedCheapest(const Reached& reached, const std::vector<Op>& ops) {
  Op best = Cut::kNoOp;
  for (const Op u : ops) {
    if (!reached(u)) continue;
    if (best == Cut::kNoOp || reached.count[u] < reached.count[best]) best = u;
  }
  if (best != Cut::kNoOp) NeedWay(reached, best);
}

// That `after` waits for `before`, directly.
void Certificates::NeedEdge(std::size_t count, Op before, Op after) {
  const auto row = instance_.predecessors[after];
  if (std::binary_search(row.begin(), row.end(), before)) return;
  for (const std::size_t c : added_in_[after]) {
    if (c >= count || constraints_[c].first != before) continue;
    needed_[c] = true;
    return;
  }
}

// What is live in every step counts without a word.
void Certificates::NeedLive(const Reached& before, const Reached& after) {
  const auto any = [](const std::vector<Op>& ops, const Reached& reached) {
    return std::any_of(ops.begin(), ops.end(), std::cref(reached));
  };
  for (const FlowBuffer& buffer : instance_.buffers) {
    if (!buffer.from_start && !any(buffer.creators, before)) continue;
    if (!buffer.to_end && !any(buffer.consumers, after)) continue;
    NeedCheapest(before, buffer.creators);
    NeedCheapest(after, buffer.consumers);
  }
}

void Certificates::AppendHop(std::size_t count, const Cut::Hop& hop, Op v, const Reached& before,
                             const Reached& after, std::string& line) {
  if (hop.buffer == Cut::kNoOp) {
    for (const Op u : {hop.from, hop.to}) {
      if (before(u) || after(u)) return;  // The forced operator, or beyond it.
    }
    NeedEdge(count, hop.to, hop.from);
    Append(line, hop.from);
    line += '^' + std::to_string(hop.to) + ':' + std::to_string(hop.bytes);
    return;
  }
  const FlowBuffer& buffer = instance_.buffers[hop.buffer];
  const bool begun = hop.from == Cut::kNoOp || before(hop.from);
  const bool outside = buffer.to_end || std::any_of(buffer.consumers.begin(),
                                                    buffer.consumers.end(), std::cref(after));
  if (begun && outside) return;  // Counted as a whole.
  if (!begun && after(hop.from)) return;
  const bool ends = hop.to == Cut::kNoOp || after(hop.to);
  if (!ends && before(hop.to) && hop.to != v) return;
  if (hop.from != Cut::kNoOp && begun) NeedWay(before, hop.from);
  Append(line, hop.buffer);
  if (ends) {
    NeedCheapest(after, buffer.consumers);
  } else {
    line += '>' + std::to_string(hop.to);
  }
  line += ':' + std::to_string(hop.bytes);
}

// With the first `count` constraints. False if the least step does not exceed the limit.
bool Certificates::ProveStep(std::size_t count, Op v, Op with, Op without, std::string& line) {
  if (!budget_.SpendNode()) return false;
  const Op forced = with != Cut::kNoOp ? with : without;
  const Instance constrained = count > 0 ? Constrained(count) : Instance();
  Cut cut(count > 0 ? constrained : instance_);
  cut.SetBudget(budget_);
  Bytes least = cut.Solve(v, limit_);
  if (least <= limit_ && forced != Cut::kNoOp) {
    const auto& undecided = cut.undecided();
    if (!std::binary_search(undecided.begin(), undecided.end(), forced)) return false;
    least = cut.SolveWith(forced, with != Cut::kNoOp, limit_);
  }
  if (least <= limit_) return false;
  const Reached before = Reach(count, true, v, with);
  const Reached after = Reach(count, false, v, without);
  NeedLive(before, after);
  for (const Cut::Hop& hop : cut.Flow()) AppendHop(count, hop, v, before, after, line);
  line += '\n';
  return true;
}

bool Certificates::ProveConstraint(std::size_t c, std::string& line) {
  const auto [before, after] = constraints_[c];
  line = "before";
  Append(line, before);
  Append(line, after);
  line += " at";
  const std::string head = line;
  Append(line, after);
  if (ProveStep(c, after, Cut::kNoOp, before, line)) return true;
  line = head;
  Append(line, before);
  return ProveStep(c, before, after, Cut::kNoOp, line);
}

// Each constraint that is needed by now, and what it rests on.
bool Certificates::WriteNeeded(std::string& text) {
  std::vector<std::string> lines(constraints_.size());
  for (std::size_t c = constraints_.size(); c-- > 0;) {
    if (needed_[c] && !ProveConstraint(c, lines[c])) return false;
  }
  for (const std::string& line : lines) text += line;
  return true;
}

bool Certificates::WriteCut(Op v, std::string& text) {
  std::string last = "cut";
  Append(last, v);
  if (!ProveStep(constraints_.size(), v, Cut::kNoOp, Cut::kNoOp, last)) return false;
  if (!WriteNeeded(text)) return false;
  text += last;
  return true;
}

bool Certificates::WriteConstraints(std::string& text) {
  const Instance all = Constrained(constraints_.size());
  const BitMatrix before =
      Ancestors(all, TopologicalOrder(all.num_ops, all.predecessors, all.successors));
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    const auto [u, v] = constraints_[c];
    const auto row = all.predecessors[v];
    needed_[c] =
        std::none_of(row.begin(), row.end(), [&, from = u](Op q) { return before.Test(q, from); });
  }
  return WriteNeeded(text);
}

}  // namespace berth::internal::schedule
