// Which line of a stack says most to the person who reads it.
//
// Stacks begin inside the allocator and end in the interpreter. Between the two are the user's
// program and the libraries that it calls, which are told apart by the folders of their files. Some
// tools strip these, so the files of PyTorch that are in nearly every stack are known by name.
#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "berth/snapshot.h"

namespace berth {
namespace {

constexpr std::string_view kLibraries[] = {"site-packages/", "dist-packages/", "lib/python",
                                           "/torch/",        "<frozen ",       "<eval_with_key>"};
constexpr std::string_view kBareLibraryFiles[] = {
    "module.py",     "functional.py", "_tensor.py",   "_contextlib.py",   "graph.py",
    "function.py",   "linear.py",     "container.py", "eval_frame.py",    "_ops.py",
    "checkpoint.py", "contextlib.py", "grad_mode.py", "_jit_internal.py", "_backends.py"};
constexpr std::string_view kAllocator[] = {"torch::unwind",
                                           "torch::CapturedTraceback",
                                           "torch::cuda::(anonymous namespace)::gather",
                                           "gather_with_cpp",
                                           "c10::cuda::CUDACachingAllocator",
                                           "c10::cuda::CUDAAllocator",
                                           "c10::StorageImpl",
                                           "at::detail::empty_",
                                           "at::detail::"};

bool IsLibrary(const SnapshotFrame& frame) {
  const std::string_view file = frame.file;
  const auto within = [&](std::string_view part) {
    return file.find(part) != std::string_view::npos;
  };
  if (std::any_of(std::begin(kLibraries), std::end(kLibraries), within)) return true;
  return std::find(std::begin(kBareLibraryFiles), std::end(kBareLibraryFiles), file) !=
         std::end(kBareLibraryFiles);
}

bool IsAllocator(const SnapshotFrame& frame) {
  return frame.function.empty() ||
         std::any_of(std::begin(kAllocator), std::end(kAllocator),
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
  std::string name;
  for (std::string_view rest = frame.function;;) {
    const std::size_t at = rest.find(kAnonymous);
    name += rest.substr(0, at);
    if (at == std::string_view::npos) break;
    rest.remove_prefix(at + kAnonymous.size());
  }
  name.resize(std::min(name.find('('), name.size()));
  for (const std::string_view prefix :
       {"torch::autograd::generated::", "torch::autograd::", "at::_ops::"}) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  for (const std::string_view suffix :
       std::initializer_list<std::string_view>{"::apply", "::call"}) {
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
