// The file that tests the allocator of Glow: what each of several models allocates and frees.
//
//   MODEL resnet50.onnx
//   ALIGN 64
//   ALLOC 1 602112       An id, and bytes.
//   ALLOC 2 3211264
//   FREE 1
//   FREE 2
//   MEM 3813376          The bytes that Glow's allocator took.
//   EFF 1.000000         The most live bytes, divided by these.
//
// Lines that begin with # are comments. Glow rounds sizes up to the alignment.
#include <charconv>
#include <string>
#include <utility>

#include "base/event_trace.h"
#include "base/line.h"
#include "base/text.h"
#include "base/try.h"
#include "base/unique_names.h"
#include "io/recorded/readers.h"

namespace berth::internal::recorded {
namespace {

class GlowReader {
 public:
  explicit GlowReader(const Source& source) : source_(source) {}

  Result<Problems> Read() {
    BERTH_TRY(ForEachLine(source_, [&](Line line) -> Result<void> {
      line.SkipBlanks();
      if (line.rest().empty() || line.rest().starts_with('#')) return {};
      BERTH_TRY(ReadLine(line));
      return line.ExpectEnd();
    }));
    BERTH_TRY(FinishModel());
    return std::move(problems_);
  }

 private:
  Result<void> ReadLine(Line& line) {
    if (line.Skip("MODEL ")) {
      BERTH_TRY(FinishModel());
      line.SkipBlanks();
      if (line.rest().empty()) return line.Fail("expected the name of a model");
      RecordedProblem model;
      model.name = line.rest();
      while (model.name.back() == ' ') model.name.pop_back();
      static_cast<void>(line.Skip(line.rest()));
      model_ = std::move(model);
      alignment_ = 1;
      return {};
    }
    if (!model_) return line.Fail("expected MODEL and a name before " + Quoted(line.Word()));
    if (line.Skip("ALLOC ")) return ReadAllocation(line);
    if (line.Skip("FREE ")) {
      const Line id_at = AtWord(line);
      const std::string_view id = line.Word();
      if (!trace_.Free(id)) {
        return id_at.Fail("buffer " + Quoted(id) + " is freed, but not allocated");
      }
    } else if (line.Skip("ALIGN ")) {
      line.SkipBlanks();
      alignment_ = BERTH_TRY(line.Number(1));
    } else if (line.Skip("MEM ")) {
      line.SkipBlanks();
      model_->height = BERTH_TRY(line.Number());
    } else if (line.Skip("EFF ")) {
      line.SkipBlanks();
      static_cast<void>(line.Word());  // It follows from the rest.
    } else {
      return line.Fail("expected MODEL, ALIGN, ALLOC, FREE, MEM or EFF, not " +
                       Quoted(line.Word()));
    }
    return {};
  }

  Result<void> ReadAllocation(Line& line) {
    const Line id_at = AtWord(line);
    const std::string_view id = line.Word();
    line.SkipBlanks();
    Bytes size = BERTH_TRY(line.Number(1));
    size += (alignment_ - size % alignment_) % alignment_;
    if (!trace_.Allocate(id, size, alignment_)) {
      return id_at.Fail("buffer " + Quoted(id) + " is allocated again before it is freed");
    }
    return {};
  }

  static Line AtWord(Line& line) {
    line.SkipBlanks();
    return line;
  }

  Result<void> FinishModel() {
    if (!model_) return {};
    model_->problem = trace_.Finish();
    UniqueNames names;
    for (Buffer& buffer : model_->problem.buffers) buffer.id = names.Take(Printable(buffer.id));
    if (auto valid = Validate(model_->problem); !valid) {
      valid.error().message = Quoted(model_->name) + ": " + valid.error().message;
      return source_.FailWith(std::move(valid.error()));
    }
    problems_.push_back(std::move(*model_));
    model_.reset();
    return {};
  }

  const Source& source_;
  Problems problems_;
  std::optional<RecordedProblem> model_;  // The one that is being read.
  Bytes alignment_ = 1;
  EventTrace trace_;
};

}  // namespace

bool LooksLikeGlow(std::string_view text) {
  while (!text.empty() && (text.front() == '#' || text.front() == '\n' || text.front() == '\r')) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return text.starts_with("MODEL ");
}

Result<Problems> ReadGlow(const Source& source) { return GlowReader(source).Read(); }

}  // namespace berth::internal::recorded
