#include "tools/berth/shard.h"

#include <charconv>
#include <system_error>

#include "tools/berth/flags.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kMostShards = 100'000;

}  // namespace

std::optional<Shard> ParseShard(std::string_view text) {
  Shard shard;
  const char* const last = text.data() + text.size();
  const auto [slash, first_error] = std::from_chars(text.data(), last, shard.index);
  if (first_error != std::errc() || slash == last || *slash != '/') return std::nullopt;
  const auto [end, error] = std::from_chars(slash + 1, last, shard.count);
  const bool valid = error == std::errc() && end == last && shard.index >= 1 &&
                     shard.index <= shard.count && shard.count <= kMostShards;
  return valid ? std::optional(shard) : std::nullopt;
}

void AddShard(CLI::App& app, Shard& shard, const std::string& description) {
  const auto set = [&shard](const std::string& text) {
    const std::optional<Shard> parsed = ParseShard(text);
    if (!parsed) {
      UsageError("--shard", Quoted(text) + " is not of the form 2/8, the second of eight");
    }
    shard = *parsed;
  };
  app.add_option_function<std::string>("--shard", set, description)->type_name("I/N");
}

}  // namespace berth::cli
