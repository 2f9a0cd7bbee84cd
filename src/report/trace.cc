// Chrome's trace event format, which Perfetto reads too ("Trace Event Format", 2016): slices
// ("X"), asynchronous slices for what overlaps without nesting ("b", "e"), counters ("C").

#include <nlohmann/json.hpp>

#include "berth/page.h"
#include "report/analysis.h"

namespace berth {
namespace internal::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kProcess = 1;
constexpr int kOperators = 1;  // The thread that they run on.

class Events {
 public:
  void Add(const Json& event) {
    text_ += text_.empty() ? "\n" : ",\n";
    text_ += event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  [[nodiscard]] std::string Finish() const {
    return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[" + text_ + "\n]}\n";
  }

 private:
  std::string text_;
};

}  // namespace
}  // namespace internal::report

std::string WriteTrace(const PlanSubject& subject, const PlanAnswer& answer,
                       const std::string& name) {
  using namespace internal::report;
  const Graph* const graph = subject.graph();
  const MemoryPlan none;
  const MemoryPlan& plan = answer.best ? *answer.best : none;
  const Problem problem = subject.Buffers(plan, std::nullopt);
  Events events;
  const auto metadata = [&](const char* what, int thread, const std::string& value) {
    events.Add({{"name", what},
                {"ph", "M"},
                {"pid", kProcess},
                {"tid", thread},
                {"args", {{"name", value}}}});
  };
  metadata("process_name", 0, name + " (a step is a microsecond)");
  if (graph != nullptr) {
    metadata("thread_name", kOperators, "operators");
    for (std::size_t s = 0; s < plan.order.size(); ++s) {
      const Operator& op = graph->operators[plan.order[s]];
      events.Add({{"name", op.name},
                  {"cat", "operator"},
                  {"ph", "X"},
                  {"ts", s},
                  {"dur", 1},
                  {"pid", kProcess},
                  {"tid", kOperators},
                  {"args", {{"type", op.type}}}});
    }
  }
  const Curve curve = CurveOf(problem);
  for (std::size_t i = 0; i < curve.steps.size(); ++i) {
    events.Add({{"name", "live bytes"},
                {"ph", "C"},
                {"ts", curve.steps[i]},
                {"pid", kProcess},
                {"args", {{"live", curve.live[i]}}}});
  }
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    Json arguments = {{"size", buffer.size}};
    if (answer.best && plan.addressed) arguments["offset"] = plan.residencies[b].offset;
    for (const bool begins : {true, false}) {
      Json event = {{"name", buffer.id},
                    {"cat", "buffer"},
                    {"ph", begins ? "b" : "e"},
                    {"id", b},
                    {"ts", begins ? buffer.start : buffer.end},
                    {"pid", kProcess},
                    {"tid", 0}};
      if (begins) event["args"] = arguments;
      events.Add(event);
    }
  }
  return events.Finish();
}

}  // namespace berth
