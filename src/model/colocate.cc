// Groups of buffers as one buffer each.

#include "berth/colocate.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/disjoint_sets.h"
#include "base/nested_rectangles.h"
#include "base/rectangles.h"
#include "base/text.h"
#include "base/try.h"
#include "base/wide.h"
#include "model/instance.h"

namespace berth {
namespace {

using internal::LivePiece;
using internal::Wide;

// The offsets o with o = rest (modulo), 0 <= rest < modulo.
struct Residue {
  Bytes rest = 0;
  Bytes modulo = 1;
};

tl::unexpected<Error> Invalid(const Problem& problem, std::size_t buffer, const std::string& what) {
  return Fail(ErrorCode::kInvalidProblem,
              "buffer " + internal::Quoted(problem.buffers[buffer].id) + ": " + what,
              Subject::OfBuffer(buffer));
}

// x with (a * x) mod m = gcd(a, m), 0 <= x < m.
Wide Inverse(Wide a, Wide m) {
  Wide rest = m;
  Wide next = a;
  Wide x = 0;
  Wide next_x = 1;
  while (next != 0) {
    const Wide quotient = rest / next;
    rest = std::exchange(next, rest - quotient * next);
    x = std::exchange(next_x, x - quotient * next_x);
  }
  return x < 0 ? x + m : x;
}

// What obeys both, if anything does and the modulo stays within kMaxBytes.
std::optional<Residue> Both(Residue a, Residue b) {
  const Bytes gcd = std::gcd(a.modulo, b.modulo);
  if ((b.rest - a.rest) % gcd != 0) return std::nullopt;
  const Wide modulo = Wide(a.modulo / gcd) * Wide(b.modulo);
  if (modulo > Wide(kMaxBytes)) return std::nullopt;
  const Wide steps = Wide(b.modulo / gcd);
  Wide distance = Wide((b.rest - a.rest) / gcd);
  distance = distance < 0 ? distance + steps * ((-distance) / steps + 1) : distance;
  const Wide turns = distance * Inverse(Wide(a.modulo / gcd), steps);
  const Wide rest = Wide(a.rest) + Wide(a.modulo) * (turns - turns / steps * steps);
  return Residue{static_cast<Bytes>(rest), static_cast<Bytes>(modulo)};
}

// The gaps of a buffer with the lifetime and the size of `whole` that needs `pieces`.
std::vector<Gap> GapsAround(const Buffer& whole, const std::vector<LivePiece>& pieces) {
  struct Event {
    Step step;
    bool begins;
    const LivePiece* piece;
  };
  std::vector<Event> events;
  events.reserve(2 * pieces.size());
  for (const LivePiece& piece : pieces) {
    events.push_back({piece.start, true, &piece});
    events.push_back({piece.end, false, &piece});
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.step < b.step; });
  std::multiset<Bytes> lowers;
  std::multiset<Bytes> uppers;
  std::vector<Gap> gaps;
  const auto close = [&](Step start, Step end) {
    if (start >= end) return;
    std::optional<Window> window;
    if (!lowers.empty()) window = Window{*lowers.begin(), *uppers.rbegin()};
    if (window == Window{0, whole.size}) return;
    if (!gaps.empty() && gaps.back().end == start && gaps.back().window == window) {
      gaps.back().end = end;
    } else {
      gaps.push_back({start, end, window});
    }
  };
  Step from = whole.start;
  for (const Event& event : events) {
    close(from, event.step);
    from = event.step;
    if (event.begins) {
      lowers.insert(event.piece->lower);
      uppers.insert(event.piece->upper);
    } else {
      lowers.erase(lowers.find(event.piece->lower));
      uppers.erase(uppers.find(event.piece->upper));
    }
  }
  close(from, whole.end);
  return gaps;
}

// The offset of a group is that of a member with the distance 0.
struct Group {
  Residue residue;
  Bytes lowest = 0;  // Distance.
  Bytes top = 0;     // Distance plus size.
  std::optional<Bytes> pin;
  std::optional<Bytes> hint;
};

Result<void> Add(const Problem& problem, const Member& member, Group& group) {
  const Buffer& buffer = problem.buffers[member.buffer];
  if (member.distance < -kMaxBytes || member.distance > kMaxBytes) {
    return Invalid(problem, member.buffer,
                   "distance " + std::to_string(member.distance) + " is beyond 2^60 bytes");
  }
  group.lowest = std::min(group.lowest, member.distance);
  group.top = std::max(group.top, member.distance + buffer.size);
  const Bytes rest = (-member.distance % buffer.alignment + buffer.alignment) % buffer.alignment;
  const auto residue = Both(group.residue, {rest, buffer.alignment});
  if (!residue) {
    return Invalid(problem, member.buffer,
                   "alignment " + std::to_string(buffer.alignment) + " at the distance " +
                       std::to_string(member.distance) +
                       " contradicts those of other members of its group, or their common multiple "
                       "is over 2^60");
  }
  group.residue = *residue;
  if (buffer.offset) {
    const Bytes pin = *buffer.offset - member.distance;
    if (group.pin && *group.pin != pin) {
      return Invalid(problem, member.buffer,
                     "offset " + std::to_string(*buffer.offset) +
                         " contradicts that of another member of its group");
    }
    group.pin = pin;
  }
  if (buffer.hint && !group.hint) group.hint = *buffer.hint - member.distance;
  return {};
}

// One buffer for the members. `shift` becomes the distance of the group's offset from the buffer's.
Result<Buffer> Merged(const Problem& problem, const std::vector<Member>& members, Bytes& shift) {
  const Member& first = members.front();
  Group group;
  group.lowest = first.distance;
  group.top = first.distance;
  for (const Member& member : members) BERTH_TRY(Add(problem, member, group));
  // The buffer begins where its offset is a multiple of its alignment, at most `lowest` bytes from
  // the group's; the bytes before the first member are never needed.
  const auto [rest, modulo] = group.residue;
  const Bytes begin = (rest + group.lowest) % modulo;
  shift = (begin + modulo) % modulo - group.lowest;

  Buffer merged;
  merged.id = problem.buffers[first.buffer].id;
  merged.start = problem.buffers[first.buffer].start;
  merged.end = problem.buffers[first.buffer].end;
  merged.alignment = modulo;
  merged.size = group.top + shift;
  if (merged.size > kMaxBytes) {
    return Invalid(problem, first.buffer, "its group has more than 2^60 bytes");
  }
  if (group.pin) merged.offset = *group.pin - shift;
  if (merged.offset && (*merged.offset < 0 || *merged.offset % modulo != 0)) {
    return Invalid(problem, first.buffer,
                   "the offset of a member puts others of its group below 0 or out of alignment");
  }
  if (group.hint) merged.hint = std::max<Bytes>(*group.hint - shift, 0);
  std::vector<LivePiece> pieces;
  for (const Member& member : members) {
    const Buffer& buffer = problem.buffers[member.buffer];
    merged.start = std::min(merged.start, buffer.start);
    merged.end = std::max(merged.end, buffer.end);
    const Bytes distance = member.distance + shift;
    internal::ForEachLivePiece(buffer, [&](const LivePiece& piece) {
      pieces.push_back({piece.start, piece.end, piece.lower + distance, piece.upper + distance});
    });
  }
  merged.gaps = GapsAround(merged, pieces);
  return merged;
}

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// The group of each buffer, or kNone.
Result<std::vector<std::size_t>> GroupOfEach(const Problem& problem,
                                             const std::vector<std::vector<Member>>& groups) {
  std::vector<std::size_t> group_of(problem.buffers.size(), kNone);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const Member& member : groups[g]) {
      if (member.buffer >= problem.buffers.size()) {
        return Fail(ErrorCode::kInvalidProblem, "group " + std::to_string(g) + " names buffer " +
                                                    std::to_string(member.buffer) + " of " +
                                                    std::to_string(problem.buffers.size()));
      }
      std::size_t& group = group_of[member.buffer];
      if (group != kNone) return Invalid(problem, member.buffer, "two places in groups");
      group = g;
    }
  }
  return group_of;
}

}  // namespace

