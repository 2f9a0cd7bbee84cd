// recompute/sequence.h -- a sequence of executions, and what it needs.
//
// A sequence runs every operator at least once. It decides everything else: a storage is in memory from
// each time that it is made through its last use before it is made again.
//
//   sequence   A B C D B E     E uses b: the b that the second B has made.
//   b            +---+ +-+
//
// With a link a sequence also has returns from off chip (Model::ReturnOf()), which take no step: the
// storage is copied back before the operator that comes next, in the version that its next user finds.
// Where the store does not have this version, the latest stay that ended with it is written out at its
// end: any since the return before, as the store holds one version of each storage. Given storages are
// off chip until their first use, and results at the end.
#ifndef BERTH_RECOMPUTE_SEQUENCE_H_
#define BERTH_RECOMPUTE_SEQUENCE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/answer.h"
#include "recompute/model.h"

namespace berth::internal::recompute {

using Sequence = std::vector<Op>;

// Sequences that cost more count as not valid: sums of costs must not overflow.
inline constexpr std::int64_t kMostCost = std::int64_t{1} << 61;
// Bytes of stays count up to here; those of a plan may not exceed 2^60.
inline constexpr Bytes kMostStays = Bytes{1} << 61;

struct Measure {
  bool valid = false;     // Every execution finds the versions that it needs.
  std::int64_t cost = 0;  // Of all executions after the first of each operator, and of copies.
  Bytes peak = 0;
  std::size_t peak_at = 0;  // The position in the sequence of an operator at the peak.
  Bytes excess = 0;         // Sum over the steps of the bytes above the capacity, at most 2^62.
  Bytes stays = 0;          // Of all stays, with alignments, at most kMostStays.
  [[nodiscard]] bool fits() const { return valid && excess == 0 && stays <= kMaxBytes; }
};

// What is off chip of one storage, and what could be.
class Copies {
 public:
  Copies() = default;
  explicit Copies(const StorageInfo& info) : copy_(info.given ? 0 : kMakes) {}
  // A stay has ended with `version`.
  void End(std::int32_t version) {
    latest_ = version;
    if (version < kBits) ended_ |= std::uint64_t{1} << version;
  }
  // Whether `version` is off chip, or can be by writing out a stay that has ended.
  [[nodiscard]] bool Has(std::int32_t version) const {
    return copy_ == version || latest_ == version ||
           (version >= 0 && version < kBits && (ended_ >> version & 1) != 0);
  }
  // Brings `version` back, of which Has() is true: what that costs. `writes`: a stay is written out.
  std::int64_t Retrieve(const StorageInfo& info, std::int32_t version, bool* writes = nullptr);
  // At the end: what it costs that the last version of a result is off chip.
  std::int64_t Store(const StorageInfo& info, bool* writes = nullptr);
  // The last version of a result was written out, which is free the first time.
  [[nodiscard]] bool stored() const { return stored_; }

 private:
  static constexpr std::int32_t kBits = 64;
  std::int64_t Write(const StorageInfo& info, std::int32_t version, bool* writes);

  std::int32_t copy_ = kMakes;    // The version off chip, or kMakes.
  std::int32_t latest_ = kMakes;  // With which stays ended since the latest return: the last,
  std::uint64_t ended_ = 0;       // and a bit for each small one.
  bool stored_ = false;
};

// One storage along a sequence: what is in memory of it, since when, and what is off chip. Moments are
// numbers of the caller's choice; stays end with `ended(begin, last)`. What returns false makes the
// sequence invalid.
class Track {
 public:
  Track(const Model& model, Storage s, std::uint32_t begin)
      : info_(&model.storages[s]),
        copies_(model.MayCopy(s)),
        begin_(begin),
        version_(info_->given ? 0 : kMakes),
        untouched_(info_->given && copies_),
        off_chip_(*info_) {}

  // An operator runs.
  template <typename Ended>
  [[nodiscard]] bool Touched(const Touch& touch, std::uint32_t at, std::int64_t& cost,
                             Ended ended) {
    if (returns_) {
      if (touch.finds == kMakes || !off_chip_.Has(touch.finds)) return false;
      cost += off_chip_.Retrieve(*info_, touch.finds);
      returns_ = false;
      begin_ = at;
    } else if (touch.finds == kMakes) {
      if (version_ != kMakes) End(ended);
      begin_ = at;
    } else if (version_ != touch.finds) {
      return false;
    } else if (untouched_) {
      begin_ = at;
    }
    untouched_ = false;
    version_ = touch.leaves;
    last_ = at;
    return cost <= kMostCost;
  }

  // It comes back for its next use.
  template <typename Ended>
  [[nodiscard]] bool Return(Ended ended) {
    if (!copies_ || returns_ || untouched_ || version_ == kMakes) return false;
    End(ended);
    returns_ = true;
    return true;
  }

  // The sequence ends. A result that cannot be copied stays until `end`.
  template <typename Ended>
  [[nodiscard]] bool Finish(std::uint32_t end, std::int64_t& cost, Ended ended) {
    if (returns_) return false;
    if (version_ == kMakes || untouched_) return true;
    if (info_->result && !copies_) {
      if (version_ != info_->last) return false;
      last_ = end;
    }
    End(ended);
    if (!info_->result || !copies_) return true;
    if (!off_chip_.Has(info_->last)) return false;
    cost += off_chip_.Store(*info_);
    return cost <= kMostCost;
  }

 private:
  template <typename Ended>
  void End(Ended ended) {
    ended(begin_, last_);
    off_chip_.End(version_);
  }

  const StorageInfo* info_;
  bool copies_;
  std::uint32_t begin_;            // Of the stay.
  std::uint32_t last_ = 0;         // Use.
  std::int32_t version_ = kMakes;  // In memory; kMakes: nothing.
  bool untouched_;                 // Given, and still off chip.
  bool returns_ = false;           // For its next use.
  Copies off_chip_;
};

// Measures sequences of one model. Cost of each: linear in what their executions touch.
class Measurer {
 public:
  Measurer(const Model& model, Bytes capacity);

  // First executions must be in a valid order; the rest is checked.
  [[nodiscard]] Measure Of(const Sequence& sequence);
  // By step, of the latest sequence measured, which was valid.
  [[nodiscard]] const std::vector<Bytes>& load() const { return load_; }

 private:
  void FindPeak(Measure& measure);

  const Model& model_;
  const Bytes capacity_;
  std::vector<Track> initial_;  // By storage.
  std::vector<Track> tracks_;
  std::vector<std::uint32_t> ran_;  // By operator: the number of the sequence that ran it last.
  std::uint32_t number_ = 0;
  std::vector<Bytes> load_;
  std::vector<std::size_t> position_;  // By step.
};

// The plan without addresses, figures of memories and traffic. `sequence` must be valid.
[[nodiscard]] MemoryPlan PlanOf(const Model& model, const Sequence& sequence);

// The sequence of a valid plan, with spills or repeats or both, of the graph of `model`. It needs no
// more memory and no more copies; what comes in needs a model with a link.
[[nodiscard]] Sequence SequenceOf(const Model& model, const MemoryPlan& plan);

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_SEQUENCE_H_
