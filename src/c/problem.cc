// Tables of buffers in the C interface.

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/choice.h"
#include "base/text.h"
#include "berth/colocate.h"
#include "berth/file.h"
#include "berth/place.h"
#include "berth/recorded.h"
#include "berth/snapshot.h"
#include "berth/table_io.h"
#include "c/call.h"
#include "c/handles.h"
#include "c/options.h"

namespace berth::internal::c {
namespace {

std::optional<Bytes> OffsetOf(std::int64_t offset) {
  return offset == -1 ? std::nullopt : std::optional<Bytes>(offset);
}

Buffer& BufferAt(berth_problem* problem, std::size_t index) {
  Require(problem != nullptr, "problem is NULL");
  RequireIndex(index, problem->input->problem.buffers.size(), "buffer");
  TableInput& input = Own(problem->input);
  input.hash.clear();
  return input.problem.buffers[index];
}

const Buffer& BufferAt(const berth_problem* problem, std::size_t index) {
  const Problem& table = InputOf(problem)->problem;
  RequireIndex(index, table.buffers.size(), "buffer");
  return table.buffers[index];
}

std::vector<std::string> NamesOf(const RecordedFile& file) {
  std::vector<std::string> names;
  names.reserve(file.problems.size());
  for (const RecordedProblem& each : file.problems) names.push_back(each.name);
  return names;
}

std::vector<std::string> NamesOf(const SnapshotUse& use) {
  std::vector<std::string> names;
  names.reserve(use.pools.size());
  for (std::size_t p = 0; p < use.pools.size(); ++p) names.push_back(use.NameOfPool(p));
  return names;
}

// Of all problems of a file; none if it is one by itself.
Result<std::vector<std::string>> NamesIn(std::string_view bytes, const std::string& shown) {
  if (LooksLikeSnapshot(bytes)) return NamesOf(UseOf(BERTH_TRY(ReadSnapshot(bytes, shown))));
  if (FormatOfRecorded(bytes)) return NamesOf(BERTH_TRY(ReadRecorded(bytes, shown)));
  return std::vector<std::string>();
}

// One of the problems that another system wrote down.
Result<Problem> ReadOneOf(std::string_view text, const std::string& shown,
                          const std::string& choice) {
  RecordedFile file = BERTH_TRY(ReadRecorded(text, shown));
  if (choice.empty() && file.problems.size() == 1) return std::move(file.problems.front().problem);
  const std::vector<std::string> names = NamesOf(file);
  if (choice.empty()) {
    return ChoiceIsMissing("problem is missing", Printable(shown), names.size(),
                           Quoted(names.front()));
  }
  const auto chosen = IndexOfChoice(choice, names);
  if (chosen) return std::move(file.problems[*chosen].problem);
  return ChoiceIsUnknown("problem", Quoted(choice), Printable(shown), names.size(),
                         "the first is " + Quoted(names.front()));
}

// A pool of a PyTorch memory snapshot: the one with the most reserved memory, unless one is chosen.
Result<Problem> ReadPool(std::string_view bytes, const std::string& shown,
                         const std::string& choice) {
  SnapshotUse use = UseOf(BERTH_TRY(ReadSnapshot(bytes, shown)));
  if (use.pools.empty()) {
    return Fail(ErrorCode::kParse,
                Printable(shown) + ": the snapshot has neither events nor segments");
  }
  if (choice.empty()) return std::move(use.pools.front().problem);
  const std::vector<std::string> names = NamesOf(use);
  const auto chosen = IndexOfChoice(choice, names);
  if (chosen) return std::move(use.pools[*chosen].problem);
  return ChoiceIsUnknown("problem", Quoted(choice), Printable(shown), names.size(),
                         "the first is " + Quoted(names.front()));
}

Result<void> ReadTable(std::string_view text, const std::string& shown, const std::string& name,
                       const berth_options* options, berth_problem** problem) {
  Require(problem != nullptr, "the place for the problem is NULL");
  const Settings& settings = OptionsOf(options).settings;
  Problem read;
  if (const bool snapshot = LooksLikeSnapshot(text); snapshot || FormatOfRecorded(text)) {
    if (settings.endpoints) return EndpointsAreKnown("endpoints", Printable(shown));
    read = BERTH_TRY(snapshot ? ReadPool(text, shown, settings.problem)
                              : ReadOneOf(text, shown, settings.problem));
  } else {
    if (!settings.problem.empty()) return NothingToChoose("problem", Printable(shown));
    CsvOptions csv;
    csv.endpoints = settings.endpoints.value_or(Endpoints::kByColumnName);
    read = BERTH_TRY(ReadCsv(text, shown, csv)).problem;
  }
  auto input =
      std::make_shared<TableInput>(TableInput{std::move(read), FileName(name), HashOf(text)});
  *problem = new berth_problem{std::move(input)};
  return {};
}

// The table of arrays, with the capacity that is asked for.
Result<Problem> ProblemOfArrays(std::size_t count, const std::int64_t* start,
                                const std::int64_t* end, const std::int64_t* size,
                                const std::int64_t* alignment, const berth_options* options) {
  Problem problem;
  problem.buffers = BERTH_TRY(BuffersOf(count, start, end, size, alignment, options, 0));
  problem.capacity = OptionsOf(options).settings.capacity;
  return problem;
}

// The members of each group that has any.
std::vector<std::vector<Member>> GroupsOf(std::size_t count, const std::size_t* groups,
                                          const std::int64_t* distances) {
  std::map<std::size_t, std::vector<Member>> members;
  for (std::size_t b = 0; b < count; ++b) {
    if (groups[b] == BERTH_NONE) continue;
    members[groups[b]].push_back({b, distances == nullptr ? 0 : distances[b]});
  }
  std::vector<std::vector<Member>> result;
  result.reserve(members.size());
  for (auto& [group, of] : members) result.push_back(std::move(of));
  return result;
}

}  // namespace

std::string HashOfInput(const TableInput& input) {
  return input.hash.empty() ? HashOf(WriteCsv(input.problem)) : input.hash;
}

std::string FileName(const std::string& path) {
  return path == "-" ? "<stdin>" : path.substr(path.find_last_of('/') + 1);
}

const std::shared_ptr<TableInput>& InputOf(const berth_problem* problem) {
  Require(problem != nullptr, "problem is NULL");
  return problem->input;
}

Result<std::vector<Buffer>> BuffersOf(std::size_t count, const std::int64_t* start,
                                      const std::int64_t* end, const std::int64_t* size,
                                      const std::int64_t* alignment, const berth_options* options,
                                      std::size_t first_id) {
  Require(count == 0 || (start != nullptr && end != nullptr && size != nullptr),
          "start, end or size is NULL");
  const Endpoints endpoints = OptionsOf(options).settings.endpoints.value_or(Endpoints::kHalfOpen);
  if (endpoints == Endpoints::kByColumnName) {
    return Fail(ErrorCode::kInvalidOptions,
                "endpoints: arrays have no column names; use "
                "half-open, inclusive or exclusive");
  }
  const Step later_start = endpoints == Endpoints::kExclusive ? 1 : 0;
  const Step later_end = endpoints == Endpoints::kInclusive ? 1 : 0;
  std::vector<Buffer> buffers;
  buffers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    constexpr Step kMost = std::numeric_limits<Step>::max();
    if (start[i] == kMost || end[i] == kMost) {
      return Fail(ErrorCode::kInvalidProblem,
                  "buffer \"" + std::to_string(first_id + i) + "\": steps end at " +
                      std::to_string(kMaxStep),
                  Subject::OfBuffer(first_id + i));
    }
    Buffer buffer{std::to_string(first_id + i), start[i] + later_start, end[i] + later_end,
                  size[i]};
    if (alignment != nullptr) buffer.alignment = alignment[i];
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

}  // namespace berth::internal::c

namespace c = berth::internal::c;
using berth::Result;

extern "C" {

berth_status berth_place(size_t count, const int64_t* start, const int64_t* end,
                         const int64_t* size, const int64_t* alignment,
                         const berth_options* options, int64_t* offsets, berth_summary* summary,
                         berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(offsets != nullptr || count == 0, "offsets is NULL");
    const berth_options& request = c::OptionsOf(options);
    BERTH_TRY(c::RefuseBudget(request.settings, "berth_place()"));
    BERTH_TRY(c::RefuseRepack(request.settings));
    if (summary != nullptr) c::RequireStruct(summary);
    const berth::Problem problem =
        BERTH_TRY(c::ProblemOfArrays(count, start, end, size, alignment, options));
    c::Watch watch(request, /*limited=*/true);
    berth::PlaceOptions place = request.settings.plan.place;
    place.progress = watch.progress();
    const berth::PlanAnswer answer = BERTH_TRY(
        watch.Run([&](berth::Budget& budget) { return berth::Place(problem, place, budget); }));
    if (summary != nullptr) c::Fill(summary, c::SummaryOf(answer));
    for (std::size_t i = 0; i < count; ++i) {
      offsets[i] = answer.best ? answer.best->residencies[i].offset : -1;
    }
    return {};
  });
}

