// The table is condensed: it has a column for each nonbasic variable only, which are as many as the
// caller's variables. Rows are few, since callers add only those that a solution has violated, and
// most entries are 0: an update costs what the nonzero rows cost. A leaving variable passes the
// bounds of entering ones where that leaves it infeasible still ("long steps"), which saves most
// pivots, since every variable of the caller has a bound on either side.
#include "memories/simplex.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/avx2.h"
#include "base/check.h"

namespace berth::internal::memories {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFeasible = 1e-7;  // Of a variable's bounds, relative to the size of its row.
constexpr double kPivot = 1e-8;     // Entries below are taken for 0.
constexpr std::size_t kDense = 4;   // One entry in so many not 0: a row is updated as a whole.
constexpr double kDrift = 1e-6;

// Four sums side by side: one would wait for itself.
double Square(const double* row, std::size_t size) {
  double sums[4] = {0, 0, 0, 0};
  std::size_t j = 0;
  for (; j + 4 <= size; j += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += row[j + k] * row[j + k];
  }
  for (; j < size; ++j) sums[0] += row[j] * row[j];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

// row -= factor * pivot; returns the square of the new row.
[[gnu::always_inline]] inline double Update(double* row, const double* pivot, double factor,
                                            std::size_t size) {
  double sums[8] = {};
  std::size_t j = 0;
  for (; j + 8 <= size; j += 8) {
    for (std::size_t k = 0; k < 8; ++k) {
      const double entry = row[j + k] - factor * pivot[j + k];
      row[j + k] = entry;
      sums[k] += entry * entry;
    }
  }
  for (; j < size; ++j) {
    row[j] -= factor * pivot[j];
    sums[0] += row[j] * row[j];
  }
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}
double UpdateAnywhere(double* row, const double* pivot, double factor, std::size_t size) {
  return Update(row, pivot, factor, size);
}
// The same numbers: neither fuses nor reorders operations.
#ifdef BERTH_AVX2
BERTH_AVX2 double UpdateAvx2(double* row, const double* pivot, double factor, std::size_t size) {
  return Update(row, pivot, factor, size);
}
#endif

using UpdateKernel = double (*)(double* row, const double* pivot, double factor, std::size_t size);
UpdateKernel ChooseUpdate() {
#ifdef BERTH_AVX2
  if (HasAvx2()) return UpdateAvx2;
#endif
  return UpdateAnywhere;
}

}  // namespace

Simplex::Simplex(const std::vector<double>& profits)
    : columns_(profits.size()),
      profits_(profits),
      lower_(profits.size(), 0),
      upper_(profits.size(), 1),
      reduced_(profits) {
  for (std::size_t j = 0; j < columns_; ++j) {
    x_.push_back(profits[j] > 0 ? 1 : 0);
    nonbasic_.push_back(j);
    place_.push_back(static_cast<std::ptrdiff_t>(j));
  }
}

void Simplex::LimitMemory(std::size_t most_bytes) {
  most_entries_ = std::min(kMostEntries, most_bytes / sizeof(double));
}

std::size_t Simplex::AddRow(const std::vector<Term>& terms, double limit) {
  double scale = 0;
  for (const auto& [variable, coefficient] : terms) scale = std::max(scale, coefficient);
  BERTH_CHECK(scale > 0);
  // In units of the largest coefficient, so that one tolerance fits all rows.
  Given& given = given_.emplace_back(Given{terms, limit / scale});
  for (auto& [variable, coefficient] : given.terms) coefficient /= scale;
  scales_.push_back(scale);
  lower_.push_back(0);
  upper_.push_back(kInfinity);
  x_.push_back(0);
  place_.push_back(0);
  basic_.push_back(0);
  norms_.push_back(0);
  Append(rows_);
  return rows_++;
}

// The table's row for the row given, with its slack as the basic variable.
void Simplex::Append(std::size_t given) {
  const std::size_t entries = (given + 1) * columns_;
  if (entries > table_.capacity()) {
    // Past half of what is allowed for all of it at once: the old table and the new one exist together.
    const std::size_t twice = 2 * table_.capacity();
    table_.reserve(std::max(entries, twice > most_entries_ / 2 ? most_entries_ : twice));
  }
  table_.resize(entries, 0);
  double* const row = Row(given);
  double slack = given_[given].limit;
  for (const auto& [variable, coefficient] : given_[given].terms) {
    slack -= coefficient * x_[variable];
    const std::ptrdiff_t place = place_[variable];
    if (place >= 0) {
      row[place] += coefficient;
      continue;
    }
    const double* const other = Row(static_cast<std::size_t>(-1 - place));
    for (std::size_t j = 0; j < columns_; ++j) row[j] -= coefficient * other[j];
  }
  norms_[given] = 1 + Square(row, columns_);
  basic_[given] = columns_ + given;
  place_[columns_ + given] = -1 - static_cast<std::ptrdiff_t>(given);
  x_[columns_ + given] = slack;
}

// Whether rounding has added up to more than solutions may be wrong by.
bool Simplex::HasDrifted() const {
  for (std::size_t r = 0; r < rows_; ++r) {
    double slack = given_[r].limit;
    for (const auto& [variable, coefficient] : given_[r].terms) slack -= coefficient * x_[variable];
    if (!(std::abs(slack - x_[columns_ + r]) <= kDrift * (1 + std::abs(given_[r].limit)))) {
      return true;
    }
  }
  return DualDrift() > kDrift * (1 + std::abs(value()));
}

// By how much the reduced profits are wrong, all together; the bound that prices give is wrong by no
// more.
double Simplex::DualDrift() const {
  std::vector<double> reduced = profits_;
  double drift = 0;
  for (std::size_t r = 0; r < rows_; ++r) {
    const std::ptrdiff_t place = place_[columns_ + r];
    if (place < 0) continue;
    const double price = -reduced_[static_cast<std::size_t>(place)];
    drift += std::max(0.0, -price);
    for (const auto& [variable, coefficient] : given_[r].terms) {
      reduced[variable] -= price * coefficient;
    }
  }
  for (std::size_t v = 0; v < columns_; ++v) {
    const double known = place_[v] < 0 ? 0 : reduced_[static_cast<std::size_t>(place_[v])];
    drift += std::abs(reduced[v] - known);
    // What is at the wrong bound.
    if (place_[v] >= 0 && x_[v] != (known > 0 ? upper_[v] : lower_[v])) drift += std::abs(known);
  }
  return drift;
}

// Begins again, with the slacks as the basis.
void Simplex::Rebuild() {
  table_.clear();
  reduced_ = profits_;
  for (std::size_t j = 0; j < columns_; ++j) {
    nonbasic_[j] = j;
    place_[j] = static_cast<std::ptrdiff_t>(j);
    x_[j] = profits_[j] > 0 ? upper_[j] : lower_[j];
  }
  for (std::size_t r = 0; r < rows_; ++r) Append(r);
}

// Changes a nonbasic variable, and the basic ones with it.
void Simplex::Shift(std::size_t column, double by) {
  x_[nonbasic_[column]] += by;
  for (std::size_t i = 0; i < rows_; ++i) x_[basic_[i]] -= Row(i)[column] * by;
}

void Simplex::SetBounds(std::size_t variable, double lower, double upper) {
  lower_[variable] = lower;
  upper_[variable] = upper;
  if (place_[variable] < 0) return;
  const auto column = static_cast<std::size_t>(place_[variable]);
  const double target = reduced_[column] > 0 ? upper : lower;
  if (x_[variable] != target) Shift(column, target - x_[variable]);
}

// The basic variable that is furthest outside its bounds, for the length of its row (dual steepest
// edge); rows_ if none is.
std::size_t Simplex::LeavingRow() const {
  std::size_t row = rows_;
  double most = 0;
  for (std::size_t i = 0; i < rows_; ++i) {
    const std::size_t b = basic_[i];
    const double outside = std::max(lower_[b] - x_[b], x_[b] - upper_[b]);
    if (outside <= kFeasible || outside * outside <= most * norms_[i]) continue;
    most = outside * outside / norms_[i];
    row = i;
  }
  return row;
}

// Brings the basic variable of `row` to the bound that it violates. False: no change of the
// nonbasic variables can.
bool Simplex::Enter(std::size_t row) {
  const std::size_t leaving = basic_[row];
  const bool rise = x_[leaving] < lower_[leaving];
  double outside = rise ? lower_[leaving] - x_[leaving] : x_[leaving] - upper_[leaving];
  const double* const entries = Row(row);
  candidates_.clear();
  for (std::size_t j = 0; j < columns_; ++j) {
    const double entry = rise ? entries[j] : -entries[j];
    if (std::abs(entry) < kPivot) continue;
    const std::size_t v = nonbasic_[j];
    if (lower_[v] == upper_[v]) continue;
    // Which bound it is at tells which way it can go.
    const bool at_lower = x_[v] == lower_[v];
    if (at_lower ? entry >= 0 : entry <= 0) continue;
    candidates_.push_back({std::abs(reduced_[j]) / std::abs(entry), j});
  }
  if (candidates_.empty()) return false;
  std::sort(candidates_.begin(), candidates_.end(), [&](const Candidate& a, const Candidate& b) {
    if (a.ratio != b.ratio) return a.ratio < b.ratio;
    return a.column < b.column;
  });
  std::size_t chosen = 0;
  for (; chosen + 1 < candidates_.size(); ++chosen) {
    const std::size_t j = candidates_[chosen].column;
    const double range = upper_[nonbasic_[j]] - lower_[nonbasic_[j]];
    const double covers = std::abs(entries[j]) * range;
    if (!(outside - covers > 0)) break;
    outside -= covers;
  }
  for (std::size_t k = 0; k < chosen; ++k) {
    const std::size_t j = candidates_[k].column;
    const std::size_t v = nonbasic_[j];
    Shift(j, x_[v] == lower_[v] ? upper_[v] - lower_[v] : lower_[v] - upper_[v]);
  }
  const std::size_t column = candidates_[chosen].column;
  const double bound = rise ? lower_[leaving] : upper_[leaving];
  Shift(column, (x_[leaving] - bound) / Row(row)[column]);
  x_[leaving] = bound;
  Pivot(row, column);
  return true;
}

void Simplex::Pivot(std::size_t row, std::size_t column) {
  static const UpdateKernel update = ChooseUpdate();
  ++pivots_;
  double* const pivot = Row(row);
  const double inverse = 1 / pivot[column];
  nonzero_.clear();
  for (std::size_t j = 0; j < columns_; ++j) {
    pivot[j] *= inverse;
    if (std::abs(pivot[j]) < 1e-13) pivot[j] = 0;
    if (pivot[j] != 0 && j != column) nonzero_.push_back(j);
  }
  pivot[column] = inverse;
  const bool dense = nonzero_.size() * kDense > columns_;
  norms_[row] = 1 + Square(pivot, columns_);
  for (std::size_t i = 0; i < rows_; ++i) {
    double* const other = Row(i);
    const double factor = other[column];
    if (i == row || factor == 0) continue;
    if (dense) {
      // The entry of `column`, which becomes another, is 0 meanwhile.
      other[column] = factor * inverse;
      norms_[i] = 1 + update(other, pivot, factor, columns_) + factor * inverse * factor * inverse;
      other[column] = -factor * inverse;
      continue;
    }
    double change = 0;
    for (const std::size_t j : nonzero_) {
      const double before = other[j];
      other[j] -= factor * pivot[j];
      change += other[j] * other[j] - before * before;
    }
    other[column] = -factor * inverse;
    change += other[column] * other[column] - factor * factor;
    norms_[i] = std::max(1.0, norms_[i] + change);
  }
  const double profit = reduced_[column];
  for (const std::size_t j : nonzero_) reduced_[j] -= profit * pivot[j];
  reduced_[column] = -profit * inverse;
  std::swap(basic_[row], nonbasic_[column]);
  place_[basic_[row]] = -1 - static_cast<std::ptrdiff_t>(row);
  place_[nonbasic_[column]] = static_cast<std::ptrdiff_t>(column);
}

Simplex::Status Simplex::Solve(std::int64_t most, Budget& budget) {
  bool rebuilt = false;
  for (std::int64_t pivot = 0;; ++pivot) {
    const std::size_t row = LeavingRow();
    if (pivot >= most) return Status::kStopped;
    if (row == rows_ || !Enter(row)) {
      unmet_ = row;
      if (rebuilt || !HasDrifted()) return row == rows_ ? Status::kOptimal : Status::kInfeasible;
      rebuilt = true;
      Rebuild();
    }
    if (!budget.SpendWork(static_cast<std::int64_t>(rows_ * (nonzero_.size() + 1)))) {
      return Status::kStopped;
    }
  }
}

bool Simplex::IsLoose(std::size_t row) const {
  return place_[columns_ + row] < 0 && x_[columns_ + row] > kFeasible;
}

void Simplex::KeepRows(const std::vector<bool>& keep) {
  std::vector<std::size_t> renamed(columns_ + rows_);
  std::size_t variables = 0;
  for (std::size_t v = 0; v < renamed.size(); ++v) {
    if (v >= columns_ && !keep[v - columns_]) continue;
    renamed[v] = variables;
    lower_[variables] = lower_[v];
    upper_[variables] = upper_[v];
    x_[variables] = x_[v];
    if (v >= columns_ && v != variables) {
      scales_[variables - columns_] = scales_[v - columns_];
      given_[variables - columns_] = std::move(given_[v - columns_]);
    }
    ++variables;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows_; ++i) {
    const std::size_t v = basic_[i];
    if (v >= columns_ && !keep[v - columns_]) continue;
    if (kept != i) std::copy_n(Row(i), columns_, Row(kept));
    norms_[kept] = norms_[i];
    basic_[kept++] = renamed[v];
  }
  BERTH_CHECK(variables == columns_ + kept);
  rows_ = kept;
  for (std::vector<double>* each : {&lower_, &upper_, &x_}) each->resize(variables);
  scales_.resize(rows_);
  given_.erase(given_.begin() + static_cast<std::ptrdiff_t>(rows_), given_.end());
  basic_.resize(rows_);
  norms_.resize(rows_);
  table_.resize(rows_ * columns_);
  place_.resize(variables);
  for (std::size_t& v : nonbasic_) v = renamed[v];
  for (std::size_t j = 0; j < columns_; ++j) {
    place_[nonbasic_[j]] = static_cast<std::ptrdiff_t>(j);
  }
  for (std::size_t i = 0; i < rows_; ++i) {
    place_[basic_[i]] = -1 - static_cast<std::ptrdiff_t>(i);
  }
}

double Simplex::value() const {
  double sum = 0;
  for (std::size_t j = 0; j < columns_; ++j) sum += profits_[j] * x_[j];
  return sum;
}

double Simplex::Price(std::size_t row) const {
  const std::ptrdiff_t place = place_[columns_ + row];
  if (place < 0) return 0;
  return std::max(0.0, -reduced_[static_cast<std::size_t>(place)]) / scales_[row];
}

double Simplex::Shortage() const {
  const std::size_t b = basic_[unmet_];
  return std::max(lower_[b] - x_[b], x_[b] - upper_[b]);
}

// No nonbasic variable can bring the basic one nearer to its bound. So the row of the table can be added
// to the reduced profits as often as one likes: each keeps its sign.
double Simplex::Ray(std::size_t row) const {
  const std::size_t b = basic_[unmet_];
  const bool rise = x_[b] < lower_[b];
  const std::ptrdiff_t place = place_[columns_ + row];
  if (place < 0) return b == columns_ + row ? 1 / scales_[row] : 0;
  const double entry = table_[unmet_ * columns_ + static_cast<std::size_t>(place)];
  return std::max(0.0, rise ? entry : -entry) / scales_[row];
}

}  // namespace berth::internal::memories
