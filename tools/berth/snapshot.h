// tools/berth/snapshot.h -- PyTorch's memory snapshots on the command line.
//
// A snapshot has a table of buffers for each pool of its allocator; commands that take a table take
// one of these, and say what PyTorch reserved for the same buffers.
#ifndef BERTH_TOOLS_BERTH_SNAPSHOT_H_
#define BERTH_TOOLS_BERTH_SNAPSHOT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "berth/file.h"
#include "berth/page.h"
#include "berth/snapshot.h"
#include "tools/berth/output.h"

namespace berth::cli {

struct SnapshotInput {
  MemorySnapshot stacks;  // Its frames and stacks; the events are read and gone.
  // The buffers of the chosen pool are moved to where they are used.
  SnapshotUse use;
  std::size_t pool = 0;  // The chosen one.
  std::string path;
  std::string hash_of_stream;  // Of standard input, which cannot be read again.

  // Cost: reads the file once more; it is not kept, as it may be larger than all that it says.
  [[nodiscard]] std::string hash() const;
  [[nodiscard]] const SnapshotPool& chosen() const { return use.pools[pool]; }
  [[nodiscard]] const SnapshotDevice& device() const;
};

// Reads a snapshot. `choice`: its pool, as ChooseProblem() takes it; empty: the one with the most
// reserved bytes. Errors: those of ReadSnapshot(); kInvalidOptions for a pool that the snapshot does
// not have; kParse for one without any.
[[nodiscard]] Result<SnapshotInput> LoadSnapshot(const std::string& path, const FileView& file,
                                                 const std::string& choice);

// "Pool 1 of 3: ", before what is true of that pool only; empty if the snapshot has no other.
[[nodiscard]] std::string PoolPrefix(const SnapshotInput& input);
// "complete from its first event"; what is missing before it, if anything is.
[[nodiscard]] std::string RecordingText(const SnapshotInput& input);
// "6.74 GiB (7,235,174,400 bytes), 212 MiB (3.2 %) more than is needed".
[[nodiscard]] std::string ReservedText(const SnapshotPool& pool, Bytes needed);
// Which lines of the program hold the peak, the first `most`, with their stacks if `stacks`.
[[nodiscard]] std::string PeakText(const SnapshotInput& input, std::size_t most, bool stacks);
// Where the reserved bytes are that no buffer uses. `buffers`: those of the chosen pool.
[[nodiscard]] std::string FreeText(const SnapshotInput& input, const Problem& problem,
                                   std::size_t most);
// What PyTorch's allocator would reserve for the buffers if it began without cached memory; none
// where the simulation gives up.
[[nodiscard]] std::optional<Bytes> SimulatedReserve(const Problem& problem);
// All devices and pools, in a table if there are several.
[[nodiscard]] std::string PoolsText(const SnapshotInput& input);
// All of it. `problem`: the chosen pool.
[[nodiscard]] Json ToJson(const SnapshotInput& input, const Problem& problem);
// Adds what a page says of a snapshot: its notes, stacks and reserved bytes.
void AddToPage(const SnapshotInput& input, PageOptions& page);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_SNAPSHOT_H_