std::vector<Bytes> Colocated::OffsetsOf(const std::vector<Bytes>& offsets) const {
  std::vector<Bytes> result;
  result.reserve(places.size());
  for (const Member& place : places) result.push_back(offsets[place.buffer] + place.distance);
  return result;
}

Result<Colocated> Colocate(const Problem& problem, const std::vector<std::vector<Member>>& groups) {
  BERTH_TRY(Validate(problem));
  const auto group_of = BERTH_TRY(GroupOfEach(problem, groups));
  Colocated result;
  result.problem.capacity = problem.capacity;
  result.places.resize(problem.buffers.size());
  std::vector<bool> done(groups.size());
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const std::size_t g = group_of[b];
    if (g == kNone) {
      result.places[b] = {result.problem.buffers.size(), 0};
      result.problem.buffers.push_back(problem.buffers[b]);
    } else if (!done[g]) {
      done[g] = true;
      Bytes shift = 0;
      Buffer merged = BERTH_TRY(Merged(problem, groups[g], shift));
      merged.id = problem.buffers[b].id;
      for (const Member& member : groups[g]) {
        result.places[member.buffer] = {result.problem.buffers.size(), member.distance + shift};
      }
      result.problem.buffers.push_back(std::move(merged));
    }
  }
  return result;
}

std::vector<std::vector<Member>> GroupsSharingBytes(const Problem& problem,
                                                    const std::vector<Bytes>& offsets) {
  const std::vector<Buffer>& buffers = problem.buffers;
  std::vector<internal::Rectangle> places;
  places.reserve(buffers.size());
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].size <= 0 || buffers[b].end <= buffers[b].start) continue;  // Not valid.
    internal::ForEachLivePiece(buffers[b], [&](const LivePiece& piece) {
      places.push_back(
          {piece.start, piece.end, offsets[b] + piece.lower, offsets[b] + piece.upper, b});
    });
  }
  internal::DisjointSets sharing(buffers.size());
  internal::JoinNested(places, sharing);
  std::map<std::size_t, std::vector<Member>> groups;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    groups[sharing.Find(b)].push_back({b, offsets[b]});
  }
  std::vector<std::vector<Member>> result;
  for (auto& [root, members] : groups) {
    if (members.size() < 2) continue;
    const Bytes base = members.front().distance;
    for (Member& member : members) member.distance -= base;
    result.push_back(std::move(members));
  }
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a.front().buffer < b.front().buffer; });
  return result;
}

}  // namespace berth
