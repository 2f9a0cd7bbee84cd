// tools/verify/proof_text.h -- the lines of a proof, and the problem that stands in front of it.
#ifndef BERTH_TOOLS_VERIFY_PROOF_TEXT_H_
#define BERTH_TOOLS_VERIFY_PROOF_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/problem.h"

namespace berth::verify {

// A step that is false or cannot be read. Only CheckProof() catches it.
struct FalseStep {
  std::string what;
  std::size_t line = 0;  // 0: the one that was read last.
};

// One line after the other, split into words at single spaces.
class ProofLines {
 public:
  explicit ProofLines(std::string_view text) : rest_(text) {}

  // Goes to the next line and takes its first word. FalseStep at the end of the text.
  [[nodiscard]] std::string_view NextLine();
  [[nodiscard]] bool AtEnd() const { return rest_.empty(); }
  [[nodiscard]] std::size_t bytes_left() const { return rest_.size(); }  // After this line.
  [[nodiscard]] std::size_t number() const { return number_; }           // From 1.

  // The rest of the line.
  [[nodiscard]] bool HasWord() const { return !line_.empty(); }
  [[nodiscard]] bool NextIs(std::string_view word) const;
  [[nodiscard]] std::string_view Word();
  [[nodiscard]] std::int64_t Number(std::int64_t least, std::int64_t most);
  // An index below `size`.
  [[nodiscard]] std::size_t Index(std::size_t size);
  // "3-7" or "3": the first and the last index, below `size`.
  [[nodiscard]] std::pair<std::size_t, std::size_t> Range(std::size_t size);
  // "3:40": an index below `size`, and a number.
  [[nodiscard]] std::pair<std::size_t, std::int64_t> Entry(std::size_t size, std::int64_t most);
  struct SignedPair {
    std::size_t index;
    char sign;
    std::int64_t number;
    std::size_t part;  // 0 where none is given.
  };
  // "3>40" or "3^4#1": an index below `size`, one of < > ^, a number, and after ^ perhaps a part.
  [[nodiscard]] SignedPair Signed(std::size_t size);
  // A part of a flow: "3:100", 100 bytes of tensor 3; "3>7:100", those that end at operator 7; "7^5:100",
  // those that go on from operator 7 to operator 5, for which it waits.
  struct Hop {
    std::size_t from;
    char sign;       // One of : > ^.
    std::size_t to;  // 0 for ':'.
    std::int64_t bytes;
  };
  [[nodiscard]] Hop NextHop(std::size_t tensors, std::size_t operators);
  void Expect(std::string_view word);
  void EndLine();

 private:
  std::string_view rest_;
  std::string_view line_;
  std::size_t number_ = 0;
};

// The first two lines: which kind of proof it is, and what it claims.
struct ProofClaim {
  bool is_optimal = false;
  Bytes value = 0;
};
// `kind` is the first word, such as "berth-proof"; `name` says what such a text is, such as "proof".
[[nodiscard]] ProofClaim ReadClaim(ProofLines& lines, std::string_view kind, std::string_view name);

// What stands before the steps.
struct ProofHead {
  bool is_optimal = false;
  Bytes claimed = 0;           // A capacity that no plan has, or (is_optimal) the least height.
  Problem problem;             // Ids are the numbers of the buffers.
  std::size_t first_line = 0;  // Of buffer 0; each stands in a line of its own.
  std::size_t plan_line = 0;
  std::vector<Bytes> plan;
  std::vector<Step> steps;
};
[[nodiscard]] ProofHead ReadHead(ProofLines& lines);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_PROOF_TEXT_H_
