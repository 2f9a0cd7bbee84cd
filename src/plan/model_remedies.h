// src/plan/model_remedies.h -- remedies that change the model or spill: each is tried, alone and
// together with others.
#ifndef BERTH_PLAN_MODEL_REMEDIES_H_
#define BERTH_PLAN_MODEL_REMEDIES_H_

#include <optional>
#include <string>
#include <vector>

#include "berth/advise.h"
#include "plan/remedy_search.h"

namespace berth::internal::plan {

// The model with some changes, each an option of the command, and the best plan found for it.
struct Variant {
  std::string title;  // "8-bit elements and outputs written over inputs"; empty without changes.
  std::vector<OptionChange> changes;
  Graph graph;
  unsigned parts = 0;           // A bit for each change.
  std::optional<Bytes> memory;  // Its height, or the peak where only an order was asked for.
  std::optional<Order> order;
};

// For one answer. All arguments must outlive it.
class ModelRemedies {
 public:
  ModelRemedies(const Graph& graph, const PlanOptions& plan, const PlanAnswer& answer,
                const AdviceOptions& options, RemedySearch& search);

  // Changes of the model that lower the plan, without spills. A combination is listed if it is
  // lower than all its parts; with a capacity, only if none of its parts fits.
  void TryChanges();
  // Operators computed in strips, alone and, if nothing fits so far, together with changes.
  void TryStrips();
  // If nothing fits so far: spills within the capacity, with as few changes as possible.
  void TrySpills();
  // If nothing without traffic fits so far: the unchanged model with operators that run again, within the
  // capacity. Without a capacity: within less memory than the plan has.
  void TryRecomputation();
  // The least capacity within which spills of the unchanged model were found to fit, which is
  // returned, and if nothing fits so far, that with the changes which need the least. Only for
  // spills, or if nothing fits so far.
  std::optional<Bytes> TryLargerBudgets();
  // Without a capacity: spills within less memory than the plan has.
  void TryLowerBudget();

  [[nodiscard]] std::vector<Remedy> Take() { return std::move(remedies_); }

 private:
  [[nodiscard]] bool anything_fits() const;
  [[nodiscard]] bool PartFits(const Variant& variant) const;
  [[nodiscard]] Bytes LeastOfParts(const Variant& variant) const;
  void Plan(Variant& variant);
  // A plan of `graph`, in `order` where it is given; its memory and order go to `variant`.
  void PlanGraph(const Graph& graph, const std::optional<Order>& order, Variant& variant);
  // `variant` with operators in strips; none if none was found that helps.
  std::optional<Remedy> Split(const Variant& variant);
  // A plan with spills of `variant` within `capacity`; none if none was found.
  std::optional<Remedy> Spill(RemedyKind kind, const Variant& variant, Bytes capacity);
  // The same with operators that run again.
  std::optional<Remedy> Recompute(const Variant& variant, Bytes capacity);
  std::optional<Bytes> EnlargeBudget(const Variant& variant);

  const Graph& graph_;
  const PlanOptions& plan_;
  const PlanAnswer& answer_;
  RemedySearch& search_;
  std::vector<Variant> variants_;  // The unchanged model first, then by the number of changes.
  std::vector<Remedy> remedies_;
};

}  // namespace berth::internal::plan

#endif  // BERTH_PLAN_MODEL_REMEDIES_H_
