#include "tools/lab/suites/proof_cost.h"

#include <algorithm>

#include "tools/lab/bench/benchmark.h"

namespace berth::lab {
namespace {

double MedianOrZero(const std::vector<double>& seconds) {
  return seconds.empty() ? 0 : Median(seconds);
}

}  // namespace

Cell ProofCost::Search() const { return SecondsCell(MedianOrZero(alone)); }
Cell ProofCost::Proof() const { return SecondsCell(MedianOrZero(proof)); }

Cell ProofCost::Together() const {
  const double search = MedianOrZero(alone);
  return RatioCell((search + MedianOrZero(proof)) / std::max(search, 1e-6));
}

Cell ProofCost::Size() const { return bytes ? BytesCell(static_cast<Bytes>(*bytes)) : NoCell(); }
Cell ProofCost::Checker() const { return bytes ? SecondsCell(MedianOrZero(check)) : NoCell(); }

void NoteRefusal(Lab& lab, const std::string& name, const verify::ProofVerdict& verdict) {
  if (verdict.ok()) return;
  lab.Note(name + ": the proof is refused in line " + std::to_string(verdict.line) + ": " +
           verdict.fault);
}

void ProofCosts::Add(const ProofCost& cost) {
  ++decided;
  if (!cost.bytes) return;
  ++written;
  alone += MedianOrZero(cost.alone);
  proof += MedianOrZero(cost.proof);
  check += MedianOrZero(cost.check);
  bytes += static_cast<double>(*cost.bytes);
}

}  // namespace berth::lab
