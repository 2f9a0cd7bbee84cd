// schedule/certificate.h -- minimum cuts written down, so that a checker need not search for them.
//
// A maximum flow proves its minimum cut: each part of it is a part of a buffer, or leads from an operator to
// one for which it waits (tools/verify/order_flow.h adds them up). Of the constraints that probing finds
// (schedule/probe.h) those that a later flow does not rest on are left out. A flow rests on the
// constraints along which its parts lead, and on those that put operators before or after its step.
//
// Flows are found on the instance itself, not on the reduced one: operators with an obvious place
// (schedule/reduce.h) change no minimum.
#ifndef BERTH_SCHEDULE_CERTIFICATE_H_
#define BERTH_SCHEDULE_CERTIFICATE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/budget.h"
#include "schedule/cut.h"
#include "schedule/instance.h"

namespace berth::internal::schedule {

class Certificates {
 public:
  using Constraint = std::pair<Op, Op>;  // The first runs before the second.

  // `instance` must outlive this and have one creator for each buffer at most. `constraints`: each
  // follows from those before it and the limit, by the cut of one of its two operators.
  Certificates(const Instance& instance, std::vector<Constraint> constraints, Bytes limit,
               Budget& budget);

  // Writes that the step of `v` exceeds the limit in all orders, with what that rests on. False if it
  // does not, or the budget ended.
  [[nodiscard]] bool WriteCut(Op v, std::string& text);
  // Writes the constraints that no other one implies, with what they rest on. False if
  // the budget ended.
  [[nodiscard]] bool WriteConstraints(std::string& text);

 private:
  // Operators that lead to one or two others, by ways with as few constraints as possible.
  struct Reached {
    std::vector<Op> parent;            // By operator; kNoOp: not reached. Of a start: itself.
    std::vector<std::size_t> along;    // The constraint that led there; kInstance: none.
    std::vector<std::uint32_t> count;  // Constraints on the way.
    [[nodiscard]] bool operator()(Op v) const { return parent[v] != Cut::kNoOp; }
  };
  static constexpr std::size_t kInstance = ~std::size_t{0};

  [[nodiscard]] bool ProveConstraint(std::size_t c, std::string& line);
  [[nodiscard]] bool ProveStep(std::size_t count, Op v, Op with, Op without, std::string& line);
  void NeedLive(const Reached& before, const Reached& after);
  void AppendHop(std::size_t count, const Cut::Hop& hop, Op v, const Reached& before,
                 const Reached& after, std::string& line);
  [[nodiscard]] Reached Reach(std::size_t count, bool earlier, Op v, Op more) const;
  void NeedWay(const Reached& reached, Op v);
  void NeedCheapest(const Reached& reached, const std::vector<Op>& ops);
  void NeedEdge(std::size_t count, Op before, Op after);
  [[nodiscard]] bool WriteNeeded(std::string& text);
  [[nodiscard]] Instance Constrained(std::size_t count) const;

  const Instance& instance_;
  std::vector<Constraint> constraints_;
  Bytes limit_;
  Budget& budget_;
  std::vector<Constraint> edges_;                    // Of the instance.
  std::vector<std::vector<std::size_t>> added_in_;   // By operator: constraints that end there,
  std::vector<std::vector<std::size_t>> added_out_;  // or begin.
  std::vector<bool> needed_;                         // By constraint.
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_CERTIFICATE_H_
