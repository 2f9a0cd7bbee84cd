#include "schedule/compile.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace berth::internal::schedule {

Instance InstanceOf(const Topology& topology) {
  const std::size_t n = topology.num_operators;
  std::vector<std::pair<Op, Op>> edges;
  edges.reserve(topology.predecessors.num_items());
  for (std::size_t v = 0; v < n; ++v) {
    for (const OpIndex p : topology.predecessors[OpIndex(v)]) {
      edges.emplace_back(static_cast<Op>(p.position()), static_cast<Op>(v));
    }
  }
  std::vector<FlowBuffer> buffers;
  buffers.reserve(topology.storages.size());
  for (std::size_t b = 0; b < topology.storages.size(); ++b) {
    const Storage& from = topology.storages[StorageIndex(b)];
    FlowBuffer buffer;
    buffer.bytes = from.size;
    buffer.to_end = from.to_end;
    buffer.from_start = from.creator == OpIndex(-1);
    if (!buffer.from_start) buffer.creators = {static_cast<Op>(from.creator.position())};
    const auto users = topology.users[StorageIndex(b)];
    buffer.consumers.reserve(users.size());
    for (const OpIndex k : users) {
      buffer.consumers.push_back(static_cast<Op>(k.position()));
    }
    if (buffer.consumers.empty()) buffer.consumers = buffer.creators;
    buffers.push_back(std::move(buffer));
  }
  return MakeInstance(n, topology.always_live, edges, std::move(buffers));
}

}  // namespace berth::internal::schedule
