#include "tools/berth/remedies.h"

namespace berth::cli {

std::string Verdict(const PlanSubject& subject, const PlanAnswer& answer) {
  if (!answer.best) return "";
  if (!answer.best->addressed) {
    return answer.spills ? "" : "accepted: the order runs, and has the peak that is stated";
  }
  if (answer.spills) {
    return "accepted: run in a memory that knows whose bytes it holds; every operator found what "
           "it "
           "reads";
  }
  const auto count = static_cast<std::int64_t>(answer.best->residencies.size());
  return "accepted: " + Plural(count, "buffer") + ", no overlap, alignments " +
         (subject.table() != nullptr ? "and pins kept" : "kept") + ", height " +
         FormatBytesExactly(answer.best->height());
}

}  // namespace berth::cli