berth_status berth_check(size_t count, const int64_t* start, const int64_t* end,
                         const int64_t* size, const int64_t* alignment,
                         const berth_options* options, const int64_t* offsets,
                         berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(offsets != nullptr || count == 0, "offsets is NULL");
    const berth::Problem problem =
        BERTH_TRY(c::ProblemOfArrays(count, start, end, size, alignment, options));
    BERTH_TRY(berth::Validate(problem));
    berth::Placement placement;
    if (count > 0) placement.offsets.assign(offsets, offsets + count);
    for (std::size_t i = 0; i < count; ++i) {
      if (offsets[i] >= 0 && offsets[i] <= berth::kMaxBytes) continue;
      return berth::Fail(berth::ErrorCode::kInvalidPlan,
                         "buffer \"" + std::to_string(i) + "\": offset " +
                             std::to_string(offsets[i]) + " is not between 0 and 2^60",
                         berth::Subject::OfBuffer(i));
    }
    placement.height = berth::Height(problem, placement.offsets);
    return berth::ValidatePlacement(problem, placement);
  });
}

berth_problem* berth_problem_new(void) {
  return c::ValueOr<berth_problem*>(
      nullptr, [] { return new berth_problem{std::make_shared<c::TableInput>()}; });
}

void berth_problem_free(berth_problem* problem) { delete problem; }

