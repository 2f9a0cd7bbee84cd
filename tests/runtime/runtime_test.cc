// The arena and the recorder, against a model that knows which bytes are whose.

#include "berth/runtime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "berth/io.h"
#include "berth/place.h"

namespace berth {
namespace {

// The fallback: counts its blocks.
struct Heap {
  std::atomic<std::size_t> blocks = 0;
  std::size_t refuse_from = SIZE_MAX;  // Blocks as large as this.
  berth_fallback fallback() {
    return {[](void* context, std::size_t size, std::size_t alignment) -> void* {
              Heap& heap = *static_cast<Heap*>(context);
              if (size >= heap.refuse_from) return nullptr;
              void* block = nullptr;
              if (posix_memalign(&block, std::max(alignment, sizeof(void*)), size) != 0)
                return nullptr;
              ++heap.blocks;
              return block;
            },
            [](void* context, void* block) {
              --static_cast<Heap*>(context)->blocks;
              free(block);
            },
            this};
  }
};

using Arena = std::unique_ptr<berth_arena, decltype(&berth_arena_free)>;

Arena Make(Heap& heap, const std::vector<berth_request>& requests) {
  const berth_fallback fallback = heap.fallback();
  char error[BERTH_RUNTIME_ERROR] = "";
  Arena arena(berth_arena_new(requests.data(), requests.size(), &fallback, error),
              berth_arena_free);
  EXPECT_NE(arena, nullptr) << error;
  return arena;
}

std::uint64_t Departures(berth_arena* arena) {
  const berth_arena_report report = berth_arena_get_report(arena);
  std::uint64_t sum = 0;
  for (const std::uint64_t each : report.departures) sum += each;
  return sum;
}

std::string Described(berth_arena* arena) {
  char text[1024];
  berth_arena_describe(arena, text, sizeof text);
  return text;
}

class Runtime : public testing::Test {
 protected:
  void* Allocate(std::size_t size, std::size_t alignment = 64) {
    void* const block = berth_arena_allocate(arena.get(), size, alignment);
    EXPECT_NE(block, nullptr);
    return block;
  }
  void Release(void* block) { berth_arena_release(arena.get(), block); }
  std::uint64_t Count(berth_departure_kind kind) {
    return berth_arena_get_report(arena.get()).departures[kind];
  }
  bool Owns(void* block) { return berth_arena_owns(arena.get(), block) != 0; }

