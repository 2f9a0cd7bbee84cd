#include "tools/berth/checked.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tools/berth/command.h"
#include "tools/berth/terminal.h"
#include "tools/verify/graph_memories.h"
#include "tools/verify/verify.h"

namespace berth::cli {
namespace {

[[noreturn]] void Die(const std::string& fault) {
  std::fprintf(stderr,
               "berth: internal error: the verifier rejects Berth's own plan, which was not "
               "written: %s; please report this together with the input\n",
               OneLine(fault).c_str());
  std::exit(kInternalError);
}

}  // namespace

void VerifyOrDie(const PlanSubject& subject, const Counting& counting,
                 std::optional<Bytes> capacity, const MemoryPlan& plan) {
  constexpr std::size_t kFirstFault = 1;
  if (const Graph* const graph = subject.graph()) {
    const auto report = verify::VerifyPlan(*graph, counting, capacity, plan, kFirstFault);
    if (!report.ok()) Die(verify::Describe(report.faults.front(), *graph, plan));
    return;
  }
  const Problem& table = *subject.table();
  const auto report = verify::VerifyPlan(table, capacity, plan, kFirstFault);
  if (!report.ok()) Die(verify::Describe(report.faults.front(), table, plan));
}

void VerifyOrDie(const PlanSubject& subject, const Counting& counting, const PlanAnswer& answer) {
  if (!answer.best) return;
  const auto capacity = answer.fits() ? answer.capacity : std::nullopt;
  VerifyOrDie(subject, counting, capacity, *answer.best);
}

void VerifyOrDie(const Graph& graph, const Counting& counting, const GraphMemories& memories,
                 const MemoryPlan& plan) {
  const auto faults = verify::VerifyMemories(graph, counting, memories, plan);
  if (!faults.empty()) Die(faults.front());
}

}  // namespace berth::cli
