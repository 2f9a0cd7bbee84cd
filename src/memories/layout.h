// memories/layout.h -- where the units of a Model are, to be changed step by step and back.
//
// Two units that meet in time may not lie at all distances from each other. So for a unit that is to
// be placed, every other one in the memory excludes an interval of offsets:
//
//   offsets of u   0        a.lower       a.upper    b.lower   b.upper
//                  |-- free --(xxxx in the way: a xxxx)-- free --(xx b xx)-- free --|
//
// A Layout keeps these intervals for each unit that is asked for, relative to the others' offsets. A
// question then costs as much as the unit has neighbours in time.
#ifndef BERTH_MEMORIES_LAYOUT_H_
#define BERTH_MEMORIES_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "memories/answer.h"
#include "memories/model.h"
#include "memories/selection.h"
#include "model/instance.h"

namespace berth::internal::memories {

// A place for a unit, and what those in the way weigh together.
struct Candidacy {
  Spot spot;
  double weight = 0;
};

class Layout {
 public:
  // A memory that a unit may be in.
  struct Way {
    int memory = 0;
    std::int64_t least = 0;                            // Of the costs of its modes.
    std::optional<std::int64_t> free = {};             // At any offset.
    std::vector<std::pair<Bytes, std::int64_t>> pins;  // Offset and cost.
  };

  // All units are out.
  Layout(const MemoryProblem& problem, const Model& model);

  [[nodiscard]] std::size_t units() const { return spots_.size(); }
  [[nodiscard]] const Spot& At(std::size_t u) const { return spots_[u]; }
  [[nodiscard]] bool IsOut(std::size_t u) const { return spots_[u].memory == kOut; }
  [[nodiscard]] const std::vector<Way>& ways(std::size_t u) const { return ways_[u]; }

  // Scores as in Assigner: unplaced buffers first, then costs; the less the better.
  [[nodiscard]] Wide score() const { return score_; }
  [[nodiscard]] Wide ScoreAt(std::size_t u, const Spot& spot) const;
  [[nodiscard]] Wide ScoreOut(std::size_t u) const { return score_out_[u]; }
  // The least that the unit can cost, whatever else there is.
  [[nodiscard]] Wide LeastScore(std::size_t u) const { return least_score_[u]; }
  [[nodiscard]] PlanCost CostOfScore(Wide score) const;
  [[nodiscard]] Wide BaseScore(std::size_t u) const { return base_score_[u]; }

  [[nodiscard]] Bytes moved() const { return moved_; }
  [[nodiscard]] Bytes MovedAt(std::size_t u, const Spot& spot) const;
  // Where its first buffer with a previous place was.
  [[nodiscard]] const std::optional<Spot>& Before(std::size_t u) const { return before_[u]; }
  // Bytes that move if the unit is placed, but not there.
  [[nodiscard]] Bytes BytesBefore(std::size_t u) const { return bytes_before_[u]; }

  // By itself: a mode allows it, and no reserved range is in the way.
  [[nodiscard]] bool Allows(std::size_t u, const Spot& spot) const;
  // The units in the way, in order.
  void FindBlockers(std::size_t u, const Spot& spot, std::vector<std::size_t>& blockers);
  [[nodiscard]] bool IsFree(std::size_t u, const Spot& spot);
  // The previous place, if it is free; otherwise the tightest hole. At a score of at most `most`.
  [[nodiscard]] std::optional<Spot> FindHole(std::size_t u, const Way& way, Wide most);

  // The `count` places of the least weight, at a score of at most `most`; weight[v] is that of unit v.
  // A unit of infinite weight is never in the way. Places are 0, the end of the memory, and the ends
  // of intervals: of all places none has less weight than the first.
  void FindPlaces(std::size_t u, const Way& way, Wide most, const std::vector<double>& weight,
                  std::size_t count, std::vector<Candidacy>& places);

  // What was kept to answer questions about the unit.
  void Forget(std::size_t u) {
    std::vector<Meeting>().swap(meetings_[u]);
    met_[u] = false;
  }

  // Whether the units of the memory and this one fit by sum.
  [[nodiscard]] bool FitsBySum(std::size_t u, int memory) const;

  // Whether the units are ever live at the same time, or could be.
  [[nodiscard]] bool MayMeet(std::size_t u, std::size_t v) const {
    return !pieces_[u].empty() && !pieces_[v].empty() &&
           pieces_[u].front().start < pieces_[v].back().end &&
           pieces_[v].front().start < pieces_[u].back().end;
  }
  // Whether a unit is in the memory that `u` may not be together with.
  [[nodiscard]] bool HasBank(std::size_t u, int memory) const;

