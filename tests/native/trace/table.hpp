// A table of calls in a file of its own, which is gone afterwards.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "trace/cells.hpp"
#include "trace/file.hpp"
#include "trace/layout.hpp"

namespace nhalf::trace {

class Folder {
 public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "nhalf-trace-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string file(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

struct Table {
  Folder folder;
  File file{folder.file("counts").c_str(), sizeof(Layout)};
  bool has_head = file.grow(offsetof(Layout, cells));
  Layout& layout = *reinterpret_cast<Layout*>(file.data());
  Cells cells{file, layout};

  Table() {
    cells_remaining = static_cast<std::int64_t>(cells_most);
    memory_remaining_bytes = memory_most_bytes;
  }

  void count(const Subject& subject) { cells.of(subject).count += 1; }

  /// What all cells of the file have counted.
  [[nodiscard]] std::uint64_t counted() const {
    std::uint64_t sum = 0;
    for (std::uint64_t at = 0; at < layout.head.cells; ++at) sum += layout.cells[at].count;
    return sum;
  }
};

}  // namespace nhalf::trace
