// baselines/telamalloc/policy.h -- which block next: TelaMalloc's candidates, phases and parts.
//
// A part is a range of time that no buffer crosses the borders of; parts are independent of
// each other (TelaMalloc 5.3). Within a part, phases of high contention come first:
//
//     load
//     100 % |      ##                     Blocks that are live where the load reaches 100 % of the
//      90 % |      ##       #             capacity are one phase for each such range of time; of
//      80 % |     ####      ##            the rest, those where it reaches 90 % are the next
//      70 % |  ######## #  ####           phases, and so on (Figure 9).
//           +---------------------> time
//
// At a decision point the candidates are the longest lived, the largest and the largest block in
// size times lifetime: of the phase of the last block, then of the other phases in order. Nothing
// is sorted or searched during the search: each phase has its blocks in three orders and records
// how far each is used up, with a trail to go back.
#ifndef BERTH_BASELINES_TELAMALLOC_POLICY_H_
#define BERTH_BASELINES_TELAMALLOC_POLICY_H_

#include <array>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "baselines/telamalloc/options.h"
#include "berth/place.h"
#include "model/instance.h"
#include "place/learning/engine.h"
#include "place/learning/options.h"

namespace berth::internal {

class Policy {
 public:
  using Block = learning::Engine::Buffer;
  static constexpr Block kNoBlock = -1;

  // `instance` must outlive the policy.
  Policy(const Instance& instance, const TelaMallocOptions& options);

  // Phases depend on the capacity. All blocks are unplaced again.
  void Start(Bytes capacity);

  [[nodiscard]] std::int32_t num_parts() const {
    return static_cast<std::int32_t>(part_begin_.size()) - 1;
  }
  // Goes on with another part. All of the parts before are placed.
  void BeginPart(std::int32_t part);
  [[nodiscard]] std::int32_t num_unplaced() const { return num_unplaced_; }

  // A decision point's place in its sequence of candidates.
  struct Cursor {
    std::int32_t phase = kPresent;  // kPresent, then all phases in order.
    std::int32_t next = 0;          // Of the three candidates; of all blocks for one strategy.
  };
  // The next candidate after `last_phase`, the phase of the block before (-1: none), or kNoBlock.
  // May give blocks again that it has given before at the same decision point.
  [[nodiscard]] Block Next(Cursor& cursor, std::int32_t last_phase);
  // The phase that Next() begins with after `last_phase`; -1: all is placed.
  [[nodiscard]] std::int32_t PresentPhase(std::int32_t last_phase);
  // The first unplaced block of a phase by lifetime, size and area, in this order; kNoBlock for all
  // of them: there is none.
  static constexpr std::size_t kOrders = 3;
  [[nodiscard]] std::array<Block, kOrders> FirstOf(std::int32_t phase);
  // The unplaced block that can lie lowest, after those that can lie lower or of the same lowest
  // position come earlier: (lowest, rank) > `after`.
  struct LowRank {
    Bytes lowest = -1;
    std::int32_t rank = -1;
    friend auto operator<=>(const LowRank&, const LowRank&) = default;
  };
  [[nodiscard]] Block NextLowest(const learning::Engine& engine, LowRank& after) const;
  // Until the next Start(): NextLowest() ranks by one of the three orders, each time another, with
  // random factors of up to 1.5.
  void DisturbLowest(Random& random);
  [[nodiscard]] bool is_placed(Block b) const { return is_placed_[static_cast<std::size_t>(b)]; }
  [[nodiscard]] std::int32_t phase_of(Block b) const {
    return phase_of_[static_cast<std::size_t>(b)];
  }
  [[nodiscard]] Bytes contention(Block b) const { return contention_[static_cast<std::size_t>(b)]; }
  void Place(Block b);
  // Takes back the last Place().
  void Undo();

  // For tests: the blocks of each phase of each part.
  [[nodiscard]] std::vector<std::vector<Block>> Phases() const;

 private:
  static constexpr std::int32_t kPresent = -1;

  struct Phase {
    std::int32_t begin;  // Of its blocks in each of orders_.
    std::int32_t end;
  };
  struct Change {
    std::int32_t* where;
    std::int32_t old;
  };

  [[nodiscard]] double Measure(Block b, std::size_t order) const;
  void MakeParts();
  void MakePhases(std::int32_t part);
  [[nodiscard]] Block First(std::int32_t phase, std::size_t order);
  void Set(std::int32_t& where, std::int32_t value);

  const Instance& instance_;
  const TelaMallocOptions options_;
  Bytes capacity_ = 0;

  std::vector<Bytes> contention_;
  std::array<std::vector<std::int32_t>, kOrders> rank_;  // By block.
  std::vector<std::int32_t> low_rank_;                   // The same, for NextLowest().
  std::vector<Block> blocks_;                            // By part.
  std::vector<std::int32_t> part_begin_;
  std::vector<std::int32_t> phase_of_;
  std::vector<Phase> phases_;
  std::vector<std::int32_t> part_phase_begin_;
  std::array<std::vector<Block>, kOrders> orders_;
  std::array<std::vector<std::int32_t>, kOrders> used_;  // By phase: blocks before are placed.

  std::int32_t part_ = 0;
  std::int32_t first_phase_ = 0;  // Those before it are used up.
  std::int32_t num_unplaced_ = 0;
  std::vector<std::uint8_t> is_placed_;
  std::vector<Block> placed_;
  std::vector<Change> changes_;
  std::vector<std::size_t> marks_;
};

}  // namespace berth::internal

#endif  // BERTH_BASELINES_TELAMALLOC_POLICY_H_