berth_status berth_problem_read(const char* path, const berth_options* options,
                                berth_problem** problem, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(path != nullptr, "path is NULL");
    const std::string text = BERTH_TRY(berth::ReadFile(path));
    return c::ReadTable(text, path, path, options, problem);
  });
}

berth_status berth_problem_parse(const char* bytes, size_t length, const char* name,
                                 const berth_options* options, berth_problem** problem,
                                 berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const std::string shown = name == nullptr ? "table" : name;
    return c::ReadTable(c::ViewOf(bytes, length), shown, shown, options, problem);
  });
}

berth_status berth_problem_names(const char* bytes, size_t length, const char* name,
                                 berth_text** names, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const std::string shown = name == nullptr ? "table" : name;
    const std::vector<std::string> found = BERTH_TRY(c::NamesIn(c::ViewOf(bytes, length), shown));
    std::string list;
    for (const std::string& each : found) list += each + '\0';
    c::Give(names, std::move(list));
    return {};
  });
}

berth_status berth_problem_add(berth_problem* problem, const char* id, int64_t start, int64_t end,
                               int64_t size, int64_t alignment, size_t* index,
                               berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(problem != nullptr, "problem is NULL");
    c::Require(id == nullptr || berth::internal::IsUtf8(id), "the id of the buffer is not UTF-8");
    c::TableInput& input = c::Own(problem->input);
    std::vector<berth::Buffer>& buffers = input.problem.buffers;
    buffers.push_back({id == nullptr ? std::to_string(buffers.size()) : std::string(id), start, end,
                       size, alignment});
    input.hash.clear();
    if (index != nullptr) *index = buffers.size() - 1;
    return {};
  });
}

berth_status berth_problem_add_arrays(berth_problem* problem, size_t count, const int64_t* start,
                                      const int64_t* end, const int64_t* size,
                                      const int64_t* alignment, const berth_options* options,
                                      berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const std::size_t first = c::InputOf(problem)->problem.buffers.size();
    std::vector<berth::Buffer> more =
        BERTH_TRY(c::BuffersOf(count, start, end, size, alignment, options, first));
    c::TableInput& input = c::Own(problem->input);
    input.hash.clear();
    std::vector<berth::Buffer>& buffers = input.problem.buffers;
    if (buffers.empty()) {
      buffers = std::move(more);
    } else {
      buffers.insert(buffers.end(), std::make_move_iterator(more.begin()),
                     std::make_move_iterator(more.end()));
    }
    return {};
  });
}

berth_status berth_problem_pin(berth_problem* problem, size_t buffer, int64_t offset,
                               berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::BufferAt(problem, buffer).offset = c::OffsetOf(offset);
    return {};
  });
}

