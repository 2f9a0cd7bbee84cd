// Files that a command is given and writes: wrong ones, two outputs in one, sweeps that share one;
// names in them; completions and the manual page.
#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/graph.h"
#include "berth/io.h"
#include "tests/cli/berth_process.h"
#include "tests/graph/build.h"
#include "tests/xla/small_proto.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

using std::string_literals::operator""s;

class FilesTest : public CommandTest {
 protected:
  // One tensor has to be spilled in the memory that the largest operator needs: 1,200 bytes, where
  // 1,400 are enough for all.
  [[nodiscard]] std::string Model() const {
    Graph graph = internal::OneSpill().graph;
    for (Tensor& tensor : graph.tensors) tensor.bytes *= 100;
    return Write("model.json", WriteGraphJson(graph));
  }
  // Runs `script` in the test's folder.
  [[nodiscard]] ProcessResult Script(const std::string& script) const {
    return Shell("cd '" + Path("") + "' || exit 99\n" + script);
  }
};

void ExpectHas(const std::string& text, const std::string& words) {
  EXPECT_NE(text.find(words), std::string::npos) << "no \"" << words << "\" in\n" << text;
}

TEST_F(FilesTest, AWrongFileSaysWhatItIs) {
  const std::string text = "........................";
  for (const auto& [name, bytes, words] :
       std::initializer_list<std::tuple<const char*, std::string, const char*>>{
           {"m.pt", "PK\x03\x04"s + text + "archive/data.pkl", "but a PyTorch file"},
           {"m.zip", "PK\x03\x04"s + text, "but a zip archive"},
           {"m.pickle", "\x80\x04"s + text, "but a Python pickle"},
           {"m.safetensors", "\x0a\0\0\0\0\0\0\0{\"a\":1234}"s, "but a safetensors file"},
           {"frozen.pb", "\n\x10\n\x01x\x12\x0bPlaceholder\n\x0c\n\x01y\x12\x04Relu\x1a\x01x"s,
            "but a TensorFlow graph; convert it to ONNX"},
           {"m.h5", "\x89HDF\r\n\x1a\n"s + text, "but an HDF5 file"},
           {"m.onnx.gz", "\x1f\x8b\x08"s + text, "but compressed with gzip; unpack it first"}}) {
    const std::string path = Write(name, bytes);
    for (const char* command : {"plan", "place", "info"}) {
      SCOPED_TRACE(command + " "s + name);
      ExpectRefused(Berth({command, path}), words);
    }
    ExpectRefused(Berth({"check", path, SmallTable()}), words);
    ExpectRefused(Berth({"check", SmallTable(), path}), "not a plan, "s + words);
    ExpectRefused(Berth({"sweep", "--merge", path}), words);
    ExpectRefused(Berth({"diff", path, path}), "not a plan, "s + words);
  }
}

