// Memory snapshots of PyTorch on the command line.
#include <nlohmann/json.hpp>

#include "tests/cli/berth_process.h"

namespace berth::cli {
namespace {

using Json = nlohmann::json;

class SnapshotTest : public CommandTest {
 protected:
  static std::string Snapshot(const std::string& name) {
    return BERTH_SOURCE_DIR "/tests/snapshot/files/" + name + ".pickle";
  }
  static void ExpectText(const ProcessResult& result, const std::string& words) {
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    EXPECT_NE(result.standard_output.find(words), std::string::npos) << result.standard_output;
  }
};

TEST_F(SnapshotTest, InfoSaysWhatWasReservedAndWhatIsNeeded) {
  const ProcessResult result = Berth({"info", Snapshot("small_4")});
  EXPECT_EQ(result.standard_output.substr(0, result.standard_output.find('\n')),
            "Pool 1 of 2: PyTorch reserved 2.02 MiB for at most 7 KiB in use, which is all that "
            "the same requests need.");
  ExpectText(result, "8 events; 2 buffers from before the first one: recording began late");
  ExpectText(result, "7 KiB (7,168 bytes), proved the least");
  ExpectText(result, "train.py:5 step");
  ExpectText(result, "In segments without any buffer: 2 MiB");
  ExpectText(Berth({"info", Snapshot("pools")}), "events are lost, as the recording was full");
}

// What is said first is said of one pool.
TEST_F(SnapshotTest, TheFirstLineNamesThePool) {
  const auto first_line = [](const ProcessResult& result) {
    return result.standard_output.substr(0, result.standard_output.find('\n'));
  };
  EXPECT_EQ(first_line(Berth({"info", Snapshot("pools")})),
            "Pool 1 of 3: PyTorch reserved 1 KiB for at most 1 KiB in use, which is all that the "
            "same requests need.");
  EXPECT_EQ(first_line(Berth({"place", Snapshot("pools"), "--problem", "3"})).substr(0, 38),
            "Pool 3 of 3: the same requests fit int");
}

TEST_F(SnapshotTest, PlaceComparesWithPytorch) {
  const std::string csv = Path("plan.csv");
  const ProcessResult result = Berth({"place", Snapshot("small_4"), "-o", csv});
  ExpectText(result,
             "Pool 1 of 2: the same requests fit into 7 KiB, and no plan is lower; PyTorch "
             "reserved 2.02 MiB.");
  ExpectText(Berth({"check", Snapshot("small_4"), csv}), "The plan holds");
  // By a table and by the snapshot the same.
  ExpectText(Berth({"place", csv}), "No plan is lower.");
}

TEST_F(SnapshotTest, JsonHasDevicesPoolsAndStacks) {
  for (const std::string command : {"info", "place", "explain"}) {
    SCOPED_TRACE(command);
    const ProcessResult result = Berth({command, Snapshot("small_4"), "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.standard_error;
    const Json json = Json::parse(result.standard_output).at("snapshot");
    EXPECT_EQ(json.at("pool"), 1);
    EXPECT_EQ(json.at("devices").at(0).at("reserved_peak"), 2'115'072);
    const Json& pool = json.at("pools").at(0);
    EXPECT_EQ(pool.at("active_peak"), 7168);
    EXPECT_EQ(pool.at("at_peak").at(0).at("site"), "train.py:5 step");
    EXPECT_EQ(pool.at("at_peak").at(0).at("stack").at(2), "step (/home/user/train.py:5)");
    EXPECT_EQ(json.at("free").at(0).at("free"), 2'097'152);
    EXPECT_EQ(json.at("free").at(1).at("below"), "train.py:6 step #1");
  }
}

TEST_F(SnapshotTest, ExplainShowsStacksAndThePageHasThem) {
  const ProcessResult result =
      Berth({"explain", Snapshot("small_4"), "--report", Path("page.html")});
  ExpectText(result, "train.py:5 step, called from\n    main (/home/user/train.py:9)");
  const std::string html = Read(Path("page.html"));
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(open) + open.size();
  const Json data = Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  const Json& stacks = data.at("plans").at(0).at("stacks");
  EXPECT_EQ(stacks.at("of"), Json({nullptr, nullptr, 0, 1, 2}));
  EXPECT_EQ(stacks.at("frames").at(stacks.at("stacks").at(1).at(0).get<std::size_t>()),
            "step (/home/user/train.py:6)");
  EXPECT_NE(data.at("notes").at(1).get<std::string>().find("Reserved at most: 2.02 MiB"),
            std::string::npos);
}

TEST_F(SnapshotTest, ExplainWithACapacityIsAsOfATable) {
  const ProcessResult result = Berth({"explain", Snapshot("small_4"), "--capacity", "6KiB"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.standard_output.find("Does not fit: 1 KiB (1,024 bytes) missing."),
            std::string::npos)
      << result.standard_output;
}

TEST_F(SnapshotTest, APoolIsChosenByItsNumber) {
  ExpectText(Berth({"info", Snapshot("pools"), "--problem", "3"}), "device 1, stream 0");
  ExpectText(Berth({"info", Snapshot("pools"), "--problem", "device 1, stream 0"}),
             "device 1, stream 0");
  const ProcessResult none = Berth({"info", Snapshot("pools"), "--problem", "4"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.standard_error.find("has 3 problems, and none is '4'"), std::string::npos);
  ExpectRefused(Berth({"info", Snapshot("pools"), "--endpoints", "inclusive"}), "only for tables");
  const ProcessResult table = Berth({"info", SmallTable(), "--problem", "1"});
  EXPECT_EQ(table.exit_code, 2);
  EXPECT_NE(table.standard_error.find("is a table, which is one problem"), std::string::npos);
}

TEST_F(SnapshotTest, DiffComparesLinesOfTheProgram) {
  const std::string page = Path("diff.html");
  const ProcessResult result =
      Berth({"diff", Snapshot("pools"), Snapshot("small_4"), "--report", page});
  ExpectText(result, "The new peak is higher by 6 KiB.");
  ExpectText(result, "+4 KiB");
  EXPECT_NE(Read(page).find("train.py:6 step #1"), std::string::npos);
  ExpectText(Berth({"diff", Snapshot("small_2"), Snapshot("small_4")}), "The peaks are equal.");
  const ProcessResult json =
      Berth({"diff", Snapshot("pools"), Snapshot("small_4"), "--max-growth", "1%", "--json"});
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_EQ(Json::parse(json.standard_output).at("active_peak").at("delta"), 6144);
  const ProcessResult mixed = Berth({"diff", SmallTable(), Snapshot("small_4")});
  EXPECT_EQ(mixed.exit_code, 2);
}

TEST_F(SnapshotTest, APageNamesTheOtherPools) {
  const std::string page = Path("pool.html");
  EXPECT_EQ(Berth({"place", Snapshot("pools"), "--problem", "2", "--report", page}).exit_code, 0);
  EXPECT_NE(Read(page).find("This is pool 2 of "), std::string::npos);
  EXPECT_NE(Read(page).find("The others: 1, device 0, stream 0: "), std::string::npos)
      << Read(page);
}

// The empty segment of 2 MiB is not between buffers.
TEST_F(SnapshotTest, TheLargestPieceBetweenBuffersIsOne) {
  const ProcessResult result = Berth({"info", Snapshot("small_4")});
  EXPECT_NE(
      result.standard_output.find("Between buffers: 10 KiB, of which the largest piece is 6 KiB."),
      std::string::npos)
      << result.standard_output;
}

TEST_F(SnapshotTest, WhatIsNoSnapshotIsRefused) {
  for (const std::string command : {"plan", "schedule", "sweep", "compare"}) {
    SCOPED_TRACE(command);
    const ProcessResult result = Berth({command, Snapshot("small_4")});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.standard_error.find("not a model, but a PyTorch memory snapshot; berth info, "
                                         "place, explain, check and diff take snapshots"),
              std::string::npos)
        << result.standard_error;
  }
  const ProcessResult code = Berth({"info", Snapshot("bad_reduce_2")});
  EXPECT_EQ(code.exit_code, 2);
  EXPECT_NE(code.standard_error.find("byte 50: the opcode GLOBAL \"posix.system\""),
            std::string::npos);
  EXPECT_EQ(Berth({"info", Snapshot("empty")}).exit_code, 2);
}

}  // namespace
}  // namespace berth::cli
