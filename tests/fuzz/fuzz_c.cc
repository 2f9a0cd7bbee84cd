// The C interface as a careless caller uses it: the input is a program of calls with arguments of
// all kinds, on handles in any state. No call may crash, leak, or return a plan that does not hold.

#include <berth/berth.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/fuzz/require.h"

#define REQUIRE(condition) berth::internal::Require(condition, #condition)

namespace {

constexpr int kMostCalls = 60;
constexpr std::int64_t kHostile[] = {0, 1, -1, INT64_MAX, INT64_MIN, 1LL << 60, (1LL << 60) + 1, 7};
constexpr const char* kNames[] = {
    "capacity", "budget",  "budgets",   "points", "time_limit", "node_limit", "order",
    "count",    "dim",     "alignment", "fuse",   "in_place",   "endpoints",  "algorithm",
    "minimize", "threads", "seed",      "bogus",  "niche.beam", "exact.beam", "allow_unknown"};
constexpr const char* kValues[] = {"on",  "off",  "none",    "MR",   "MP,MH,64",  "1",
                                   "16",  "100",  "7KiB",    "-1",   "greedy",    "niche",
                                   "all", "auto", "program", "a=2",  "inclusive", "canonical",
                                   "",    "2.5",  "guided",  "beam", "contention"};

// Reads values off the input; zeros once it is used up.
class Script {
 public:
  Script(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool done() const { return at_ >= size_; }
  std::uint8_t Byte() { return done() ? std::uint8_t{0} : data_[at_++]; }
  // Mostly small, sometimes hostile.
  std::int64_t Number() {
    const std::uint8_t byte = Byte();
    if (byte >= 248) return kHostile[byte - 248];
    return byte % 64;
  }
  std::size_t Index() {
    const std::uint8_t byte = Byte();
    return byte == 255 ? BERTH_NONE : byte % 12;
  }
  std::string Text() {
    std::string text;
    for (std::size_t left = Byte() % 64; left > 0 && !done(); --left) {
      text += static_cast<char>(Byte());
    }
    return text;
  }
  // NULL now and then.
  template <std::size_t kCount>
  const char* Word(const char* const (&words)[kCount]) {
    const std::uint8_t byte = Byte();
    return byte == 255 ? nullptr : words[byte % kCount];
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

class Caller {
 public:
  explicit Caller(Script& script) : script_(script) {
    // Searches end soon.
    REQUIRE(berth_options_set(options_, "node_limit", "50", nullptr) == BERTH_OK);
  }
  ~Caller() {
    berth_options_free(options_);
    berth_problem_free(problem_);
    berth_graph_free(graph_);
    Drop();
    berth_error_free(error_);
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void Call() {
    switch (script_.Byte() % 19) {
      case 0:
        return Set();
      case 1:
        return Arrays();
      case 2:
        berth_problem_free(problem_);
        problem_ = script_.Byte() % 4 == 0 ? nullptr : berth_problem_new();
        return;
      case 3:
        return AddBuffer();
      case 4:
        return Keep(berth_problem_pin(problem_, script_.Index(), script_.Number(), Error()));
      case 5:
        return Keep(berth_problem_hint(problem_, script_.Index(), script_.Number(), Error()));
      case 6: {
        const std::size_t buffer = script_.Index();
        const std::int64_t start = script_.Number();
        const std::int64_t end = script_.Number();
        const std::int64_t lower = script_.Byte() % 2 == 0 ? -1 : script_.Number();
        const std::int64_t upper = lower == -1 ? -1 : script_.Number();
        return Keep(berth_problem_add_gap(problem_, buffer, start, end, lower, upper, Error()));
      }
      case 7:
        Drop();
        Keep(berth_place_problem(problem_, Options(), &plan_, Error()));
        return Examine();
      case 8: {
        berth_conflict conflict;
        conflict.struct_size = sizeof conflict;
        std::array<std::size_t, 4> buffers{};
        std::size_t count = 0;
        return Keep(berth_explain_problem(problem_, Options(), &conflict, buffers.data(),
                                          script_.Byte() % 5, &count, Error()));
      }
      case 9: {
        const std::string text = script_.Text();
        berth_problem* read = nullptr;
        Keep(berth_problem_parse(text.data(), text.size(), nullptr, Options(), &read, Error()));
        berth_problem_free(read);
        return;
      }
      case 10:
        berth_graph_free(graph_);
        graph_ = script_.Byte() % 4 == 0 ? nullptr : berth_graph_new("fuzz");
        return;
      case 11:
        return AddTensor();
      case 12:
        return AddOperator();
      case 13:
        return Relate();
      case 14:
        Drop();
        Keep(script_.Byte() % 2 == 0 ? berth_plan_graph(graph_, Options(), &plan_, Error())
                                     : berth_schedule_graph(graph_, Options(), &plan_, Error()));
        return Examine();
      case 15: {
        berth_graph* changed = nullptr;
        Keep(berth_graph_apply(graph_, Options(), &changed, Error()));
        if (changed == nullptr) return;
        berth_graph_free(graph_);
        graph_ = changed;
        return;
      }
      case 16: {
        berth_sweep* sweep = nullptr;
        Keep(berth_options_set(options_, "points", "3", Error()));
        Keep(berth_sweep_graph(graph_, options_, &sweep, Error()));
        berth_text* csv = nullptr;
        Keep(berth_sweep_to_csv(sweep, &csv, Error()));
        berth_text_free(csv);
        berth_sweep_free(sweep);
        return;
      }
      case 17: {
        std::vector<std::size_t> groups(berth_problem_count(problem_));
        std::vector<std::int64_t> distances(groups.size());
        for (std::size_t& group : groups) group = script_.Byte() % 4;
        for (std::int64_t& distance : distances) distance = script_.Number();
        berth_problem* merged = nullptr;
        Keep(berth_problem_colocate(problem_, groups.data(), distances.data(), &merged, nullptr,
                                    nullptr, Error()));
        if (merged == nullptr) return;
        berth_problem_free(problem_);
        problem_ = merged;
        return;
      }
      default: {
        const std::string text = script_.Text();
        berth_graph* read = nullptr;
        Keep(berth_graph_parse(text.data(), text.size(), "f", Options(), &read, Error()));
        berth_graph_free(read);
        return;
      }
    }
  }

 private:
  // The place for an error, now and then none.
  berth_error** Error() {
    berth_error_free(error_);
    error_ = nullptr;
    return script_.Byte() % 8 == 0 ? nullptr : &error_;
  }
  void Keep(berth_status status) {
    REQUIRE(status != BERTH_INTERNAL);
    if (error_ == nullptr) return;
    REQUIRE(status != BERTH_OK && berth_error_status(error_) == status);
    REQUIRE(std::strlen(berth_error_message(error_)) > 0);
  }
  [[nodiscard]] const berth_options* Options() {
    return script_.Byte() % 8 == 0 ? nullptr : options_;
  }
  void Drop() {
    berth_plan_free(plan_);
    plan_ = nullptr;
  }

  void Set() {
    const char* const name = script_.Word(kNames);
    const char* const value = script_.Word(kValues);
    Keep(berth_options_set(options_, name, value, Error()));
    // Without a limit searches take their time.
    REQUIRE(berth_options_set(options_, "node_limit", "50", nullptr) == BERTH_OK);
  }

  void Arrays() {
    const std::size_t count = script_.Byte() % 10;
    std::vector<std::int64_t> start(count);
    std::vector<std::int64_t> end(count);
    std::vector<std::int64_t> size(count);
    std::vector<std::int64_t> alignment(count, 1);
    std::vector<std::int64_t> offsets(count);
    for (std::size_t i = 0; i < count; ++i) {
      start[i] = script_.Number();
      const bool any = script_.Byte() % 8 == 0 || start[i] > INT64_MAX - 8;
      end[i] = any ? script_.Number() : start[i] + 1 + script_.Byte() % 8;
      size[i] = 1 + script_.Byte() % 32;
      if (script_.Byte() % 8 == 0) size[i] = script_.Number();
      if (script_.Byte() % 4 == 0) alignment[i] = script_.Number();
    }
    berth_summary summary;
    summary.struct_size = sizeof summary;
    const berth_options* const options = Options();
    const berth_status status =
        berth_place(count, start.data(), end.data(), size.data(), alignment.data(), options,
                    offsets.data(), &summary, Error());
    Keep(status);
    if (status != BERTH_OK || summary.has_plan == 0) return;
    REQUIRE(summary.height >= summary.height_bound);
    const bool fits = summary.outcome == BERTH_OPTIMAL || summary.outcome == BERTH_FEASIBLE;
    if (!fits) return;
    REQUIRE(berth_check(count, start.data(), end.data(), size.data(), alignment.data(), options,
                        offsets.data(), nullptr) == BERTH_OK);
  }

  void AddBuffer() {
    const std::string id = script_.Text();
    const std::int64_t start = script_.Number();
    const std::int64_t end = script_.Byte() % 8 == 0 ? script_.Number() : start % 64 + 5;
    const std::int64_t size = script_.Byte() % 8 == 0 ? script_.Number() : 1 + script_.Byte() % 50;
    Keep(berth_problem_add(problem_, id.empty() ? nullptr : id.c_str(), start, end, size,
                           script_.Byte() % 8 == 0 ? script_.Number() : 1, nullptr, Error()));
  }

  void AddTensor() {
    const std::string name = "t" + std::to_string(tensors_++);
    // The largest number that a variable of the type may hold in C++ is 7; c_test.c has larger ones.
    const auto kind =
        static_cast<berth_tensor_kind>(script_.Byte() % 16 == 0 ? 7 : script_.Byte() % 5);
    const std::int64_t bytes = script_.Number();
    const std::size_t base = script_.Byte() % 4 == 0 ? script_.Index() : BERTH_NONE;
    Keep(berth_graph_add_tensor(graph_, name.c_str(), kind, bytes,
                                script_.Byte() % 8 == 0 ? script_.Number() : 1, base,
                                script_.Byte() % 2, nullptr, Error()));
  }

  void AddOperator() {
    const std::string name = "o" + std::to_string(operators_++);
    std::array<std::size_t, 4> tensors{};
    for (std::size_t& tensor : tensors) tensor = script_.Index();
    const std::size_t inputs = script_.Byte() % 3;
    Keep(berth_graph_add_operator(graph_, name.c_str(), "Op", tensors.data(), inputs,
                                  tensors.data() + 2, 1, nullptr, Error()));
  }

  void Relate() {
    const std::size_t op = script_.Index();
    const std::size_t other = script_.Index();
    switch (script_.Byte() % 6) {
      case 3:
        return Keep(berth_graph_set_cost(graph_, op, static_cast<std::int64_t>(other), Error()));
      case 4:
        return Keep(
            berth_graph_set_repeat(graph_, op, static_cast<berth_repeat>(other % 4), Error()));
      case 0:
        return Keep(berth_graph_add_mutation(graph_, op, other, Error()));
      case 1:
        return Keep(berth_graph_add_dependency(graph_, op, other, Error()));
      default:
        return Keep(berth_graph_add_overwrite(graph_, op, other, script_.Index(), Error()));
    }
  }

  // Everything that can be asked of a plan.
  void Examine() {
    if (plan_ == nullptr) return;
    berth_summary summary;
    summary.struct_size = sizeof summary;
    REQUIRE(berth_plan_summary(plan_, &summary, nullptr) == BERTH_OK);
    if (summary.has_plan != 0) REQUIRE(berth_plan_validate(plan_, nullptr) == BERTH_OK);
    using Writer = berth_status (*)(const berth_plan*, berth_text**, berth_error**);
    for (const Writer writer : {Writer{berth_plan_to_json}, Writer{berth_plan_to_csv},
                                Writer{berth_plan_to_svg}, Writer{berth_plan_to_trace}}) {
      berth_text* text = nullptr;
      const berth_status status = writer(plan_, &text, nullptr);
      REQUIRE(status == BERTH_OK || status == BERTH_INVALID_ARGUMENT);
      berth_text_free(text);
    }
    if (script_.Byte() % 8 != 0) return;
    berth_advice* advice = nullptr;
    Keep(berth_advise_plan(plan_, options_, &advice, Error()));
    berth_advice_free(advice);
  }

  Script& script_;
  berth_options* const options_ = berth_options_new();
  berth_problem* problem_ = berth_problem_new();
  berth_graph* graph_ = berth_graph_new("fuzz");
  berth_plan* plan_ = nullptr;
  berth_error* error_ = nullptr;
  int tensors_ = 0;
  int operators_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Script script(data, size);
  Caller caller(script);
  for (int call = 0; call < kMostCalls && !script.done(); ++call) caller.Call();
  return 0;
}
