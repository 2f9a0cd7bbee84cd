// tools/berth/file_lock.h -- a file that several processes read, change and write back.
#ifndef BERTH_TOOLS_BERTH_FILE_LOCK_H_
#define BERTH_TOOLS_BERTH_FILE_LOCK_H_

#include <string>
#include <utility>

#include "berth/result.h"

namespace berth::cli {

// While it exists, no other process has the lock of the same file. The lock is a file beside it,
// "NAME.lock", which is removed at the end; if a process is killed before that, the next one takes
// it over.
class FileLock {
 public:
  // Waits until the lock is free. Error: kIo, where the lock's file cannot be written.
  [[nodiscard]] static Result<FileLock> Acquire(const std::string& path);
  FileLock(FileLock&& other) noexcept
      : name_(std::move(other.name_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  FileLock(std::string name, int descriptor) : name_(std::move(name)), descriptor_(descriptor) {}

  std::string name_;
  int descriptor_;
};

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_FILE_LOCK_H_
