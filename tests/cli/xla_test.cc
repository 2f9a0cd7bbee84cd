// XLA's dumps on the command line.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/berth_process.h"
#include "tests/xla/small_proto.h"

namespace berth::cli {
namespace {

using Json = nlohmann::json;

class XlaTest : public CommandTest {
 protected:
  static std::string Dump() { return BERTH_SOURCE_DIR "/tests/xla/small-buffer-assignment.txt"; }
  static void ExpectText(const ProcessResult& result, int exit_code, const std::string& words) {
    EXPECT_EQ(result.exit_code, exit_code) << result.standard_error;
    EXPECT_NE((result.standard_output + result.standard_error).find(words), std::string::npos)
        << result.standard_output << result.standard_error;
  }
};

TEST_F(XlaTest, PlaceComparesWithXla) {
  const ProcessResult result = Berth({"place", Dump()});
  EXPECT_EQ(result.standard_output.substr(0, result.standard_output.find('\n')),
            "The same buffers fit into 208 B, and no plan is lower; XLA took 448 B.");
  ExpectText(result, 0, "448 B, 240 B (115.4 %) more than is needed (allocation 2, one of 3 with");
  const Json json = Json::parse(Berth({"place", Dump(), "--json"}).standard_output);
  EXPECT_EQ(json.at("height"), 208);
  EXPECT_EQ(json.at("given_plan").at("maker"), "XLA");
  EXPECT_EQ(json.at("given_plan").at("height"), 448);
  const std::string csv = Path("plan.csv");
  ExpectText(Berth({"place", Dump(), "-o", csv}), 0, csv);
  ExpectText(Berth({"check", Dump(), csv}), 0, "The plan holds");
}

TEST_F(XlaTest, OtherCommandsTakeIt) {
  ExpectText(Berth({"info", Dump()}), 0, "XLA");
  ExpectText(Berth({"check", Dump()}), 0, "The plan holds");  // XLA's own.
  ExpectText(Berth({"explain", Dump(), "--capacity", "200"}), 1, "  dot.1 ");
  ExpectText(Berth({"plan", Dump()}), 2, "a buffer assignment of XLA; berth info, place, explain");
}

// The same module as a protocol buffer gives the same answer, under any name.
TEST_F(XlaTest, TakesProtocolBuffers) {
  namespace build = internal::xla_build;
  const std::string proto = Write("module.hlo.pb", build::SmallProto());
  const Json text = Json::parse(Berth({"place", Dump(), "--json"}).standard_output);
  const Json json = Json::parse(Berth({"place", proto, "--json"}).standard_output);
  for (const char* key : {"buffers", "height", "outcome", "given_plan"}) {
    EXPECT_EQ(json.at(key), text.at(key)) << key;
  }
  ExpectText(Berth({"info", proto}), 0, "XLA");
  ExpectText(Berth({"check", proto}), 0, "The plan holds");
  ExpectText(Berth({"explain", proto, "--capacity", "200"}), 1, "  dot.1 ");
  ExpectText(Berth({"place", proto, "--problem", "allocation 2"}), 0, "208 B");
  ExpectText(Berth({"plan", proto}), 2, "an HLO module of XLA; berth info, place, explain");
  ExpectText(Shell("\"$BERTH\" place - < " + proto), 0, "XLA took 448 B");
  const std::string early = Write("early.hlo.pb", build::SmallModule());
  ExpectText(Berth({"place", early}), 2, "a module without a buffer assignment");
}

TEST_F(XlaTest, TakesMemorySpaceAssignment) {
  const std::string rows = "buffer_id,size,offset,start_time,end_time\n12,64,0,2,5\n13,64,64,6,7\n";
  const std::string plan = Write("m.allocinfo.csv", rows);
  ExpectText(Berth({"place", plan}), 0, "XLA took 128 B");
  ExpectText(Berth({"explain", plan, "--capacity", "32"}), 1, "buffer 12");
  const std::string values =
      "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,is_scoped\n"
      "12,\"<12 fusion{0} @0>\",1.5,64,2,\"4;9\",\"x;y\",0\n";
  const std::string info = Write("m.bufferinfo.csv", values);
  ExpectText(Berth({"explain", plan, "--capacity", "32"}), 1, "fusion{0}");
  ExpectText(Berth({"place", info}), 0, "64 B");
  ExpectText(Berth({"plan", plan}), 2, "a table of memory space assignment of XLA");
  // With a byte order mark, and from standard input, which errors call by its name.
  ExpectText(Berth({"place", Write("marked.allocinfo.csv", "\xef\xbb\xbf" + rows)}), 0,
             "XLA took 128 B");
  ExpectText(Berth({"place", Write("marked.bufferinfo.csv", "\xef\xbb\xbf" + values)}), 0, "64 B");
  ExpectText(Shell("\"$BERTH\" place - < " + plan), 0, "XLA took 128 B");
  const std::string damaged = Write("damaged.csv", rows + "14,x,0,0,0\n");
  ExpectText(Shell("\"$BERTH\" place - < " + damaged), 2, "<stdin>:4:4: \"x\" is not a number");
  ExpectText(Shell("\"$BERTH\" place - < " + Dump()), 2,
             "<stdin>: a buffer assignment of XLA; keep the name");
  ExpectText(Berth({"plan", info}), 2, "a table of memory space assignment of XLA");
}

// Two allocations of a damaged file may have one number: their names still tell them apart.
TEST_F(XlaTest, NamesOfAllocationsAreUnique) {
  namespace build = internal::xla_build;
  const std::string values = build::Logical(7, 2) +
                             build::Allocation(3, 8, build::Assigned(7, 0, 8)) +
                             build::Allocation(3, 16, build::Assigned(7, 8, 8));
  const std::string proto = Write("m.hlo.pb", build::SmallModule() + build::Assignment(values));
  ExpectText(Berth({"info", proto}), 0, "allocation 3#2");
  ExpectText(Berth({"place", proto, "--problem", "allocation 3#2"}), 0, "XLA took 16 B");
  ExpectText(Berth({"place", proto, "--endpoints", "inclusive"}), 2,
             "--endpoints: only for tables in CSV");
}

TEST_F(XlaTest, SaysWhereAnInferredAlignmentCounts) {
  const std::string head = "buffer_id,size,offset,start_time,end_time\n";
  const std::string note = "Alignment 4, inferred from the offsets, raises the lower bound.";
  const std::string chance =
      Write("a.allocinfo.csv", head + "1,10,0,0,3\n2,10,0,4,5\n3,10,100,0,1\n");
  ExpectText(Berth({"place", chance}), 0, note);
  EXPECT_EQ(
      Json::parse(Berth({"place", chance, "--json"}).standard_output).at("given_plan").at("notes"),
      Json::array({note}));
  const std::string even = Write("b.allocinfo.csv", head + "1,8,0,0,3\n3,8,100,0,1\n");
  EXPECT_EQ(Berth({"place", even}).standard_output.find("lignment"), std::string::npos);
}

TEST_F(XlaTest, SaysWhatIsMissing) {
  const std::string renamed = Path("dump.txt");
  std::filesystem::copy_file(Dump(), renamed);
  ExpectText(Berth({"place", renamed}), 2, "keep the name that XLA gave it");
  const std::string alone = Path("m-buffer-assignment.txt");
  std::filesystem::copy_file(Dump(), alone);
  ExpectText(Berth({"place", alone}), 2, "m-live-range.txt: ");
  ExpectText(Berth({"place", Dump(), "--problem", "allocation 1"}), 2,
             "has 1 problem, and none is 'allocation 1'");
  ExpectText(Berth({"place", Dump(), "--problem", "allocation 2"}), 0, "208 B");
}

}  // namespace
}  // namespace berth::cli