berth_status berth_problem_hint(berth_problem* problem, size_t buffer, int64_t offset,
                                berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::BufferAt(problem, buffer).hint = c::OffsetOf(offset);
    return {};
  });
}

berth_status berth_problem_add_gap(berth_problem* problem, size_t buffer, int64_t start,
                                   int64_t end, int64_t lower, int64_t upper, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    berth::Gap gap{start, end};
    if (lower != -1 || upper != -1) gap.window = berth::Window{lower, upper};
    c::BufferAt(problem, buffer).gaps.push_back(gap);
    return {};
  });
}

berth_status berth_problem_colocate(const berth_problem* problem, const size_t* groups,
                                    const int64_t* distances, berth_problem** colocated,
                                    size_t* buffer_of, int64_t* distance_of, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth::Problem& table = c::InputOf(problem)->problem;
    c::Require(colocated != nullptr, "the place for the problem is NULL");
    const std::size_t count = table.buffers.size();
    c::RequireList(groups, count, "the list of groups");
    berth::Colocated found =
        BERTH_TRY(berth::Colocate(table, c::GroupsOf(count, groups, distances)));
    auto input = std::make_shared<c::TableInput>();
    input->problem = std::move(found.problem);
    *colocated = new berth_problem{std::move(input)};
    for (std::size_t b = 0; b < count; ++b) {
      if (buffer_of != nullptr) buffer_of[b] = found.places[b].buffer;
      if (distance_of != nullptr) distance_of[b] = found.places[b].distance;
    }
    return {};
  });
}

size_t berth_problem_count(const berth_problem* problem) {
  return problem == nullptr ? 0 : problem->input->problem.buffers.size();
}

berth_status berth_problem_buffer(const berth_problem* problem, size_t buffer, berth_buffer* out,
                                  berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth::Buffer& from = c::BufferAt(problem, buffer);
    c::Fill(out, {0, from.id.c_str(), from.start, from.end, from.size, from.alignment,
                  from.offset.value_or(-1), from.hint.value_or(-1), from.gaps.size()});
    return {};
  });
}

berth_status berth_problem_gap(const berth_problem* problem, size_t buffer, size_t gap,
                               berth_gap* out, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth::Buffer& of = c::BufferAt(problem, buffer);
    c::RequireIndex(gap, of.gaps.size(), "gap");
    const berth::Gap& from = of.gaps[gap];
    c::Fill(out, {0, from.start, from.end, from.window ? from.window->lower : -1,
                  from.window ? from.window->upper : -1});
    return {};
  });
}

berth_status berth_problem_to_csv(const berth_problem* problem, const int64_t* offsets,
                                  berth_text** csv, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth::Problem& table = c::InputOf(problem)->problem;
    if (offsets == nullptr) {
      c::Give(csv, berth::WriteCsv(table));
      return {};
    }
    const std::vector<berth::Bytes> plan(offsets, offsets + table.buffers.size());
    c::Give(csv, berth::WriteCsv(table, &plan));
    return {};
  });
}

berth_status berth_explain_problem(const berth_problem* problem, const berth_options* options,
                                   berth_conflict* out, size_t* buffers, size_t room, size_t* count,
                                   berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(buffers != nullptr || room == 0, "buffers is NULL");
    const berth_options& request = c::OptionsOf(options);
    BERTH_TRY(c::RefuseBudget(request.settings, "berth_explain_problem()"));
    BERTH_TRY(c::RefuseRepack(request.settings));
    c::RequireStruct(out);
    berth::Problem table = c::InputOf(problem)->problem;
    table.capacity = request.settings.capacity;
    c::Watch watch(request, /*limited=*/true);
    berth::PlaceOptions place = request.settings.plan.place;
    place.progress = watch.progress();
    const berth::Conflict conflict = BERTH_TRY(
        watch.Run([&](berth::Budget& budget) { return berth::Explain(table, place, budget); }));
    c::Fill(out, {0, c::OutcomeOf(conflict.outcome), conflict.minimal, conflict.pins_collide,
                  conflict.step, conflict.load, conflict.capacity.value_or(-1), conflict.short_by,
                  conflict.works_with.value_or(-1), conflict.height_bound, conflict.nodes,
                  conflict.seconds});
    for (std::size_t i = 0; i < std::min(room, conflict.buffers.size()); ++i) {
      buffers[i] = conflict.buffers[i];
    }
    if (count != nullptr) *count = conflict.buffers.size();
    return {};
  });
}

}  // extern "C"
