// berth-check-proof -- does a proof hold? Trusts neither the search nor its text.
//
// Exit codes: 0 it holds, 1 it is refused, 2 bad usage or a file that cannot be read.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/verify/csv_table.h"
#include "tools/verify/graph_json.h"
#include "tools/verify/order_proof.h"
#include "tools/verify/proof.h"

namespace berth::verify {
namespace {

constexpr std::string_view kUsage =
    "Usage: berth-check-proof [--endpoints HOW] PROOF [TABLE]\n"
    "       berth-check-proof [--count WHAT] [--alignment BYTES] PROOF [GRAPH]\n"
    "\n"
    "Checks a proof that `berth place --proof` wrote: that no plan fits, or that the plan in the\n"
    "proof is the lowest. With TABLE, a CSV file, also that the proof is about its buffers.\n"
    "HOW the table means its lifetimes: half-open, inclusive or exclusive; by default as the\n"
    "column's name says (\"end\" is inclusive, \"upper\" is not). - is standard input.\n"
    "\n"
    "Or one that `berth schedule --proof` or `berth plan --proof` wrote: that no order has a peak\n"
    "as low. With GRAPH, a graph of Berth in JSON, also that the proof is about its operators and\n"
    "tensors. WHAT and BYTES are as the planner had them: inputs, parameters, all or none, and a\n"
    "whole number.\n"
    "\n"
    "Exit codes: 0 the proof holds, 1 it is refused, 2 bad usage or an unreadable file.\n";

// The whole text; nothing, and errno says why, where it cannot be read.
std::optional<std::string> ReadFile(const std::string& path) {
  std::FILE* const file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::string text;
  std::size_t size = 0;
  do {
    text.resize(size + kPiece);
    size += std::fread(text.data() + size, 1, kPiece, file);
  } while (size == text.size());
  text.resize(size);
  const bool failed = std::ferror(file) != 0;
  const int why = errno;
  if (file != stdin) std::fclose(file);
  errno = why;
  if (failed) return std::nullopt;
  return text;
}

// Whether a text that is no CSV begins as JSON or an archive does, as other inputs of Berth do.
bool IsOfAnotherFormat(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  text.remove_prefix(first);
  return text.substr(0, 1) == "{" || text.substr(0, 1) == "[" ||
         text.substr(0, 4096).find('\0') != std::string_view::npos;
}

bool IsJsonObject(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

std::optional<Ends> EndsOf(std::string_view name) {
  if (name == "half-open") return Ends::kHalfOpen;
  if (name == "inclusive") return Ends::kInclusive;
  if (name == "exclusive") return Ends::kExclusive;
  return std::nullopt;
}

// Words of a file that nobody trusts must not control the terminal.
std::string Printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text;
}

int Complain(const std::string& sentence) {
  std::fprintf(stderr, "berth-check-proof: %s\n", Printable(sentence).c_str());
  return 2;
}

std::string Counted(std::int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string Sentence(const ProofReport& report, bool with_table) {
  const std::string of = with_table ? " of the table" : "";
  std::string text = "The proof holds: ";
  if (report.is_optimal) {
    text += "the plan in it takes " + std::to_string(report.refuted + 1) + " bytes, and no plan" +
            of + " takes less.";
  } else {
    text += "no plan" + of + " takes at most " + std::to_string(report.refuted) + " bytes.";
  }
  return text + "\n  " + Counted(static_cast<std::int64_t>(report.buffers), "buffer") + ", " +
         Counted(report.steps, "line") + " checked, " + Counted(report.lemmas, "lemma") + ".\n";
}

std::string Sentence(const OrderProofReport& report, bool with_graph) {
  const std::string of = with_graph ? " of the graph" : "";
  std::string text = "The proof holds: ";
  if (report.is_optimal) {
    text += "the order in it has a peak of " + std::to_string(report.refuted + 1) +
            " bytes, and no order" + of + " has a lower one.";
  } else {
    text +=
        "no order" + of + " has a peak of at most " + std::to_string(report.refuted) + " bytes.";
  }
  return text + "\n  " + Counted(static_cast<std::int64_t>(report.operators), "operator") + ", " +
         Counted(report.flows, "flow") + " and " + Counted(report.states, "state") + " checked.\n";
}

// What the claim leaves out.
std::string UnknownSizes(const Graph& graph) {
  const auto unknown =
      std::count_if(graph.tensors.begin(), graph.tensors.end(),
                    [](const Tensor& tensor) { return !tensor.unplanned.empty(); });
  if (unknown == 0) return "";
  return "  " + Counted(unknown, "tensor") + " of unknown size counted as 0 bytes.\n";
}

int Refuse(const std::string& path, const ProofVerdict& verdict) {
  std::printf("The proof is refused.\n%s:%zu: %s\n", Printable(path).c_str(), verdict.line,
              Printable(verdict.fault).c_str());
  return 1;
}

struct CheckOptions {
  Ends ends = Ends::kByColumnName;
  Counting counting;
  Bytes alignment = 1;
  std::string of_tables = {};  // An option that was given, of tables alone,
  std::string of_graphs = {};  // or of graphs alone.
};

// A proof of orders; `graph_path` may be missing.
int CheckOrders(const std::string& path, const std::string& proof,
                const std::optional<std::string>& graph_path, const CheckOptions& options) {
  if (!options.of_tables.empty()) return Complain(options.of_tables + ": only of proofs of tables");
  std::optional<OrderModel> model;
  std::string unknown;
  if (graph_path) {
    const auto text = ReadFile(*graph_path);
    if (!text) return Complain(*graph_path + ": cannot be read: " + std::strerror(errno));
    const auto graph = ReadGraph(*text, options.alignment);
    if (!graph && !IsJsonObject(*text)) {
      return Complain(*graph_path + ": not a graph in JSON, the only format that is read here");
    }
    if (!graph) return Complain(*graph_path + ": " + graph.error().message);
    model = OrderModelOf(*graph, options.counting);
    unknown = UnknownSizes(*graph);
  }
  const OrderProofReport report = CheckOrderProof(proof, model ? &*model : nullptr);
  if (!report.ok()) return Refuse(path, report);
  std::fputs((Sentence(report, model.has_value()) + unknown).c_str(), stdout);
  return 0;
}

int Check(const std::string& path, const std::optional<std::string>& table_path,
          const CheckOptions& options) {
  const auto proof = ReadFile(path);
  if (!proof) return Complain(path + ": cannot be read: " + std::strerror(errno));
  if (IsOrderProof(*proof)) return CheckOrders(path, *proof, table_path, options);
  if (!options.of_graphs.empty()) return Complain(options.of_graphs + ": only of proofs of orders");
  std::optional<Problem> table;
  if (table_path) {
    const auto text = ReadFile(*table_path);
    if (!text) return Complain(*table_path + ": cannot be read: " + std::strerror(errno));
    auto read = ReadCsvTable(*text, options.ends);
    if (!read && IsOfAnotherFormat(*text)) {
      return Complain(*table_path + ": not a table in CSV, the only format that is read here");
    }
    if (!read) return Complain(*table_path + ":" + read.error().message);
    table = std::move(*read);
  }
  const ProofReport report = CheckProof(*proof, table ? &*table : nullptr);
  if (!report.ok()) return Refuse(path, report);
  std::fputs(Sentence(report, table.has_value()).c_str(), stdout);
  return 0;
}

// Takes the value of an option; false where it is none of its values.
bool Take(const std::string& option, const std::string& value, CheckOptions& options) {
  (option == "--endpoints" ? options.of_tables : options.of_graphs) = option;
  if (option == "--endpoints") {
    const auto ends = EndsOf(value);
    options.ends = ends.value_or(Ends::kByColumnName);
    return ends.has_value();
  }
  if (option == "--count") {
    options.counting.inputs = value == "inputs" || value == "all";
    options.counting.parameters = value == "parameters" || value == "all";
    return options.counting.inputs || options.counting.parameters || value == "none";
  }
  constexpr Bytes kMost = Bytes{1} << 30;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), options.alignment);
  return error == std::errc() && end == value.data() + value.size() && options.alignment >= 1 &&
         options.alignment <= kMost;
}

// What the values of an option are; nothing for one that is not known.
std::string_view ValuesOf(std::string_view option) {
  if (option == "--endpoints") return "half-open, inclusive or exclusive";
  if (option == "--count") return "inputs, parameters, all or none";
  if (option == "--alignment") return "a whole number from 1 to 2^30";
  return "";
}

int Run(const std::vector<std::string>& words) {
  std::vector<std::string> paths;
  CheckOptions options;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const std::string& word = words[k];
    if (word == "--help" || word == "-h") {
      std::fputs(kUsage.data(), stdout);
      return 0;
    }
    const std::string_view values = ValuesOf(word);
    if (!values.empty()) {
      if (k + 1 < words.size() && Take(word, words[++k], options)) continue;
      return Complain(word + ": " + std::string(values));
    }
    if (word.size() > 1 && word.front() == '-') {
      return Complain("'" + word + "' is not known; see --help");
    }
    paths.push_back(word);
  }
  if (paths.empty()) return Complain("PROOF is missing; see --help");
  if (paths.size() > 2) return Complain("unexpected argument '" + paths[2] + "'; see --help");
  if (paths.size() == 2 && paths[0] == "-" && paths[1] == "-") {
    return Complain("only one of the two can be standard input");
  }
  return Check(paths[0], paths.size() == 2 ? std::optional(paths[1]) : std::nullopt, options);
}

}  // namespace
}  // namespace berth::verify

int main(int argc, char** argv) {
  try {
    return berth::verify::Run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::exception& error) {  // No memory.
    return berth::verify::Complain(error.what());
  }
}
