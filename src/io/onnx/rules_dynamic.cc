#include "io/onnx/rules.h"

namespace berth::internal::onnx::rules {
namespace {

constexpr std::string_view kDependsOnData = "how many elements it makes depends on the data";

}  // namespace

void NonZero(Call& call) {
  call.Because(kDependsOnData);
  if (!call.ShapeOf(0).has_rank) return;
  call.Set(0, kInt64, Ranked({static_cast<std::int64_t>(call.ShapeOf(0).rank()), kUnknownDim}));
}

void NonMaxSuppression(Call& call) {
  call.Because(kDependsOnData);
  call.Set(0, kInt64, Ranked({kUnknownDim, 3}));
}

void Compress(Call& call) {
  call.Because(kDependsOnData);
  const Shape& in = call.ShapeOf(0);
  if (call.Find("axis") == nullptr) return call.Set(0, call.ElementOf(0), Ranked({kUnknownDim}));
  Shape out = in;
  if (in.has_rank) {
    const std::optional<std::size_t> axis = call.Axis(call.Int("axis", 0), in.rank());
    if (!axis) return;
    out.dims[*axis] = kUnknownDim;
  }
  call.Set(0, call.ElementOf(0), std::move(out));
}

void Unique(Call& call) {
  call.Because(kDependsOnData);
  Shape out = Ranked({kUnknownDim});
  if (call.Find("axis") != nullptr) {
    out = call.ShapeOf(0);
    if (out.has_rank) {
      const std::optional<std::size_t> axis = call.Axis(call.Int("axis", 0), out.rank());
      if (!axis) return;
      out.dims[*axis] = kUnknownDim;
    }
  }
  call.Set(0, call.ElementOf(0), std::move(out));
  for (std::size_t i = 1; i < 4; ++i) call.Set(i, kInt64, Ranked({kUnknownDim}));
}

void SequenceValue(Call& call) { call.SetKind(0, TypeKind::kSequence); }

void SequenceAt(Call& call) {
  call.Because("a sequence does not tell the sizes of what it holds");
  call.SetKind(0, TypeKind::kTensor);
}

void SequenceLength(Call& call) { call.Set(0, kInt64, Ranked({})); }

void OptionalValue(Call& call) { call.SetKind(0, TypeKind::kOptional); }

void OptionalHasElement(Call& call) { call.Set(0, kBool, Ranked({})); }

void OptionalGetElement(Call& call) {
  if (call.In(0).IsTensor()) return call.Set(0, call.ElementOf(0), call.ShapeOf(0));
  call.Because("an optional does not tell the size of what it holds");
}

}  // namespace berth::internal::onnx::rules
