// place/niche/proof_log.h -- why the niche search failed, for a checker that does not trust it.
//
// What the search concludes of a level is a lemma: the buffers that are not placed and live in some
// sections R cannot be stacked on the ground of R. It follows from the branch of that level: each of
// its children fails by the load of a section, by a buffer that has no room, or by another lemma.
// docs/algorithms/proofs.md has the rules, and why they are sound.
//
// A lemma lives as long as something that may become part of the proof refers to it: a level of the
// path, the table of known states, or another lemma.
#ifndef BERTH_PLACE_NICHE_PROOF_LOG_H_
#define BERTH_PLACE_NICHE_PROOF_LOG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "model/instance.h"

namespace berth::internal::niche {

struct Lemma;
using LemmaPointer = std::shared_ptr<const Lemma>;

// Why a state fails.
struct Reason {
  enum class Kind : std::uint8_t {
    kLoad,  // Section `what`: its floor and its unplaced bytes exceed the capacity.
    kHigh,  // Buffer `what` would end above the capacity.
    kLemma,
  };
  // Where a lemma comes from.
  enum class Origin : std::uint8_t {
    kBelow,      // This state is the one that it was concluded of.
    kSkipped,    // Of a state in which more is placed, none of it in the sections of the lemma.
    kRemembered  // Of another state with the same floors.
  };
  Kind kind = Kind::kLoad;
  Origin origin = Origin::kBelow;
  std::int32_t what = 0;
  LemmaPointer lemma = {};
};

// One child of a branch: `buffer` on the floor, or (-1) nothing is.
struct ProofStep {
  std::int32_t buffer;
  Reason reason;
};

struct Lemma {
  Lemma() = default;
  Lemma(const Lemma&) = delete;
  Lemma& operator=(const Lemma&) = delete;
  ~Lemma();

  std::int64_t serial = 0;  // Grows in the order of conclusions.
  SectionIndex section;     // Of the branch.
  Bytes level = 0;          // What does not lie on the floor lies here or higher.
  // Bits of its sections, bits of the lanes that are placed, and the grounds of its sections in order.
  std::vector<Word> words;
  mutable std::vector<ProofStep> steps;  // The last owner takes them apart.
  std::size_t* memory = nullptr;         // To give the bytes back to.
  std::size_t bytes = 0;

  // For writing: how many steps refer to it, and its number if it has one.
  mutable std::int32_t uses = 0;
  mutable std::int64_t name = 0;
  mutable bool is_remembered = false;
};

// Everything that is logged at one capacity.
class ProofLog {
 public:
  struct Lane {
    std::int32_t buffer;
    SectionIndex first;
    SectionIndex last;
  };

  // Refuses to grow beyond `most_bytes`.
  explicit ProofLog(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  ProofLog(const ProofLog&) = delete;
  ProofLog& operator=(const ProofLog&) = delete;

  void SetLanes(std::vector<Lane> lanes, std::size_t num_sections);
  [[nodiscard]] bool is_full() const { return bytes_ > most_bytes_; }

  // The lemma without its sizes; takes the steps away from the caller.
  [[nodiscard]] LemmaPointer Add(std::shared_ptr<Lemma> lemma, std::span<ProofStep> steps);

  // Why there is no plan at all.
  void Conclude(Reason reason) { root_ = std::move(reason); }

  // Appends what the conclusion follows from, one line for each step; nothing that it does not need.
  void Write(std::string& text) const;

 private:
  struct Open {
    const Lemma* lemma;
    std::size_t next;
  };
  [[nodiscard]] std::vector<std::int32_t> SectionsOf(const Lemma& lemma) const;
  [[nodiscard]] std::vector<const Lemma*> FindNamed() const;
  void WriteLemma(const Lemma& lemma, std::string& text) const;
  void WriteTree(const Lemma& root, std::string& text) const;
  void WriteReason(const Reason& reason, std::string& text) const;

  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::int64_t last_serial_ = 0;
  std::vector<Lane> lanes_;
  std::size_t section_words_ = 0;
  Reason root_;
};

}  // namespace berth::internal::niche

#endif  // BERTH_PLACE_NICHE_PROOF_LOG_H_
