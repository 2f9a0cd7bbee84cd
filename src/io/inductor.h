// io/inductor.h -- graphs that PyTorch's compiler Inductor writes (docs/formats/inductor.md).
#ifndef BERTH_IO_INDUCTOR_H_
#define BERTH_IO_INDUCTOR_H_

#include <nlohmann/json.hpp>

#include "base/source.h"
#include "berth/graph.h"
#include "berth/result.h"

namespace berth::internal {

// Whether a file has Inductor's keys and no graph of Berth's.
[[nodiscard]] bool IsInductorGraph(const nlohmann::json& file);

// The result is valid. Errors: those of ReadGraphJson().
[[nodiscard]] Result<Graph> GraphOfInductor(const Source& source, const nlohmann::json& file);

}  // namespace berth::internal

#endif  // BERTH_IO_INDUCTOR_H_
