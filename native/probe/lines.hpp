// SPDX-License-Identifier: Apache-2.0
// Lines of an open file.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace nhalf {

/// Reads from a file that it closes; one that cannot be read has no lines.
class Lines {
 public:
  explicit Lines(int file) : file_(fdopen(file, "r")) {}
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() {
    std::free(text_);
    if (file_ != nullptr) std::fclose(file_);
  }

  /// The next line without its end; whether there was one.
  bool next(std::string& line) {
    const auto length = file_ != nullptr ? ::getline(&text_, &room_, file_) : -1;
    if (length < 0) return false;
    line.assign(text_, static_cast<std::size_t>(length));
    if (line.ends_with('\n')) line.pop_back();
    return true;
  }

 private:
  std::FILE* file_;
  char* text_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace nhalf
