// schedule/question.h -- decides whether some order keeps the peak within a limit.
//
// Three methods alternate, with growing shares of work: the constraints that the limit implies
// (schedule/probe.h), which may contradict; beams; and best-first search in both directions. The
// last two work on the instance with these constraints added and reduced again. More constraints
// make both faster.
#ifndef BERTH_SCHEDULE_QUESTION_H_
#define BERTH_SCHEDULE_QUESTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "berth/budget.h"
#include "berth/schedule.h"
#include "schedule/best_first.h"
#include "schedule/instance.h"
#include "schedule/probe.h"
#include "schedule/reduce.h"

namespace berth::internal::schedule {

class Question {
 public:
  enum class Answer {
    kFound,       // order() keeps within the limit.
    kImpossible,  // No order does.
    kOpen,        // Not known yet.
  };

  // `instance` and `options` must outlive this. No order has a peak below `floor`.
  Question(const Instance& instance, const ExactOptions& options, Bytes floor, Bytes limit);

  // A known order, of any peak; saves work.
  void AddOrder(const std::vector<Op>& order) {
    if (prober_) prober_->AddOrder(order);
  }

  // Continues for about `work` units, using at most about `bytes` bytes of memory.
  Answer Advance(std::int64_t work, std::size_t bytes, SearchStats& stats, Budget& budget);
  void LowerLimit(Bytes limit);

  [[nodiscard]] const std::vector<Op>& order() const { return order_; }
  // Proved: no order has a lower peak. At most limit + 1.
  [[nodiscard]] Bytes lower_bound() const { return lower_bound_; }
  [[nodiscard]] Bytes limit() const { return limit_; }
  // No method can do more within the allowed memory.
  [[nodiscard]] bool exhausted() const { return exhausted_; }

 private:
  Answer Probe(std::int64_t work, SearchStats& stats, Budget& budget);
  Answer RunBeams(std::int64_t work, SearchStats& stats, Budget& budget);
  Answer RunBestFirst(std::int64_t work, std::size_t bytes, SearchStats& stats, Budget& budget);
  void Rebuild(Budget& budget);
  Answer Found(const std::vector<Op>& order, bool backwards);

  const Instance& instance_;
  const ExactOptions& options_;
  Bytes floor_, limit_;
  Bytes lower_bound_;
  std::optional<Prober> prober_;
  bool stable_ = false;
  bool first_turn_ = true;
  std::size_t built_with_ = ~std::size_t{0};  // Number of constraints in reduction_.
  Instance constrained_;
  Reduction reduction_;
  Instance backwards_;
  std::optional<BestFirst> search_[2];
  std::size_t width_ = 1;
  std::vector<Op> order_;
  bool exhausted_ = false;
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_QUESTION_H_