  // Changes, and how to undo them.
  void Move(std::size_t u, const Spot& to);
  [[nodiscard]] std::size_t Mark() const { return trail_.size(); }
  void UndoTo(std::size_t mark);
  // Where the units changed since then are now; each once.
  [[nodiscard]] std::vector<std::pair<std::size_t, Spot>> ChangesSince(std::size_t mark) const;
  // The changes are there to stay.
  void Commit() { trail_.clear(); }
  // All of them, to be restored; what has changed since is there to stay.
  [[nodiscard]] const std::vector<Spot>& spots() const { return spots_; }
  void Restore(const std::vector<Spot>& spots);
  // Units return to where they were, the largest first, as far as their bytes are free and they cost no
  // more there. Only as long as `goes_on`.
  void MoveBack(const std::function<bool()>& goes_on);

  // What the sums of bytes alone prove: no assignment has a lower score. Adds up sections that share
  // no unit. Cost: O(n) for each section.
  [[nodiscard]] Wide SumBound() const;

  [[nodiscard]] const std::vector<Stay>& stays(std::size_t u) const { return stays_[u]; }
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  struct Meeting {
    std::size_t other;
    Bytes lower;  // This unit's offset less the other's is not strictly between these.
    Bytes upper;
  };
  struct Change {
    std::size_t unit;
    Spot from;
  };
  struct Edge {
    Bytes at;
    double weight;
    int hard;  // 1: of an obstacle that is never to be moved.
  };

  // Valid until the next call.
  [[nodiscard]] const std::vector<Meeting>& MeetingsOf(std::size_t u);
  void IndexLifetimes();
  void FindLiveWith(std::size_t u, std::vector<std::size_t>& found);
  [[nodiscard]] Bytes Highest(std::size_t u, int memory) const;
  [[nodiscard]] const Buffer& BufferIn(std::size_t u, int memory) const {
    return model_.tables[static_cast<std::size_t>(memory)].problem.buffers[u];
  }
  void FindReserved(std::size_t u, int memory, std::vector<std::pair<Bytes, Bytes>>& taken) const;
  void AddLoad(std::size_t u, int memory, Bytes sign);
  void AddUnit(std::size_t u);
  void FindEdges(std::size_t u, int memory, const std::vector<double>& weight);
  void WeighPlaces(double everywhere, std::vector<Candidacy>& places);
  [[nodiscard]] std::vector<Wide> RoomWithCapacity() const;

  const MemoryProblem& problem_;
  const Model& model_;
  std::vector<std::vector<LivePiece>> pieces_;   // By unit.
  std::vector<std::vector<LivePiece>> kept_;     // By memory: of the reserved ranges.
  std::vector<std::vector<Way>> ways_;           // By unit, the cheapest first.
  std::vector<std::vector<std::size_t>> banks_;  // By unit: those that must be in other memories.
  std::vector<std::vector<Meeting>> meetings_;   // By unit, as far as `met_`.
  std::vector<bool> met_;
  std::size_t all_met_ = 0;            // Meetings kept.
  std::vector<std::size_t> by_start_;  // Units with pieces.
  std::vector<Step> latest_;  // The latest end of `by_start_`, as a tree: of i, of 2 i and 2 i + 1.
  std::vector<Wide> score_out_;
  std::vector<Wide> least_score_;
  std::vector<Wide> base_score_;  // Out, or in a memory without a capacity.
  Wide unplaced_ = 0;
  std::vector<std::optional<Spot>> before_;
  std::vector<Bytes> bytes_before_;
  std::vector<std::vector<Stay>> stays_;  // By unit, in sections of time.
  std::size_t sections_ = 0;
  std::vector<std::vector<Bytes>> room_;  // By memory, then section: bytes left by sum.
  std::vector<std::vector<Bytes>> all_room_;

  std::vector<Spot> spots_;
  std::vector<Change> trail_;
  Wide score_ = 0;
  Bytes moved_ = 0;
  std::int64_t work_ = 0;

  // For questions; here, so that they need no new memory.
  std::vector<std::pair<Bytes, Bytes>> taken_;
  std::vector<std::size_t> live_;
  std::vector<Edge> begins_;
  std::vector<Edge> ends_;
};

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_LAYOUT_H_
