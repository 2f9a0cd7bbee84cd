// Reads devices (docs/formats/device.md).

#include "berth/device.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/latency.h"
#include "base/source.h"
#include "base/text.h"
#include "base/try.h"
#include "berth/bytes.h"
#include "io/json_tree.h"

namespace berth {
namespace internal {
namespace {

using Kind = JsonNode::Kind;

constexpr std::string_view kFormat = "berth-device";
constexpr std::int64_t kVersion = 1;

// A whole number of nanoseconds, for one event.
std::optional<std::int64_t> LatencyOf(const JsonNode& node) {
  if (!node.is(Kind::kInteger) || !IsLatency(node.integer)) return std::nullopt;
  return node.integer;
}

class DeviceReader {
 public:
  explicit DeviceReader(const Source& source) : source_(source) {}

  Result<Device> Read() {
    BERTH_TRY(source_.CheckEncoding());
    root_ = BERTH_TRY(ParseJsonTree(source_));
    if (!root_.is(Kind::kObject)) {
      return source_.FailAt(root_.position, root_.Shown() + " where an object should be");
    }
    const JsonNode* const format = root_.Find("format");
    if (format == nullptr || !format->is(Kind::kText) || format->text != kFormat) {
      return Wrong("format", "\"" + std::string(kFormat) + "\"");
    }
    const JsonNode* const version = root_.Find("format_version");
    if (version == nullptr || !version->is(Kind::kInteger) || version->integer != kVersion) {
      return Wrong("format_version", std::to_string(kVersion));
    }
    BERTH_TRY(CheckKeys());
    return ReadDevice();
  }

 private:
  // Of the value of `key`, which may be missing.
  [[nodiscard]] tl::unexpected<Error> Wrong(std::string_view key, const std::string& right) const {
    const JsonNode* const node = root_.Find(key);
    return source_.FailAt((node == nullptr ? root_ : *node).position,
                          "\"" + std::string(key) + "\" is " +
                              (node == nullptr ? "missing" : node->Shown()) +
                              " where it should be " + right);
  }

  // A key that is not known may be a misspelt one.
  [[nodiscard]] Result<void> CheckKeys() const {
    constexpr auto kKeys = std::to_array<std::string_view>({"format", "format_version", "name",
                                                            "operations_per_second", "bandwidth",
                                                            "launch_ns", "link", "meta"});
    for (std::size_t i = 0; i < root_.keys.size(); ++i) {
      if (std::find(kKeys.begin(), kKeys.end(), root_.keys[i]) != kKeys.end()) continue;
      return source_.FailAt(
          root_.key_positions[i],
          "a device has no " + Quoted(root_.keys[i]) +
              "; it has name, operations_per_second, bandwidth, launch_ns, link, meta");
    }
    return {};
  }

  [[nodiscard]] Result<Device> ReadDevice() const {
    Device device;
    if (const JsonNode* const name = root_.Find("name")) {
      if (!name->is(Kind::kText)) return Wrong("name", "text");
      device.name = name->text;
    }
    const JsonNode* const operations = root_.Find("operations_per_second");
    const auto rate = operations == nullptr ? std::nullopt : NumberOf(*operations);
    if (!rate || !(*rate > 0)) return Wrong("operations_per_second", "a positive number");
    device.operations_per_second = *rate;
    const JsonNode* const bandwidth = root_.Find("bandwidth");
    const auto bytes = bandwidth == nullptr || !bandwidth->is(Kind::kText)
                           ? std::nullopt
                           : ParseBandwidth(bandwidth->text);
    if (!bytes) return Wrong("bandwidth", "a bandwidth such as \"1555GB/s\"");
    device.bytes_per_second = *bytes;
    if (const JsonNode* const launch = root_.Find("launch_ns")) {
      const auto time = LatencyOf(*launch);
      if (!time) return Wrong("launch_ns", std::string("a whole number ") + kLatencyRange);
      device.launch_nanoseconds = *time;
    }
    if (root_.Find("link") != nullptr) device.link = BERTH_TRY(ReadLink());
    return device;
  }

  [[nodiscard]] tl::unexpected<Error> WrongLink(const JsonNode& node, std::string_view key,
                                                const std::string& right) const {
    const JsonNode* const found = node.Find(key);
    return source_.FailAt((found == nullptr ? node : *found).position,
                          "\"" + std::string(key) + "\" of \"link\" is " +
                              (found == nullptr ? "missing" : found->Shown()) +
                              " where it should be " + right);
  }

  [[nodiscard]] Result<Link> ReadLink() const {
    const JsonNode& node = *root_.Find("link");
    if (!node.is(Kind::kObject)) {
      return Wrong("link",
                   "an object with \"out\", \"in\", \"latency_ns\" and \"energy_pj_per_byte\"");
    }
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      constexpr auto kKeys =
          std::to_array<std::string_view>({"out", "in", "latency_ns", "energy_pj_per_byte"});
      if (std::find(kKeys.begin(), kKeys.end(), node.keys[i]) != kKeys.end()) continue;
      return source_.FailAt(node.key_positions[i],
                            "a link has no " + Quoted(node.keys[i]) +
                                "; it has out, in, latency_ns, energy_pj_per_byte");
    }
    const auto rate = [&](std::string_view key) {
      const JsonNode* const found = node.Find(key);
      return found == nullptr || !found->is(Kind::kText) ? std::nullopt
                                                         : ParseBandwidth(found->text);
    };
    const auto out = rate("out");
    if (!out) return WrongLink(node, "out", "a bandwidth such as \"25GB/s\"");
    const auto in = rate("in");
    if (!in) return WrongLink(node, "in", "a bandwidth such as \"25GB/s\"");
    Link link{*out, *in, 0};
    if (const JsonNode* const latency = node.Find("latency_ns")) {
      const auto time = LatencyOf(*latency);
      if (!time)
        return WrongLink(node, "latency_ns", std::string("a whole number ") + kLatencyRange);
      link.latency_nanoseconds = *time;
    }
    if (const JsonNode* const energy = node.Find("energy_pj_per_byte")) {
      link.picojoules_per_byte = NumberOf(*energy);
      if (!link.picojoules_per_byte || !Validate(link)) {
        return WrongLink(node, "energy_pj_per_byte", "a number of picojoules from 0 to 2^40");
      }
    }
    return link;
  }

  const Source& source_;
  JsonNode root_;
};

}  // namespace
}  // namespace internal

Result<Device> ReadDevice(std::string_view text, std::string_view name) {
  const internal::Source source(text, name);
  return internal::DeviceReader(source).Read();
}

}  // namespace berth
