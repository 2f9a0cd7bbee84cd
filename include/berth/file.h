// berth/file.h -- files as a whole: read, mapped, written, told apart by a hash.
#ifndef BERTH_FILE_H_
#define BERTH_FILE_H_

#include <span>
#include <string>
#include <string_view>

#include "berth/result.h"

namespace [[gnu::visibility("default")]] berth {

// The bytes of a file; "-" is standard input. Error: kIo, naming the file and the reason.
[[nodiscard]] Result<std::string> ReadFile(const std::string& path);

// A file's bytes without reading all of them: a regular file is mapped, and only the parts that are
// looked at take memory; anything else is read. If the file is truncated while it is mapped,
// reading the lost part kills the process (SIGBUS). Movable.
class FileView {
 public:
  FileView() = default;  // Of no file: no bytes.
  // Paths and errors as in ReadFile().
  [[nodiscard]] static Result<FileView> Open(const std::string& path);
  FileView(FileView&& other) noexcept;
  FileView& operator=(FileView&& other) noexcept;
  ~FileView();

  [[nodiscard]] std::string_view bytes() const { return mapped_.data() ? mapped_ : read_; }

 private:
  std::string_view mapped_;
  std::string read_;
};

// Writes a file as a whole or not at all (through a temporary file beside it); links, pipes and
// devices are written in place. "-" is standard output. Error: kIo, naming the file and the reason.
[[nodiscard]] Result<void> WriteFile(const std::string& path, std::string_view text);
// The same with the text in pieces, which may be views of the file that is replaced.
[[nodiscard]] Result<void> WriteFile(const std::string& path,
                                     std::span<const std::string_view> pieces);

// "fnv1a64:" and the 64-bit FNV-1a hash of `text` in 16 hexadecimal digits. Against mix-ups, not
// against forgery.
[[nodiscard]] std::string HashOf(std::string_view text);

}  // namespace berth

#endif  // BERTH_FILE_H_
