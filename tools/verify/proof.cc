// The steps of a proof, one line each, by the rules of docs/algorithms/proofs.md.

#include "tools/verify/proof.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tools/verify/pieces.h"
#include "tools/verify/proof_clauses.h"
#include "tools/verify/proof_state.h"
#include "tools/verify/proof_text.h"
#include "tools/verify/verify.h"

namespace berth::verify {
namespace {

// Buffers of the branches of one path: 16 bytes each.
constexpr std::size_t kMostCandidates = std::size_t{1} << 25;

std::string Text(std::size_t number) { return std::to_string(number); }
std::string Level(Bytes bytes) {
  return bytes >= ProofState::kNowhere ? "nowhere" : std::to_string(bytes);
}

// A state that is known to fail.
struct KnownState {
  std::vector<std::pair<std::size_t, Bytes>> grounds;
  std::vector<Range> open;
};

class Checker {
 public:
  Checker(const ProofHead& head, ProofLines& lines, ProofReport& report)
      : problem_(head.problem),
        lines_(lines),
        report_(report),
        state_(head.problem, head.steps, report.refuted) {}

  void Run() {
    std::string_view word = lines_.NextLine();
    if (word == "clauses") return CheckClauses();
    for (; word == "known"; word = lines_.NextLine()) CheckLemma();
    if (word != "proof") throw FalseStep{"expected 'known' or 'proof'"};
    lines_.EndLine();
    state_.Begin();
    is_root_ = true;
    CheckTree();
    if (lines_.NextLine() != "end") throw FalseStep{"expected the 'end'"};
    CheckEnd();
  }

 private:
  // One branch of the path that is being checked.
  struct Branch {
    std::size_t section;
    Bytes level;
    std::size_t changes;     // Of the state before it.
    std::size_t candidates;  // candidates_: its first one.
    bool is_last = false;    // Its last child is being checked.
  };
  struct Candidate {
    std::size_t buffer;
    bool done;
  };

  void CheckEnd();
  void CheckClauses();
  void CheckClause(Clauses& clauses);
  [[nodiscard]] Atom ReadAtom(const Clauses& clauses);
  void CheckLemma();
  void CheckTree();
  void CheckChild(std::size_t buffer);
  void CheckRest();
  [[nodiscard]] bool OpensBranch(std::size_t changes);
  void Close();
  void CheckLoad();
  void CheckHigh();
  void CheckAligned();
  void CheckPins();
  void CheckKnown();
  void OpenBranch(std::size_t changes);
  void CheckLevel(std::size_t section, Bytes floor, Bytes level);
  [[nodiscard]] std::size_t Section();

