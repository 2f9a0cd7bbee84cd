#include "spill/segments.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/side_by_side.h"
#include "base/wide.h"

namespace berth::internal::spill {

// A part, with the operators of the whole mapped to its own.
class SegmentBound::Part : public Bound {
 public:
  // `operators`: those of `whole` that are in the model.
  Part(Model model, std::vector<OpIndex> operators, const Model& whole, Bytes capacity,
       const SpillRules& rules, const SegmentOptions& options, Effort& effort, Budget& budget,
       std::size_t& bytes_asked)
      : model_(std::move(model)),
        operators_(std::move(operators)),
        options_(options),
        budget_(budget),
        search_(model_, capacity, rules, this, effort),
        bytes_asked_(bytes_asked),
        mask_(whole.operator_words(), 0),
        mine_(model_.operator_words(), 0) {
    for (const OpIndex v : operators_) SetBit(mask_.data(), v.position());
    while (first_word_ < mask_.size() && mask_[first_word_] == 0) ++first_word_;
    end_word_ = mask_.size();
    while (end_word_ > first_word_ && mask_[end_word_ - 1] == 0) --end_word_;
    Forget();
  }

  // Clears the cache.
  void Forget() {
    slots_.assign(64, -1);
    keys_ = {};
    values_ = {};
    for (const auto& half : halves_) half->Forget();
  }

  // Takes the halves, in this part's own operators, and solves the part from its start.
  void Solve(std::vector<std::unique_ptr<Part>> halves) {
    halves_ = std::move(halves);
    Bytes sum = 0;
    for (const auto& half : halves_) sum += half->value_;
    value_ = sum;
    if (model_.num_operators == 0) return;
    const BestFirstAnswer answer = search_.BestFirst(kNoCost, options_.states, budget_);
    value_ = std::max(sum, answer.complete ? answer.bound : std::min(answer.bound, kNoCost - 1));
    solved_ = answer.complete;
    search_.Release();
  }

  [[nodiscard]] Bytes value() const { return value_; }
  [[nodiscard]] bool solved() const { return solved_; }
  [[nodiscard]] std::vector<std::unique_ptr<Part>>& halves() { return halves_; }
  [[nodiscard]] const std::vector<OpIndex>& operators() const { return operators_; }

  // The estimate for this part's own search, in its own operators: the sum of its halves.
  [[nodiscard]] Bytes Remaining(const StateView& state) const override {
    Bytes sum = 0;
    for (const auto& half : halves_) sum += half->From(state.executed);
    return sum;
  }

  // The least remaining cost after `executed`, a set of operators of the whole.
  [[nodiscard]] Bytes From(const Word* executed) const {
    std::uint64_t hash = 0x9e3779b97f4a7c15u;
    for (std::size_t w = first_word_; w < end_word_; ++w) {
      hash = Mixed(hash, executed[w] & mask_[w]);
    }
    hash ^= hash >> 32;
    const std::size_t words = end_word_ - first_word_;
    std::size_t slot = static_cast<std::size_t>(hash) & (slots_.size() - 1);
    for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
      const auto entry = static_cast<std::size_t>(slots_[slot]);
      const Word* key = keys_.data() + entry * words;
      bool same = true;
      for (std::size_t w = 0; w < words && same; ++w) {
        same = key[w] == (executed[first_word_ + w] & mask_[first_word_ + w]);
      }
      if (same) return values_[entry];
    }
    const Bytes value = Compute(executed);
    slots_[slot] = static_cast<std::int32_t>(values_.size());
    values_.push_back(value);
    for (std::size_t w = first_word_; w < end_word_; ++w) keys_.push_back(executed[w] & mask_[w]);
    bytes_asked_ += words * sizeof(Word) + sizeof(Bytes) + sizeof(std::int32_t);
    if (values_.size() * 2 > slots_.size()) Rehash();
    return value;
  }

