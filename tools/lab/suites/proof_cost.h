// tools/lab/suites/proof_cost.h -- what proofs cost to write and to check.
#ifndef BERTH_TOOLS_LAB_SUITES_PROOF_COST_H_
#define BERTH_TOOLS_LAB_SUITES_PROOF_COST_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/suites/sheet.h"
#include "tools/lab/suites/suites.h"
#include "tools/verify/proof.h"

namespace berth::lab {

// The proof of one input. Seconds of the processor, one of each round.
struct ProofCost {
  std::vector<double> alone;              // To search without a proof,
  std::vector<double> proof;              // for the proof,
  std::vector<double> check;              // for the checker.
  std::optional<std::size_t> bytes = {};  // None: no proof within the limit.

  [[nodiscard]] Cell Search() const;
  [[nodiscard]] Cell Proof() const;
  [[nodiscard]] Cell Together() const;  // Relative to the search.
  [[nodiscard]] Cell Size() const;
  [[nodiscard]] Cell Checker() const;
};

// Notes that the checker refuses the proof of `name`, if it does.
void NoteRefusal(Lab& lab, const std::string& name, const verify::ProofVerdict& verdict);

// Sums of the medians, over all inputs with a proof.
struct ProofCosts {
  std::size_t decided = 0;
  std::size_t written = 0;
  double alone = 0;
  double proof = 0;
  double check = 0;
  double bytes = 0;
  void Add(const ProofCost& cost);
};

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_SUITES_PROOF_COST_H_
