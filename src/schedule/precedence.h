// schedule/precedence.h -- a growing set of order constraints and their transitive closure.
#ifndef BERTH_SCHEDULE_PRECEDENCE_H_
#define BERTH_SCHEDULE_PRECEDENCE_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "schedule/instance.h"

namespace berth::internal::schedule {

class Precedence {
 public:
  explicit Precedence(const Instance& instance);

  // Requires `before` to run before `after`. Returns false if that makes a cycle; then this must
  // not be used any more. Cost: the operators on both sides times n / 64.
  [[nodiscard]] bool Add(Op before, Op after);

  [[nodiscard]] bool Precedes(Op a, Op b) const { return ancestors_.Test(b, a); }
  [[nodiscard]] const Word* Before(Op v) const { return ancestors_[v]; }
  [[nodiscard]] const Word* After(Op v) const { return descendants_[v]; }
  [[nodiscard]] std::size_t words() const { return ancestors_.words(); }
  [[nodiscard]] std::size_t num_ops() const { return predecessors_.size(); }
  // Direct predecessors: no edge is implied by the others.
  [[nodiscard]] const std::vector<Op>& predecessors(Op v) const { return predecessors_[v]; }
  // The added constraints, in order.
  [[nodiscard]] const std::vector<std::pair<Op, Op>>& added() const { return added_; }

 private:
  std::vector<std::vector<Op>> predecessors_;
  BitMatrix ancestors_, descendants_;
  std::vector<std::pair<Op, Op>> added_;
  std::vector<Word> upper_, lower_;
};

// `instance` with all constraints of `precedence`, without implied edges.
[[nodiscard]] Instance WithPrecedence(const Instance& instance, const Precedence& precedence);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_PRECEDENCE_H_
