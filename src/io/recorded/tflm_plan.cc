// What PrintMemoryPlan() of TensorFlow Lite Micro's greedy planner prints: a line for each buffer,
// then a picture, which is passed over.
//
//   0 (id=0): size=9216, offset=18432, first_used=0 last_used=1
//   1 (id=1): size=18432, offset=0, first_used=1 last_used=2
//   * (id=2): size=1024, offset=27648, first_used=1 last_used=1
//
// Both ends are included. The mark at the beginning is a star for what lives during one step:
// scratch memory of kernels, for the most part. A console may put its own words before it. Ids count
// from 0 and steps from -1, where tensors begin that no operator makes; an id that is not larger than the one before begins another plan. An offset of -1 is a
// buffer that has none (yet).
#include <string>
#include <utility>

#include "base/line.h"
#include "base/text.h"
#include "base/try.h"
#include "io/recorded/readers.h"

namespace berth::internal::recorded {
namespace {

constexpr std::string_view kId = "(id=";
constexpr std::string_view kSize = "): size=";
constexpr std::string_view kLifetime = "first_used=";

class TflmReader {
 public:
  explicit TflmReader(const Source& source) : source_(source) {}

  Result<Problems> Read() {
    BERTH_TRY(ForEachLine(source_, [&](Line line) -> Result<void> {
      // What the console put before may have such marks of its own.
      const std::size_t id = line.rest().rfind(kId, line.rest().rfind(kSize));
      if (id == std::string_view::npos) return {};
      if (line.rest().find(kLifetime, id) == std::string_view::npos) return {};
      static_cast<void>(line.Skip(line.rest().substr(0, id)));
      return ReadBuffer(line);
    }));
    BERTH_TRY(FinishPlan());
    return std::move(problems_);
  }

 private:
  Result<void> ReadBuffer(Line& line) {
    BERTH_TRY(line.Expect(kId));
    const std::int64_t id = BERTH_TRY(line.Number());
    if (id <= last_id_) BERTH_TRY(FinishPlan());
    last_id_ = id;
    BERTH_TRY(line.Expect(kSize));
    Buffer buffer;
    buffer.id = std::to_string(id);
    buffer.size = BERTH_TRY(line.Number());
    BERTH_TRY(line.Expect(", offset="));
    const Bytes offset = BERTH_TRY(line.Number(-1));
    BERTH_TRY(line.Expect(", first_used="));
    buffer.start = BERTH_TRY(line.Number(-1));
    BERTH_TRY(line.Expect(" last_used="));
    const Line last_at = line;
    const Step last = BERTH_TRY(line.Number(-1, kMaxStep - 1));
    if (last < buffer.start) return last_at.Fail("the lifetime ends before it begins");
    buffer.end = last + 1;
    if (buffer.size == 0) return {};
    placed_.problem.buffers.push_back(std::move(buffer));
    placed_.offsets.push_back(offset);
    if (offset < 0) ++unplaced_;
    return {};
  }

  Result<void> FinishPlan() {
    last_id_ = -1;
    if (placed_.problem.buffers.empty()) return {};
    const std::string name = "plan " + std::to_string(problems_.size() + 1);
    if (unplaced_ == 0) {
      auto plan = ProblemOfPlan(name, std::exchange(placed_, {}));
      if (!plan) return source_.FailWith(std::move(plan.error()));
      problems_.push_back(std::move(*plan));
      return {};
    }
    RecordedProblem plan;
    plan.name = name;
    plan.problem = std::move(placed_.problem);
    plan.notes.push_back(std::to_string(unplaced_) + " of " +
                         std::to_string(plan.problem.buffers.size()) +
                         " buffers have no offset in the plan that was read.");
    if (auto valid = Validate(plan.problem); !valid) {
      return source_.FailWith(std::move(valid.error()));
    }
    problems_.push_back(std::move(plan));
    placed_ = {};
    unplaced_ = 0;
    return {};
  }

  const Source& source_;
  Problems problems_;
  PlacedBuffers placed_;  // Of the plan that is being read.
  std::int64_t last_id_ = -1;
  std::size_t unplaced_ = 0;
};

}  // namespace

bool LooksLikeTflmPlan(std::string_view text) {
  const std::size_t id = text.find(kId);
  if (id == std::string_view::npos) return false;
  // Most texts have no such id at all; a log may have others before that of the plan.
  return text.find(kSize, id) != std::string_view::npos &&
         text.find(kLifetime, id) != std::string_view::npos;
}

Result<Problems> ReadTflmPlans(const Source& source) { return TflmReader(source).Read(); }

}  // namespace berth::internal::recorded