 private:
  [[nodiscard]] Bytes Compute(const Word* executed) const {
    std::fill(mine_.begin(), mine_.end(), 0);
    std::size_t count = 0;
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      if (!TestBit(executed, operators_[i].position())) continue;
      SetBit(mine_.data(), i);
      ++count;
    }
    if (count == 0) return value_;
    if (count == operators_.size()) return 0;
    const Bytes sum = Remaining({mine_.data(), nullptr, nullptr, count});
    if (!solved_) return sum;
    const std::vector<Word> start = mine_;
    const BestFirstAnswer answer =
        search_.BestFirst(kNoCost, options_.states_within, budget_, start.data());
    return std::max(sum, std::min(answer.bound, kNoCost - 1));
  }

  void Rehash() const {
    const std::size_t words = end_word_ - first_word_;
    slots_.assign(slots_.size() * 2, -1);
    for (std::size_t entry = 0; entry < values_.size(); ++entry) {
      std::uint64_t hash = 0x9e3779b97f4a7c15u;
      for (std::size_t w = 0; w < words; ++w) hash = Mixed(hash, keys_[entry * words + w]);
      hash ^= hash >> 32;
      std::size_t slot = static_cast<std::size_t>(hash) & (slots_.size() - 1);
      while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<std::int32_t>(entry);
    }
  }

  Model model_;
  std::vector<OpIndex> operators_;
  SegmentOptions options_;
  Budget& budget_;
  mutable Search search_;
  std::size_t& bytes_asked_;  // Memory of all parts' caches.
  std::vector<Word> mask_;    // Of the operators of the whole.
  std::size_t first_word_ = 0;
  std::size_t end_word_ = 0;
  mutable std::vector<Word> mine_;  // Scratch.
  std::vector<std::unique_ptr<Part>> halves_;
  Bytes value_ = 0;
  bool solved_ = false;
  // Cache of answers, with open addressing.
  mutable std::vector<std::int32_t> slots_;
  mutable std::vector<Word> keys_;
  mutable std::vector<Bytes> values_;
};

namespace {

using Part = SegmentBound::Part;

inline constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
// Share of all operators: a storage that lives for less than 1 / kShortestSpan of them has no part
// of its own.
inline constexpr std::size_t kShortestSpan = 8;

// `s` and everything computed from it alone.
std::vector<char> ConeOf(const Model& model, StorageIndex s) {
  std::vector<char> inside(model.storages.size(), 0);
  inside[s.position()] = 1;
  for (std::size_t i = 0; i < model.num_operators; ++i) {
    const auto used = model.used[OpIndex(i)];
    if (used.empty()) continue;
    const bool within = std::all_of(used.begin(), used.end(),
                                    [&](StorageIndex u) { return inside[u.position()] != 0; });
    if (!within) continue;
    for (const StorageIndex made : model.made[OpIndex(i)]) inside[made.position()] = 1;
  }
  return inside;
}

struct Context {
  Bytes capacity;
  const SpillRules& rules;
  const SegmentOptions& options;
  Effort& effort;
  Budget& budget;
  std::size_t& bytes_asked;
};

// The part of `whole` along positions [begin, end) of `home`, which gives for each storage the
// position of its creator; null if there is none. Solves it, after its halves.
std::unique_ptr<Part> PartAlong(const Model& whole, const std::vector<std::size_t>& home,
                                std::size_t begin, std::size_t end, const Context& context) {
  std::vector<char> inside(whole.storages.size(), 0);
  std::vector<std::size_t> home_inside;  // Of the part's own storages.
  for (std::size_t s = 0; s < home.size(); ++s) {
    if (home[s] < begin || home[s] >= end) continue;
    inside[s] = 1;
    home_inside.push_back(home[s]);
  }
  if (home_inside.empty() || context.effort.spent() || context.budget.Exhausted()) {
    return nullptr;
  }
  std::vector<OpIndex> operators;
  Model model = PartOf(whole, inside, context.capacity, context.options.max_others, operators);
  std::vector<std::unique_ptr<Part>> halves;
  if (end - begin > context.options.leaf_operators) {
    const std::size_t middle = begin + (end - begin) / 2;
    for (const auto& [from, to] : {std::pair{begin, middle}, std::pair{middle, end}}) {
      auto half = PartAlong(model, home_inside, from, to, context);
      if (half) halves.push_back(std::move(half));
    }
  }
  auto part = std::make_unique<Part>(std::move(model), std::move(operators), whole,
                                     context.capacity, context.rules, context.options,
                                     context.effort, context.budget, context.bytes_asked);
  part->Solve(std::move(halves));
  return part;
}

// The halves of the whole; the caller solves the whole itself.
std::vector<std::unique_ptr<Part>> HalvesOf(const Model& whole,
                                            const std::vector<std::size_t>& home,
                                            const Context& context) {
  std::vector<std::unique_ptr<Part>> parts;
  const std::size_t middle = whole.num_operators / 2;
  for (const auto& [from, to] :
       {std::pair{std::size_t{0}, middle}, std::pair{middle, whole.num_operators}}) {
    auto half = PartAlong(whole, home, from, to, context);
    if (half) parts.push_back(std::move(half));
  }
  return parts;
}

// For each storage, the position of its creator or, if it has none, of its first user.
std::vector<std::size_t> HomesOf(const Model& model, const std::vector<std::size_t>& position) {
  std::vector<std::size_t> home(model.storages.size(), 0);
  for (const StorageIndex s : model.storages.indices()) {
    const OpIndex creator = model.storages[s].creator;
    if (creator.value() >= 0) {
      home[s.position()] = position[creator.position()];
      continue;
    }
    std::size_t first = model.num_operators;
    for (const OpIndex u : model.users[s]) first = std::min(first, position[u.position()]);
    home[s.position()] = first;
  }
  return home;
}

}  // namespace

