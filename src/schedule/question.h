// schedule/question.h -- decides whether some order keeps the peak within a limit.
//
// Three methods alternate, with growing shares of work: the constraints that the limit implies
// (schedule/probe.h), which may contradict; beams; and best-first search in both directions. The
// last two work on the instance with these constraints added and reduced again. More constraints
// make both faster.
//
// A turn has a stage for each of these. The beams of a turn, and the two directions, know nothing of each
// other, so those of a stage may run at the same time, for several questions together. Probing looks at several
// operators at the same time.
#ifndef BERTH_SCHEDULE_QUESTION_H_
#define BERTH_SCHEDULE_QUESTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/side_by_side.h"
#include "berth/budget.h"
#include "berth/schedule.h"
#include "schedule/beam.h"
#include "schedule/best_first.h"
#include "schedule/instance.h"
#include "schedule/precedence.h"
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

  // Asks for an order of least peak within the limit. `instance` and `options` must outlive this. No order has a
  // peak below `floor`.
  Question(const Instance& instance, const ExactOptions& options, Bytes floor, Bytes limit);
  // Asks for any order within the limit, by states and constraints alone. Steps within the limit cost nothing then:
  // states are seen depth first, and dominance is strongest. Proofs of orders look at states in the same way
  // (schedule/state_log.h). `implied`: constraints that the limit is known to imply, at least those of the instance.
  Question(const Instance& instance, const ExactOptions& options, Bytes limit, Precedence implied);

  // A known order, of any peak; saves work.
  void AddOrder(const std::vector<Op>& order) {
    if (prober_) prober_->AddOrder(order);
  }

  enum class Stage { kProbing, kBeams, kBestFirst };
  static constexpr std::array kStages = {Stage::kProbing, Stage::kBeams, Stage::kBestFirst};

  // The tasks of a stage in a turn of about `work` units, the same number for all questions with the same
  // options; or 0.
  [[nodiscard]] std::size_t NumTasks(Stage stage, std::int64_t work) const;
  // Without these nodes a task of the stage may have done its work for nothing; the others go on later.
  [[nodiscard]] std::int64_t NodesOfTask(Stage stage) const {
    return stage == Stage::kBeams ? static_cast<std::int64_t>(width_ * instance_.num_ops) : 0;
  }
  // Of a task.
  struct Effort {
    std::int64_t work = 0;  // Units of a few nanoseconds.
    std::size_t bytes = 0;  // Of memory for the states of each search, about.
    int threads = 1;        // The result does not depend on it.
  };
  // Runs the first stage, or task `k` of a later one, which may run at the same time as the other tasks of
  // the stage.
  AfterTask RunTask(Stage stage, std::size_t k, const Effort& effort, Budget& budget);
  // Once a stage has ended: what the first `counted` of its tasks have found.
  Answer EndStage(Stage stage, std::size_t counted, std::size_t bytes, SearchStats& stats);
  // Of a question for an order of least peak.
  void LowerLimit(Bytes limit);

  [[nodiscard]] const std::vector<Op>& order() const { return order_; }
  // Proved: no order has a lower peak. At most limit + 1.
  [[nodiscard]] Bytes lower_bound() const { return lower_bound_; }
  [[nodiscard]] Bytes limit() const { return limit_; }
  // Of probing and states so far, in units of a few nanoseconds.
  [[nodiscard]] std::int64_t work() const { return work_; }
  // What the limit implies, as far as it is known; null without probing.
  [[nodiscard]] const Precedence* implied() const {
    return prober_ ? &prober_->precedence() : nullptr;
  }
  // The limit implies no more than that, and no contradiction.
  [[nodiscard]] bool is_consistent() const { return prober_ && stable_; }
  // No method can do more within the allowed memory.
  [[nodiscard]] bool exhausted() const { return exhausted_; }

 private:
  // Of one task.
  struct Found {
    Answer answer = Answer::kOpen;
    std::vector<Op> order;  // Of the constrained and reduced instance.
    bool out_of_work = false;
    std::int64_t cuts = 0;
    std::int64_t constraints = 0;
    std::int64_t states = 0;
    std::int64_t work = 0;
  };

  Found Probe(std::int64_t work, int threads, Budget& budget);
  [[nodiscard]] Found RunBeam(std::size_t k, std::int64_t work, Budget& budget) const;
  Found RunBestFirst(bool backwards, std::int64_t work, std::size_t bytes, Budget& budget);
  void Rebuild(Budget& budget);
  void Take(const std::vector<Op>& order, bool backwards);
  [[nodiscard]] bool IsBackwards(std::size_t k) const { return options_.backwards && k % 2 == 1; }

  const Instance& instance_;
  const ExactOptions& options_;
  Bytes floor_, limit_;
  Bytes lower_bound_;
  bool any_order_ = false;  // Within the limit will do.
  std::int64_t work_ = 0;
  std::optional<Prober> prober_;
  bool stable_ = false;
  bool first_turn_ = true;
  std::size_t built_with_ = ~std::size_t{0};  // Number of constraints in reduction_.
  Instance constrained_;
  Reduction reduction_;
  Instance backwards_;
  std::array<std::optional<BestFirst>, 2> search_;
  std::size_t width_ = 1;
  std::vector<Op> order_;
  bool exhausted_ = false;
  std::array<Found, 4> found_;  // By the tasks of a stage.
};

struct Asked {
  Question* question;
  std::int64_t work;  // Of this turn, in units of a few nanoseconds.
  std::size_t bytes;  // Of each search.
};

// One turn of each question, the one with the highest limit first: where no order keeps within its limit,
// the others have no answer, and what they have done is not to be used.
[[nodiscard]] std::vector<Question::Answer> AdvanceTogether(std::span<const Asked> asked,
                                                            int threads, SearchStats& stats,
                                                            Budget& budget);

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_QUESTION_H_
