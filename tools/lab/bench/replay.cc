#include "tools/lab/bench/replay.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/try.h"
#include "berth/io.h"
#include "tools/lab/bench/processor_time.h"

namespace berth::lab {
namespace {

constexpr std::size_t kMostRequests = std::size_t{1} << 24;  // As berth_arena_read() has it.

std::optional<std::size_t> NumberOf(const std::string& id) {
  std::size_t number = 0;
  const char* const last = id.data() + id.size();
  if (id.empty() || id.front() != 'r') return std::nullopt;
  const auto [end, error] = std::from_chars(id.data() + 1, last, number);
  if (error != std::errc() || end != last || number >= kMostRequests) return std::nullopt;
  return number;
}

// After how many requests the block of request `k` is given back: of the same step, or of the next where it is live
// at the beginning. Nothing: no recording has such a lifetime.
std::optional<std::size_t> ReleaseOf(const Buffer& buffer, std::size_t k) {
  const auto step = static_cast<Step>(k);
  if (buffer.start == step && buffer.gaps.empty()) return static_cast<std::size_t>(buffer.end);
  if (buffer.start != 0 || buffer.end <= step) return std::nullopt;
  if (buffer.gaps.empty()) return k;
  const Gap& gap = buffer.gaps.front();
  if (buffer.gaps.size() > 1 || gap.window || gap.end != step) return std::nullopt;
  return static_cast<std::size_t>(gap.start);
}

tl::unexpected<Error> FailAt(const Problem& table, std::size_t b, const std::string& what) {
  return Fail(ErrorCode::kInvalidProblem, "buffer " + table.buffers[b].id + ": " + what,
              Subject::OfBuffer(b));
}

// Each request of one byte until a row says otherwise.
void Grow(RecordedStep& step, std::size_t count) {
  if (step.requests.size() < count) step.requests.resize(count);
}

// Runs a step; `blocks` has the block of each request until it is given back.
template <typename Allocate, typename Release>
void RunStep(const RecordedStep& step, std::vector<void*>& blocks, Allocate allocate,
             Release release) {
  for (const RecordedStep::Event& event : step.events) {
    void*& block = blocks[event.request];
    if (event.release) {
      if (block != nullptr) release(block);  // In the first step there may be none yet.
      block = nullptr;
    } else {
      block = allocate(step.requests[event.request]);
    }
  }
}

void* FromSystem(void*, std::size_t size, std::size_t alignment) {
  void* block = nullptr;
  return posix_memalign(&block, std::max(alignment, sizeof(void*)), size) == 0 ? block : nullptr;
}
void ToSystem(void*, void* block) { std::free(block); }

// The processor seconds of each of `rounds` steps. Whatever is left is given back after the last.
template <typename Begin, typename Allocate, typename Release>
std::vector<double> TimeSteps(const RecordedStep& step, int rounds, Begin begin, Allocate allocate,
                              Release release) {
  std::vector<void*> blocks(step.requests.size());
  std::vector<double> seconds;
  seconds.reserve(static_cast<std::size_t>(rounds));
  for (int round = 0; round < rounds; ++round) {
    const double start = ProcessorSeconds();
    begin();
    RunStep(step, blocks, allocate, release);
    seconds.push_back(ProcessorSeconds() - start);
  }
  for (void* const block : blocks) {
    if (block != nullptr) release(block);
  }
  return seconds;
}

}  // namespace

Result<RecordedStep> ReadStep(const Problem& table) {
  RecordedStep step;
  std::vector<std::tuple<std::size_t, int, std::size_t>> order;  // Time; release, request; which.
  for (std::size_t b = 0; b < table.buffers.size(); ++b) {
    const Buffer& buffer = table.buffers[b];
    const auto k = NumberOf(buffer.id);
    if (!k) return FailAt(table, b, "an id such as r12 is wanted, the number of a request");
    const auto release = ReleaseOf(buffer, *k);
    if (!release || *release > kMostRequests) {
      return FailAt(table, b, "no recorded step has this lifetime");
    }
    Grow(step, *k + 1);
    RecordedStep::Request& request = step.requests[*k];
    if (request.planned) return FailAt(table, b, "this request has a row already");
    request = {buffer.size, buffer.alignment, true};
    order.emplace_back(*release, 0, *k);
  }
  for (std::size_t k = 0; k < step.requests.size(); ++k) {
    order.emplace_back(k, 1, k);
    if (!step.requests[k].planned) order.emplace_back(k + 1, 0, k);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [time, kind, k] : order) step.events.push_back({k, kind == 0});
  return step;
}

Result<Replayed> Replay(const std::string& path, int rounds) {
  const std::string text = BERTH_TRY(ReadFile(path));
  const Table table = BERTH_TRY(ReadCsv(text, path));
  const RecordedStep step = BERTH_TRY(ReadStep(table.problem));
  const berth_fallback fallback = {FromSystem, ToSystem, nullptr};
  std::array<char, BERTH_RUNTIME_ERROR> error = {};
  const std::unique_ptr<berth_arena, decltype(&berth_arena_free)> arena(
      berth_arena_read(path.c_str(), &fallback, error.data()), berth_arena_free);
  if (arena == nullptr) return Fail(ErrorCode::kIo, error.data());
  bool refused = false;  // There was no memory.
  const auto note = [&refused](void* block) {
    refused |= block == nullptr;
    return block;
  };
  Replayed replayed;
  replayed.requests = step.requests.size();
  replayed.arena_seconds = TimeSteps(
      step, rounds, [&] { berth_arena_step(arena.get()); },
      [&](const RecordedStep::Request& request) {
        return note(berth_arena_allocate(arena.get(), static_cast<std::size_t>(request.size),
                                         static_cast<std::size_t>(request.alignment)));
      },
      [&](void* block) { berth_arena_release(arena.get(), block); });
  replayed.report = berth_arena_get_report(arena.get());
  replayed.system_seconds = TimeSteps(
      step, rounds, [] {},
      [&](const RecordedStep::Request& request) {
        return note(FromSystem(nullptr, static_cast<std::size_t>(request.size),
                               static_cast<std::size_t>(request.alignment)));
      },
      [](void* block) { ToSystem(nullptr, block); });
  if (refused) return Fail(ErrorCode::kIo, path + ": there is no memory for a request");
  return replayed;
}

}  // namespace berth::lab
