// Files as a whole.
//
// A regular file is replaced by renaming a finished one to it, so a program that reads it at the same
// time, or after this one was killed, finds the old text or the new. There is no fsync: a loss of
// power may lose a plan.

#include "berth/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "base/try.h"

namespace berth {
namespace {

// `target` is a path or "standard output"; `error` is a value of errno.
tl::unexpected<Error> IoFailure(std::string_view target, std::string_view deed, int error) {
  return Fail(ErrorCode::kIo, internal::Printable(target) + ": cannot be " + std::string(deed) +
                                  ": " + std::generic_category().message(error));
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  [[nodiscard]] int value() const { return value_; }
  // A write that the operating system has put off may fail here.
  [[nodiscard]] bool Close() {
    const int value = value_;
    value_ = -1;
    return close(value) == 0;
  }

 private:
  int value_;
};

using Pieces = std::span<const std::string_view>;

bool WriteAll(int descriptor, Pieces pieces) {
  for (std::string_view text : pieces) {
    while (!text.empty()) {
      const ssize_t written = write(descriptor, text.data(), text.size());
      if (written < 0) {
        if (errno == EINTR) continue;
        return false;
      }
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  return true;
}

Result<void> WriteToStandardOutput(Pieces pieces) {
  // Through the stream, so that the text follows everything printed before.
  for (const std::string_view text : pieces) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
      return IoFailure("standard output", "written", errno);
    }
  }
  if (std::fflush(stdout) != 0) return IoFailure("standard output", "written", errno);
  return {};
}

// Links, pipes and devices: they are kept, and the text is written into them.
Result<void> WriteInPlace(const std::string& path, std::string_view text) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.value() < 0 || !WriteAll(file.value(), Pieces(&text, 1)) || !file.Close()) {
    return IoFailure(path, "written", errno);
  }
  return {};
}

// In the folder of `path`, so that it can be renamed to it. The name does not contain that of `path`,
// which may be as long as names can be.
std::string TemporaryPath(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return path.substr(0, path.rfind('/') + 1) + ".berth-" + std::to_string(getpid()) + "-" +
         std::to_string(counter++) + ".tmp";
}

Result<void> Replace(const std::string& path, Pieces text, const struct stat* existing) {
  if (existing != nullptr && access(path.c_str(), W_OK) != 0) {
    return IoFailure(path, "written", errno);
  }
  std::string temporary;
  int descriptor = -1;
  do {
    temporary = TemporaryPath(path);
    descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  Descriptor file(descriptor);
  if (descriptor < 0) return IoFailure(path, "written", errno);
  if ((existing != nullptr && fchmod(descriptor, existing->st_mode & 07777) != 0) ||
      !WriteAll(descriptor, text) || !file.Close() ||
      std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(temporary.c_str());
    return IoFailure(path, "written", error);
  }
  return {};
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  const bool standard_input = path == "-";
  Descriptor file(standard_input ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto failure = [&](int error) {
    return IoFailure(standard_input ? "standard input" : path, "read", error);
  };
  if (file.value() < 0) return failure(errno);

  // The length of a regular file is known; with one byte more, the end is found without growing.
  struct stat status {};
  std::string text;
  if (fstat(file.value(), &status) == 0 && S_ISREG(status.st_mode)) {
    text.resize(static_cast<std::size_t>(status.st_size) + 1);
  }
  std::size_t length = 0;
  for (;;) {
    if (length == text.size()) text.resize(text.size() * 2 + 65536);
    const ssize_t count = read(file.value(), text.data() + length, text.size() - length);
    if (count < 0) {
      if (errno == EINTR) continue;
      return failure(errno);
    }
    if (count == 0) break;
    length += static_cast<std::size_t>(count);
  }
  text.resize(length);
  return text;
}

Result<FileView> FileView::Open(const std::string& path) {
  FileView view;
  if (path != "-") {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.value() < 0) return IoFailure(path, "read", errno);
    struct stat status {};
    if (fstat(file.value(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      const auto size = static_cast<std::size_t>(status.st_size);
      void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value(), 0);
      if (memory == MAP_FAILED) return IoFailure(path, "read", errno);
      view.mapped_ = {static_cast<const char*>(memory), size};
      return view;
    }
  }
  view.read_ = BERTH_TRY(ReadFile(path));
  return view;
}

FileView::FileView(FileView&& other) noexcept
    : mapped_(std::exchange(other.mapped_, {})), read_(std::move(other.read_)) {}

FileView& FileView::operator=(FileView&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(read_, other.read_);
  return *this;
}

FileView::~FileView() {
  // The view begins where the mapping does. munmap() takes no pointer to const.
  if (mapped_.data() != nullptr) munmap(const_cast<char*>(mapped_.data()), mapped_.size());
}

Result<void> WriteFile(const std::string& path, std::string_view text) {
  return WriteFile(path, Pieces(&text, 1));
}

Result<void> WriteFile(const std::string& path, std::span<const std::string_view> pieces) {
  // Opening /dev/stdout by its name would overwrite a file behind it from its start.
  if (path == "-" || path == "/dev/stdout") return WriteToStandardOutput(pieces);
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) return IoFailure(path, "written", errno);
    return Replace(path, pieces, nullptr);
  }
  if (S_ISDIR(status.st_mode)) return IoFailure(path, "written", EISDIR);
  if (S_ISREG(status.st_mode)) return Replace(path, pieces, &status);
  // The link may lead to the file that the pieces are views of.
  std::string text;
  for (const std::string_view piece : pieces) text += piece;
  return WriteInPlace(path, text);
}

std::string HashOf(std::string_view text) { return "fnv1a64:" + internal::Fnv1aDigits(text); }

}  // namespace berth