  Heap heap;
  // The second takes the place of the first, the fourth is not planned.
  Arena arena = Make(heap, {{100, 0}, {200, 128}, {100, 0}, {1, BERTH_NOT_PLANNED}, {64, 384}});
};

TEST_F(Runtime, FollowsThePlan) {
  for (int step = 1; step <= 3; ++step) {
    berth_arena_step(arena.get());
    char* const a = static_cast<char*>(Allocate(100));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 4096, 0U);
    char* const b = static_cast<char*>(Allocate(200));
    EXPECT_EQ(b, a + 128);
    Release(a);
    EXPECT_EQ(Allocate(100), a);
    void* const c = Allocate(77);
    EXPECT_FALSE(Owns(c));
    EXPECT_EQ(Allocate(64), a + 384);
    EXPECT_EQ(berth_arena_block_size(arena.get(), b), 200U);
    EXPECT_EQ(berth_arena_block_size(arena.get(), c), 0U);
    for (void* block :
         {static_cast<void*>(a), static_cast<void*>(b), c, static_cast<void*>(a + 384)}) {
      Release(block);
    }
    void* const more = Allocate(1 << 20);  // After the last planned one.
    EXPECT_FALSE(Owns(more));
    Release(more);
  }
  EXPECT_EQ(Departures(arena.get()), 0U);
  const berth_arena_report report = berth_arena_get_report(arena.get());
  EXPECT_EQ(report.served, 12U);
  EXPECT_EQ(report.not_planned, 6U);
  EXPECT_EQ(report.bytes, 448U);
  EXPECT_EQ(heap.blocks, 1U);  // The arena.
  EXPECT_EQ(Described(arena.get()),
            "3 steps, 12 requests in an arena of 448 bytes, 6 left to the allocator by the plan, 0 "
            "of other "
            "threads, none departed from the plan.");
}

TEST_F(Runtime, BeforeTheFirstStepAllIsTheFallbacks) {
  void* const block = Allocate(100);
  EXPECT_FALSE(Owns(block));
  Release(block);
  Release(nullptr);
  EXPECT_EQ(Departures(arena.get()), 0U);
}

TEST_F(Runtime, AnotherSizeIsTheFallbacks) {
  berth_arena_step(arena.get());
  Release(Allocate(101));
  const berth_arena_report report = berth_arena_get_report(arena.get());
  EXPECT_EQ(report.first.kind, BERTH_DEPARTURE_SIZE);
  EXPECT_EQ(report.first.step, 1U);
  EXPECT_EQ(report.first.request, 0U);
  EXPECT_EQ(report.first.asked, 101U);
  EXPECT_EQ(report.first.planned, 100U);
  // It came in the place of the first, or besides: the next ones find theirs.
  void* const b = Allocate(200);
  EXPECT_TRUE(Owns(b));
  Release(b);
  EXPECT_EQ(Count(BERTH_DEPARTURE_SIZE), 1U);
  EXPECT_EQ(Count(BERTH_DEPARTURE_ORDER), 1U);
}

TEST_F(Runtime, AnotherOrderGetsTheSameBytes) {
  berth_arena_step(arena.get());
  char* const b = static_cast<char*>(Allocate(200));
  char* const a = static_cast<char*>(Allocate(100));
  EXPECT_TRUE(Owns(a));
  EXPECT_TRUE(Owns(b));
  EXPECT_EQ(a + 128, b);
  EXPECT_GE(Count(BERTH_DEPARTURE_ORDER), 1U);
  Release(a);
  Release(b);
}

TEST_F(Runtime, BytesInUseAreNotGivenOut) {
  berth_arena_step(arena.get());
  char* const a = static_cast<char*>(Allocate(100));
  Release(Allocate(200));
  void* const c = Allocate(100);  // The first is still there.
  EXPECT_FALSE(Owns(c));
  EXPECT_EQ(Count(BERTH_DEPARTURE_IN_USE), 1U);
  Release(c);
  berth_arena_step(arena.get());
  EXPECT_EQ(Count(BERTH_DEPARTURE_MISSING), 1U);
  void* const again = Allocate(100);  // Still.
  EXPECT_FALSE(Owns(again));
  Release(again);
  Release(a);
  EXPECT_EQ(berth_arena_get_report(arena.get()).last_step, 2U);
  EXPECT_NE(Described(arena.get())
                .find("3 departures from the plan, the last in step 2, the first in step 1 "
                      "at request 2: its bytes were still in use (100 bytes asked, 100 planned)"),
            std::string::npos)
      << Described(arena.get());
}

TEST_F(Runtime, ALargerAlignmentIsTheFallbacks) {
  berth_arena_step(arena.get());
  Release(Allocate(100, 4096));
  void* const b = Allocate(200, 4096);
  EXPECT_FALSE(Owns(b));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b) % 4096, 0U);
  EXPECT_EQ(Count(BERTH_DEPARTURE_ALIGNMENT), 1U);
  Release(b);
}

TEST_F(Runtime, WrongReleasesAreIgnored) {
  berth_arena_step(arena.get());
  char* const a = static_cast<char*>(Allocate(100));
  Release(a + 8);
  Release(a);
  Release(a);
  EXPECT_EQ(berth_arena_get_report(arena.get()).bad_releases, 2U);
}

TEST_F(Runtime, OtherThreadsMayReleaseButNotTakePart) {
  berth_arena_step(arena.get());
  void* const a = Allocate(100);
  std::thread([&] {
    void* const other = Allocate(200);
    EXPECT_FALSE(Owns(other));
    Release(other);
    Release(a);
  }).join();
  Release(Allocate(200));
  EXPECT_TRUE(Owns(Allocate(100)));
  EXPECT_EQ(Departures(arena.get()), 0U);
  EXPECT_EQ(berth_arena_get_report(arena.get()).other_threads, 1U);
}