SegmentBound::SegmentBound(const Model& model, Bytes capacity, const SpillRules& rules,
                           std::span<const OpIndex> order, const SegmentOptions& options,
                           Effort& effort, Budget& budget)
    : effort_(effort) {
  std::vector<std::size_t> position(model.num_operators, 0);
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i].position()] = i;
  const std::vector<std::size_t> home = HomesOf(model, position);
  const Context context{capacity, rules, options, effort, budget, bytes_asked_};
  parts_ = HalvesOf(model, home, context);
  for (const auto& part : parts_) value_ += part->value();

  // Storages with several users that are far apart, longest and largest first.
  // (Bytes times steps need not fit in 64 bits.)
  std::vector<std::pair<Wide, StorageIndex>> long_lived;
  for (const StorageIndex s : model.storages.indices()) {
    const auto users = model.users[s];
    if (users.size() < 2) continue;
    std::size_t last = 0;
    for (const OpIndex u : users) last = std::max(last, position[u.position()]);
    const std::size_t span = last - std::min(last, home[s.position()]);
    if (span * kShortestSpan < model.num_operators) continue;
    long_lived.emplace_back(-Wide{model.storages[s].size} * static_cast<Step>(span), s);
  }
  std::sort(long_lived.begin(), long_lived.end());
  if (long_lived.size() > options.max_cones) long_lived.resize(options.max_cones);
  std::vector<std::size_t> home_without = home;
  std::vector<std::unique_ptr<Part>> cones;
  Bytes value = 0;
  for (const auto& [rank, s] : long_lived) {
    if (effort.spent() || budget.Exhausted()) break;
    if (home_without[s.position()] == kNowhere) continue;
    std::vector<char> inside = ConeOf(model, s);
    for (std::size_t t = 0; t < inside.size(); ++t) {
      if (home_without[t] == kNowhere) inside[t] = 0;
    }
    std::vector<OpIndex> operators;
    Model part_model = PartOf(model, inside, capacity, options.max_others, operators);
    auto part = std::make_unique<Part>(std::move(part_model), std::move(operators), model, capacity,
                                       rules, options, effort, budget, bytes_asked_);
    part->Solve({});
    if (part->value() == 0) continue;
    for (std::size_t t = 0; t < inside.size(); ++t) {
      if (inside[t] != 0) home_without[t] = kNowhere;
    }
    value += part->value();
    cones.push_back(std::move(part));
  }
  if (cones.empty()) return;
  auto rest = HalvesOf(model, home_without, context);
  for (const auto& part : rest) value += part->value();
  if (value <= value_) return;
  value_ = value;
  parts_ = std::move(rest);
  for (auto& cone : cones) parts_.push_back(std::move(cone));
}

SegmentBound::~SegmentBound() = default;

Bytes SegmentBound::Remaining(const StateView& state) const {
  // Cached answers only save time. They may use 1 / kShare of the memory.
  constexpr std::size_t kShare = 8;
  if (bytes_asked_ > effort_.most_bytes / kShare) {
    for (const auto& part : parts_) part->Forget();
    bytes_asked_ = 0;
  }
  Bytes sum = 0;
  for (const auto& part : parts_) sum += part->From(state.executed);
  return sum;
}

