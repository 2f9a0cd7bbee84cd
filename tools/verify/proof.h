// tools/verify/proof.h -- checks the proof that no plan of a table fits, or that one is the lowest.
//
// Shares no code with the search that wrote it: it reads the text, knows the buffers as the text and
// the table state them, and repeats each step by the rules of docs/algorithms/proofs.md. Whatever
// the text says, what it accepts is true.
#ifndef BERTH_TOOLS_VERIFY_PROOF_H_
#define BERTH_TOOLS_VERIFY_PROOF_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/problem.h"

namespace berth::verify {

// Of tables and of orders.
struct ProofVerdict {
  // What is wrong, in one sentence, and the line (from 1) where it shows; empty if nothing is.
  std::string fault;
  std::size_t line = 0;

  // What is proved if there is no fault: that no plan (order) has (a peak of) at most `refuted` bytes and, if
  // `is_optimal`, that the one in the proof has refuted + 1 bytes.
  bool is_optimal = false;
  Bytes refuted = 0;
  [[nodiscard]] bool ok() const { return fault.empty(); }
};

struct ProofReport : ProofVerdict {
  std::size_t buffers = 0;
  std::int64_t steps = 0;   // Lines that were checked: branches, children, lemmas.
  std::int64_t lemmas = 0;  // Of these, lemmas with a number.
};

// Checks `proof`, whole. With `table`, the proof must be about exactly its buffers, in their order;
// ids and hints say nothing about plans and are not compared.
// A text that would take too much is refused with a sentence: one with more than 2^24 buffers in
// sections, 2^26 meetings with pinned buffers or 2^22 intervals beside them, 2^23 orders, or 2^24 changes along one path of
// branches. Together these take some GiB at most, the rest at most 100 bytes for each byte of the text.
// Cost: for each branch, the buffers live in the sections that it changes; for each lemma, all
// sections and buffers; for each clause, each section once and what follows from it: at most 10^7
// looks at an order, or 16 looks at each if that is more.
[[nodiscard]] ProofReport CheckProof(std::string_view proof, const Problem* table = nullptr);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_PROOF_H_