TEST_F(Runtime, ThreadsDoNotDisturbEachOther) {
  const auto fill = [&](std::size_t size, unsigned char value) {
    auto* const block = static_cast<unsigned char*>(Allocate(size));
    std::memset(block, value, size);
    return block;
  };
  berth_arena_step(arena.get());  // Before it, nobody is another thread.
  std::vector<std::thread> others;
  for (unsigned char value = 1; value <= 3; ++value) {
    others.emplace_back([&, value] {
      for (int i = 0; i < 2000; ++i) {
        auto* const block = fill(100, value);
        EXPECT_EQ(std::count(block, block + 100, value), 100);
        Release(block);
      }
    });
  }
  std::vector<std::thread> releasers;
  for (int step = 0; step < 200; ++step) {
    berth_arena_step(arena.get());
    auto* const a = fill(100, 9);
    auto* const b = fill(200, 8);
    EXPECT_EQ(std::count(a, a + 100, 9), 100);
    releasers.emplace_back([this, a] { Release(a); });
    EXPECT_EQ(std::count(b, b + 200, 8), 200);
    Release(b);
  }
  for (auto* threads : {&others, &releasers}) {
    for (std::thread& each : *threads) each.join();
  }
  EXPECT_EQ(berth_arena_get_report(arena.get()).other_threads, 6000U);
  EXPECT_EQ(heap.blocks, 1U);
}

TEST(RuntimeErrors, NameTheRequest) {
  Heap heap;
  const berth_fallback fallback = heap.fallback();
  char error[BERTH_RUNTIME_ERROR] = "";
  const auto refused = [&](std::vector<berth_request> requests) {
    EXPECT_EQ(berth_arena_new(requests.data(), requests.size(), &fallback, error), nullptr);
    EXPECT_EQ(berth_arena_new(requests.data(), requests.size(), &fallback, nullptr), nullptr);
    return std::string(error);
  };
  EXPECT_NE(refused({{8, 0}, {0, 8}}).find("request 1 has size 0"), std::string::npos);
  EXPECT_NE(refused({{8, std::uint64_t{1} << 61}}).find("2^60"), std::string::npos);
  heap.refuse_from = 1000;
  EXPECT_NE(refused({{8, 2000}}).find("no memory for an arena of 2008 bytes"), std::string::npos);
  EXPECT_EQ(heap.blocks, 0U);
}

