// The line of Python that this thread executes. Bindings release the interpreter's lock before they
// call MPI, and to take it back could wait for a thread that waits for this call. A thread's own
// frames change only while it runs Python, so they are read without the lock: nothing is counted,
// made or kept alive, and of the interpreter's functions only those are called that read what never
// changes. Nothing of Python is linked.
#pragma once

#include <fcntl.h>

#include <mutex>

#include "preloaded/chain.hpp"
#include "preloaded/lasting.hpp"
#include "trace/python/layout.hpp"
#include "trace/shared.hpp"

namespace nhalf::trace {
/// Reading this process's memory where an address may be wrong: through the kernel, which refuses
/// instead of killing.
class OwnMemory {
 public:
  OwnMemory() : descriptor_(open("/proc/self/mem", O_RDONLY | O_CLOEXEC)) {}
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
  ~OwnMemory() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  /// Returns the pointer that is kept at an address; null if it cannot be read.
  [[nodiscard]] const std::byte* pointer(const std::byte* address) const {
    const std::byte* value = nullptr;
    const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(address));
    const auto read = pread(descriptor_, &value, sizeof value, at);
    return read == static_cast<ssize_t>(sizeof value) ? value : nullptr;
  }

 private:
  int descriptor_;
};

/// A line of a program in Python, in UTF-8.
struct PythonLine {
  std::string file;
  std::string function;
  int line = 0;

  bool operator==(const PythonLine&) const = default;
};

/// A frame of this thread: the code that it runs, and the number or address of its instruction.
struct PythonFrame {
  const std::byte* at = nullptr;
  const std::byte* code = nullptr;
  std::uint64_t instruction = 0;
};

class Python {
 public:
  static Python& of_process() { return preloaded::lasting<Python>(); }

  /// Whether an interpreter of a known layout is loaded.
  bool is_loaded() {
    const std::lock_guard guard(lock_);
    if (!layout_) find();
    return layout_.has_value() && trust_.load(std::memory_order_relaxed) != Trust::refused;
  }

  /// Returns the innermost frame of this thread; one without code if it runs no Python, or if
  /// the interpreter ends. The interpreter has to be loaded.
  [[nodiscard]] PythonFrame innermost() {
    if (is_initialized_() == 0) return {};
    const auto* state = this_thread_();
    if (state == nullptr) return {};
    if (trust_.load(std::memory_order_acquire) != Trust::checked) [[unlikely]]
      if (!is_as_laid_out(state)) return {};
    const auto* frame = pointer(state + layout_->frame);
    if (layout_->is_between && frame != nullptr) frame = pointer(frame + layout_->between_frame);
    return first_with_code(frame);
  }

  /// Returns the frame that called another one.
  [[nodiscard]] PythonFrame caller_of(const PythonFrame& frame) const {
    return first_with_code(pointer(frame.at + layout_->previous));
  }

  /// Returns a number that tells a code object from another one that had its address before.
  [[nodiscard]] std::uint64_t mark(const std::byte* code) const {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
    constexpr std::size_t length_at = 16;
    constexpr std::size_t text_at = 32;
    const auto* table = pointer(code + layout_->line_table);
    const auto length = word(table + length_at);
    auto mixed = word(code + layout_->file);
    mixed = mixed * odd + word(code + layout_->name);
    mixed = mixed * odd + (word(code + layout_->first_line) & 0xffffffffU);
    mixed = mixed * odd + length;
    // A text is followed by a zero, and has memory in steps of 16 bytes.
    const auto first = word(table + text_at);
    if (length < sizeof first)
      return mixed * odd + (first & ((std::uint64_t{1} << 8 * length) - 1));
    mixed = mixed * odd + first;
    return mixed * odd + word(table + text_at + length - sizeof first);
  }

