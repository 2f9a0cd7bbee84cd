#include "tools/verify/proof_text.h"

#include <algorithm>
#include <charconv>

namespace berth::verify {
namespace {

constexpr std::size_t kMostParts = std::size_t{1} << 31;

std::int64_t Parse(std::string_view word, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) {
    throw FalseStep{"'" + std::string(word.substr(0, 40)) + "' is not a whole number"};
  }
  if (value < least || value > most) {
    throw FalseStep{std::to_string(value) + " is not from " + std::to_string(least) + " to " +
                    std::to_string(most)};
  }
  return value;
}

std::size_t ParseIndex(std::string_view word, std::size_t size) {
  if (size == 0) throw FalseStep{"'" + std::string(word.substr(0, 40)) + "': there are none"};
  return static_cast<std::size_t>(Parse(word, 0, static_cast<std::int64_t>(size) - 1));
}

void ReadGap(ProofLines& lines, bool has_window, Buffer& buffer) {
  const Step from = buffer.gaps.empty() ? buffer.start : buffer.gaps.back().end;
  Gap gap;
  gap.start = lines.Number(from, buffer.end - 1);
  gap.end = lines.Number(gap.start + 1, buffer.end);
  if (has_window) {
    gap.window.emplace();
    gap.window->lower = lines.Number(0, buffer.size);
    gap.window->upper = lines.Number(gap.window->lower, buffer.size);
  }
  buffer.gaps.push_back(gap);
}

Buffer ReadBuffer(ProofLines& lines) {
  Buffer buffer;
  buffer.start = lines.Number(-kMaxStep, kMaxStep);
  buffer.end = lines.Number(buffer.start + 1, kMaxStep);
  buffer.size = lines.Number(1, kMaxBytes);
  while (lines.HasWord()) {
    const std::string_view word = lines.Word();
    if (word == "align" && buffer.alignment == 1) {
      buffer.alignment = lines.Number(2, kMaxBytes);
    } else if (word == "at" && !buffer.offset) {
      buffer.offset = lines.Number(0, kMaxBytes);
    } else if (word == "gap" || word == "window") {
      ReadGap(lines, word == "window", buffer);
    } else {
      throw FalseStep{"'" + std::string(word.substr(0, 40)) + "' does not belong to a buffer"};
    }
  }
  if (buffer.offset && *buffer.offset % buffer.alignment != 0) {
    throw FalseStep{"the offset is not a multiple of the alignment"};
  }
  return buffer;
}

void ReadBuffers(ProofLines& lines, Problem& problem) {
  if (lines.NextLine() != "buffers") throw FalseStep{"expected the number of 'buffers'"};
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  const std::int64_t count = lines.Number(0, kMost);
  lines.EndLine();
  Bytes room = kMaxBytes;  // All sums of sizes stay below this.
  Bytes highest = 0;
  for (std::int64_t b = 0; b < count; ++b) {
    if (lines.NextLine() != "buffer") throw FalseStep{"expected a 'buffer'"};
    Buffer buffer = ReadBuffer(lines);
    buffer.id = std::to_string(b);
    highest = std::max(highest, buffer.offset.value_or(0));
    if (buffer.size > room || buffer.alignment - 1 > room - buffer.size) {
      throw FalseStep{"the sizes add up to more than 2^60"};
    }
    room -= buffer.size + (buffer.alignment - 1);
    problem.buffers.push_back(std::move(buffer));
  }
  if (highest > room) throw FalseStep{"the sizes and the highest offset exceed 2^60"};
}

}  // namespace

std::string_view ProofLines::NextLine() {
  if (rest_.empty()) throw FalseStep{"the text ends before the proof does"};
  ++number_;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  return Word();
}

std::string_view ProofLines::Word() {
  const std::size_t end = std::min(line_.find(' '), line_.size());
  const std::string_view word = line_.substr(0, end);
  if (word.empty()) throw FalseStep{"a word is missing"};
  if (end + 1 == line_.size()) throw FalseStep{"the line ends with a space"};
  line_.remove_prefix(std::min(end + 1, line_.size()));
  return word;
}

bool ProofLines::NextIs(std::string_view word) const {
  return line_.substr(0, std::min(line_.find(' '), line_.size())) == word;
}

std::int64_t ProofLines::Number(std::int64_t least, std::int64_t most) {
  return Parse(Word(), least, most);
}