// Every kind of file that is not what an argument of a command takes.
TEST_F(FilesTest, AWrongFileOfBerthSaysWhoTakesIt) {
  const std::string model = Model();
  const std::string table = SmallTable();
  ASSERT_EQ(
      Berth({"plan", model, "-o", Path("plan.json"), "--trace", Path("trace.json")}).exit_code, 0);
  ASSERT_EQ(Berth({"place", table, "-o", Path("table.plan.json")}).exit_code, 0);
  ASSERT_EQ(Berth({"plan", model, "--report", Path("r.html"), "--svg", Path("p.svg")}).exit_code,
            0);
  ASSERT_EQ(Berth({"sweep", model, "--points", "2", "-o", Path("s.csv")}).exit_code, 0);
  struct Kind {
    std::string path;
    std::string words;  // What it is, and who takes it.
    std::string taken;  // The arguments that do, of those below.
  };
  const std::vector<Kind> kinds = {
      {Write("m.onnx", "\x08\x07"), "but an ONNX model; berth plan and berth schedule take models",
       "mc"},
      {Write("m.tflite", "\x1c\0\0\0TFL3...."s),
       "but a TensorFlow Lite model; berth plan and berth schedule take models", "mc"},
      {model, "but a graph of operators; berth plan and berth schedule take graphs", "mc"},
      {table, "but a table of buffers; berth place and berth explain take tables", "tcpv"},
      {Path("plan.json"), "but a plan of Berth; berth check MODEL PLAN and berth diff take plans",
       "pvo"},
      {Path("table.plan.json"), "but a plan of Berth; berth check MODEL PLAN and berth diff",
       "pvo"},
      {Path("s.csv"), "but the points of a sweep; berth sweep --merge takes them", "s"},
      {Path("trace.json"), "but a trace, which Perfetto shows", ""},
      {Path("r.html"), "but a web page, such as --report writes", ""},
      {Path("p.svg"), "but a picture (SVG), which browsers show", ""},
      {Write("p.png", "\x89PNG\r\n\x1a\n...."), "but a picture (PNG)", ""},
      {Write("m.gguf", "GGUF\x03\0\0\0\0\0\0"s), "but a GGUF file", ""},
      {Write("m.pbtxt", "ir_version: 8\n"), "but a model as text; save it as binary ONNX", ""},
      {Write("s.pickle", Read(BERTH_SOURCE_DIR "/tests/snapshot/files/small_4.pickle")),
       "but a PyTorch memory snapshot; berth info, place, explain, check and diff take snapshots",
       "tc"},
      {Write("events.csv", "event,id,size\nalloc,a,1\n"),
       "but a trace of allocations; berth place, explain and info take traces", "tc"},
      {Write("m.hlo.pb", internal::xla_build::SmallProto()),
       "but an HLO module of XLA; berth info, place, explain and check take it", "tc"},
      {Write("m.allocinfo.csv", "buffer_id,size,offset,start_time,end_time\n1,2,0,0,1\n"),
       "but a table of memory space assignment of XLA; berth info, place", "tc"},
      {Write("inductor.json",
             "{\"nodes\": [{\"name\": \"op0\", \"buffer_names\": []}], "
             "\"buffers\": []}"),
       "but a graph of PyTorch's Inductor; berth plan and berth schedule take graphs", "mc"},
      {Write("old.pickle", "(dp0\nVa\np1\nI1\ns."), "but a Python pickle", ""},
  };
  struct Argument {
    char takes;
    const char* name;
    std::vector<std::string> before;
    std::vector<std::string> after;
  };
  const std::vector<Argument> arguments = {
      {'m', "a model", {"plan"}, {}},
      {'m', "a model", {"schedule"}, {}},
      {'m', "a model", {"compare"}, {}},
      {'m', "a model", {"sweep"}, {}},
      {'t', "a table of buffers (CSV)", {"place"}, {}},
      {'t', "a table of buffers (CSV)", {"explain"}, {"--capacity", "1MiB"}},
      {'t', "a table of buffers (CSV)", {"info"}, {}},
      {'c', "a model or a table of buffers", {"check"}, {}},
      {'v', "a plan", {"check", table}, {}},
      {'p', "a plan", {"check", model}, {}},
      {'p', "a plan", {"diff"}, {Path("plan.json")}},
      {'p', "a plan", {"diff", Path("plan.json")}, {}},
      {'o', "an order (JSON)", {"plan", model, "--order"}, {}},
      {'s', "the points of a sweep (CSV)", {"sweep", "--merge"}, {}},
      {'s', "the points of a sweep (CSV)", {"sweep", model, "-o"}, {}},
  };
  for (const Argument& argument : arguments) {
    for (const Kind& kind : kinds) {
      if (kind.taken.find(argument.takes) != std::string::npos) continue;
      std::vector<std::string> line = argument.before;
      line.push_back(kind.path);
      line.insert(line.end(), argument.after.begin(), argument.after.end());
      SCOPED_TRACE(testing::PrintToString(line));
      ExpectRefused(Berth(line), kind.path + ": not " + argument.name + ", " + kind.words);
    }
  }
  ExpectRefused(Berth({"plan", Write("empty", "")}), "empty: not a model, but an empty file");
  ExpectRefused(Berth({"plan", Write("text", "Hello\n")}),
                "text: neither an ONNX or TensorFlow Lite model nor a graph in JSON");
  ExpectRefused(Berth({"check", model, Path("table.plan.json")}),
                "table.plan.json: the plan of a table of buffers, where one of a graph is needed");
}