  const Problem& problem_;
  ProofLines& lines_;
  ProofReport& report_;
  ProofState state_;
  std::vector<KnownState> known_;
  std::vector<Branch> path_;
  std::vector<Candidate> candidates_;
  bool is_root_ = false;
};

void Checker::CheckEnd() {
  lines_.EndLine();
  if (!lines_.AtEnd()) throw FalseStep{"more text after the end"};
}

// A line for each clause; the last one has no atoms.
void Checker::CheckClauses() {
  lines_.EndLine();
  state_.Begin();
  Clauses clauses(problem_, state_);
  bool is_done = false;
  std::string_view word = lines_.NextLine();
  for (; word == "never"; word = lines_.NextLine()) {
    is_done = !lines_.HasWord() || lines_.NextIs("by");
    CheckClause(clauses);
  }
  if (word != "end") throw FalseStep{"expected 'never' or the 'end'"};
  if (!is_done) throw FalseStep{"the last clause is not the empty one"};
  CheckEnd();
}

// "never 3>40 5<60 7^2 by 1 4"
void Checker::CheckClause(Clauses& clauses) {
  ++report_.steps;
  ++report_.lemmas;
  std::vector<Atom> atoms;
  while (lines_.HasWord() && !lines_.NextIs("by")) atoms.push_back(ReadAtom(clauses));
  std::vector<std::size_t> used;
  if (lines_.HasWord()) lines_.Expect("by");
  while (lines_.HasWord()) {
    used.push_back(
        static_cast<std::size_t>(lines_.Number(1, static_cast<std::int64_t>(clauses.size())) - 1));
  }
  if (!clauses.Add(atoms, used)) throw FalseStep{"the clause does not follow"};
}

// "3>40": buffer 3 begins at 40 or above; "5<60": at 60 or below; "7^2": 7 lies above 2, with windows
// perhaps "7^2#1": beyond the second interval that they exclude.
Atom Checker::ReadAtom(const Clauses& clauses) {
  const auto [buffer, sign, number, interval] = lines_.Signed(state_.buffers());
  if (sign == '>') return {Atom::Kind::kAtLeast, buffer, 0, number};
  if (sign == '<') return {Atom::Kind::kAtMost, buffer, 0, number};
  if (number >= 0 && number < static_cast<std::int64_t>(state_.buffers())) {
    const auto order = clauses.FindOrder(buffer, static_cast<std::size_t>(number), interval);
    if (order) return {Atom::Kind::kAbove, buffer, *order, 0};
  }
  throw FalseStep{"buffer " + Text(buffer) + " has no such order with buffer " +
                  std::to_string(number)};
}

// "known 3 grounds 4:100 5:60 buffers 1 4-7", and what it follows from.
void Checker::CheckLemma() {
  ++report_.steps;
  ++report_.lemmas;
  const auto number = static_cast<std::int64_t>(known_.size()) + 1;
  (void)lines_.Number(number, number);
  lines_.Expect("grounds");
  KnownState known;
  while (lines_.HasWord() && !lines_.NextIs("buffers")) {
    const auto entry = lines_.Entry(state_.sections(), kMaxBytes);
    if (!known.grounds.empty() && entry.first <= known.grounds.back().first) {
      throw FalseStep{"sections are not in increasing order"};
    }
    if (entry.second % state_.grain() != 0) {
      throw FalseStep{"a ground is not a multiple of " + std::to_string(state_.grain())};
    }
    known.grounds.push_back(entry);
  }
  lines_.Expect("buffers");
  while (lines_.HasWord()) {
    const Range range = lines_.Range(state_.buffers());
    if (!known.open.empty() && range.first <= known.open.back().second) {
      throw FalseStep{"buffers are not in increasing order"};
    }
    known.open.push_back(range);
  }
  state_.Begin(known.grounds, known.open);
  CheckTree();
  known_.push_back(std::move(known));
}

// That the present state fails: "so REASON" and, below a branch, a line for each child.
void Checker::CheckTree() {
  if (lines_.NextLine() != "so") throw FalseStep{"expected 'so' and a reason"};
  if (!OpensBranch(state_.changes())) return;
  while (!path_.empty()) {
    const std::string_view word = lines_.NextLine();
    if (word == "on") {
      CheckChild(lines_.Index(state_.buffers()));
    } else if (word == "gap") {
      CheckRest();
    } else {
      throw FalseStep{"expected 'on' or 'gap': the branch at section " +
                      Text(path_.back().section) + " is not done"};
    }
  }
}

// The child in which `buffer` lies on the floor of the section.
void Checker::CheckChild(std::size_t buffer) {
  const auto first = candidates_.begin() + static_cast<std::ptrdiff_t>(path_.back().candidates);
  const auto found = std::find_if(first, candidates_.end(),
                                  [&](const Candidate& c) { return c.buffer == buffer; });
  if (found == candidates_.end()) {
    throw FalseStep{"buffer " + Text(buffer) + " cannot lie on the floor of section " +
                    Text(path_.back().section)};
  }
  if (found->done) throw FalseStep{"buffer " + Text(buffer) + " had its turn"};
  found->done = true;
  const std::size_t changes = state_.changes();
  state_.Place(buffer);
  if (!OpensBranch(changes)) state_.UndoTo(changes);
}

// The last child: nothing lies on the floor. Only now has every candidate had its turn.
void Checker::CheckRest() {
  Branch& branch = path_.back();
  const auto first = candidates_.begin() + static_cast<std::ptrdiff_t>(branch.candidates);
  std::unordered_set<std::size_t> done;  // Classes of which one had its turn.
  for (auto c = first; c != candidates_.end(); ++c) {
    if (c->done) done.insert(state_.twin_class(c->buffer));
  }
  for (auto c = first; c != candidates_.end(); ++c) {
    if (done.contains(state_.twin_class(c->buffer))) continue;
    throw FalseStep{"buffer " + Text(c->buffer) + " can lie on the floor of section " +
                    Text(branch.section) + ", and was left out"};
  }
  branch.is_last = true;
  const std::size_t changes = state_.changes();
  state_.Raise(branch.section, branch.level);
  if (OpensBranch(changes)) return;
  state_.UndoTo(changes);
  Close();
}

// Leaves the branches that are done.
void Checker::Close() {
  while (!path_.empty() && path_.back().is_last) {
    state_.UndoTo(path_.back().changes);
    candidates_.resize(path_.back().candidates);
    path_.pop_back();
  }
}

// Checks the reason that the line gives for the failure of the state. True for a branch: it is open
// then, and once it is done the state goes back to what it was before `changes`.
bool Checker::OpensBranch(std::size_t changes) {
  ++report_.steps;
  const std::string_view reason = lines_.Word();
  if (reason == "branch") {
    OpenBranch(changes);
    return true;
  }
  if (reason == "load") {
    CheckLoad();
  } else if (reason == "high") {
    CheckHigh();
  } else if (reason == "lemma") {
    CheckKnown();
  } else if (reason == "aligned") {
    CheckAligned();
  } else if (reason == "pins" && is_root_ && path_.empty()) {
    CheckPins();
  } else if (reason == "empty" && state_.capacity() < 0) {
    // No plan has less than 0 bytes.
  } else {
    throw FalseStep{"'" + std::string(reason.substr(0, 40)) + "' is no reason"};
  }
  lines_.EndLine();
  return false;
}

std::size_t Checker::Section() {
  const std::size_t section = lines_.Index(state_.sections());
  if (!state_.is_active(section)) {
    throw FalseStep{"section " + Text(section) + " does not belong to this state"};
  }
  return section;
}

// What is open in a section does not fit above its floor.
void Checker::CheckLoad() {
  const std::size_t section = Section();
  const Bytes floor = state_.Floor(section);
  const Bytes load = state_.load(section);
  if (load == 0) throw FalseStep{"nothing is open in section " + Text(section)};
  if (floor > state_.capacity() - load) return;
  throw FalseStep{"the " + Level(load) + " bytes in section " + Text(section) + " fit above " +
                  Level(floor)};
}

// A buffer has no room left.
void Checker::CheckHigh() {
  const std::size_t buffer = lines_.Index(state_.buffers());
  if (!state_.is_open(buffer)) throw FalseStep{"buffer " + Text(buffer) + " is not open"};
  if (state_.lowest(buffer) > state_.capacity() - state_.size(buffer)) return;
  throw FalseStep{"buffer " + Text(buffer) + " fits at " + Level(state_.lowest(buffer))};
}

// Buffers at multiples of an alignment take whole multiples of it, but for the topmost.
void Checker::CheckAligned() {
  const std::size_t section = Section();
  const Bytes alignment = lines_.Number(1, kMaxBytes);
  Bytes sum = 0;
  Bytes most = 0;
  for (const LivePart& part : state_.of_section(section)) {
    if (!state_.is_open(part.other) || part.lower != 0) continue;
    if (problem_.buffers[part.other].alignment % alignment != 0) continue;
    const Bytes rounded = (part.upper + alignment - 1) / alignment * alignment;
    sum += rounded;
    most = std::max(most, rounded - part.upper);
  }
  if (sum - most > state_.capacity()) return;
  throw FalseStep{"multiples of " + Level(alignment) + " take " + Level(sum - most) +
                  " bytes only"};
}

// Two pinned buffers overlap.
void Checker::CheckPins() {
  const Buffer& a = problem_.buffers[lines_.Index(state_.buffers())];
  const Buffer& b = problem_.buffers[lines_.Index(state_.buffers())];
  bool overlap = false;
  if (&a != &b && a.offset && b.offset) {
    ForEachPiece(a, [&](Step start, Step end, Bytes lower, Bytes upper) {
      ForEachPiece(b, [&](Step from, Step to, Bytes bottom, Bytes top) {
        overlap |= start < to && from < end && *a.offset + lower < *b.offset + top &&
                   *b.offset + bottom < *a.offset + upper;
      });
    });
  }
  if (!overlap) throw FalseStep{"the two buffers are not pinned to the same bytes"};
}

// The state leaves no more room than one that is known to fail, and has the same buffers to place.
void Checker::CheckKnown() {
  const auto number = static_cast<std::size_t>(
      lines_.Number(1, static_cast<std::int64_t>(std::max<std::size_t>(known_.size(), 1))));
  if (number > known_.size()) throw FalseStep{"lemma " + Text(number) + " is not known"};
  const KnownState& known = known_[number - 1];
  for (const auto& [section, level] : known.grounds) {
    if (!state_.is_active(section)) {
      throw FalseStep{"section " + Text(section) + " does not belong to this state"};
    }
    if (state_.ground(section) >= level || state_.Floor(section) >= level) continue;
    throw FalseStep{"section " + Text(section) + " has room below " + Level(level)};
  }
  for (const auto& [first, last] : known.open) {
    for (std::size_t b = first; b <= last; ++b) {
      if (!state_.is_open(b)) throw FalseStep{"buffer " + Text(b) + " is not open"};
    }
  }
}

// "branch SECTION LEVEL" and perhaps "in SECTIONS".
void Checker::OpenBranch(std::size_t changes) {
  const std::size_t section = Section();
  const Bytes level = lines_.Number(0, kMaxBytes);
  if (lines_.HasWord()) {
    lines_.Expect("in");
    std::vector<std::size_t> sections;
    while (lines_.HasWord()) {
      const auto [first, last] = lines_.Range(state_.sections());
      if (!sections.empty() && first <= sections.back()) {
        throw FalseStep{"sections are not in increasing order"};
      }
      for (std::size_t s = first; s <= last; ++s) {
        if (!state_.is_active(s)) {
          throw FalseStep{"section " + Text(s) + " does not belong to this state"};
        }
        sections.push_back(s);
      }
    }
    state_.Restrict(sections);
    if (!state_.is_active(section)) throw FalseStep{"the section is not among its own"};
  }
  const Bytes floor = state_.Floor(section);
  if (state_.load(section) == 0) throw FalseStep{"nothing is open in section " + Text(section)};
  if (level <= floor || level % state_.grain() != 0) {
    throw FalseStep{"the level " + Level(level) + " is not a multiple of " + Level(state_.grain()) +
                    " above " + Level(floor)};
  }
  path_.push_back({section, level, changes, candidates_.size()});
  for (const LivePart& part : state_.of_section(section)) {
    if (!state_.is_open(part.other)) continue;
    if (state_.lowest(part.other) + part.lower == floor) candidates_.push_back({part.other, false});
  }
  if (candidates_.size() > kMostCandidates) throw FalseStep{"the branches are too deep to check"};
  CheckLevel(section, floor, level);
}

// That what does not lie on the floor of the section lies at `level` or above, once nothing can be
// lowered any more.
void Checker::CheckLevel(std::size_t section, Bytes floor, Bytes level) {
  if (level <= floor + state_.grain()) return;
  if (state_.has_windows()) throw FalseStep{"with windows, only the next level may follow"};
  for (const LivePart& part : state_.of_section(section)) {
    if (!state_.is_open(part.other)) continue;
    const Bytes lowest = state_.lowest(part.other);
    if (lowest > floor && lowest < level) {
      throw FalseStep{"buffer " + Text(part.other) + " can lie at " + Level(lowest)};
    }
  }
  // Of each section, a candidate that is live there.
  std::vector<std::size_t> candidate(state_.sections(), state_.buffers());
  for (std::size_t c = path_.back().candidates; c < candidates_.size(); ++c) {
    for (const LivePart& part : state_.of_buffer(candidates_[c].buffer)) {
      if (state_.is_active(part.other)) candidate[part.other] = candidates_[c].buffer;
    }
  }
  for (std::size_t b = 0; b < state_.buffers(); ++b) {
    if (!state_.is_open(b) || state_.lowest(b) + state_.size(b) >= level) continue;
    const auto& parts = state_.of_buffer(b);
    if (std::any_of(parts.begin(), parts.end(),
                    [&](const LivePart& part) { return part.other == section; })) {
      continue;
    }
    for (const LivePart& part : parts) {
      const std::size_t met = candidate[part.other];
      if (met == state_.buffers()) continue;
      throw FalseStep{"buffer " + Text(met) + " can lie on buffer " + Text(b) + ", below " +
                      Level(level)};
    }
  }
}

// Whether two buffers admit the same offsets, in the same company.
bool AreSame(const Buffer& a, const Buffer& b) {
  return a.start == b.start && a.end == b.end && a.size == b.size && a.alignment == b.alignment &&
         a.offset == b.offset && a.gaps == b.gaps;
}

void CompareWithTable(const ProofHead& head, const Problem& table) {
  const Problem& stated = head.problem;
  if (stated.buffers.size() != table.buffers.size()) {
    throw FalseStep{"the proof is about " + Text(stated.buffers.size()) +
                        " buffers, the table has " + Text(table.buffers.size()),
                    head.first_line - 1};
  }
  for (std::size_t b = 0; b < stated.buffers.size(); ++b) {
    if (AreSame(stated.buffers[b], table.buffers[b])) continue;
    throw FalseStep{"buffer " + Text(b) + " is not that of the table", head.first_line + b};
  }
}

void CheckPlan(const ProofHead& head) {
  const PlanReport report = VerifyOffsets(head.problem, head.plan, 1);
  if (!report.ok()) {
    throw FalseStep{"the plan does not hold: " + Describe(report.faults.front(), head.problem,
                                                          AsPlan(head.problem, head.plan)),
                    head.plan_line};
  }
  if (report.height != head.claimed) {
    throw FalseStep{"the plan is " + std::to_string(report.height) + " bytes high, not " +
                        std::to_string(head.claimed),
                    head.plan_line};
  }
}

}  // namespace

ProofReport CheckProof(std::string_view proof, const Problem* table) {
  ProofReport report;
  ProofLines lines(proof);
  try {
    const ProofHead head = ReadHead(lines);
    report.is_optimal = head.is_optimal;
    report.refuted = head.is_optimal ? head.claimed - 1 : head.claimed;
    report.buffers = head.problem.buffers.size();
    if (table != nullptr) CompareWithTable(head, *table);
    if (head.is_optimal) CheckPlan(head);
    Checker(head, lines, report).Run();
  } catch (const FalseStep& fault) {
    report.fault = fault.what;
    report.line = fault.line != 0 ? fault.line : lines.number();
  }
  return report;
}

}  // namespace berth::verify
