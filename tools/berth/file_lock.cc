#include "tools/berth/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace berth::cli {
namespace {

// Whether `name` is still the file behind `descriptor`: the last owner may have removed it between
// our opening it and our getting the lock.
bool IsStill(int descriptor, const std::string& name) {
  struct stat held {};
  struct stat named {};
  return fstat(descriptor, &held) == 0 && stat(name.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

}  // namespace

Result<FileLock> FileLock::Acquire(const std::string& path) {
  // Links to one file share its lock.
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(path, error);
  const std::string name = (error ? path : canonical.string()) + ".lock";
  for (;;) {
    const int descriptor = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    int failed = descriptor < 0 ? errno : 0;
    while (failed == 0 && flock(descriptor, LOCK_EX) != 0) {
      if (errno != EINTR) failed = errno;
    }
    if (failed == 0 && IsStill(descriptor, name)) return FileLock(name, descriptor);
    if (descriptor >= 0) close(descriptor);
    if (failed != 0) {
      return Fail(ErrorCode::kIo, name + ": cannot be locked: " + std::strerror(failed));
    }
  }
}

FileLock::~FileLock() {
  if (descriptor_ < 0) return;
  unlink(name_.c_str());
  close(descriptor_);
}

}  // namespace berth::cli
