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
constexpr int kCopies = 2;     // The thread of copies between memories.

Json Microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

// When steps begin: a microsecond each, or in a run.
class TimesOfSteps {
 public:
  explicit TimesOfSteps(const TimedRun* run) : run_(run) {}
  [[nodiscard]] Json Begin(Step step) const {
    if (run_ == nullptr) return step;
    const auto s = static_cast<std::size_t>(step);
    return Microseconds(s < run_->operators.size() ? run_->operators[s].begin : run_->time);
  }
  [[nodiscard]] Json Lasts(Step step) const {
    if (run_ == nullptr) return 1;
    const TimedRun::Interval& interval = run_->operators[static_cast<std::size_t>(step)];
    return Microseconds(interval.end - interval.begin);
  }

 private:
  const TimedRun* run_;
};

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

void AddOperators(const Graph& graph, const MemoryPlan& plan, const TimesOfSteps& times,
                  Events& events) {
  for (std::size_t s = 0; s < plan.order.size(); ++s) {
    const Operator& op = graph.operators[plan.order[s]];
    events.Add({{"name", op.name},
                {"cat", "operator"},
                {"ph", "X"},
                {"ts", times.Begin(static_cast<Step>(s))},
                {"dur", times.Lasts(static_cast<Step>(s))},
                {"pid", kProcess},
                {"tid", kOperators},
                {"args", {{"type", op.type}}}});
  }
}

void AddCopies(const Graph& graph, const TimedRun& run, Events& events) {
  for (std::size_t c = 0; c < run.copies.size(); ++c) {
    const MemoryCopy& copy = run.copies[c];
    const TimedRun::Interval& transfer = run.transfers[c];
    events.Add({{"name", graph.tensors[copy.tensor].name},
                {"cat", "copy"},
                {"ph", "X"},
                {"ts", Microseconds(transfer.begin)},
                {"dur", Microseconds(transfer.end - transfer.begin)},
                {"pid", kProcess},
                {"tid", kCopies},
                {"args", {{"bytes", copy.bytes}}}});
  }
}

// The buffers of a memory, which is a process of its own where there are several.
struct Track {
  int process = kProcess;
  std::string name = {};
  std::vector<std::size_t> buffers = {};
};

// `count`: of all buffers, which are those of the residencies if there are memories.
std::vector<Track> TracksOf(std::size_t count, const MemoryPlan& plan,
                            const std::vector<Memory>& memories) {
  std::vector<Track> tracks;
  tracks.reserve(memories.size());
  for (const Memory& memory : memories) {
    tracks.push_back({kProcess + 1 + static_cast<int>(tracks.size()), memory.name});
  }
  if (tracks.empty()) tracks.emplace_back();
  for (std::size_t b = 0; b < count; ++b) {
    const std::size_t m =
        memories.empty() ? 0 : static_cast<std::size_t>(plan.residencies[b].memory);
    tracks[m].buffers.push_back(b);
  }
  return tracks;
}

}  // namespace
}  // namespace internal::report

std::string WriteTrace(const PlanSubject& subject, const PlanAnswer& answer,
                       const std::string& name, const std::vector<Memory>& memories,
                       const TimedRun* run) {
  using namespace internal::report;
  const Graph* const graph = subject.graph();
  const MemoryPlan none;
  const MemoryPlan& plan = answer.best ? *answer.best : none;
  const Problem problem = subject.Buffers(plan, std::nullopt);
  Events events;
  const auto metadata = [&](const char* what, int process, int thread, const std::string& value) {
    events.Add({{"name", what},
                {"ph", "M"},
                {"pid", process},
                {"tid", thread},
                {"args", {{"name", value}}}});
  };
  const TimesOfSteps times(run);
  metadata("process_name", kProcess, 0,
           name + (run == nullptr ? " (a step is a microsecond)" : ""));
  if (graph != nullptr) {
    metadata("thread_name", kProcess, kOperators, "operators");
    AddOperators(*graph, plan, times, events);
  }
  if (run != nullptr && graph != nullptr) {
    metadata("thread_name", kProcess, kCopies, "copies");
    AddCopies(*graph, *run, events);
  }
  const std::vector<Track> tracks = TracksOf(problem.buffers.size(), plan, memories);
  for (const Track& track : tracks) {
    if (!track.name.empty()) metadata("process_name", track.process, 0, track.name);
    Problem buffers;
    for (const std::size_t b : track.buffers) buffers.buffers.push_back(problem.buffers[b]);
    const Curve curve = CurveOf(buffers);
    for (std::size_t i = 0; i < curve.steps.size(); ++i) {
      events.Add({{"name", "live bytes"},
                  {"ph", "C"},
                  {"ts", times.Begin(curve.steps[i])},
                  {"pid", track.process},
                  {"args", {{"live", curve.live[i]}}}});
    }
    for (const std::size_t b : track.buffers) {
      const Buffer& buffer = problem.buffers[b];
      Json arguments = {{"size", buffer.size}};
      if (answer.best && plan.addressed) arguments["offset"] = plan.residencies[b].offset;
      for (const bool begins : {true, false}) {
        Json event = {{"name", buffer.id},
                      {"cat", "buffer"},
                      {"ph", begins ? "b" : "e"},
                      {"id", b},
                      {"ts", times.Begin(begins ? buffer.start : buffer.end)},
                      {"pid", track.process},
                      {"tid", 0}};
        if (begins) event["args"] = arguments;
        events.Add(event);
      }
    }
  }
  return events.Finish();
}

}  // namespace berth