  /// Returns the line that a frame executes.
  [[nodiscard]] PythonLine line(const PythonFrame& frame) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(frame.code + layout_->instructions);
    const auto at = layout_->instruction_bytes == 0
                        ? frame.instruction - begin
                        : frame.instruction * layout_->instruction_bytes;
    return {text(pointer(frame.code + layout_->file)), text(pointer(frame.code + layout_->name)),
            line_of_(frame.code, static_cast<int>(at))};
  }

 private:
  enum class Trust : std::uint8_t { unchecked, checked, refused };
  static constexpr int depth_most = 1000;
  static constexpr std::size_t type_at = 8;
  static constexpr std::ptrdiff_t text_most = 4096;

  static std::uint64_t word(const std::byte* address) {
    std::uint64_t value = 0;
    std::memcpy(&value, address, sizeof value);
    return value;
  }
  static const std::byte* pointer(const std::byte* address) {
    return reinterpret_cast<const std::byte*>(word(address));
  }
  /// Returns an object without the marks that an interpreter keeps in the last bits of its address.
  static const std::byte* unmarked(const std::byte* object) {
    return reinterpret_cast<const std::byte*>(reinterpret_cast<std::uintptr_t>(object) &
                                              ~std::uintptr_t{7});
  }

  /// Skips frames that are no code of Python: marks of entries from C.
  [[nodiscard]] PythonFrame first_with_code(const std::byte* frame) const {
    for (; frame != nullptr; frame = pointer(frame + layout_->previous)) {
      if (layout_->owner != 0 && static_cast<char>(frame[layout_->owner]) >= owned_by_c) continue;
      const auto* code = unmarked(pointer(frame + layout_->code));
      if (code == nullptr || pointer(code + type_at) != code_type_) continue;
      auto instruction = word(frame + layout_->instruction);
      if (layout_->instruction_bytes != 0) instruction &= 0xffffffffU;
      return {frame, code, instruction};
    }
    return {};
  }

  /// Whether the frames of this thread are where they are expected, without trusting any address.
  /// Where there is none yet, the next call decides.
  bool is_as_laid_out(const std::byte* state) {
    const std::lock_guard guard(lock_);
    if (trust_ == Trust::refused) return false;
    const OwnMemory memory;
    const auto* frame = memory.pointer(state + layout_->frame);
    if (layout_->is_between && frame != nullptr)
      frame = memory.pointer(frame + layout_->between_frame);
    if (frame == nullptr) return false;
    int codes = 0;
    for (int depth = 0; frame != nullptr && depth < depth_most; ++depth) {
      const auto* code = unmarked(memory.pointer(frame + layout_->code));
      if (memory.pointer(code + type_at) == code_type_) {
        const auto has = [&](std::uint32_t at, const std::byte* type) {
          return memory.pointer(memory.pointer(code + at) + type_at) == type;
        };
        if (!has(layout_->file, text_type_) || !has(layout_->name, text_type_) ||
            !has(layout_->line_table, bytes_type_))
          return refused();
        ++codes;
      } else if (layout_->owner == 0) {
        return refused();
      }
      frame = memory.pointer(frame + layout_->previous);
    }
    if (codes == 0) return refused();
    trust_.store(Trust::checked, std::memory_order_release);
    return true;
  }

  bool refused() {
    trust_ = Trust::refused;
    return false;
  }

  /// Reads a text of Python. Half of a pair of characters, which stands for a byte that is no text
  /// in the name of a file, becomes a replacement character.
  [[nodiscard]] std::string text(const std::byte* object) const {
    std::string out;
    const auto length = std::min(length_of_(object), text_most);
    for (std::ptrdiff_t at = 0; at < length; ++at) {
      const auto read = character_(object, at);
      add_utf8(out, read >= 0xd800 && read < 0xe000 ? 0xfffd : read);
    }
    return out;
  }

  static void add_utf8(std::string& out, std::uint32_t character) {
    const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
    const auto follow = [&](unsigned bits) { add(0x80U | (character >> bits & 0x3fU)); };
    if (character < 0x80) return add(character);
    if (character < 0x800) {
      add(0xc0U | character >> 6U);
      return follow(0);
    }
    if (character < 0x10000) {
      add(0xe0U | character >> 12U);
    } else {
      add(0xf0U | character >> 18U);
      follow(12);
    }
    follow(6);
    follow(0);
  }

  /// Finds the interpreter: that of the program, or one that was loaded with local scope.
  void find() {
    if (dlsym(RTLD_DEFAULT, "Py_GetVersion") != nullptr) return take(RTLD_DEFAULT);
    std::string path;
    dl_iterate_phdr(
        [](dl_phdr_info* file, std::size_t, void* into) {
          if (!preloaded::file_name(file->dlpi_name).starts_with("libpython3.")) return 0;
          *static_cast<std::string*>(into) = file->dlpi_name;
          return 1;
        },
        &path);
    void* library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return;
    take(library);
    dlclose(library);
  }

  void take(void* scope) {
    const char* (*version)() = nullptr;
    const bool is_complete =
        take(scope, "Py_GetVersion", version) && take(scope, "Py_IsInitialized", is_initialized_) &&
        take(scope, "PyGILState_GetThisThreadState", this_thread_) &&
        take(scope, "PyCode_Addr2Line", line_of_) &&
        take(scope, "PyUnicode_GetLength", length_of_) &&
        take(scope, "PyUnicode_ReadChar", character_) && take(scope, "PyCode_Type", code_type_) &&
        take(scope, "PyUnicode_Type", text_type_) && take(scope, "PyBytes_Type", bytes_type_);
    if (is_complete) layout_ = python_layout(version(), dlsym(scope, "_PyRuntime"));
  }

  template <class Pointer>
  static bool take(void* scope, const char* name, Pointer& into) {
    into = reinterpret_cast<Pointer>(dlsym(scope, name));
    return into != nullptr;
  }

  Mutex lock_;
  std::optional<PythonLayout> layout_;
  std::atomic<Trust> trust_{Trust::unchecked};
  int (*is_initialized_)() = nullptr;
  const std::byte* (*this_thread_)() = nullptr;
  int (*line_of_)(const std::byte* code, int at) = nullptr;
  std::ptrdiff_t (*length_of_)(const std::byte* text) = nullptr;
  std::uint32_t (*character_)(const std::byte* text, std::ptrdiff_t at) = nullptr;
  const std::byte* code_type_ = nullptr;
  const std::byte* text_type_ = nullptr;
  const std::byte* bytes_type_ = nullptr;
};
}  // namespace nhalf::trace
