// schedule/precedence.h -- order constraints that grow, with what they imply.
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

  // `before` runs before `after`. False if that makes a cycle; then nothing may be asked any more.
  // Cost: the operators on both sides times n / 64.
  [[nodiscard]] bool Add(Op before, Op after);

  [[nodiscard]] bool Precedes(Op a, Op b) const { return ancestors_.Test(b, a); }
  [[nodiscard]] const Word* Before(Op v) const { return ancestors_[v]; }
  [[nodiscard]] const Word* After(Op v) const { return descendants_[v]; }
  [[nodiscard]] std::size_t words() const { return ancestors_.words(); }
  [[nodiscard]] std::size_t num_ops() const { return predecessors_.size(); }
  // Edges that imply all others.
  [[nodiscard]] const std::vector<Op>& predecessors(Op v) const { return predecessors_[v]; }
  // Those added, in sequence.
  [[nodiscard]] const std::vector<std::pair<Op, Op>>& added() const { return added_; }

 private:
  std::vector<std::vector<Op>> predecessors_;
  BitMatrix ancestors_, descendants_;
  std::vector<std::pair<Op, Op>> added_;
  std::vector<Word> upper_, lower_;
};

// `instance` with all constraints of `precedence`, and no edge that others imply.
[[nodiscard]] Instance WithPrecedence(const Instance& instance, const Precedence& precedence);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_PRECEDENCE_H_
