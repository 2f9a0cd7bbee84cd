// memories/simplex.h -- the dual simplex method for variables between 0 and 1.
//
// Maximises profits subject to rows `sum of coefficients times variables <= limit`. Rows are added
// and bounds changed between solves, and each solve goes on from the basis of the last: with bounds
// on every variable, no such change makes a basis dual infeasible, so one method is enough.
//
// The numbers are floating point and prove nothing. Callers take the prices of the rows, round them
// to integers and compute their bound from those (memories/prices.h).
#ifndef BERTH_MEMORIES_SIMPLEX_H_
#define BERTH_MEMORIES_SIMPLEX_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "berth/budget.h"

namespace berth::internal::memories {

class Simplex {
 public:
  // One variable, at first between 0 and 1, for each profit.
  explicit Simplex(const std::vector<double>& profits);
  // The table takes no more memory, of at most 128 MiB; while it grows, a half more.
  void LimitMemory(std::size_t most_bytes);

  using Term = std::pair<std::size_t, double>;  // Variable, coefficient.
  // The index of the row. Variables may not be repeated.
  std::size_t AddRow(const std::vector<Term>& terms, double limit);
  // lower = upper fixes the variable; both are 0 or 1.
  void SetBounds(std::size_t variable, double lower, double upper);
  enum class Status { kOptimal, kInfeasible, kStopped };
  // Stops after `most` pivots, or when time is up.
  Status Solve(std::int64_t most, Budget& budget);
  // Whether the solution keeps to the row without being held back by it.
  [[nodiscard]] bool IsLoose(std::size_t row) const;
  // Drops all other rows, each of them loose. Indices of rows change.
  void KeepRows(const std::vector<bool>& keep);

  [[nodiscard]] double value() const;
  [[nodiscard]] double Value(std::size_t variable) const { return x_[variable]; }
  // At least 0.
  [[nodiscard]] double Price(std::size_t row) const;
  // After kInfeasible, the proof: with `by` times Ray() added, the prices give a bound that is lower by
  // `by` times Shortage(), without end (Farkas). At least 0, and above 0.
  [[nodiscard]] double Ray(std::size_t row) const;
  [[nodiscard]] double Shortage() const;
  // Whether the table may grow: callers add no more rows once it may not.
  [[nodiscard]] bool HasRoom() const { return (rows_ + 1) * columns_ <= most_entries_; }
  [[nodiscard]] std::int64_t WorkOfRow() const { return static_cast<std::int64_t>(columns_); }
  [[nodiscard]] bool IsSmall() const { return rows_ * columns_ <= kMostEntries / 16; }
  [[nodiscard]] std::size_t num_rows() const { return rows_; }
  [[nodiscard]] std::int64_t pivots() const { return pivots_; }

 private:
  static constexpr std::size_t kMostEntries = std::size_t{1} << 24;  // 128 MiB.
  [[nodiscard]] double* Row(std::size_t i) { return table_.data() + i * columns_; }
  [[nodiscard]] std::size_t LeavingRow() const;
  [[nodiscard]] bool Enter(std::size_t row);
  void Pivot(std::size_t row, std::size_t column);
  void Shift(std::size_t column, double by);
  [[nodiscard]] bool HasDrifted() const;
  [[nodiscard]] double DualDrift() const;
  void Rebuild();
  void Append(std::size_t row);

  // Variables 0 .. columns_ - 1 are the caller's; columns_ + r is the slack of row r.
  std::size_t columns_ = 0;
  std::size_t rows_ = 0;
  std::size_t most_entries_ = kMostEntries;
  std::vector<double> profits_;
  std::vector<double> lower_;
  std::vector<double> upper_;
  std::vector<double> x_;  // The value of every variable.
  // Basic variable i plus the sum of table_[i][j] times nonbasic variable j is constant.
  std::vector<double> table_;
  std::vector<double> norms_;          // By row of the table: 1 and its entries squared.
  std::vector<std::size_t> basic_;     // By row of the table.
  std::vector<std::size_t> nonbasic_;  // By column of the table.
  std::vector<double> reduced_;        // Reduced profit, by column of the table.
  std::vector<std::ptrdiff_t> place_;  // Of each variable: its column, or -1 - its row.
  struct Given {                       // Divided by its largest coefficient.
    std::vector<Term> terms;
    double limit;
  };
  std::vector<Given> given_;
  std::vector<double> scales_;  // Of each row given: what its coefficients were divided by.
  std::vector<std::size_t> nonzero_;
  std::int64_t pivots_ = 0;
  std::size_t unmet_ = 0;  // After kInfeasible, the row of the table that cannot be met.
  struct Candidate {
    double ratio;
    std::size_t column;
  };
  std::vector<Candidate> candidates_;
};

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_SIMPLEX_H_
