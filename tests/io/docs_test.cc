// The examples in docs/formats/ are correct.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "berth/io.h"
#include "berth/memory_io.h"

namespace berth {
namespace {

struct Example {
  std::string language;  // The text after the opening fence.
  std::string text;
};

std::vector<Example> Examples(const std::string& markdown) {
  std::vector<Example> examples;
  bool inside = false;
  for (std::size_t begin = 0; begin < markdown.size();) {
    const std::size_t end = markdown.find('\n', begin) + 1;
    const std::string line = markdown.substr(begin, end - begin);
    begin = end;
    if (line.substr(0, 3) == "```") {
      if (!inside) examples.push_back({line.substr(3, line.size() - 4), ""});
      inside = !inside;
    } else if (inside) {
      examples.back().text += line;
    }
  }
  EXPECT_FALSE(inside);
  return examples;
}

std::string Document(const std::string& name) {
  const auto text = ReadFile(BERTH_SOURCE_DIR "/docs/formats/" + name);
  EXPECT_TRUE(text.has_value()) << text.error().message;
  return text.value_or("");
}

std::vector<Problem> Tables(const std::vector<Example>& examples) {
  std::vector<Problem> problems;
  for (const Example& example : examples) {
    if (example.language.substr(0, 3) != "csv") continue;
    CsvOptions options;
    if (example.language == "csv exclusive") options.endpoints = Endpoints::kExclusive;
    const auto table = ReadCsv(example.text, "example", options);
    EXPECT_TRUE(table.has_value()) << table.error().message << "\n" << example.text;
    if (table) problems.push_back(table->problem);
  }
  return problems;
}

TEST(DocsTest, TablesMatchTheText) {
  const auto problems = Tables(Examples(Document("csv.md")));
  ASSERT_EQ(problems.size(), 6u);
  EXPECT_EQ(problems[0].buffers.at(0), (Buffer{"conv1", 0, 3, 4096, 1, {}, {}, {}}));
  EXPECT_EQ(problems[1].buffers.at(1), (Buffer{"b", 2, 5, 32, 1, {}, {}, {}}));
  EXPECT_EQ(problems[2], problems[1]);
  EXPECT_EQ(problems[3], problems[1]);
  EXPECT_EQ(problems[4].buffers.at(0),
            (Buffer{"weights", 0, 9, 64, 16, 0, {}, {{2, 4, {}}, {5, 7, Window{16, 32}}}}));
  EXPECT_EQ(problems[4].buffers.at(1).hint, 64);
  EXPECT_EQ(problems[5].buffers.at(0).id, "conv, 1");
  EXPECT_EQ(problems[5].buffers.at(1), (Buffer{"the \"big\" one", 2, 5, 128, 1, {}, {}, {}}));
}

// The plan without its line of options.
std::string WithoutOptions(const std::string& plan) {
  const std::size_t begin = plan.find("  \"options\"");
  const std::size_t end = plan.find('\n', begin) + 1;
  return plan.substr(0, begin) + plan.substr(end);
}

TEST(DocsTest, PlanMatchesTheWriter) {
  const auto examples = Examples(Document("plan.md"));
  ASSERT_EQ(examples.size(), 2u);
  Problem problem = Tables(examples).at(0);
  problem.capacity = 16;
  const std::string& documented = examples[1].text;
  ASSERT_EQ(examples[1].language, "json");

  PlanAnswer answer;
  answer.outcome = Outcome::kOptimal;
  answer.capacity = 16;
  answer.best = PlanOf(problem, {0, 0, 4});
  answer.height_bound = 8;
  answer.placing.outcome = Outcome::kOptimal;
  answer.placing.algorithm = "first-fit-size";
  const std::string written =
      WritePlanJson(problem, answer, {"0.1.0", "table.csv", HashOf(examples[0].text), {}});
  EXPECT_EQ(WithoutOptions(documented), WithoutOptions(written));

  const auto all_options = nlohmann::json::parse(written).at("options");
  const auto shown_options = nlohmann::json::parse(documented).at("options");
  for (const auto& [name, value] : shown_options.items()) EXPECT_EQ(all_options.at(name), value);

  EXPECT_EQ(ReadOffsets(documented, "example", problem), (std::vector<Bytes>{0, 0, 4}));
  EXPECT_TRUE(ValidatePlacement(problem, PlacementOf(*answer.best)).has_value());
}

TEST(DocsTest, EveryKeyOfAPlanIsDocumented) {
  const std::string document = Document("plan.md");
  const auto plan = nlohmann::json::parse(Examples(document).at(1).text);
  const auto expect_documented = [&document](const nlohmann::json& object) {
    for (const auto& [key, value] : object.items()) {
      EXPECT_NE(document.find("`" + key + "`"), std::string::npos) << key;
    }
  };
  expect_documented(plan);
  expect_documented(plan.at("input"));
  expect_documented(plan.at("residencies").at(0));
  expect_documented(plan.at("placing"));
}

TEST(DocsTest, EveryKeyOfAPlanOfAGraphIsDocumented) {
  const std::string document = Document("plan.md");
  const auto graph = ReadGraphJson(Examples(Document("graph.md")).at(0).text, "tiny.json").value();
  Budget budget;
  const auto text = WritePlanJson(graph, Plan(graph, {}, budget).value(), {});
  const auto plan = nlohmann::json::parse(text);
  PlanOptions spilling;
  spilling.capacity = NamedBudget::kOneOperator;
  spilling.spill = true;
  const auto spilled =
      nlohmann::json::parse(WritePlanJson(graph, Plan(graph, spilling, budget).value(), {}));
  for (const auto& one : {plan, spilled, spilled.at("traffic"), spilled.at("least_memory")}) {
    for (const auto& [key, value] : one.items()) {
      EXPECT_NE(document.find("`" + key + "`"), std::string::npos) << key;
    }
  }
  EXPECT_EQ(ReadOrder(text, "plan", graph).value(), (Order{0, 1}));
  EXPECT_EQ(plan.at("residencies").size(), 1u);
}

TEST(DocsTest, MemoriesMatchTheText) {
  const std::string document = Document("memories.md");
  const auto examples = Examples(document);
  ASSERT_EQ(examples.size(), 1u);
  ASSERT_EQ(examples[0].language, "json memories");
  const auto file = ReadMemoriesJson(examples[0].text, "example");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const MemoryProblem& problem = file->problem;
  ASSERT_EQ(problem.memories.size(), 2u);
  EXPECT_EQ(problem.memories[0].base, 0x2000'0000);
  EXPECT_EQ(problem.memories[0].read, (Rate{1'000'000'000, 8'000'000'000}));
  EXPECT_EQ(problem.memories[0].reserved.at(1), (Reserved{256, 512, 2, 4}));
  EXPECT_EQ(problem.table.buffers.size(), 5u);
  EXPECT_EQ(problem.placing.at(2).previous, (Previous{0, 768, 100}));
  EXPECT_EQ(problem.together, (std::vector<std::vector<Member>>{{{3, 0}, {4, 128}}}));
  EXPECT_EQ(problem.apart, (std::vector<Apart>{{0, 2, true}}));
  // What it needs can be had.
  Budget budget;
  const auto answer = PlaceInMemories(problem, {}, budget);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outcome, Outcome::kOptimal);
  const auto written = nlohmann::json::parse(WriteMemoriesJson(problem));
  const auto expect_documented = [&document](const nlohmann::json& object) {
    for (const auto& [key, value] : object.items()) {
      EXPECT_NE(document.find("`" + key + "`"), std::string::npos) << key;
    }
  };
  expect_documented(written);
  for (const char* const list : {"memories", "buffers"}) {
    for (const auto& item : written.at(list)) expect_documented(item);
  }
  expect_documented(written.at("apart").at(0));
}

TEST(DocsTest, TheTableForSeveralMemories) {
  for (const Example& example : Examples(Document("csv.md"))) {
    if (example.language != "table memories") continue;
    MemoryProblem problem;
    std::vector<Memory> memories = {ParseMemory("tcm=1KiB@8GB/s").value(),
                                    ParseMemory("dram@100MB/s").value()};
    const auto file = ReadMemoriesCsv(example.text, "example", memories);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ(file->problem.placing.at(1).candidates, (std::vector<Candidate>{{1, 10240, {}}}));
    EXPECT_EQ(file->problem.placing.at(2).cost_left_out, 9000);
    EXPECT_EQ(file->problem.placing.at(2).candidates,
              (std::vector<Candidate>{{0, 40, {}}, {1, 700, {}}}));
    EXPECT_EQ(file->problem.together, (std::vector<std::vector<Member>>{{{3, 0}, {4, 128}}}));
    EXPECT_EQ(file->problem.apart, (std::vector<Apart>{{0, 2, false}}));
    return;
  }
  FAIL() << "no example";
}

TEST(DocsTest, EveryKeyOfAPlanForSeveralMemoriesIsDocumented) {
  const std::string document = Document("plan.md");
  MemoryProblem problem;
  problem.table.buffers = {{"a", 0, 2, 4}};
  problem.memories = {ParseMemory("tcm=8@8GB/s").value()};
  Budget budget;
  const auto answer = PlaceInMemories(problem, {}, budget).value();
  const auto plan = nlohmann::json::parse(WritePlanJson(problem, answer, {}));
  for (const auto& one : {plan, plan.at("residencies").at(0)}) {
    for (const auto& [key, value] : one.items()) {
      EXPECT_NE(document.find("`" + key + "`"), std::string::npos) << key;
    }
  }
  EXPECT_FALSE(plan.contains("capacity"));
}

TEST(DocsTest, TheGraphAndItsError) {
  const auto examples = Examples(Document("graph.md"));
  ASSERT_EQ(examples.size(), 3u);
  auto graph = ReadGraphJson(examples[0].text, "tiny.json");
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(Live(*graph, ProgramOrder(*graph)).peak, 3211264);
  graph->operators.insert(graph->operators.begin() + 1, {"sum", "Sum", {2}, {}});
  const auto invalid = ReadGraphJson(WriteGraphJson(*graph), "tiny.json");
  ASSERT_FALSE(invalid.has_value());
  std::string sentence = examples[2].text;
  for (char& c : sentence) c = c == '\n' ? ' ' : c;
  EXPECT_EQ(invalid.error().message + " ", sentence);
}

TEST(DocsTest, TheReceptiveField) {
  const auto examples = Examples(Document("graph.md"));
  ASSERT_EQ(examples.size(), 3u);
  std::string text = examples[0].text;
  const std::string before = "\"outputs\": [2]";
  text.insert(text.find(before) + before.size(),
              ", \"receptive_fields\": [" + examples[1].text + "]");
  const auto graph = ReadGraphJson(text, "tiny.json");
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(graph->operators[0].receptive_fields,
            (std::vector<ReceptiveField>{{2, 112, 56, 2, 3, 1, {0}}}));
}

TEST(DocsTest, InductorsGraphIsRead) {
  for (const Example& example : Examples(Document("inductor.md"))) {
    if (example.language != "json inductor") continue;
    const auto graph = ReadGraphJson(example.text, "example");
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    EXPECT_EQ(graph->operators.size(), 5u);
    return;
  }
  FAIL() << "no example";
}

}  // namespace
}  // namespace berth
