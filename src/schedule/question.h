// schedule/question.h -- is there an order whose peak keeps to a limit?
//
// Three ways to answer take turns, each with its share of the work, shares growing: constraints
// that the limit implies (schedule/probe.h), which may contradict; beams; and best-first search in
// both directions. The last two work on what is left when the constraints have been added and the
// operators that then have an obvious place removed. More constraints make both faster.
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
    kFound,       // order() keeps to the limit.
    kImpossible,  // No order does.
    kOpen,        // Not known yet.
  };

  // `instance` and `options` must outlive this. No order has a peak below `floor`.
  Question(const Instance& instance, const ExactOptions& options, Bytes floor, Bytes limit);

  // A known order, to save work: of any peak.
  void AddOrder(const std::vector<Op>& order) {
    if (prober_) prober_->AddOrder(order);
  }

  // Goes on for about as much `work`.
  Answer Advance(std::int64_t work, std::size_t bytes, SearchStats& stats, Budget& budget);
  void LowerLimit(Bytes limit);

  [[nodiscard]] const std::vector<Op>& order() const { return order_; }
  // Proved: no order has a lower peak. At most limit + 1.
  [[nodiscard]] Bytes lower_bound() const { return lower_bound_; }
  [[nodiscard]] Bytes limit() const { return limit_; }
  // Nothing is left that could be done within the memory allowed.
  [[nodiscard]] bool exhausted() const { return exhausted_; }

 private:
  Answer Probe(std::int64_t work, SearchStats& stats, Budget& budget);
  Answer RunBeams(std::int64_t work, SearchStats& stats, Budget& budget);
  Answer RunBestFirst(std::int64_t work, std::size_t bytes, SearchStats& stats, Budget& budget);
  void Rebuild();
  Answer Found(const std::vector<Op>& order, bool backwards);

  const Instance& instance_;
  const ExactOptions& options_;
  Bytes floor_, limit_;
  Bytes lower_bound_;
  std::optional<Prober> prober_;
  bool stable_ = false;
  bool first_turn_ = true;
  std::size_t built_with_ = ~std::size_t{0};  // Constraints that reduction_ has.
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
