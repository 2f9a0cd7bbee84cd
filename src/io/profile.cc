// Reads profiles (docs/formats/profile.md).

#include "berth/profile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/source.h"
#include "base/text.h"
#include "base/try.h"
#include "io/json_tree.h"

namespace berth {
namespace internal {
namespace {

using Kind = JsonNode::Kind;

constexpr std::int64_t kMostTime = std::int64_t{1} << 60;
// Of onnxruntime: "conv1_kernel_time".
constexpr std::string_view kKernelTime = "_kernel_time";

// Times of executions, by operator.
class Times {
 public:
  void Add(std::string op, std::vector<std::string> shapes, std::int64_t nanoseconds) {
    times_[{std::move(op), std::move(shapes)}].push_back(nanoseconds);
  }
  [[nodiscard]] bool empty() const { return times_.empty(); }

  // The median of each.
  std::vector<MeasuredTime> Take() {
    std::vector<MeasuredTime> result;
    for (auto& [key, times] : times_) {
      const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
      std::nth_element(times.begin(), middle, times.end());
      result.push_back({key.first, key.second, *middle});
    }
    times_.clear();
    return result;
  }

 private:
  std::map<std::pair<std::string, std::vector<std::string>>, std::vector<std::int64_t>> times_;
};

// Microseconds, as traces have them, in nanoseconds, rounded up.
std::optional<std::int64_t> NanosecondsOf(const JsonNode* node) {
  const auto number = node == nullptr ? std::nullopt : NumberOf(*node);
  if (!number || *number < 0 || *number * 1e3 > static_cast<double>(kMostTime)) return std::nullopt;
  return static_cast<std::int64_t>(std::ceil(*number * 1e3));
}

std::string_view TextOf(const JsonNode& event, std::string_view key) {
  const JsonNode* const found = event.Find(key);
  return found != nullptr && found->is(Kind::kText) ? found->text : std::string_view();
}

// Adds the shapes in one entry of "Input Dims": a list of extents, or a list of such lists.
void AddShapes(const JsonNode& node, std::set<std::string>& shapes) {
  std::string shape;
  for (const JsonNode& item : node.items) {
    if (item.is(Kind::kList)) {
      AddShapes(item, shapes);
    } else if (item.is(Kind::kInteger)) {
      shape += (shape.empty() ? "" : "x") + std::to_string(item.integer);
    }
  }
  if (!shape.empty()) shapes.insert(std::move(shape));
}

class ProfileReader {
 public:
  explicit ProfileReader(const Source& source) : source_(source) {}

  Result<Profile> Read() {
    BERTH_TRY(source_.CheckEncoding());
    const std::string_view text = source_.text();
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
    BERTH_TRY(json ? ReadTrace() : ReadTable());
    Profile profile;
    profile.name = std::string(source_.name());
    profile.operators = by_name_.Take();
    profile.types = by_type_.Take();
    return profile;
  }

 private:
  Result<void> ReadTable() {
    CsvReader reader(source_);
    const bool has_header = BERTH_TRY(reader.Next());
    std::optional<std::size_t> op;
    std::optional<std::size_t> time;
    if (has_header) {
      for (std::size_t i = 0; i < reader.fields().size(); ++i) {
        if (reader.fields()[i].value == "operator") op = i;
        if (reader.fields()[i].value == "ns") time = i;
      }
    }
    if (!op || !time) {
      return source_.FailAt(
          0,
          "this is no profile: neither a table whose first line names the columns operator and ns, "
          "nor a trace in JSON");
    }
    while (BERTH_TRY(reader.Next())) {
      const auto& fields = reader.fields();
      if (fields.size() <= std::max(*op, *time)) {
        return source_.FailAt(fields.empty() ? 0 : fields.front().position,
                              "a line with " + std::to_string(fields.size()) +
                                  " fields, fewer than the first line has");
      }
      const auto ns = ParseWhole(fields[*time].value);
      if (!ns) {
        return source_.FailAt(fields[*time].position,
                              "ns is " + Quoted(fields[*time].value) +
                                  " where it should be a whole number from 0 to 2^60");
      }
      by_name_.Add(std::string(fields[*op].value), {}, *ns);
    }
    if (by_name_.empty()) return source_.FailAsWhole("no operator has a time");
    return {};
  }

  [[nodiscard]] static std::optional<std::int64_t> ParseWhole(std::string_view text) {
    std::int64_t value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (text.empty() || end != last || error != std::errc() || value < 0 || value > kMostTime) {
      return std::nullopt;
    }
    return value;
  }

  Result<void> ReadTrace() {
    const JsonNode root = BERTH_TRY(ParseJsonTree(source_));
    const JsonNode* const events = root.is(Kind::kList) ? &root : root.Find("traceEvents");
    if (events == nullptr || !events->is(Kind::kList)) {
      return source_.FailAt(root.position, "this is no trace: it has no list of \"traceEvents\"");
    }
    for (const JsonNode& event : events->items) BERTH_TRY(ReadEvent(event));
    if (!by_name_.empty() || !by_type_.empty()) return {};
    if (without_shapes_ > 0) {
      return source_.FailAsWhole(
          "the trace has no shapes of inputs, by which operators are told apart: profile with "
          "record_shapes=True");
    }
    return source_.FailAsWhole(
        "no event is the execution of an operator, as onnxruntime and torch.profiler write them");
  }

  Result<void> ReadEvent(const JsonNode& event) {
    const std::string_view category = TextOf(event, "cat");
    const std::string_view name = TextOf(event, "name");
    if (category == "kernel") {
      return source_.FailAt(event.position,
                            "the trace has the kernel " + Quoted(name) +
                                " of a GPU: only times of operators on a CPU can be read. Measure "
                                "operators one by one and write a table");
    }
    const bool by_name = category == "Node" && name.ends_with(kKernelTime);
    const bool by_type = category == "cpu_op" && TextOf(event, "ph") == "X";
    if (!by_name && !by_type) return {};
    const JsonNode* const arguments = event.Find("args");
    const JsonNode* const dims = arguments == nullptr ? nullptr : arguments->Find("Input Dims");
    if (by_type && (dims == nullptr || !dims->is(Kind::kList))) {
      ++without_shapes_;
      return {};
    }
    const JsonNode* const duration = event.Find("dur");
    const auto nanoseconds = NanosecondsOf(duration);
    if (!nanoseconds) {
      return source_.FailAt((duration == nullptr ? event : *duration).position,
                            "\"dur\" of " + Quoted(name) + " is " +
                                (duration == nullptr ? "missing" : duration->Shown()) +
                                " where it should be a number of microseconds");
    }
    if (by_name) {
      by_name_.Add(std::string(name.substr(0, name.size() - kKernelTime.size())), {}, *nanoseconds);
      return {};
    }
    std::set<std::string> shapes;
    AddShapes(*dims, shapes);
    const std::size_t space = name.rfind(':');
    by_type_.Add(std::string(space == std::string_view::npos ? name : name.substr(space + 1)),
                 {shapes.begin(), shapes.end()}, *nanoseconds);
    return {};
  }

  const Source& source_;
  Times by_name_;
  Times by_type_;
  std::size_t without_shapes_ = 0;
};

}  // namespace
}  // namespace internal

Result<Profile> ReadProfile(std::string_view text, std::string_view name) {
  const internal::Source source(text, name);
  return internal::ProfileReader(source).Read();
}

}  // namespace berth
