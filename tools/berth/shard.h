// tools/berth/shard.h -- "--shard 2/8": the part of the work that is one process's own.
#ifndef BERTH_TOOLS_BERTH_SHARD_H_
#define BERTH_TOOLS_BERTH_SHARD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace berth::cli {

struct Shard {
  std::int64_t index = 1;  // From 1.
  std::int64_t count = 1;  // At most 100,000.
  // Whether piece `unit` of the work, counted from 0, belongs to this shard.
  [[nodiscard]] bool Owns(std::int64_t unit) const { return unit % count == index - 1; }
};

// "2/8": the second of eight. Nothing for any other text.
[[nodiscard]] std::optional<Shard> ParseShard(std::string_view text);
// "--shard I/N"; other text is a usage error that quotes it.
void AddShard(CLI::App& app, Shard& shard, const std::string& description);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_SHARD_H_