std::string File(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(RuntimeErrors, NameTheLine) {
  Heap heap;
  const berth_fallback fallback = heap.fallback();
  const auto refused = [&](const std::string& text) {
    char error[BERTH_RUNTIME_ERROR] = "";
    const std::string path = File("bad.csv", text);
    EXPECT_EQ(berth_arena_read(path.c_str(), &fallback, error), nullptr) << text;
    return std::string(error).substr(std::min(path.size(), std::string(error).size()));
  };
  const std::string head = "id,lower,upper,size,offset\n";
  EXPECT_EQ(refused(""), ":0: there is no header");
  EXPECT_EQ(refused("id,size\nr0,4\n"),
            ":1: a table with columns id, size and offset is wanted, as berth place writes it");
  EXPECT_EQ(refused(head + "r0,0,1,4,0\nconv,0,1,4,0\n"),
            ":3: an id such as r12 is wanted, the number of a request");
  // No number of a request takes memory that no table of this length needs.
  for (const char* id : {"r16777216", "r4294967295", "r99999999999"}) {
    EXPECT_EQ(refused(head + id + ",0,1,4,0\n"),
              ":2: the number of a request is too large: at most r16777215 is allowed");
  }
  EXPECT_EQ(refused(head + "r0,0,1,4,0" + std::string(1, '\0') + "64\n"),
            ":2: the line is too long, or has a byte 0");
  EXPECT_EQ(refused(head + "r0,0,1,x,0\n"), ":2: the size is no number");
  EXPECT_EQ(refused(head + "r0,0,1,4,\n"), ":2: the offset is no number");
  EXPECT_EQ(refused(head + "r0,0,1\n"), ":2: the size is no number");
  EXPECT_EQ(refused(head + "r0,0,1,4,0\nr0,0,1,4,8\n"), ":3: this request has a row already");
  EXPECT_EQ(refused(head + "r0,0,1,4," + std::string(5000, '1') + "\n"),
            ":2: the line is too long, or has a byte 0");
  EXPECT_EQ(refused(head + "r0,0,1,0,0\n"),
            ": request 0 has size 0 and offset 0: 1 to 2^60 and 0 to 2^60 are allowed");
  char error[BERTH_RUNTIME_ERROR] = "";
  EXPECT_EQ(berth_arena_read("/nonexistent/plan.csv", &fallback, error), nullptr);
  EXPECT_STREQ(error, "/nonexistent/plan.csv: the file cannot be opened");
  EXPECT_EQ(berth_arena_read("/", &fallback, error), nullptr);  // It can be opened.
  EXPECT_STREQ(error, "/:0: the file cannot be read");
  EXPECT_EQ(heap.blocks, 0U);
}

// Random runs under plans that may not even be valid: no byte is ever given out twice.
TEST(RuntimeRandom, NoTwoBlocksShareBytes) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return random() % n; };
    Heap heap;
    // Offsets for one, two and three levels of the set of blocks in use.
    const std::size_t places = seed % 3 == 0 ? 60 : 20000;
    const bool many = seed % 50 == 0;
    std::vector<berth_request> requests(1 + below(many ? 10000 : 300));
    const std::size_t keep = below(many ? 300 : 40);  // Blocks in use.
    const auto any_size = [&] { return 1 + below(8) * (many ? 2000 : 40); };
    for (berth_request& each : requests) {
      each.size = any_size();
      each.offset = below(10) == 0 ? BERTH_NOT_PLANNED : 64 * below(places);
    }
    Arena arena = Make(heap, requests);
    std::map<unsigned char*, std::pair<std::size_t, unsigned char>> live;
    const auto release = [&](std::size_t which) {
      const auto block = std::next(live.begin(), static_cast<std::ptrdiff_t>(which));
      const auto [size, value] = block->second;
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(block->first[i], value);
      berth_arena_release(arena.get(), block->first);
      live.erase(block);
    };
    for (int step = 0; step < 4; ++step) {
      berth_arena_step(arena.get());
      for (std::size_t k = 0; k < requests.size(); ++k) {
        if (below(20) == 0) continue;  // Missing.
        std::size_t size = requests[k].size;
        if (below(15) == 0) size = any_size();  // Another, or one more.
        auto* const block =
            static_cast<unsigned char*>(berth_arena_allocate(arena.get(), size, 64));
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0U);
        const auto value = static_cast<unsigned char>(random());
        std::memset(block, value, size);
        ASSERT_TRUE(live.emplace(block, std::pair(size, value)).second);
        while (live.size() > keep || (!live.empty() && below(3) == 0)) {
          ASSERT_NO_FATAL_FAILURE(release(below(live.size())));
        }
      }
    }
    while (!live.empty()) ASSERT_NO_FATAL_FAILURE(release(0));
    EXPECT_EQ(heap.blocks, berth_arena_get_report(arena.get()).bytes > 0 ? 1U : 0U);
    EXPECT_EQ(berth_arena_get_report(arena.get()).bad_releases, 0U);
  }
}

// A program that repeats a random step; some of its blocks last into the next step, some for ever.
struct Program {
  struct Event {
    bool allocate;
    std::size_t request;
  };
  std::vector<std::size_t> sizes;
  std::vector<Event> events;      // Of a step. What is released first was made in the step before.
  std::vector<std::size_t> kept;  // Requests that are never released.
};

Program RandomProgram(std::mt19937& random) {
  Program program;
  std::vector<std::size_t> live;
  std::vector<std::size_t> later;
  const std::size_t requests = 1 + random() % 60;
  for (std::size_t k = 0; k < requests; ++k) {
    program.sizes.push_back(1 + random() % 5000);
    program.events.push_back({true, k});
    const auto kind = random() % 12;
    if (kind == 0) {
      program.kept.push_back(k);
    } else if (kind < 3) {
      later.push_back(k);
    } else {
      live.push_back(k);
    }
    while (!live.empty() && random() % 2 == 0) {
      std::swap(live[random() % live.size()], live.back());
      program.events.push_back({false, live.back()});
      live.pop_back();
    }
  }
  for (const std::size_t k : live) program.events.push_back({false, k});
  for (const std::size_t k : later) {  // Anywhere.
    const std::size_t at = random() % (program.events.size() + 1);
    program.events.insert(program.events.begin() + static_cast<std::ptrdiff_t>(at), {false, k});
  }
  return program;
}

