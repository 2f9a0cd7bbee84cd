// Which line of a stack says most to the person who reads it.
//
// Stacks begin inside the allocator and end in the interpreter. Between the two are the user's
// program and the libraries that it calls, which are told apart by the folders of their files. Some
// tools strip these, so the files of PyTorch that are in nearly every stack are known by name.
#include <algorithm>
#include <array>

#include "berth/snapshot.h"

namespace berth {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kLibraries = {"site-packages/"sv, "dist-packages/"sv, "lib/python"sv,
                                   "/torch/"sv,        "<frozen "sv,       "<eval_with_key>"sv};
constexpr std::array kBareLibraryFiles = {
    "module.py"sv,     "functional.py"sv, "_tensor.py"sv,   "_contextlib.py"sv,   "graph.py"sv,
    "function.py"sv,   "linear.py"sv,     "container.py"sv, "eval_frame.py"sv,    "_ops.py"sv,
    "checkpoint.py"sv, "contextlib.py"sv, "grad_mode.py"sv, "_jit_internal.py"sv, "_backends.py"sv};
constexpr std::array kAllocator = {"torch::unwind"sv,
                                   "torch::CapturedTraceback"sv,
                                   "torch::cuda::(anonymous namespace)::gather"sv,
                                   "gather_with_cpp"sv,
                                   "c10::cuda::CUDACachingAllocator"sv,
                                   "c10::cuda::CUDAAllocator"sv,
                                   "c10::StorageImpl"sv,
                                   "at::detail::empty_"sv,
                                   "at::detail::"sv};

bool IsLibrary(const SnapshotFrame& frame) {
  const std::string_view file = frame.file;
  const auto within = [&](std::string_view part) {
    return file.find(part) != std::string_view::npos;
  };
  if (std::any_of(kLibraries.begin(), kLibraries.end(), within)) return true;
  return std::find(kBareLibraryFiles.begin(), kBareLibraryFiles.end(), file) !=
         kBareLibraryFiles.end();
}

bool IsAllocator(const SnapshotFrame& frame) {
  return frame.function.empty() ||
         std::any_of(kAllocator.begin(), kAllocator.end(),
                     [&](std::string_view prefix) { return frame.function.starts_with(prefix); });
}

}  // namespace

bool IsPython(const SnapshotFrame& frame) {
  return frame.file.ends_with(".py") || frame.file.starts_with("<ipython") ||
         frame.file.starts_with("<stdin>") || frame.file.starts_with("<string>") ||
         frame.file.starts_with("<module>") || frame.file.find("ipykernel") != std::string::npos;
}

std::optional<std::size_t> UsefulFrame(const MemorySnapshot& snapshot, std::uint32_t stack) {
  const auto frames = snapshot.StackFrames(stack);
  const auto first = [&](auto is) -> std::optional<std::size_t> {
    const auto found = std::find_if(frames.begin(), frames.end(), [&](std::uint32_t frame) {
      return is(snapshot.frames[frame]);
    });
    return found == frames.end() ? std::nullopt : std::optional<std::size_t>(*found);
  };
  if (frames.empty()) return std::nullopt;
  if (const auto user = first([](const auto& f) { return IsPython(f) && !IsLibrary(f); })) {
    return user;
  }
  if (const auto python = first(IsPython)) return python;
  // A backward pass runs on a thread without Python; an operator is the next best name.
  const auto calls = [](const SnapshotFrame& f, std::string_view of, std::string_view what) {
    return f.function.starts_with(of) && f.function.find(what) != std::string::npos;
  };
  if (const auto node =
          first([&](const auto& f) { return calls(f, "torch::autograd::", "::apply("); })) {
    return node;
  }
  if (const auto op = first([&](const auto& f) { return calls(f, "at::_ops::", "::call("); })) {
    return op;
  }
  if (const auto other = first([](const auto& f) { return !IsAllocator(f); })) return other;
  return frames.front();
}

std::string ShortName(const SnapshotFrame& frame) {
  if (IsPython(frame)) {
    // The folder of a file is long and says little.
    const std::string file = frame.file.substr(frame.file.find_last_of('/') + 1);
    const std::string line = frame.line > 0 ? ":" + std::to_string(frame.line) : "";
    return file + line + (frame.function.empty() ? "" : " " + frame.function);
  }
  // Without arguments; "(anonymous namespace)" is not one.
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string name = frame.function;
  for (std::size_t at = name.find(kAnonymous); at != std::string::npos;) {
    name.erase(at, kAnonymous.size());
    at = name.find(kAnonymous, at);
  }
  name.resize(std::min(name.find('('), name.size()));
  for (const std::string_view prefix :
       {"torch::autograd::generated::"sv, "torch::autograd::"sv, "at::_ops::"sv}) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  for (const std::string_view suffix : {"::apply"sv, "::call"sv}) {
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  }
  return name.empty() ? "unknown" : name;
}

std::string ToString(const SnapshotFrame& frame) {
  const bool known = !frame.file.empty() && frame.file != "??";
  if (!known) return frame.function.empty() ? "unknown" : frame.function;
  const std::string place =
      frame.file + (frame.line > 0 ? ":" + std::to_string(frame.line) : std::string());
  return frame.function.empty() ? place : frame.function + " (" + place + ")";
}

}  // namespace berth
