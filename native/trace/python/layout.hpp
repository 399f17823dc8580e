// Where CPython keeps the frames of a thread and its code objects. Sources: the headers of CPython
// 3.8 to 3.12 (cpython/pystate.h, frameobject.h, internal/pycore_frame.h, cpython/code.h);
// from 3.13 on the table that each interpreter has of itself for debuggers
// (pycore_debug_offsets.h).
#pragma once

#include <cstdlib>

#include "contract/vocabulary.hpp"

namespace nhalf::trace {
/// Offsets in bytes.
struct PythonLayout {
  /// In the state of a thread: its innermost frame.
  std::uint32_t frame = 0;
  /// Whether there is a structure between, which begins at `between_frame` with the frame.
  bool is_between = false;
  std::uint32_t between_frame = 0;
  /// In a frame: the one that called it, its code, and the instruction that it executes.
  std::uint32_t previous = 0;
  std::uint32_t code = 0;
  std::uint32_t instruction = 0;
  /// Bytes of code per instruction where that is a number; 0 where it is an address.
  std::uint32_t instruction_bytes = 0;
  /// In a frame: who owns it; 0 where all are of Python.
  std::uint32_t owner = 0;
  /// In a code object.
  std::uint32_t first_line = 0;
  std::uint32_t file = 0;
  std::uint32_t name = 0;
  std::uint32_t line_table = 0;
  std::uint32_t instructions = 0;
};

/// The owner of a frame that only marks an entry from C.
inline constexpr char owned_by_c = 3;

inline constexpr PythonLayout python_8{.frame = 24,
                                       .previous = 24,
                                       .code = 32,
                                       .instruction = 104,
                                       .instruction_bytes = 1,
                                       .first_line = 40,
                                       .file = 104,
                                       .name = 112,
                                       .line_table = 120};
inline constexpr PythonLayout python_10 = [] {
  auto layout = python_8;
  layout.instruction = 96;
  layout.instruction_bytes = 2;
  return layout;
}();
inline constexpr PythonLayout python_11{.frame = 56,
                                        .is_between = true,
                                        .between_frame = 8,
                                        .previous = 48,
                                        .code = 32,
                                        .instruction = 56,
                                        .first_line = 72,
                                        .file = 112,
                                        .name = 120,
                                        .line_table = 136,
                                        .instructions = 184};
inline constexpr PythonLayout python_12{.frame = 56,
                                        .is_between = true,
                                        .between_frame = 0,
                                        .previous = 8,
                                        .code = 0,
                                        .instruction = 56,
                                        .owner = 70,
                                        .first_line = 68,
                                        .file = 112,
                                        .name = 120,
                                        .line_table = 136,
                                        .instructions = 192};

/// The table that an interpreter has of itself, in words of eight bytes; 19 or 22 come before the
/// part on the state of threads, then parts on frames and code objects.
class PythonOffsets {
 public:
  PythonOffsets(const void* table, std::size_t threads, std::size_t frames, std::size_t codes)
      : table_(static_cast<const std::byte*>(table)),
        threads_(threads),
        frames_(frames),
        codes_(codes) {}

  [[nodiscard]] std::optional<PythonLayout> layout() const {
    if (std::memcmp(table_, "xdebugpy", 8) != 0 || word(2) != 0) return {};
    for (std::size_t at = threads_; at < codes_ + 10; ++at)
      if (word(at) > 65536) return {};
    return PythonLayout{.frame = offset(threads_ + 4),
                        .previous = offset(frames_ + 1),
                        .code = offset(frames_ + 2),
                        .instruction = offset(frames_ + 3),
                        .owner = offset(frames_ + 5),
                        .first_line = offset(codes_ + 5),
                        .file = offset(codes_ + 1),
                        .name = offset(codes_ + 2),
                        .line_table = offset(codes_ + 4),
                        .instructions = offset(codes_ + 9)};
  }

 private:
  [[nodiscard]] std::uint64_t word(std::size_t number) const {
    std::uint64_t value = 0;
    std::memcpy(&value, table_ + number * sizeof value, sizeof value);
    return value;
  }
  [[nodiscard]] std::uint32_t offset(std::size_t number) const {
    return static_cast<std::uint32_t>(word(number));
  }

  const std::byte* table_;
  std::size_t threads_;
  std::size_t frames_;
  std::size_t codes_;
};

/// Returns the layout of an interpreter by its version, such as "3.11.7 (main, …)", and the table
/// that it has of itself, if it has one; none for one that is not known.
inline std::optional<PythonLayout> python_layout(std::string_view version, const void* table) {
  // Without its lock, an interpreter's functions need more than they are given here.
  if (!version.starts_with("3.") || version.find("free-threading") != std::string_view::npos)
    return {};
  switch (std::atoi(version.data() + 2)) {
    case 8:
    case 9:
      return python_8;
    case 10:
      return python_10;
    case 11:
      return python_11;
    case 12:
      return python_12;
    case 13:
      return table == nullptr ? std::nullopt : PythonOffsets(table, 19, 28, 34).layout();
    case 14:
      return table == nullptr ? std::nullopt : PythonOffsets(table, 22, 31, 39).layout();
    default:
      return {};
  }
}
}  // namespace nhalf::trace