std::size_t ProofLines::Index(std::size_t size) { return ParseIndex(Word(), size); }

std::pair<std::size_t, std::size_t> ProofLines::Range(std::size_t size) {
  const std::string_view word = Word();
  const std::size_t dash = word.find('-');
  const std::size_t first = ParseIndex(word.substr(0, dash), size);
  if (dash == std::string_view::npos) return {first, first};
  const std::size_t last = ParseIndex(word.substr(dash + 1), size);
  if (last < first) throw FalseStep{"a range ends before it begins"};
  return {first, last};
}

std::pair<std::size_t, std::int64_t> ProofLines::Entry(std::size_t size, std::int64_t most) {
  const std::string_view word = Word();
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) throw FalseStep{"expected SECTION:LEVEL"};
  return {ParseIndex(word.substr(0, colon), size), Parse(word.substr(colon + 1), 0, most)};
}

ProofLines::SignedPair ProofLines::Signed(std::size_t size) {
  const std::string_view word = Word();
  const std::size_t at = word.find_first_of("<>^");
  if (at == std::string_view::npos) throw FalseStep{"expected a bound or an order"};
  const std::size_t hash = word[at] == '^' ? word.find('#', at) : std::string_view::npos;
  const std::size_t end = std::min(hash, word.size());
  return {ParseIndex(word.substr(0, at), size), word[at],
          Parse(word.substr(at + 1, end - at - 1), -kMaxBytes, kMaxBytes),
          end == word.size() ? 0 : ParseIndex(word.substr(end + 1), kMostParts)};
}

ProofLines::Hop ProofLines::NextHop(std::size_t tensors, std::size_t operators) {
  const std::string_view word = Word();
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) throw FalseStep{"expected a flow, such as 3>7:100"};
  const std::string_view head = word.substr(0, colon);
  const std::int64_t bytes = Parse(word.substr(colon + 1), 1, kMaxBytes);
  const std::size_t at = head.find_first_of(">^");
  if (at == std::string_view::npos) return {ParseIndex(head, tensors), ':', 0, bytes};
  return {ParseIndex(head.substr(0, at), head[at] == '>' ? tensors : operators), head[at],
          ParseIndex(head.substr(at + 1), operators), bytes};
}

void ProofLines::Expect(std::string_view word) {
  if (!HasWord() || Word() != word) throw FalseStep{"expected '" + std::string(word) + "'"};
}

void ProofLines::EndLine() {
  if (HasWord()) throw FalseStep{"more on the line than belongs there"};
}

ProofClaim ReadClaim(ProofLines& lines, std::string_view kind, std::string_view name) {
  ProofClaim claim;
  if (lines.NextLine() != kind) {
    throw FalseStep{"not a " + std::string(name) + ": expected '" + std::string(kind) + "'"};
  }
  if (lines.Number(0, kMaxBytes) != 1) throw FalseStep{"a version that is not known"};
  lines.EndLine();
  if (lines.NextLine() != "claim") throw FalseStep{"expected the 'claim'"};
  const std::string_view word = lines.Word();
  claim.is_optimal = word == "optimal";
  if (!claim.is_optimal && word != "infeasible") {
    throw FalseStep{"the claim is neither 'optimal' nor 'infeasible'"};
  }
  claim.value = lines.Number(0, kMaxBytes);
  lines.EndLine();
  return claim;
}

ProofHead ReadHead(ProofLines& lines) {
  ProofHead head;
  const ProofClaim claim = ReadClaim(lines, "berth-proof", "proof");
  head.is_optimal = claim.is_optimal;
  head.claimed = claim.value;
  ReadBuffers(lines, head.problem);
  head.first_line = lines.number() + 1 - head.problem.buffers.size();
  std::string_view word = lines.NextLine();
  if (head.is_optimal) {
    if (word != "plan") throw FalseStep{"expected the 'plan'"};
    head.plan_line = lines.number();
    while (lines.HasWord()) head.plan.push_back(lines.Number(0, kMaxBytes));
    word = lines.NextLine();
  }
  if (word != "steps") throw FalseStep{"expected 'steps'"};
  while (lines.HasWord()) {
    const Step least = head.steps.empty() ? -kMaxStep : head.steps.back() + 1;
    head.steps.push_back(lines.Number(least, kMaxStep));
  }
  return head;
}

}  // namespace berth::verify
