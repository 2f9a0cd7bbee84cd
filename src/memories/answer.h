// memories/answer.h -- the end of PlaceInMemories() and Repack(): units at their places as an answer.
#ifndef BERTH_MEMORIES_ANSWER_H_
#define BERTH_MEMORIES_ANSWER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "memories/model.h"
#include "memories/selection.h"

namespace berth::internal::memories {

// Where a unit lies: the offset in the table of a memory.
struct Spot {
  int memory = kOut;
  Bytes offset = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};

// The plan with every unit at its spot (by unit), with all figures. It must be valid, which is checked.
[[nodiscard]] MemoryPlan PlanOf(const MemoryProblem& problem, const Model& model,
                                const std::vector<Spot>& spots);

// Makes `plan` the answer's; its cost_bound is set. `best`: nothing is left to find out, `limited`: a
// limit ended the search otherwise.
void Conclude(MemoryPlan plan, bool best, bool limited, PlanAnswer& answer);

// Says in `answer` which search it was (`algorithm`: a literal; it is not copied), with its nodes, and with the seconds since `begin`.
void StateSearch(std::string_view algorithm, std::int64_t nodes, Budget::Clock::time_point begin,
                 PlanAnswer& answer);

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_ANSWER_H_
