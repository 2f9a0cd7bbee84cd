// Bounds by flows: whatever parts a line has, what they add up to is no more than the least step.
//
// The parts are drawn at random and not taken from a search, so most of the flows make no sense. Sets of
// operators after which a step can come are enumerated.

#include "tools/verify/order_flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "testing/seeds.h"

namespace berth::verify {
namespace {

using internal::Random;
using internal::Seeds;

std::size_t Below(Random& random, std::size_t size) {
  return static_cast<std::size_t>(random.Uniform(0, static_cast<std::int64_t>(size) - 1));
}

// Users need not wait for the maker.
OrderModel RandomModel(Random& random) {
  OrderModel model;
  model.operators = 2 + Below(random, 6);
  model.always = random.Uniform(0, 2);
  model.waits.resize(model.operators);
  for (std::size_t v = 0; v < model.operators; ++v) {
    for (std::size_t u = 0; u < v; ++u) {
      if (random.Chance(0.2)) model.waits[v].push_back(u);
    }
  }
  for (std::size_t t = 1 + Below(random, 6); t > 0; --t) {
    OrderTensor tensor;
    tensor.bytes = random.Uniform(1, 6);
    if (random.Chance(0.8)) tensor.maker = Below(random, model.operators);
    tensor.to_end = random.Chance(0.15);
    while (!tensor.to_end && tensor.users.empty()) {
      for (std::size_t k = 0; k < model.operators; ++k) {
        if (random.Chance(0.3)) tensor.users.push_back(k);
      }
    }
    model.tensors.push_back(std::move(tensor));
  }
  return model;
}

struct Step {
  std::size_t v = 0;
  std::size_t with = kNobody;
  std::size_t without = kNobody;
};

// The least bytes of the step over all sets of operators that can run before it; nothing if there is none.
std::optional<Bytes> LeastStep(const OrderModel& model, const OrderNet& net, const Step& step) {
  std::optional<Bytes> least;
  for (std::size_t set = 0; set < std::size_t{1} << model.operators; ++set) {
    const auto has = [&](std::size_t u) { return (set >> u & 1) != 0; };
    const auto can_run = [&](std::size_t u) {
      return std::all_of(net.before(u).begin(), net.before(u).end(), has);
    };
    bool is_one = !has(step.v) && can_run(step.v) && (step.with == kNobody || has(step.with)) &&
                  (step.without == kNobody || !has(step.without));
    for (std::size_t u = 0; u < model.operators; ++u) is_one = is_one && (!has(u) || can_run(u));
    if (!is_one) continue;
    Bytes live = model.always;
    for (const OrderTensor& tensor : model.tensors) {
      const bool made = tensor.maker == kNobody || tensor.maker == step.v || has(tensor.maker);
      const bool used = tensor.to_end || tensor.maker == step.v ||
                        std::any_of(tensor.users.begin(), tensor.users.end(),
                                    [&](std::size_t k) { return !has(k); });
      if (made && used) live += tensor.bytes;
    }
    least = std::min(least.value_or(live), live);
  }
  return least;
}

std::string RandomPart(const OrderModel& model, Random& random) {
  const auto word = [&](std::size_t size) { return std::to_string(Below(random, size)); };
  const std::size_t t = Below(random, model.tensors.size());
  const std::string bytes = ":" + std::to_string(random.Uniform(1, model.tensors[t].bytes));
  if (random.Chance(0.3)) return " " + word(model.operators) + "^" + word(model.operators) + bytes;
  const std::vector<std::size_t>& users = model.tensors[t].users;
  const std::string tensor = " " + std::to_string(t);
  if (users.empty() || random.Chance(0.4)) return tensor + bytes;
  return tensor + ">" + std::to_string(users[Below(random, users.size())]) + bytes;
}

// Nothing where a part does not exist.
std::optional<Bytes> BoundOf(OrderNet& net, const Step& step, const std::string& parts) {
  try {
    const std::string line = "cut" + parts;
    ProofLines lines(line);
    (void)lines.NextLine();
    return BoundByFlow(net, step.v, step.with, step.without, lines);
  } catch (const FalseStep&) {
    return std::nullopt;
  }
}

TEST(OrderFlowTest, NoPartsShowMoreThanTheLeastStep) {
  std::int64_t raised = 0;  // Bounds by parts above that without any,
  std::int64_t tight = 0;   // and those that are the least step.
  for (std::uint64_t seed = 1; seed <= Seeds(5000); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const OrderModel model = RandomModel(random);
    OrderNet net(model);
    if (random.Chance(0.3)) {
      const std::size_t v = 1 + Below(random, model.operators - 1);
      net.Add(Below(random, v), v);
    }
    Step step{Below(random, model.operators)};
    const std::int64_t kind = random.Uniform(0, 2);
    if (kind == 1) step.with = Below(random, model.operators);
    if (kind == 2) step.without = Below(random, model.operators);
    const auto alone = BoundOf(net, step, "");
    if (!alone) continue;
    const auto least = LeastStep(model, net, step);
    ASSERT_TRUE(least);
    ASSERT_LE(*alone, *least);
    std::string parts;
    Bytes best = *alone;
    for (int k = 0; k < 30; ++k) {
      const std::string more = parts + RandomPart(model, random);
      const auto bound = BoundOf(net, step, more);
      if (!bound) continue;
      ASSERT_LE(*bound, *least) << more;
      if (*bound < best && random.Chance(0.6)) continue;
      parts = more;
      best = std::max(best, *bound);
    }
    raised += best > *alone ? 1 : 0;
    tight += best > *alone && best == *least ? 1 : 0;
  }
  EXPECT_GT(raised, static_cast<std::int64_t>(Seeds(5000)) / 20);
  EXPECT_GT(tight, static_cast<std::int64_t>(Seeds(5000)) / 50);
}

}  // namespace
}  // namespace berth::verify