// Runs `steps` steps. A block lies at `blocks` until it is released.
template <typename Begin, typename Allocate, typename Release>
void RunSteps(const Program& program, int steps, Begin begin, Allocate allocate, Release release) {
  std::vector<std::vector<void*>> blocks(program.sizes.size());
  for (int step = 0; step < steps; ++step) {
    begin();
    for (const Program::Event& event : program.events) {
      auto& own = blocks[event.request];
      if (event.allocate) {
        own.push_back(allocate(program.sizes[event.request]));
      } else if (!own.empty()) {  // In the first step there may be none yet.
        release(own.front());
        own.erase(own.begin());
      }
    }
  }
  for (auto& own : blocks) {
    for (void* block : own) release(block);
  }
}

TEST(RuntimeRandom, RecordedStepsFollowTheirPlan) {
  int planned = 0;
  for (std::uint32_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Program program = RandomProgram(random);
    const std::unique_ptr<berth_recorder, decltype(&berth_recorder_free)> recorder(
        berth_recorder_new(3), berth_recorder_free);
    RunSteps(
        program, 6, [&] { berth_recorder_step(recorder.get()); },
        [&](std::size_t size) {
          void* const block = std::malloc(size);
          berth_recorder_allocated(recorder.get(), block, size, 64);
          return block;
        },
        [&](void* block) {
          berth_recorder_released(recorder.get(), block);
          std::free(block);
        });
    ASSERT_TRUE(berth_recorder_done(recorder.get()));
    const std::string path = File("recorded.csv", "");
    char error[BERTH_RUNTIME_ERROR] = "";
    ASSERT_TRUE(berth_recorder_write(recorder.get(), path.c_str(), error)) << error;
    const auto text = ReadFile(path);
    ASSERT_TRUE(text.has_value());
    const auto table = ReadCsv(*text, path);
    if (!table) continue;  // Nothing is planned.
    Budget budget;
    budget.SetNodeLimit(1000);  // Any plan will do.
    const auto answer = Place(table->problem, {}, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    std::vector<Bytes> offsets;
    for (const Residency& each : answer->best->residencies) offsets.push_back(each.offset);
    File("recorded.csv", WriteCsv(table->problem, &offsets));

    Heap heap;
    const berth_fallback fallback = heap.fallback();
    Arena arena(berth_arena_read(path.c_str(), &fallback, error), berth_arena_free);
    ASSERT_NE(arena, nullptr) << error;
    RunSteps(
        program, 5, [&] { berth_arena_step(arena.get()); },
        [&](std::size_t size) { return berth_arena_allocate(arena.get(), size, 64); },
        [&](void* block) { berth_arena_release(arena.get(), block); });
    EXPECT_EQ(Departures(arena.get()), 0U) << Described(arena.get());
    const berth_arena_report report = berth_arena_get_report(arena.get());
    EXPECT_EQ(report.served, 5 * table->problem.buffers.size());
    EXPECT_EQ(heap.blocks, 1U);
    planned += 1;
  }
  EXPECT_GT(planned, 90);
}

TEST(RuntimeRecorder, SaysWhatIsMissing) {
  const std::unique_ptr<berth_recorder, decltype(&berth_recorder_free)> recorder(
      berth_recorder_new(2), berth_recorder_free);
  berth_recorder_step(recorder.get());
  char error[BERTH_RUNTIME_ERROR] = "";
  EXPECT_FALSE(berth_recorder_write(recorder.get(), "x.csv", error));
  EXPECT_STREQ(
      error,
      "x.csv: step 2 is recorded, up to the end of the next one, but only 1 steps were begun");
  for (int step = 0; step < 3; ++step) berth_recorder_step(recorder.get());
  EXPECT_FALSE(berth_recorder_write(recorder.get(), "/nonexistent/x.csv", error));
  EXPECT_STREQ(error, "/nonexistent/x.csv: the file cannot be written");
}

}  // namespace
}  // namespace berth