// Editors put it before texts that they save.
TEST_F(FilesTest, AByteOrderMarkChangesNothing) {
  const std::string model = Model();
  ASSERT_EQ(Berth({"plan", model, "-o", Path("plan.json")}).exit_code, 0);
  ASSERT_EQ(Berth({"sweep", model, "--points", "2", "-o", Path("s.csv")}).exit_code, 0);
  const auto marked = [&](const std::string& path) {
    return Write("marked." + path.substr(path.rfind('/') + 1), "\xef\xbb\xbf" + Read(path));
  };
  EXPECT_EQ(Berth({"plan", marked(model)}).exit_code, 0);
  EXPECT_EQ(Berth({"check", model, marked(Path("plan.json"))}).exit_code, 0);
  EXPECT_EQ(Berth({"place", marked(SmallTable())}).exit_code, 0);
  EXPECT_EQ(Berth({"sweep", "--merge", marked(Path("s.csv"))}).exit_code, 0);
  for (const auto& [text, words] : std::initializer_list<std::pair<std::string, std::string>>{
           {"model,point,capacity\n", "but the points of a sweep"},
           {"<svg xmlns=", "but a picture (SVG)"},
           {"ir_version: 8\n", "but a model as text"},
           {"{\"format\": \"berth-graph\"", "but a graph of operators"},
           {"event,id,size\n", "but a trace of allocations"}}) {
    ExpectRefused(Berth({"diff", Path("plan.json"), Write("text", "\xef\xbb\xbf" + text)}), words);
  }
}

TEST_F(FilesTest, TwoOutputsAreNotOneFile) {
  const std::string model = Model();
  const std::string words = "would both write to";
  ExpectRefused(Berth({"plan", model, "-o", Path("z.json"), "--trace", Path("z.json")}),
                "--output and --trace");
  ExpectRefused(Berth({"place", SmallTable(), "-o", Path("z.json"), "--trace", Path("./z.json")}),
                words);
  ExpectRefused(Berth({"sweep", model, "-o", Path("z.svg"), "--svg", Path("z.svg")}), words);
  ExpectRefused(Berth({"schedule", model, "-o", Path("z.json"), "--trace", Path("z.json")}), words);
  ASSERT_EQ(Script("touch one.json; ln -s one.json two.json").exit_code, 0);
  ExpectRefused(Berth({"plan", model, "-o", Path("one.json"), "--trace", Path("two.json")}), words);
  EXPECT_EQ(Berth({"plan", model, "--trace", "/dev/null", "--svg", "/dev/null"}).exit_code, 0);
}

TEST_F(FilesTest, PicturesAreSvg) {
  for (const char* command : {"plan", "sweep"}) {
    ExpectRefused(Berth({command, Model(), "--svg", Path("plan.png")}),
                  "does not end in .svg, the only format of pictures");
  }
  ExpectRefused(Berth({"plan", Model(), "-o", Path("z.json"), "--svg", Path("z.json")}), "--svg");
}

TEST_F(FilesTest, AFullDeviceIsRefusedAtOnce) {
  for (const char* command : {"sweep", "plan"}) {
    ExpectRefused(Berth({command, Model(), command == "plan"s ? "--trace" : "-o", "/dev/full"}),
                  "/dev/full: cannot be written");
  }
}

TEST_F(FilesTest, SweepsThatShareAFileLoseNoRows) {
  static_cast<void>(Model());
  for (int round = 0; round < 3; ++round) {
    const ProcessResult result = Script(
        "rm -f s.csv\n"
        "for i in 1 2 3; do\n"
        "  \"$BERTH\" sweep model.json --points 12 --shard $i/3 -o s.csv > $i.txt & all=\"$all "
        "$!\"\n"
        "done\n"
        "for one in $all; do wait $one || exit 1; done\n"
        "wc -l < s.csv; ls s.csv.lock 2> /dev/null");
    EXPECT_EQ(std::stoi(result.standard_output), 13) << result.standard_error;
    EXPECT_EQ(result.standard_output.find("lock"), std::string::npos);
  }
}

