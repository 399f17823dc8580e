// Metadata of a process in lines of JSON: its rank and library, its communicators, what was
// dropped. No descriptor stays open: the program may close those that it does not know, and get
// their numbers.
#pragma once

#include <mutex>

#include "preloaded/lasting.hpp"
#include "probe/json.hpp"
#include "trace/file.hpp"
#include "trace/shared.hpp"
#include "trace/ticks.hpp"

namespace nhalf::trace {
/// Kinds of data that the tracer drops beyond its memory budget.
enum class Dropped : std::uint8_t { communicators, requests, threads };

class Metadata {
 public:
  static Metadata& of_process() { return preloaded::lasting<Metadata>(); }

  /// Creates the file, which must not exist yet; returns an errno.
  int open_at(const std::string& path) {
    const std::lock_guard guard(lock_);
    file_ = std::make_unique<File>(path.c_str(), mapped_most_bytes(most_bytes, least_bytes));
    if (const int error = file_->error(); error != 0) {
      file_.reset();
      return error;
    }
    return 0;
  }

  /// Writes a complete line, or nothing and false where there is no room for it.
  bool line(const std::string& text) { return write(text, reserved_bytes); }
  /// Returns the errno of what kept a line from being written.
  [[nodiscard]] int error() const { return file_ == nullptr ? EBADF : file_->error(); }

  /// Writes the last line, for which there is always room.
  void finished() { write("{\"finished\":true}", 0); }

  /// Writes a communicator; false beyond the limit.
  bool communicator(std::uint32_t number, const std::vector<int>& members,
                    const std::vector<int>* partners) {
    json::Object added;
    added.add("communicator", number)
        .add("made_ns", real_ns())
        .add("made_ticks", now())
        .add("members", members);
    if (partners != nullptr) added.add("others", *partners);
    const auto text = added.text();
    communicators_bytes_ += text.size();
    if (number > 0 && communicators_bytes_ > communicators_most_bytes) return false;
    line(text);
    return true;
  }

  /// Reports, once, that something is dropped from now on for lack of memory.
  void lost(Dropped kind) {
    if ((lost_.fetch_or(1U << static_cast<unsigned>(kind)) >> static_cast<unsigned>(kind)) & 1U)
      return;
    static constexpr std::array names{"communicators", "requests", "threads"};
    line(json::Object{}.add("lost", names[static_cast<std::size_t>(kind)]).text());
  }

  void communicator_name(std::uint32_t number, const char* name) {
    line(json::Object{}.add("communicator", number).add("name", name).text());
  }

 private:
  /// Writes a line if `left_bytes` remain after it. Its end comes last: a reader drops a line that
  /// a kill has cut off.
  bool write(const std::string& text, std::size_t left_bytes) {
    const std::lock_guard guard(lock_);
    const std::size_t end = written_bytes_ + text.size() + 1;
    if (file_ == nullptr || !has_room(end + left_bytes)) return false;
    auto* const target = file_->data() + written_bytes_;
    std::memcpy(target, text.data(), text.size());
    std::atomic_signal_fence(std::memory_order_seq_cst);
    target[text.size()] = std::byte{'\n'};
    written_bytes_ = end;
    return true;
  }

  bool has_room(std::size_t size_bytes) {
    if (size_bytes <= room_bytes_) return true;
    const auto more_bytes = std::max(size_bytes - room_bytes_, std::min(room_bytes_, steps_bytes));
    const auto room_bytes = room_bytes_ + (more_bytes / step_bytes + 1) * step_bytes;
    if (!file_->grow(room_bytes)) return false;
    // What was written is on its way to the disk; it need not stay in memory.
    madvise(file_->data(), room_bytes_, MADV_DONTNEED);
    room_bytes_ = room_bytes;
    return true;
  }

  static constexpr std::size_t most_bytes = std::size_t{32} << 20U;
  static constexpr std::size_t least_bytes = std::size_t{1} << 18U;
  static constexpr std::size_t step_bytes = std::size_t{1} << 14U;
  static constexpr std::size_t steps_bytes = std::size_t{1} << 20U;
  static constexpr std::size_t reserved_bytes = 64;
  static constexpr std::size_t communicators_most_bytes = std::size_t{16} << 20U;

  Mutex lock_;
  std::unique_ptr<File> file_;
  std::size_t room_bytes_ = 0;
  std::size_t written_bytes_ = 0;
  std::atomic<std::size_t> communicators_bytes_{0};
  std::atomic<unsigned> lost_{0};
};
}  // namespace nhalf::trace
