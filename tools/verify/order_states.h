// tools/verify/order_states.h -- that no order passes from one set of operators to the next within a limit.
//
// A state is the set of operators that have run. The lines of a proof go through all states that can be
// reached by steps within the limit, depth first; each step that is not in the text has to exceed it.
// Three rules make states fewer (docs/algorithms/proofs.md says why they are sound): operators that are
// `late` run only when another one needs them, operators after `run` run at once, and one state of
// each set is enough.
#ifndef BERTH_TOOLS_VERIFY_ORDER_STATES_H_
#define BERTH_TOOLS_VERIFY_ORDER_STATES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/verify/order_flow.h"

namespace berth::verify {

class OrderStates {
 public:
  // `net` must outlive this. `backwards`: orders are read from their end.
  OrderStates(OrderNet& net, bool backwards, Bytes limit);

  // "only 3 4 7 ...": nothing is said of the other operators, and each tensor is live only where it is live
  // whatever they do. Before all else.
  void ReadOnly(ProofLines& lines);
  // "late 3 7 ..."
  void ReadLate(ProofLines& lines);
  // "states from 4 run 5 6", and the lines of all states. FalseStep if any step is left out.
  void Check(ProofLines& lines);
  [[nodiscard]] std::int64_t states() const { return count_; }

 private:
  // One state of the path that is being checked.
  struct Frame {
    std::size_t trail;       // Its length before the state.
    std::size_t candidates;  // candidates_: its first one.
    std::size_t open;        // Those that have not had their turn.
  };
  struct Candidate {
    std::size_t op;
    bool done;
  };

  void Fill();
  void FillOne(std::size_t t);
  void FindAllLate();
  void Reach(std::size_t v, bool earlier, std::vector<bool>& marks);
  void FindLateOf(std::size_t v);
  void BeginAt(std::size_t pivot);
  void RunAtOnce(ProofLines& lines);
  void Run(std::size_t v);
  void Undo();
  [[nodiscard]] Bytes RunBlock(
      std::size_t v);  // With the late ones that it needs: the highest step.
  void UndoTo(std::size_t trail);
  void OpenState(std::size_t trail);
  void CheckChild(ProofLines& lines);
  void Close();
  void AddReady(std::size_t v);
  void RemoveReady(std::size_t v);
  [[nodiscard]] bool IsReady(std::size_t v) const { return place_[v] != kNobody; }

  OrderNet& net_;
  const OrderModel& model_;
  bool backwards_;
  Bytes limit_;
  std::size_t n_;
  std::vector<bool> member_;                              // The operators that this is about,
  std::vector<std::vector<std::size_t>> before_, after_;  // and of these what they wait for.
  bool is_filled_ = false;
  std::vector<std::vector<std::size_t>> begins_, ends_;  // By operator: tensors.
  std::vector<std::vector<std::size_t>> enders_;         // The inverse of ends_.
  std::vector<std::size_t> begun_, left_;                // By tensor: makers run, users not run.
  Bytes live_ = 0;
  std::vector<bool> kept_;                            // Not late.
  std::vector<std::vector<std::size_t>> late_of_;     // Of kept operators, in an order.
  std::vector<std::vector<std::size_t>> kept_after_;  // The next kept ones.
  std::vector<std::size_t> missing_;                  // Kept ones before it that have not run.
  std::vector<bool> done_;
  std::vector<std::size_t> ready_;  // Kept operators that wait for none but late ones,
  std::vector<std::size_t> place_;  // and by operator where it stands there; kNobody: nowhere.
  std::size_t kept_left_ = 0;
  std::size_t entries_ = 0;  // Of late_of_ and kept_after_.
  std::vector<std::size_t> trail_;
  std::vector<Frame> path_;
  std::vector<Candidate> candidates_;
  std::vector<std::vector<bool>> known_;  // By number: the operators that have run.
  std::vector<std::size_t>
      seen_;  // By operator: the last one whose late ones were looked for, + 1.
  std::int64_t count_ = 0;
};

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_ORDER_STATES_H_