TEST_F(FilesTest, AnInterruptedSweepKeepsItsPoints) {
  const ProcessResult result = Script(
      "\"$BERTH\" generate irregular --operators 400 --width 8 --seed 5 -o g.json || exit 9\n"
      "\"$BERTH\" sweep g.json --points 500 --node-limit 20000 -o s.csv > out.txt & pid=$!\n"
      "while [ ! -s s.csv ]; do sleep 0.02; done\n"
      "kill -TERM $pid; wait $pid; echo code $?");
  EXPECT_EQ(result.standard_output, "code 3\n") << result.standard_error;
  EXPECT_EQ(Read(Path("out.txt")).find("Interrupted, with "), 0u) << Read(Path("out.txt"));
  ExpectHas(Read(Path("out.txt")), "left to solve.\n");
  ExpectHas(Read(Path("s.csv")), "\ng.json,0,");
}

TEST_F(FilesTest, CopiesAreCountedAndListed) {
  const ProcessResult result = Berth({"plan", Model(), "--order", "program", "--budget", "MR"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  ExpectHas(result.standard_output, "1 tensor, in 2 copies; --moves lists them");
  ExpectHas(result.standard_output, "halfway between MR and MP");
  const ProcessResult list =
      Berth({"plan", Model(), "--order", "program", "--budget", "MR", "--moves"});
  ExpectHas(list.standard_output, "before step  operator  copied  bytes  tensor\n");
  ExpectHas(list.standard_output, " 2  make z    out       400  x\n");
  ExpectHas(list.standard_output, " 3  join      in        400  x\n");
  const ProcessResult json =
      Berth({"plan", Model(), "--order", "program", "--budget", "MR", "--json"});
  ExpectHas(json.standard_output, "\"direction\": \"out\"");
  ExpectRefused(Berth({"plan", Model(), "--moves"}), "--moves: tensors move only with --budget");
}

TEST_F(FilesTest, ThePlanFileStatesTheGap) {
  const ProcessResult plan = Berth({"plan", Model(), "--budget", "MR", "--gap", "0.10%", "--json"});
  EXPECT_EQ(plan.exit_code, 0) << plan.standard_error;
  ExpectHas(plan.standard_output, "\"gap\": \"0.1%\"");
  ExpectRefused(Berth({"plan", Model(), "--budget", "MR", "--gap", "2"}),
                "--gap: '2' is not a percentage such as 0.1%");
  ExpectRefused(Berth({"plan", Model(), "--gap", "1%"}),
                "--gap: only the traffic or the cost of a plan");
}

TEST_F(FilesTest, NamesAreWholeInPipes) {
  const std::string name = std::string(60, 'a') + "/middle/" + std::string(60, 'b');
  const internal::Build build = internal::Build().Made(name, 4).Op("op", {}, {name});
  const std::string model = Write("long.json", WriteGraphJson(build.graph));
  ExpectHas(Berth({"plan", model, "--tensors"}).standard_output, name);
}

TEST(NamesTest, DifferentNamesLookDifferent) {
  TextTable table({TextTable::Align::kLeft});
  table.Elide(0, 12);
  const std::string a(20, 'a');
  std::vector<std::vector<std::string>> rows = {
      {"short"}, {a + "1" + a}, {a + "2" + a}, {"begin" + a + "end"}, {a + "1" + a}};
  table.ElideNames(rows);
  EXPECT_EQ(rows[0][0], "short");
  EXPECT_EQ(rows[3][0], "beg...aaaend");
  EXPECT_NE(rows[1][0], rows[2][0]);
  EXPECT_EQ(rows[1][0], rows[4][0]);
}

TEST_F(FilesTest, SizesAreRoundedDownToBytes) {
  const ProcessResult result = Berth({"place", SmallTable(), "--capacity", "1.2MiB", "--json"});
  EXPECT_EQ(result.exit_code, 0);
  ExpectHas(result.standard_error, "--capacity 1.2MiB is not a whole number of bytes: 1,258,291, ");
  ExpectHas(result.standard_output, "\"capacity\": 1258291");
  EXPECT_EQ(Berth({"place", SmallTable(), "--capacity", "1.25MiB"}).standard_error, "");
  const std::string rounded =
      "--budget 1.3KiB is not a whole number of bytes: 1,331, rounded down\n";
  const ProcessResult plan = Berth({"plan", Model(), "--budget", "1.3KiB", "--json"});
  EXPECT_EQ(plan.exit_code, 0);
  ExpectHas(plan.standard_error, rounded);
  ExpectHas(plan.standard_output, "\"capacity\": 1331");
  const ProcessResult sweep = Berth({"sweep", Model(), Model(), "--budget", "MP,1.3KiB"});
  EXPECT_EQ(sweep.exit_code, 0);
  EXPECT_EQ(sweep.standard_error, "berth: note: " + rounded);
  ExpectHas(sweep.standard_output, "  1,331  ");
  ExpectHas(sweep.standard_output, "  1,400  ");
  ExpectRefused(Berth({"sweep", Model(), "--budget", "MP,1.3"}), "'1.3' is neither MR, MH, MP nor");
  const std::string model = Model();
  ASSERT_EQ(Berth({"plan", model, "-o", Path("p.json")}).exit_code, 0);
  ExpectHas(
      Berth({"diff", Path("p.json"), Path("p.json"), "--max-growth", "1.3KiB"}).standard_error,
      "--max-growth 1.3KiB is not a whole number of bytes: 1,331, rounded down\n");
}

TEST_F(FilesTest, ShellsKnowEveryCommandAndOption) {
  const std::string bash = Berth({"options", "--completion", "bash"}).standard_output;
  const std::string zsh = Berth({"options", "--completion", "zsh"}).standard_output;
  const std::string fish = Berth({"options", "--completion", "fish"}).standard_output;
  const std::string man = Berth({"options", "--man"}).standard_output;
  for (const char* command : {"plan", "schedule", "compare", "place", "check", "explain", "info",
                              "generate", "sweep", "diff"}) {
    SCOPED_TRACE(command);
    ExpectHas(bash, "\n    "s + command + ") words='");
    ExpectHas(zsh, "\n    "s + command + ")\n");
    ExpectHas(fish, " -a "s + command + " ");
    ExpectHas(man, ".SS berth "s + command + "\n");
    const std::string help = Berth({command, "--help"}).standard_output;
    for (std::size_t at = help.find(" --"); at != std::string::npos;
         at = help.find(" --", at + 1)) {
      if (help.rfind('\n', at) + 7 < at) continue;  // Not at the beginning of a row.
      const std::size_t end = help.find_first_of(" ,\n", at + 1);
      const std::string flag = help.substr(at + 1, end - at - 1);
      ExpectHas(bash, flag);
      ExpectHas(zsh, flag);
      ExpectHas(fish, " -l " + flag.substr(2));
    }
  }
  ExpectHas(bash, "place:--algorithm) words='auto ");
  ExpectHas(bash, "plan:--count");
  ExpectHas(bash, "words='none inputs parameters all'");
  ExpectRefused(Berth({"options", "--completion", "tcsh"}), "'tcsh' is not one of bash, zsh, fish");
  const std::string script = Write("berth.bash", bash);
  EXPECT_EQ(Shell("command -v bash > /dev/null || exit 0; bash -n " + script).exit_code, 0);
  const ProcessResult completed =
      Shell("command -v bash > /dev/null || { echo plan place; exit 0; }\nbash -c '. " + script +
            "; COMP_WORDS=(berth pl); COMP_CWORD=1; _berth; echo ${COMPREPLY[*]}'");
  EXPECT_EQ(completed.standard_output, "plan place\n") << completed.standard_error;
}

}  // namespace
}  // namespace berth::cli
