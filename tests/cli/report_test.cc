// --report and --trace of the commands, and berth diff.
#include <nlohmann/json.hpp>

#include "berth/io.h"
#include "tests/cli/berth_process.h"
#include "tests/graph/build.h"

namespace berth::cli {
namespace {

using internal::Build;
using internal::TwoBranches;
using Json = nlohmann::json;

class ReportTest : public CommandTest {
 protected:
  // The data of a page.
  static Json DataOf(const std::string& html) {
    const std::string open = "<script type=\"application/json\" id=\"data\">";
    const std::size_t begin = html.find(open) + open.size();
    return Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  }
};

TEST_F(ReportTest, PlaceWritesThePageAndThePlan) {
  const ProcessResult result = Berth({"place", SmallTable(), "-o", Path("p.json"), "--report",
                                      Path("p.html"), "--trace", Path("p.trace.json")});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_NE(result.standard_output.find("p.html"), std::string::npos);
  const Json plan = Json::parse(Read(Path("p.json")));
  const Json data = DataOf(Read(Path("p.html")));
  EXPECT_EQ(data.at("command"), "place");
  EXPECT_EQ(data.at("plans").at(0).at("head").at("height"), plan.at("height"));
  EXPECT_EQ(data.at("plans").at(0).at("buffers").at("offset").at(2),
            plan.at("residencies").at(2).at("offset"));
  EXPECT_NE(data.at("verdict").get<std::string>().find("accepted: 3 buffers"), std::string::npos);
  EXPECT_FALSE(Json::parse(Read(Path("p.trace.json"))).at("traceEvents").empty());
}

TEST_F(ReportTest, AnInfeasibleProblemIsShownAtAWorkingCapacity) {
  for (const std::string command : {"place", "explain"}) {
    SCOPED_TRACE(command);
    const ProcessResult result =
        Berth({command, SmallTable(), "--capacity", "7", "--report", Path("n.html")});
    EXPECT_EQ(result.exit_code, 1);
    const Json data = DataOf(Read(Path("n.html")));
    EXPECT_EQ(data.at("conflict").at("short_by"), 1);
    EXPECT_EQ(data.at("conflict").at("buffers").size(), 2u);
    EXPECT_EQ(data.at("plans").at(0).at("head").at("outcome"), "infeasible");
    EXPECT_EQ(data.at("plans").at(0).at("head").at("height"), 8);
    EXPECT_EQ(data.at("remedies").at(0).at("needs"), 8);
    // Of the 8 bytes at the peak, steps 2 and 3, one byte must move.
    EXPECT_EQ(data.at("remedies").at(1).at("title"), "Move at least 1 B off");
  }
}

TEST_F(ReportTest, RemediesAreComputed) {
  // 4 + 4 bytes with alignment 16 need 20; without it 8.
  const std::string table =
      Write("aligned.csv", "id,lower,upper,size,alignment\na,0,2,4,1\nb,0,2,4,16\nc,0,2,4,16\n");
  ASSERT_EQ(Berth({"place", table, "--report", Path("a.html")}).exit_code, 0);
  const Json data = DataOf(Read(Path("a.html")));
  ASSERT_EQ(data.at("remedies").size(), 1u);
  EXPECT_EQ(data.at("remedies").at(0).at("title"), "Smaller alignments");
  EXPECT_EQ(data.at("remedies").at(0).at("needs"), 12);
}

TEST_F(ReportTest, SkippedAnalysesAreNamed) {
  const std::string table =
      Write("aligned.csv", "id,lower,upper,size,alignment\na,0,2,4,1\nb,0,2,4,16\nc,0,2,4,16\n");
  ASSERT_EQ(Berth({"place", table, "--time-limit", "0s", "--report", Path("a.html")}).exit_code, 0);
  const Json remedies = DataOf(Read(Path("a.html"))).at("remedies");
  ASSERT_FALSE(remedies.empty());
  EXPECT_EQ(remedies.back().at("title"), "Not fully examined");
  EXPECT_NE(remedies.back().at("detail").get<std::string>().find("smaller alignments"),
            std::string::npos);
  Build b = TwoBranches();
  const std::string graph = Write("graph.json", WriteGraphJson(b.graph));
  // Whether any plan fits is not known either.
  ASSERT_EQ(
      Berth({"plan", graph, "--capacity", "9", "--time-limit", "0s", "--report", Path("p.html")})
          .exit_code,
      3);
  const std::string detail =
      DataOf(Read(Path("p.html"))).at("remedies").back().at("detail").get<std::string>();
  EXPECT_NE(detail.find("tensors that are spilled and retrieved (--budget)"), std::string::npos);
}

TEST_F(ReportTest, PlanAndScheduleTellOfOrders) {
  Build b = TwoBranches();
  std::swap(b.graph.operators[1], b.graph.operators[2]);
  const std::string graph = Write("graph.json", WriteGraphJson(b.graph));
  ASSERT_EQ(Berth({"plan", graph, "--order", "program", "--report", Path("p.html")}).exit_code, 0);
  const Json plan = DataOf(Read(Path("p.html")));
  EXPECT_EQ(plan.at("plans").at(0).at("peak").at("load"), 17);
  EXPECT_EQ(plan.at("remedies").at(0).at("title"), "Another order of the operators");
  EXPECT_EQ(plan.at("remedies").at(0).at("needs"), 10);
  ASSERT_EQ(Berth({"schedule", graph, "--report", Path("s.html")}).exit_code, 0);
  const Json order = DataOf(Read(Path("s.html")));
  EXPECT_EQ(order.at("command"), "schedule");
  EXPECT_EQ(order.at("plans").at(0).at("peak").at("load"), 10);
  EXPECT_TRUE(order.at("plans").at(0).at("buffers").at("offset").is_null());
  EXPECT_EQ(order.at("remedies").at(0).at("title"), "No other order helps");
}

TEST_F(ReportTest, UnwritableFilesAreRejectedBeforeTheWork) {
  const std::string table = SmallTable();
  ExpectRefused(Berth({"place", table, "--report", Path("p.pdf")}), "does not end in .html");
  ExpectRefused(Berth({"explain", table, "--report", "p"}), "does not end in .html");
  ExpectRefused(Berth({"place", table, "--report", Path("none/p.html")}), "none");
  ExpectRefused(Berth({"place", table, "--report", "-", "--json"}), "--report -");
  ExpectRefused(Berth({"place", table, "--report", "-", "--trace", "-"}), "--trace -");
  const ProcessResult page = Berth({"place", table, "--report", "-"});
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_EQ(page.standard_output.substr(0, 15), "<!doctype html>");
}

class DiffTest : public CommandTest {
 protected:
  const std::string header_ = "id,lower,upper,size,offset\n";
  const std::string old_ = Write("old.csv", header_ + "a,0,4,100,0\nb,1,3,50,100\n");
  [[nodiscard]] std::string Grown(int size) const {
    return Write("new.csv", header_ + "a,0,4,100,0\nb,1,3," + std::to_string(size) + ",100\n");
  }
};

TEST_F(DiffTest, SaysWhatChanged) {
  const std::string now = Write("new.csv", header_ + "a,0,4,100,50\nb,1,3,60,150\nc,0,1,10,150\n");
  const ProcessResult result = Berth({"diff", old_, now});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_error, "");
  for (const std::string words : {"The new plan is taller.", "150 B -> 210 B, 60 B (40.0 %) more",
                                  "150 B -> 160 B, 10 B (6.7 %) more",
                                  "2 -> 3: 1 new, 1 grown, 2 moved", "50 -> 60", "grown, moved"}) {
    EXPECT_NE(result.standard_output.find(words), std::string::npos)
        << "no \"" << words << "\" in\n"
        << result.standard_output;
  }
  const Json json = Json::parse(Berth({"diff", old_, now, "--json"}).standard_output);
  EXPECT_EQ(json.at("height"), (Json{{"before", 150}, {"after", 210}, {"delta", 60}}));
  EXPECT_EQ(json.at("peak").at("delta"), 10);
  EXPECT_EQ(json.at("new").at(0).at("id"), "c");
  EXPECT_EQ(json.at("changed").at(0).at("id"), "b");
  EXPECT_EQ(json.at("changed").at(0).at("after").at("size"), 60);
  EXPECT_FALSE(json.at("same").get<bool>());
}

TEST_F(DiffTest, EqualPlansHaveNoDifferences) {
  const ProcessResult result = Berth({"diff", old_, old_, "--max-growth", "0%"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.standard_output.find("The plans are the same."), std::string::npos);
}

TEST_F(DiffTest, GrowthPastTheLimitFails) {
  // 150 bytes: 2 % are 3.
  const auto code = [&](int size, const std::string& growth) {
    return Berth({"diff", old_, Grown(size), "--max-growth", growth}).exit_code;
  };
  EXPECT_EQ(code(53, "2%"), 0);
  EXPECT_EQ(code(54, "2%"), 1);
  EXPECT_EQ(code(53, "1.9999%"), 1);
  EXPECT_EQ(code(51, "0%"), 1);
  EXPECT_EQ(code(40, "0%"), 0);
  EXPECT_EQ(code(60, "10B"), 0);
  EXPECT_EQ(code(61, "10B"), 1);
  EXPECT_EQ(code(61, "1000000%"), 0);
  const ProcessResult result = Berth({"diff", old_, Grown(54), "--max-growth", "2%"});
  EXPECT_NE(result.standard_output.find("Grew by more than 2%."), std::string::npos);
  for (const std::string bad : {"", "%", "x", "-1%", "2 %", "1.23456%", "1e3%", "99999999%"}) {
    ExpectRefused(Berth({"diff", old_, old_, "--max-growth", bad}), "--max-growth");
  }
}

TEST_F(DiffTest, OfTwoPlansInJson) {
  const std::string table = SmallTable();
  ASSERT_EQ(Berth({"place", table, "-o", Path("a.json")}).exit_code, 0);
  ASSERT_EQ(Berth({"place", table, "-o", Path("b.csv")}).exit_code, 0);
  const ProcessResult result =
      Berth({"diff", Path("a.json"), Path("b.csv"), "--report", Path("d.html"), "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_TRUE(Json::parse(result.standard_output).at("same").get<bool>());
  EXPECT_NE(Read(Path("d.html")).find("\"kind\":\"diff\""), std::string::npos);
}

TEST_F(DiffTest, RejectsInvalidPlans) {
  ExpectRefused(Berth({"diff", old_, SmallTable()}), "has no offset");
  ExpectRefused(Berth({"diff", old_, Write("x.json", "{}")}), "not a plan");
  const std::string begin = R"({"format":"berth-plan","format_version":1,)";
  const auto refused = [&](const std::string& rest, const std::string& words) {
    ExpectRefused(Berth({"diff", Write("bad.json", begin + rest + "}"), old_}), words);
  };
  refused(R"("placements":null)", "found no plan");
  refused(R"("placements":[{"id":1}])", "\"id\" is 1");
  refused(R"("placements":[{"id":"a","start":0,"end":1,"size":2}])", "\"offset\" is missing");
  refused(R"("placements":[{"id":"a","start":0,"end":1,"size":2.5,"offset":0}])", "\"size\"");
  refused(R"("placements":[{"id":"a","start":1,"end":1,"size":2,"offset":0}])", "\"a\"");
  refused(R"("placements":[{"id":"a","start":0,"end":1,"size":2,"offset":-1}])", "offset -1");
  refused(R"("placements":[{"id":"a","start":0,"end":1,"size":2,"offset":1152921504606846975}])",
          "at most 2^60");
  refused(R"("height":9,"placements":[{"id":"a","start":0,"end":1,"size":2,"offset":0}])",
          "the placements reach 2");
  refused(R"("order":[1],"placements":[])", "\"order\" has 1");
  ExpectRefused(Berth({"diff", "-", "-"}), "only one");
}

}  // namespace
}  // namespace berth::cli
