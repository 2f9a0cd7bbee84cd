// Progress, cancellation and threads of the C interface.

#include <berth/berth.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace berth {
namespace {

struct FreeOptions {
  void operator()(berth_options* options) const { berth_options_free(options); }
  void operator()(berth_canceller* canceller) const { berth_canceller_free(canceller); }
};
using Options = std::unique_ptr<berth_options, FreeOptions>;
using Canceller = std::unique_ptr<berth_canceller, FreeOptions>;

Options OptionsWith(const std::vector<std::pair<std::string, std::string>>& values) {
  Options options(berth_options_new());
  for (const auto& [name, value] : values) {
    EXPECT_EQ(berth_options_set(options.get(), name.c_str(), value.c_str(), nullptr), BERTH_OK)
        << name;
  }
  return options;
}

struct Arrays {
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> end;
  std::vector<std::int64_t> size;
  std::vector<std::int64_t> offsets;
};

// Many buffers of unrelated sizes: exact search on them takes minutes.
Arrays HardTable(std::uint64_t seed, std::size_t count) {
  Arrays arrays;
  std::uint64_t state = seed;
  const auto next = [&state](std::uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state >> 33) % below);
  };
  for (std::size_t i = 0; i < count; ++i) {
    arrays.start.push_back(next(200));
    arrays.end.push_back(arrays.start.back() + 1 + next(60));
    arrays.size.push_back(1 + next(100'003));
  }
  arrays.offsets.resize(count);
  return arrays;
}

berth_summary Place(Arrays& arrays, const berth_options* options) {
  berth_summary summary;
  summary.struct_size = sizeof summary;
  EXPECT_EQ(
      berth_place(arrays.start.size(), arrays.start.data(), arrays.end.data(), arrays.size.data(),
                  nullptr, options, arrays.offsets.data(), &summary, nullptr),
      BERTH_OK);
  return summary;
}

struct Reports {
  std::thread::id thread = std::this_thread::get_id();
  int calls = 0;
  int elsewhere = 0;
  int stop_after = 0;
  static int Count(void* user, const berth_progress* progress) {
    auto* const reports = static_cast<Reports*>(user);
    ++reports->calls;
    if (std::this_thread::get_id() != reports->thread) ++reports->elsewhere;
    EXPECT_GT(progress->seconds, 0);
    return static_cast<int>(reports->calls >= reports->stop_after);
  }
};

TEST(Watch, ReportsComeOnTheCallingThreadAndEndTheSearch) {
  for (const char* const threads : {"1", "2"}) {
    Arrays arrays = HardTable(1, 600);
    const Options options =
        OptionsWith({{"time_limit", "600"}, {"minimize", "on"}, {"threads", threads}});
    Reports reports;
    reports.stop_after = 3;
    berth_options_set_progress(options.get(), Reports::Count, &reports);
    const berth_summary summary = Place(arrays, options.get());
    EXPECT_EQ(reports.elsewhere, 0);
    EXPECT_EQ(summary.has_plan, 1);
    if (summary.outcome == BERTH_OPTIMAL) continue;
    EXPECT_GE(reports.calls, 3);
    EXPECT_EQ(summary.stopped, BERTH_STOP_BUDGET);
  }
}

TEST(Watch, AnotherThreadCanCancel) {
  Arrays arrays = HardTable(2, 600);
  const Options options = OptionsWith({{"time_limit", "600"}, {"minimize", "on"}});
  const Canceller canceller(berth_canceller_new());
  berth_options_set_canceller(options.get(), canceller.get());
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    berth_cancel(canceller.get());
  });
  const berth_summary summary = Place(arrays, options.get());
  other.join();
  EXPECT_EQ(summary.has_plan, 1);
  EXPECT_LT(summary.seconds, 300);
}

TEST(Watch, ReportsChangeNothing) {
  const Options silent = OptionsWith({{"node_limit", "20000"}});
  const Options watched = OptionsWith({{"node_limit", "20000"}});
  Reports reports;
  reports.stop_after = 1'000'000;
  berth_options_set_progress(watched.get(), Reports::Count, &reports);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Arrays one = HardTable(seed, 200);
    Arrays other = one;
    const berth_summary a = Place(one, silent.get());
    const berth_summary b = Place(other, watched.get());
    EXPECT_EQ(one.offsets, other.offsets);
    EXPECT_EQ(a.nodes, b.nodes);
    EXPECT_EQ(a.height_bound, b.height_bound);
  }
}

TEST(Watch, ThreadsShareOptions) {
  const Options options = OptionsWith({{"node_limit", "5000"}});
  std::vector<Arrays> expected;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    expected.push_back(HardTable(seed, 100));
    static_cast<void>(Place(expected.back(), options.get()));
  }
  std::atomic<int> different = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        Arrays again = HardTable(seed, 100);
        static_cast<void>(Place(again, options.get()));
        if (again.offsets != expected[seed - 1].offsets) ++different;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, 0);
}

// The library's answers to random tables are those of the arrays' call.
TEST(Watch, ArraysAndHandlesAgree) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Arrays arrays = HardTable(seed, 1 + seed % 20);
    const berth_summary by_arrays = Place(arrays, nullptr);
    berth_problem* problem = berth_problem_new();
    for (std::size_t i = 0; i < arrays.start.size(); ++i) {
      ASSERT_EQ(berth_problem_add(problem, nullptr, arrays.start[i], arrays.end[i], arrays.size[i],
                                  1, nullptr, nullptr),
                BERTH_OK);
    }
    berth_plan* plan = nullptr;
    ASSERT_EQ(berth_place_problem(problem, nullptr, &plan, nullptr), BERTH_OK);
    berth_problem_free(problem);
    berth_summary by_handle;
    by_handle.struct_size = sizeof by_handle;
    ASSERT_EQ(berth_plan_summary(plan, &by_handle, nullptr), BERTH_OK);
    EXPECT_EQ(by_handle.height, by_arrays.height);
    EXPECT_EQ(by_handle.outcome, by_arrays.outcome);
    std::size_t count = 0;
    const berth_residency* const residencies = berth_plan_residencies(plan, &count);
    ASSERT_EQ(count, arrays.offsets.size());
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(residencies[i].offset, arrays.offsets[i]);
    berth_plan_free(plan);
  }
}

// docs/howto/c.md has a row for each option that the searches' own tables do not have.
TEST(OptionsOfC, AreInTheDocument) {
  std::ifstream file(std::string(BERTH_SOURCE_DIR) + "/docs/howto/c.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  int rows = 0;
  for (std::size_t i = 0; i < berth_option_count(); ++i) {
    berth_option_info info;
    info.struct_size = sizeof info;
    ASSERT_EQ(berth_option_at(i, &info, nullptr), BERTH_OK);
    if (std::string(info.name) == "algorithm") break;  // Those of docs/options.md begin.
    std::string row = "| `" + std::string(info.name) + "` | ";
    if (*info.default_value != '\0') row += "`" + std::string(info.default_value) + "`";
    row += " | ";
    for (const char* c = info.allowed; *c != '\0'; ++c) {
      if (*c == '|') row += '\\';
      row += *c;
    }
    row += " | " + std::string(info.sentence) + " |\n";
    EXPECT_NE(text.find(row), std::string::npos) << row;
    ++rows;
  }
  EXPECT_GT(rows, 10);
}

}  // namespace
}  // namespace berth
