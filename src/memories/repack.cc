// From the previous plan, step by step. A unit that wants a place, or a better one, gets it in the
// first of these ways that works:
//
//   a hole     that is free anyway;
//   a chain    it takes a place and what is there moves on, into a hole or into a place of its own,
//              a few levels deep: ejection chains (Glover, Discrete Applied Mathematics 65, 1996). Of
//              all places those are tried first where the fewest bytes are in the way;
//   Place()    for a set F of units that may move: those in the way at the best place, then those that
//              are live together with the unit, then all. The rest is pinned;
//   exchange   what is in the way goes if it is worth less, and whatever finds a hole then comes in.
//
// Every step lowers the score, or with the same score moves fewer bytes, so no plan is worse than
// the one before it.
//
// What is proved. Sums of bytes bound the costs (layout.h). Of moves: wherever a new unit lies, what is
// there now has to move, if nothing is left out; the least of these sums bounds the bytes that move.
// Where that is not enough, the sets F of few bytes are tried in order (fewest_moves.h).
#include "berth/repack.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "memories/answer.h"
#include "memories/asking.h"
#include "memories/assign.h"
#include "memories/choose.h"
#include "memories/fewest_moves.h"
#include "memories/improve.h"
#include "memories/layout.h"
#include "memories/model.h"

namespace berth {
namespace internal::memories {
namespace {

// Places that a chain tries at each of its levels.
constexpr std::size_t kPlaces[] = {0, 2, 4, 12};
constexpr int kDepth = 3;
constexpr std::size_t kExchangePlaces = 12;
constexpr int kExchangeDepth = 1;
// Steps of all chains of one stage, and of one unit's chains.
constexpr std::int64_t kWorkOfMeeting = 4;  // In units of Budget::SpendWork().
constexpr std::int64_t kStageSteps = 10'000;
constexpr std::int64_t kChainSteps = 400;
// Questions to Place() in one call that found nothing.
constexpr int kMostAsked = 4;
// Times their nodes, if several units want places.
constexpr std::int64_t kTimesForAll = 4;
constexpr int kMostRounds = 4;
// Of the choice by sums: states side by side, and nodes; percent of the capacities that it may use,
// until one can be placed.
constexpr std::size_t kChooseWidth = 64;
constexpr std::int64_t kChooseNodes = 100'000;
constexpr int kPercent[] = {100, 99, 98, 96, 94, 92};
// Of questions for as many as can be placed, of which there are many.
constexpr std::int64_t kMostNodes = 4'000;
constexpr std::int64_t kMostGuidedNodes = 5'000;
constexpr std::int64_t kMostWork = 200'000'000;  // Nodes times units.
constexpr double kNever = std::numeric_limits<double>::infinity();

struct Standing {  // Of plans: the less the better.
  Wide score = 0;
  Bytes moved = 0;
  friend bool operator<(const Standing& a, const Standing& b) {
    return a.score != b.score ? a.score < b.score : a.moved < b.moved;
  }
};

class Repacker {
 public:
  Repacker(const MemoryProblem& problem, const RepackOptions& options, const Model& model,
           Budget& budget)
      : problem_(problem),
        options_(options),
        algorithm_(options.place.algorithm),
        model_(model),
        budget_(budget),
        asker_(problem, model, options.place, /*cores=*/false, budget),
        layout_(problem, model),
        fewest_(problem, model, layout_, asker_, budget, [this] { return GoesOn(); }),
        locked_(model.units.size()),
        weight_(model.units.size()),
        quarter_(model.units.size()),
        limited_(budget.has_node_limit() || budget.has_time_limit()) {
    options_.place.progress = nullptr;
    options_.place.minimize = false;
    options_.place.minimize_if_infeasible = false;
    for (std::size_t u = 0; u < quarter_.size(); ++u) {
      for (const Stay& stay : layout_.stays(u)) {
        quarter_[u] = std::max(quarter_[u], 0.25 * static_cast<double>(stay.bytes));
      }
    }
  }

  void Run();
  void Finish(PlanAnswer& answer) const;
  // From any plan of the units, whatever moves.
  [[nodiscard]] Placed Improved(const Placed& from);