namespace {

// The bounds of the parts along `order` that have the steps of `width` pieces, by their first piece. A few of
// them at a time are searched side by side, each with an equal share of what is left.
class WindowParts {
 public:
  static constexpr std::size_t kMostPieces = 48;
  static constexpr std::size_t kTogether = 8;

  WindowParts(const Model& model, Bytes capacity, const SpillRules& rules,
              std::span<const OpIndex> order)
      : model_(model),
        capacity_(capacity),
        rules_(rules),
        pieces_(std::min(model.num_operators, kMostPieces)) {
    options_.states = kStates;
    options_.leaf_operators = model.num_operators;  // What two halves add up to is known already.
    std::vector<std::size_t> position(model.num_operators, 0);
    for (std::size_t i = 0; i < order.size(); ++i) position[order[i].position()] = i;
    home_ = HomesOf(model, position);
  }

  [[nodiscard]] std::size_t pieces() const { return pieces_; }

  [[nodiscard]] std::vector<Bytes> Values(std::size_t width, int threads, Effort& effort,
                                          Budget& budget) const {
    const std::size_t count = pieces_ + 1 - width;
    std::vector<Bytes> values(count, 0);
    for (std::size_t begin = 0; begin < count; begin += kTogether) {
      if (effort.spent() || budget.Exhausted()) break;
      const std::size_t together = std::min(kTogether, count - begin);
      const std::int64_t share = effort.work / static_cast<std::int64_t>(together);
      std::array<std::int64_t, kTogether> spent = {};
      const auto solve = [&](std::size_t k, Budget& own) {
        Effort mine{.work = share, .most_bytes = effort.most_bytes / kTogether};
        values[begin + k] = Value(begin + k, width, mine, own);
        spent[k] = share - mine.work;
        return AfterTask::kGoOn;
      };
      SideBySide(together, together, budget).Run(threads, solve, kStates);
      effort.work -= std::accumulate(spent.begin(), spent.end(), std::int64_t{0});
    }
    return values;
  }

 private:
  static constexpr std::size_t kStates = 40'000;

  [[nodiscard]] Bytes Value(std::size_t first, std::size_t width, Effort& effort,
                            Budget& budget) const {
    std::size_t bytes_asked = 0;
    const Context context{capacity_, rules_, options_, effort, budget, bytes_asked};
    const auto part = PartAlong(model_, home_, BeginOf(first), BeginOf(first + width), context);
    return part ? part->value() : 0;
  }
  [[nodiscard]] std::size_t BeginOf(std::size_t piece) const {
    return piece * model_.num_operators / pieces_;
  }

  const Model& model_;
  const Bytes capacity_;
  const SpillRules& rules_;
  const std::size_t pieces_;
  SegmentOptions options_;
  std::vector<std::size_t> home_;
};

}  // namespace

Bytes WindowBound(const Model& model, Bytes capacity, const SpillRules& rules,
                  std::span<const OpIndex> order, Bytes upper, int threads, Effort& effort,
                  Budget& budget) {
  constexpr std::size_t kWidest = WindowParts::kMostPieces / 3;
  constexpr std::size_t kMostOperators = 8192;
  if (model.num_operators > kMostOperators) return 0;
  const WindowParts parts(model, capacity, rules, order);
  const std::size_t pieces = parts.pieces();
  // Of the pieces [a, b): by itself or in parts.
  std::vector<std::vector<Bytes>> value(pieces + 1, std::vector<Bytes>(pieces + 1, 0));
  std::vector<Bytes> before(pieces + 1, 0);  // The most of all pieces before.
  for (std::size_t width = 1; width <= std::min(kWidest, pieces); ++width) {
    if (effort.spent() || budget.Exhausted()) break;
    const std::vector<Bytes> alone = parts.Values(width, threads, effort, budget);
    for (std::size_t a = 0; a + width <= pieces; ++a) {
      const std::size_t b = a + width;
      value[a][b] = std::max(value[a][b], alone[a]);
      for (std::size_t m = a + 1; m < b; ++m) {
        value[a][b] = std::max(value[a][b], value[a][m] + value[m][b]);
      }
    }
    for (std::size_t b = 1; b <= pieces; ++b) {
      for (std::size_t a = b > width ? b - width : 0; a < b; ++a) {
        before[b] = std::max(before[b], before[a] + value[a][b]);
      }
    }
    if (before[pieces] >= upper) break;
  }
  return before[pieces];
}

}  // namespace berth::internal::spill
