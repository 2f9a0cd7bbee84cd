// memories/asking.h -- questions to Place(): whether some units can be in a memory together, and how many.
#ifndef BERTH_MEMORIES_ASKING_H_
#define BERTH_MEMORIES_ASKING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/wide.h"
#include "berth/budget.h"
#include "berth/memories.h"
#include "berth/place.h"
#include "memories/assign.h"
#include "memories/fit.h"
#include "memories/model.h"

namespace berth::internal::memories {

enum class Fit { kYes, kNo, kUnknown };

// How a question is asked; one after another until there is an answer.
struct Look {
  Algorithm algorithm = Algorithm::kAuto;
  std::int64_t nodes = 0;
};

class Asker {
 public:
  struct Answer {
    Fit fit = Fit::kUnknown;
    std::int64_t nodes = 0;  // That it took.
    // kNo: the buffers of the table that cannot be placed by themselves, as far as the proof tells.
    std::optional<std::vector<std::size_t>> core;
  };

  // `cores`: proofs name what they need.
  Asker(const MemoryProblem& problem, const Model& model, const PlaceOptions& options, bool cores,
        Budget& budget);

  // The units first, in order, with their previous places as hints; then the reserved ranges.
  [[nodiscard]] Problem TableOf(std::size_t memory, const std::vector<std::size_t>& units,
                                const Assignment& assignment) const;
  // `offsets`: of a plan, higher than the memory where it does not fit; empty if there is none. An
  // algorithm that does not know gaps, or pins, cannot say anything of a table that has some.
  [[nodiscard]] Answer Ask(const Problem& table, const Look& look, std::vector<Bytes>* offsets);

  // Of units that cannot be placed together, or are not known to: as many as can, those that are worth
  // the most for the root of their bytes and steps first, some at a time. The others get their base.
  // Ends as soon as what is left cannot be better than `best`, or after `most_work`, nodes times units (those of
  // the guided search tenfold); the rest gets its base, too.
  // Returns the units that were in the first memory when one more did not fit, and that one.
  [[nodiscard]] std::vector<std::size_t> PlaceMost(const Assigner& assigner, std::size_t memory,
                                                   const std::vector<std::size_t>& units,
                                                   std::span<const Look> looks, Wide best,
                                                   std::int64_t most_work, Placed& plan);

 private:
  const MemoryProblem& problem_;
  const Model& model_;
  PlaceOptions options_;
  const bool cores_;
  Budget& budget_;
};

// The units that are in a memory.
[[nodiscard]] std::vector<std::size_t> UnitsIn(const Model& model, std::size_t memory,
                                               const Assignment& assignment);

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_ASKING_H_