 private:
  [[nodiscard]] Standing Now() const { return {layout_.score(), layout_.moved()}; }
  [[nodiscard]] bool MovesFew() const {
    return !options_.most_moved || layout_.moved() <= *options_.most_moved;
  }
  [[nodiscard]] bool GoesOn();
  [[nodiscard]] bool Step();
  [[nodiscard]] std::vector<std::size_t> Wishes() const;
  [[nodiscard]] double Density(std::size_t u) const;

  void KeepPrevious();
  void Search();
  void FillHoles(const std::vector<std::size_t>& wishes);
  [[nodiscard]] bool PutIntoHole(std::size_t u, Wide most);
  [[nodiscard]] bool Insert(std::size_t u, Wide most, int depth);
  [[nodiscard]] bool PutAt(std::size_t u, const Spot& spot, int depth);
  [[nodiscard]] bool MakeRoom(std::size_t u);
  [[nodiscard]] bool Exchange(std::size_t u);
  void TryExchange(std::size_t u, const Spot& spot);
  [[nodiscard]] bool AskForRoom(std::size_t u);
  [[nodiscard]] bool AskWith(std::size_t u, int memory, const std::vector<bool>& may_move);
  [[nodiscard]] Problem TableOf(int memory, std::size_t extra, const std::vector<bool>& may_move,
                                std::vector<std::size_t>& units) const;
  void ChooseAnew();
  [[nodiscard]] bool PlaceAll(const Assigner& assigner, const Assignment& assignment, bool most,
                              Wide best);
  [[nodiscard]] bool MakeRoomForAll();
  void Weigh(bool by_bytes);

  // Of plans tried: the best, as changes from the layout at `mark`.
  struct Best {
    std::optional<Standing> standing;
    std::vector<std::pair<std::size_t, Spot>> spots;
  };
  void Remember(Best& best, std::size_t mark);
  [[nodiscard]] bool Adopt(const Best& best, const Standing& before);

