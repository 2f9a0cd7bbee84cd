#include "place/learning/clause_log.h"

#include <algorithm>
#include <utility>

namespace berth::internal::learning {

std::int32_t ClauseLog::Add(std::vector<LoggedAtom> atoms, std::span<const std::int32_t> used) {
  Clause clause{std::move(atoms), {used.begin(), used.end()}};
  std::sort(clause.used.begin(), clause.used.end());
  clause.used.erase(std::unique(clause.used.begin(), clause.used.end()), clause.used.end());
  bytes_ += sizeof(Clause) + clause.atoms.size() * sizeof(LoggedAtom) +
            clause.used.size() * sizeof(std::int32_t);
  clauses_.push_back(std::move(clause));
  return static_cast<std::int32_t>(clauses_.size());
}

// New numbers for what the end needs, 0 for the rest. What has one atom counts everywhere.
std::vector<std::int32_t> ClauseLog::NumberNeeded() const {
  std::vector<std::int32_t> number(clauses_.size() + 1, 0);
  for (std::size_t k = clauses_.size(); k > 0; --k) {
    const Clause& clause = clauses_[k - 1];
    if (clause.atoms.size() <= 1) number[k] = 1;
    if (number[k] == 0) continue;
    for (const std::int32_t used : clause.used) number[static_cast<std::size_t>(used)] = 1;
  }
  std::int32_t next = 0;
  for (std::int32_t& each : number) {
    if (each != 0) each = ++next;
  }
  return number;
}

void ClauseLog::Write(std::string& text) const {
  const std::vector<std::int32_t> number = NumberNeeded();
  text += "clauses\n";
  for (std::size_t k = 1; k <= clauses_.size(); ++k) {
    if (number[k] == 0) continue;
    text += "never";
    for (const LoggedAtom& atom : clauses_[k - 1].atoms) {
      text += ' ' + std::to_string(atom.buffer) + atom.kind +
              std::to_string(atom.kind == '^' ? atom.other : atom.value);
      if (atom.kind == '^' && atom.value > 0) text += '#' + std::to_string(atom.value);
    }
    if (!clauses_[k - 1].used.empty()) text += " by";
    for (const std::int32_t used : clauses_[k - 1].used) {
      text += ' ' + std::to_string(number[static_cast<std::size_t>(used)]);
    }
    text += '\n';
  }
}

}  // namespace berth::internal::learning
