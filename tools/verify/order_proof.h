// tools/verify/order_proof.h -- checks the proof that no order of a graph has a peak within a limit.
//
// Shares no code with the search that wrote it, searches nothing, and repeats each step by the rules
// of docs/algorithms/proofs.md. Whatever the text says, what it accepts is true.
#ifndef BERTH_TOOLS_VERIFY_ORDER_PROOF_H_
#define BERTH_TOOLS_VERIFY_ORDER_PROOF_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/verify/order_model.h"
#include "tools/verify/proof.h"

namespace berth::verify {

struct OrderProofReport : ProofVerdict {
  std::size_t operators = 0;
  std::int64_t flows = 0;   // Lines with a flow that were checked,
  std::int64_t states = 0;  // and lines with a state.
};

// Whether `proof` begins as a proof of orders does.
[[nodiscard]] bool IsOrderProof(std::string_view proof);

// Checks `proof`, whole. With `graph`, the proof must be about exactly its operators and tensors.
// A text that would take too much is refused with a sentence: one with more than 2^24 operators or
// tensors, with 2^16 more operators than bytes, or whose check looks at more than 2^35 operators, edges and
// tensors. Memory: at most a gigabyte each for the numbered states, for the late operators that others
// need and for the steps open on one path, and else some hundred bytes for each byte of the text.
// Cost: for each flow, the whole graph once; for each state, the operators that are ready in it.
[[nodiscard]] OrderProofReport CheckOrderProof(std::string_view proof,
                                               const OrderModel* graph = nullptr);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_ORDER_PROOF_H_