  const MemoryProblem& problem_;
  RepackOptions options_;
  const Algorithm algorithm_;  // Of most questions.
  const Model& model_;
  Budget& budget_;
  Asker asker_;
  Layout layout_;
  FewestMoves fewest_;
  std::vector<bool> locked_;
  std::vector<double> weight_;
  std::vector<double> quarter_;  // Of the most bytes of each unit.
  bool limited_;
  std::int64_t steps_left_ = kStageSteps;
  std::int64_t chain_left_ = 0;
  int asked_in_vain_ = 0;
  bool all_valid_ = true;  // The previous places were a plan.
  Wide bound_ = 0;
  Bytes moves_bound_ = 0;
  bool stopped_ = false;
  std::int64_t work_counted_ = 0;  // Of Layout::work().
  std::vector<Spot> kept_;         // The previous plan, or what could be kept of it.
};

// Polls the clock by what the layout has done. False once time is up.
bool Repacker::GoesOn() {
  const std::int64_t work = layout_.work() - work_counted_;
  work_counted_ += work;
  if (!budget_.SpendWork(kWorkOfMeeting * work + 1)) stopped_ = true;
  return !stopped_;
}

bool Repacker::Step() {
  if (!budget_.SpendNode() || !GoesOn()) stopped_ = true;
  return !stopped_ && --steps_left_ >= 0;
}

double Repacker::Density(std::size_t u) const {
  const Wide gain = layout_.ScoreAt(u, layout_.At(u)) - layout_.LeastScore(u);
  double area = 1;
  for (const Stay& stay : layout_.stays(u)) {
    area += static_cast<double>(stay.bytes) * static_cast<double>(stay.last - stay.first);
  }
  // High and low words apart: there are 128 bits on every target, but not their real numbers.
  const double worth = static_cast<double>(static_cast<std::int64_t>(gain >> 30)) * 1073741824.0;
  const Wide low = gain - ((gain >> 30) << 30);
  return (worth + static_cast<double>(static_cast<std::int64_t>(low))) / area;
}

// The units that could cost less, those that are worth the most for each byte and section first.
std::vector<std::size_t> Repacker::Wishes() const {
  std::vector<std::pair<double, std::size_t>> wishes;
  for (std::size_t u = 0; u < layout_.units(); ++u) {
    if (layout_.LeastScore(u) < layout_.ScoreAt(u, layout_.At(u)))
      wishes.emplace_back(-Density(u), u);
  }
  std::sort(wishes.begin(), wishes.end());
  std::vector<std::size_t> units;
  units.reserve(wishes.size());
  for (const auto& [density, u] : wishes) units.push_back(u);
  return units;
}

// What is where it was. If that is no plan, those that are worth the most keep their places.
void Repacker::KeepPrevious() {
  std::vector<std::size_t> order;
  for (std::size_t u = 0; u < layout_.units(); ++u) {
    const std::optional<Spot>& before = layout_.Before(u);
    if (!before) continue;
    // A group may have been torn.
    if (layout_.MovedAt(u, *before) > 0) all_valid_ = false;
    if (layout_.Allows(u, *before)) {
      order.push_back(u);
    } else {
      all_valid_ = false;
    }
  }
  const auto keep = [&](std::size_t u) {
    const std::size_t mark = layout_.Mark();
    // Once time is up the rest is left out.
    if (!GoesOn() || !layout_.IsFree(u, *layout_.Before(u))) return false;
    layout_.Move(u, *layout_.Before(u));
    if (MovesFew()) return true;
    layout_.UndoTo(mark);
    return false;
  };
  if (!std::all_of(order.begin(), order.end(), keep)) {
    all_valid_ = false;
    layout_.UndoTo(0);
    std::vector<std::pair<double, std::size_t>> by_worth;
    by_worth.reserve(order.size());
    for (const std::size_t u : order) by_worth.emplace_back(-Density(u), u);
    std::sort(by_worth.begin(), by_worth.end());
    for (const auto& [worth, u] : by_worth) static_cast<void>(keep(u));
  }
  layout_.Commit();
}

// Into a free hole at a score of at most `most`, in the cheapest memory that has one.
bool Repacker::PutIntoHole(std::size_t u, Wide most) {
  for (const Layout::Way& way : layout_.ways(u)) {
    if (Wide(way.least) > most) break;
    const std::optional<Spot> spot = layout_.FindHole(u, way, most);
    if (!spot) continue;
    const std::size_t mark = layout_.Mark();
    layout_.Move(u, *spot);
    if (MovesFew()) return true;
    layout_.UndoTo(mark);
  }
  return false;
}

void Repacker::FillHoles(const std::vector<std::size_t>& wishes) {
  for (const std::size_t u : wishes) {
    const Wide now = layout_.ScoreAt(u, layout_.At(u));
    if (layout_.LeastScore(u) >= now || !Step()) continue;
    static_cast<void>(PutIntoHole(u, now - Wide(1)));
  }
}

// How much it weighs if a unit is in the way: the bytes that have to move, or what is lost if it goes.
void Repacker::Weigh(bool by_bytes) {
  for (std::size_t v = 0; v < weight_.size(); ++v) {
    if (locked_[v]) {
      weight_[v] = kNever;
    } else if (by_bytes) {
      const Bytes moves = layout_.BytesBefore(v) - layout_.MovedAt(v, layout_.At(v));
      // Of two with the same bytes moved, the smaller finds another place more easily.
      weight_[v] = std::max(static_cast<double>(moves), quarter_[v]);
    } else {
      const Wide loss = layout_.BaseScore(v) - layout_.ScoreAt(v, layout_.At(v));
      weight_[v] =
          loss > Wide(kMaxCost) ? kNever : static_cast<double>(static_cast<std::int64_t>(loss));
    }
  }
}

// Gives `u`, which is out, a place at a score of at most `most`; what is there moves on, each at no
// more than its present score. The units of the chain are locked. False: nothing has changed.
bool Repacker::Insert(std::size_t u, Wide most, int depth) {
  if (--chain_left_ < 0 || !Step()) return false;
  if (PutIntoHole(u, most)) {
    locked_[u] = true;
    return true;
  }
  if (depth == 0) return false;
  std::vector<Candidacy> places;
  for (const Layout::Way& way : layout_.ways(u)) {
    if (Wide(way.least) > most) break;
    Weigh(true);
    layout_.FindPlaces(u, way, most, weight_, kPlaces[depth], places);
    for (const Candidacy& place : places) {
      if (PutAt(u, place.spot, depth)) return true;
    }
  }
  return false;
}

bool Repacker::PutAt(std::size_t u, const Spot& spot, int depth) {
  const std::size_t mark = layout_.Mark();
  std::vector<std::size_t> blockers;
  layout_.FindBlockers(u, spot, blockers);
  const std::vector<bool> locked = locked_;
  std::vector<std::pair<std::size_t, Wide>> waiting;
  for (const std::size_t v : blockers) {
    if (locked_[v]) return false;
    waiting.emplace_back(v, layout_.ScoreAt(v, layout_.At(v)));
  }
  for (const std::size_t v : blockers) layout_.Move(v, {});
  layout_.Move(u, spot);
  locked_[u] = true;
  const auto bytes = [&](std::size_t v) { return model_.tables.front().problem.buffers[v].size; };
  std::stable_sort(waiting.begin(), waiting.end(),
                   [&](const auto& a, const auto& b) { return bytes(a.first) > bytes(b.first); });
  bool done = MovesFew();
  for (const auto& [v, most] : waiting) {
    done = done && Insert(v, most, depth - 1);
    if (!done) break;
  }
  if (done) return true;
  layout_.UndoTo(mark);
  locked_ = locked;
  return false;
}

void Repacker::Remember(Best& best, std::size_t mark) {
  const Standing now = Now();
  if (best.standing && !(now < *best.standing)) return;
  best.standing = now;
  best.spots = layout_.ChangesSince(mark);
}

// The plan remembered, if it is better than that of `before`.
bool Repacker::Adopt(const Best& best, const Standing& before) {
  if (!best.standing || !(*best.standing < before)) return false;
  for (const auto& [u, spot] : best.spots) layout_.Move(u, {});
  for (const auto& [u, spot] : best.spots) layout_.Move(u, spot);
  layout_.Commit();
  return true;
}

// A place for `u` without loss for others, by chains: of all that work, the one of the least score,
// then the one that moves the least.
bool Repacker::MakeRoom(std::size_t u) {
  const Standing before = Now();
  const Wide now = layout_.ScoreAt(u, layout_.At(u));
  if (layout_.LeastScore(u) >= now) return false;
  chain_left_ = kChainSteps;
  const std::size_t mark = layout_.Mark();
  Best best;
  layout_.Move(u, {});
  for (const Layout::Way& way : layout_.ways(u)) {
    const Wide most = now - Wide(1);
    if (Wide(way.least) > most || best.standing) break;
    std::vector<Candidacy> places;
    std::fill(locked_.begin(), locked_.end(), false);
    Weigh(true);
    layout_.FindPlaces(u, way, most, weight_, kPlaces[kDepth], places);
    for (const Candidacy& place : places) {
      std::fill(locked_.begin(), locked_.end(), false);
      const std::size_t out = layout_.Mark();
      if (PutAt(u, place.spot, kDepth)) Remember(best, mark);
      layout_.UndoTo(out);
      if (chain_left_ < 0 || steps_left_ < 0 || stopped_) break;
    }
  }
  layout_.UndoTo(mark);
  std::fill(locked_.begin(), locked_.end(), false);
  return Adopt(best, before);
}

// Puts `u` at `spot`; what is there finds another place, a worse one, or none.
void Repacker::TryExchange(std::size_t u, const Spot& spot) {
  std::vector<std::size_t> blockers;
  layout_.FindBlockers(u, spot, blockers);
  std::vector<std::pair<std::size_t, Wide>> waiting;
  waiting.reserve(blockers.size());
  for (const std::size_t v : blockers) waiting.emplace_back(v, layout_.ScoreAt(v, layout_.At(v)));
  for (const std::size_t v : blockers) layout_.Move(v, {});
  layout_.Move(u, spot);
  locked_[u] = true;
  std::stable_sort(waiting.begin(), waiting.end(), [&](const auto& a, const auto& b) {
    return layout_.ScoreOut(a.first) - a.second > layout_.ScoreOut(b.first) - b.second;
  });
  for (const auto& [v, most] : waiting) {
    if (Insert(v, most, kExchangeDepth)) continue;
    if (PutIntoHole(v, layout_.ScoreOut(v) - Wide(1))) locked_[v] = true;
  }
}

// A place for `u` at the expense of what is worth less.
bool Repacker::Exchange(std::size_t u) {
  const Standing before = Now();
  const Wide now = layout_.ScoreAt(u, layout_.At(u));
  if (layout_.LeastScore(u) >= now) return false;
  const std::vector<std::size_t> wishes = Wishes();
  chain_left_ = kChainSteps;
  const std::size_t mark = layout_.Mark();
  Best best;
  layout_.Move(u, {});
  for (const Layout::Way& way : layout_.ways(u)) {
    const Wide most = now - Wide(1);
    if (Wide(way.least) > most) break;
    for (const bool by_bytes : {false, true}) {
      std::vector<Candidacy> places;
      std::fill(locked_.begin(), locked_.end(), false);
      Weigh(by_bytes);
      layout_.FindPlaces(u, way, most, weight_, kExchangePlaces, places);
      for (const Candidacy& place : places) {
        std::fill(locked_.begin(), locked_.end(), false);
        const std::size_t out = layout_.Mark();
        TryExchange(u, place.spot);
        // What has become free may be enough for others.
        if (layout_.ScoreOut(u) > layout_.ScoreAt(u, layout_.At(u))) {
          for (const std::size_t v : wishes) {
            if (v == u || !layout_.MayMeet(u, v)) continue;
            const Wide score = layout_.ScoreAt(v, layout_.At(v));
            if (layout_.LeastScore(v) >= score || !Step()) continue;
            static_cast<void>(PutIntoHole(v, score - Wide(1)));
          }
        }
        if (MovesFew()) Remember(best, mark);
        layout_.UndoTo(out);
        if (chain_left_ < 0 || steps_left_ < 0 || stopped_) break;
      }
      if (chain_left_ < 0 || steps_left_ < 0 || stopped_) break;
    }
  }
  layout_.UndoTo(mark);
  std::fill(locked_.begin(), locked_.end(), false);
  return Adopt(best, before);
}

// The table of a memory with one unit more; what may not move is pinned.
Problem Repacker::TableOf(int memory, std::size_t extra, const std::vector<bool>& may_move,
                          std::vector<std::size_t>& units) const {
  const auto m = static_cast<std::size_t>(memory);
  const std::vector<Buffer>& all = model_.tables[m].problem.buffers;
  Problem table;
  table.capacity = problem_.memories[m].capacity;
  units.clear();
  for (std::size_t u = 0; u < layout_.units(); ++u) {
    if (u != extra && layout_.At(u).memory != memory) continue;
    units.push_back(u);
    Buffer& buffer = table.buffers.emplace_back(all[u]);
    const auto way = std::find_if(layout_.ways(u).begin(), layout_.ways(u).end(),
                                  [&](const auto& each) { return each.memory == memory; });
    if (u != extra && (!may_move[u] || !way->free)) {
      buffer.offset = layout_.At(u).offset;
      continue;
    }
    if (!way->free) {
      buffer.offset = way->pins.front().first;
      continue;
    }
    const std::optional<Spot>& before = layout_.Before(u);
    const Bytes hint = before && before->memory == memory ? before->offset
                       : u != extra                       ? layout_.At(u).offset
                                                          : -1;
    if (hint >= 0 && hint <= kMaxBytes) buffer.hint = hint;
  }
  table.buffers.insert(table.buffers.end(),
                       all.begin() + static_cast<std::ptrdiff_t>(layout_.units()), all.end());
  return table;
}

bool Repacker::AskWith(std::size_t u, int memory, const std::vector<bool>& may_move) {
  const Standing before = Now();
  std::vector<std::size_t> units;
  const Problem table = TableOf(memory, u, may_move, units);
  std::vector<Bytes> offsets;
  if (asker_.Ask(table, {algorithm_, options_.place_nodes}, &offsets).fit != Fit::kYes)
    return false;
  const std::size_t mark = layout_.Mark();
  for (std::size_t k = 0; k < units.size(); ++k) {
    const Spot to{memory, offsets[k]};
    if (layout_.At(units[k]) != to) layout_.Move(units[k], to);
  }
  layout_.MoveBack([this] { return GoesOn(); });
  if (Now() < before && MovesFew()) {
    layout_.Commit();
    return true;
  }
  layout_.UndoTo(mark);
  return false;
}

// A place for `u` by Place(), where the sums leave room: with more and more units that may move.
bool Repacker::AskForRoom(std::size_t u) {
  if (options_.place_nodes <= 0) return false;
  const Wide now = layout_.ScoreAt(u, layout_.At(u));
  for (const Layout::Way& way : layout_.ways(u)) {
    if (Wide(way.least) >= now) break;
    if (way.memory == layout_.At(u).memory || !layout_.FitsBySum(u, way.memory)) continue;
    if (layout_.HasBank(u, way.memory)) continue;
    std::vector<bool> may_move(layout_.units(), false);
    if (options_.most_moved) {
      // Those in the way at the best places, and those live with them that are as small.
      std::vector<Candidacy> places;
      Weigh(true);
      layout_.FindPlaces(u, way, now - Wide(1), weight_, 3, places);
      std::vector<std::size_t> blockers;
      for (const Candidacy& place : places) {
        layout_.FindBlockers(u, place.spot, blockers);
        for (const std::size_t v : blockers) may_move[v] = true;
      }
      if (!stopped_ && AskWith(u, way.memory, may_move)) return true;
      for (std::size_t v = 0; v < may_move.size(); ++v) {
        if (layout_.BytesBefore(v) <= *options_.most_moved && layout_.MayMeet(u, v)) {
          may_move[v] = true;
        }
      }
      if (!stopped_ && AskWith(u, way.memory, may_move)) return true;
    }
    if (stopped_ || budget_.Exhausted()) return false;
    may_move.assign(layout_.units(), true);
    if (AskWith(u, way.memory, may_move)) return true;
    ++asked_in_vain_;
  }
  return false;
}

// Places the units of an assignment. Where they cannot be placed together, those that are beyond the end
// of the memory are out or, with `most`, as many as can be are placed. False: not all of them fit.
bool Repacker::PlaceAll(const Assigner& assigner, const Assignment& assignment, bool most,
                        Wide best) {
  Placed plan{assignment, std::vector<Bytes>(layout_.units(), 0)};
  std::vector<std::size_t> memories(model_.tables.size());
  std::iota(memories.begin(), memories.end(), std::size_t{0});
  // What finds no place has its base in a memory without a capacity, which comes last.
  std::stable_partition(memories.begin(), memories.end(),
                        [&](std::size_t m) { return problem_.memories[m].capacity.has_value(); });
  const bool any_algorithm = algorithm_ == Algorithm::kAuto;
  const std::array<Look, 2> looks = {
      {{algorithm_, kMostNodes}, {Algorithm::kGuided, kMostGuidedNodes}}};
  bool all_fit = true;
  for (const std::size_t m : memories) {
    const std::vector<std::size_t> units = UnitsIn(model_, m, plan.assignment);
    if (units.empty()) continue;
    const Problem table = asker_.TableOf(m, units, plan.assignment);
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / kTimesForAll;
    const std::int64_t nodes = kTimesForAll * std::min(options_.place_nodes, kMost);
    std::vector<Bytes> offsets;
    Asker::Answer answer = asker_.Ask(table, {algorithm_, nodes}, &offsets);
    if (answer.fit == Fit::kUnknown && any_algorithm) {
      // Better at tables without slack.
      std::vector<Bytes> others;
      answer = asker_.Ask(table, {Algorithm::kGuided, nodes}, &others);
      if (answer.fit == Fit::kYes) offsets = std::move(others);
    }
    all_fit = all_fit && answer.fit == Fit::kYes;
    if (answer.fit != Fit::kYes && (most || offsets.empty())) {
      const auto asked = std::span(looks).first(any_algorithm ? 2 : 1);
      static_cast<void>(asker_.PlaceMost(assigner, m, units, asked, best, kMostWork, plan));
      continue;
    }
    for (std::size_t k = 0; k < units.size(); ++k) {
      plan.offsets[units[k]] = offsets[k];
      const bool beyond = table.capacity && offsets[k] + table.buffers[k].size > *table.capacity;
      if (beyond) plan.assignment[units[k]] = assigner.BaseOf(units[k]);
    }
  }
  std::vector<Spot> spots(layout_.units());
  for (std::size_t u = 0; u < spots.size(); ++u) {
    if (plan.assignment[u] == kOut) continue;
    const Mode& mode = model_.units[u].modes[static_cast<std::size_t>(plan.assignment[u])];
    spots[u] = {static_cast<int>(mode.memory), plan.offsets[u]};
  }
  layout_.Restore(spots);
  return all_fit;
}

// The choice by sums of bytes (choose.h), whatever is placed now, and all of it placed anew. With less
// than the capacities what is chosen is easier to place; holes are filled later.
void Repacker::ChooseAnew() {
  // What is chosen and placed anew moves.
  if (options_.place_nodes <= 0 || options_.most_moved == Bytes{0}) return;
  Assigner assigner(problem_, model_);
  std::vector<Spot> spots = layout_.spots();
  Standing best = Now();
  for (const int percent : kPercent) {
    if (stopped_ || budget_.Exhausted()) break;
    steps_left_ = kStageSteps;
    const Selection& selection = assigner.Build(true, percent);
    const Chosen chosen = [&] {
      ChooseLimits limits;
      limits.width = kChooseWidth;
      Budget part(budget_, 1.0);
      part.SetNodeLimit(std::min(kChooseNodes, part.node_limit()));
      return Choose(selection, assigner.ProfitOf(layout_.score()), limits, part);
    }();
    if (percent == 100) bound_ = std::max(bound_, assigner.ScoreOfBound(chosen.bound));
    if (!chosen.choice) break;
    const bool all_fit =
        PlaceAll(assigner, assigner.FromChoice(*chosen.choice), percent == 100, best.score);
    layout_.MoveBack([this] { return GoesOn(); });
    FillHoles(Wishes());
    layout_.Commit();
    if (Now() < best && MovesFew()) {
      best = Now();
      spots = layout_.spots();
    } else {
      layout_.Restore(spots);
    }
    if (all_fit) break;
  }
  layout_.Restore(spots);
}

bool Repacker::MakeRoomForAll() {
  bool better = false;
  steps_left_ = kStageSteps;
  const std::vector<std::size_t> wishes = Wishes();
  asked_in_vain_ = 0;
  for (const std::size_t u : wishes) {
    if (stopped_ || steps_left_ < 0 || layout_.score() <= bound_) break;
    if (layout_.LeastScore(u) >= layout_.ScoreAt(u, layout_.At(u))) continue;
    better = MakeRoom(u) || (asked_in_vain_ < kMostAsked && AskForRoom(u)) || better;
  }
  return better;
}

// Whatever lowers the score from here.
void Repacker::Search() {
  bound_ = layout_.SumBound();
  FillHoles(Wishes());
  layout_.Commit();
  static_cast<void>(MakeRoomForAll());
  if (options_.exchange && !stopped_ && layout_.score() > bound_ && Wishes().size() > 1) {
    ChooseAnew();
    FillHoles(Wishes());
    layout_.Commit();
    static_cast<void>(MakeRoomForAll());
  }
  steps_left_ = kStageSteps;
  for (int round = 0; options_.exchange && round < kMostRounds; ++round) {
    bool better = false;
    for (const std::size_t u : Wishes()) {
      if (stopped_ || steps_left_ < 0 || layout_.score() <= bound_) break;
      better = Exchange(u) || better;
    }
    if (!better || stopped_) break;
  }
}

Placed Repacker::Improved(const Placed& from) {
  for (std::size_t u = 0; u < layout_.units(); ++u) {
    if (from.assignment[u] == kOut) continue;
    const Mode& mode = model_.units[u].modes[static_cast<std::size_t>(from.assignment[u])];
    layout_.Move(u, {static_cast<int>(mode.memory), from.offsets[u]});
  }
  layout_.Commit();
  Search();
  Placed plan{Assignment(layout_.units(), kOut), std::vector<Bytes>(layout_.units(), 0)};
  for (std::size_t u = 0; u < layout_.units(); ++u) {
    const Spot& spot = layout_.At(u);
    if (spot.memory == kOut) continue;
    // The cheapest mode that allows it.
    const std::vector<Mode>& modes = model_.units[u].modes;
    for (std::size_t k = 0; k < modes.size(); ++k) {
      if (static_cast<int>(modes[k].memory) != spot.memory) continue;
      if (modes[k].pin && modes[k].pin != spot.offset) continue;
      const int best = plan.assignment[u];
      if (best != kOut && modes[static_cast<std::size_t>(best)].cost <= modes[k].cost) continue;
      plan.assignment[u] = static_cast<int>(k);
    }
    BERTH_CHECK(plan.assignment[u] != kOut);
    plan.offsets[u] = spot.offset;
  }
  return plan;
}

void Repacker::Run() {
  KeepPrevious();
  for (std::size_t u = 0; u < layout_.units(); ++u) {
    kept_.push_back(layout_.At(u));
    // What costs less if it is left out.
    if (options_.exchange && layout_.ScoreOut(u) < layout_.ScoreAt(u, layout_.At(u))) {
      layout_.Move(u, {});
    }
  }
  layout_.Commit();
  if (budget_.cancelled()) return;
  fewest_.BoundBySums();
  Search();
  layout_.MoveBack([this] { return GoesOn(); });
  layout_.Commit();
  Wide least = 0;
  for (std::size_t u = 0; u < layout_.units(); ++u) least += layout_.LeastScore(u);
  if (layout_.score() != least) return;  // Others could be left out instead.
  if (all_valid_ && options_.place_nodes > 0) fewest_.Search(kept_);
  moves_bound_ = fewest_.bound();
}

void Repacker::Finish(PlanAnswer& answer) const {
  std::vector<Spot> spots;
  spots.reserve(layout_.units());
  for (std::size_t u = 0; u < layout_.units(); ++u) spots.push_back(layout_.At(u));
  MemoryPlan plan = PlanOf(problem_, model_, spots);
  const PlanCost stated = layout_.CostOfScore(layout_.score());
  BERTH_CHECK(plan.cost.unplaced == stated.unplaced && plan.cost.cost == stated.cost &&
              plan.cost.moved == layout_.moved());
  BERTH_CHECK(!options_.most_moved || plan.cost.moved <= *options_.most_moved);
  answer.cost_bound = layout_.CostOfScore(std::min(bound_, layout_.score()));
  answer.cost_bound.moved = std::min(moves_bound_, plan.cost.moved);
  Conclude(std::move(plan), bound_ >= layout_.score(), limited_, answer);
}

}  // namespace

Placed Improve(const MemoryProblem& problem, const PlaceOptions& place, const Model& model,
               const Placed& from, Budget& budget) {
  RepackOptions options;
  options.place = place;
  options.place.algorithm = Algorithm::kAuto;
  return Repacker(problem, options, model, budget).Improved(from);
}

}  // namespace internal::memories

Result<PlanAnswer> Repack(const MemoryProblem& problem, const RepackOptions& options,
                          Budget& budget) {
  namespace room = internal::memories;
  const auto begin = Budget::Clock::now();
  // Says what is wrong with the options, whether or not there will be anything to place.
  Budget none;
  static_cast<void>(BERTH_TRY(Place(Problem(), options.place, none)));
  if (options.most_moved && *options.most_moved < 0) {
    return Fail(ErrorCode::kInvalidOptions,
                "most_moved is " + std::to_string(*options.most_moved) + " but must be at least 0");
  }
  if (options.place_nodes < 0) {
    return Fail(
        ErrorCode::kInvalidOptions,
        "place_nodes is " + std::to_string(options.place_nodes) + " but must be at least 0");
  }
  const room::Model model = BERTH_TRY(room::Compile(problem));
  const std::int64_t nodes_before = budget.nodes_spent();
  room::Repacker repacker(problem, options, model, budget);
  repacker.Run();
  PlanAnswer answer;
  repacker.Finish(answer);
  room::StateSearch("repack", budget.nodes_spent() - nodes_before, begin, answer);
  return answer;
}

}  // namespace berth
