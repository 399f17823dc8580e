// The sequence of all calls, in a file of which only a window is mapped.
#pragma once

#include "trace/file.hpp"
#include "trace/layout.hpp"

namespace nhalf::trace {
/// A call. Of kind `off_processor` a span of time: `call` is 1 if it is in a call, `size_bytes` are
/// the nanoseconds off the processor, and `waiting` those in its queue.
struct CallRecord {
  Ticks begin;
  Ticks end;
  Ticks waiting;
  std::uint64_t size_bytes;
  std::uint16_t call;
  std::uint16_t kind;
  /// Its number, and that of the call site shifted by 16 bits.
  std::uint32_t communicator_and_site;
  std::int32_t partner;
  std::int32_t tag;
};

/// Returns the size of a window: a multiple of pages and of records, larger for the first threads.
inline std::size_t window_bytes(std::uint32_t thread) {
  constexpr std::size_t least = 12288;
  static_assert(least % sizeof(CallRecord) == 0);
  return thread < 4 ? 64 * least : least;
}

/// Returns after how many calls of a thread a timeline is cut off.
inline std::uint64_t calls_most() {
  const char* text = std::getenv("NHALF_TRACE_CALLS_MAX");
  return text == nullptr ? std::numeric_limits<std::uint64_t>::max()
                         : std::strtoull(text, nullptr, 10);
}

class Timeline {
 public:
  /// Creates the file; without one no call is kept.
  Timeline(const char* path, Head& head, std::size_t window_bytes)
      : path_(path), head_(head), window_bytes_(window_bytes) {
    if (Descriptor::made(path).error() != 0) head_.lost |= timeline_cut;
  }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline() { leave(); }

  void add(const Subject& subject, std::int32_t tag, Ticks begin, Ticks end, Ticks waiting) {
    if (used_ == in_window_ && !next()) return;
    window_[used_++] = {begin,
                        end,
                        waiting,
                        subject.size_bytes,
                        subject.call,
                        static_cast<std::uint16_t>(subject.kind),
                        subject.communicator | static_cast<std::uint32_t>(subject.site) << 16U,
                        subject.partner,
                        tag};
    head_.timeline_records += 1;
  }

  /// Lets the last records, those that end at a moment, end later.
  void extend(Ticks end, Ticks by) {
    for (std::size_t place = used_; place > 0 && window_ != nullptr; --place) {
      if (window_[place - 1].end != end) break;
      window_[place - 1].end += by;
    }
  }

 private:
  void leave() {
    if (window_ != nullptr) munmap(window_, window_bytes_);
    window_ = nullptr;
  }

  [[gnu::noinline]] bool next() {
    if ((head_.lost & timeline_cut) != 0) return false;
    leave();
    const auto offset = static_cast<off_t>(head_.timeline_records * sizeof(CallRecord));
    void* address = MAP_FAILED;
    const auto file = Descriptor::opened(path_.c_str());
    if (file.error() == 0 && head_.timeline_records < calls_most_ &&
        may_have_bytes(static_cast<std::uint64_t>(offset) + window_bytes_) &&
        posix_fallocate(file.number(), offset, static_cast<off_t>(window_bytes_)) == 0)
      address =
          mmap(nullptr, window_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), offset);
    if (address == MAP_FAILED) {
      head_.lost |= timeline_cut;
      return false;
    }
    window_ = static_cast<CallRecord*>(address);
    used_ = 0;
    return true;
  }

  std::string path_;
  Head& head_;
  std::size_t window_bytes_;
  std::size_t in_window_ = window_bytes_ / sizeof(CallRecord);
  std::uint64_t calls_most_ = calls_most();
  CallRecord* window_ = nullptr;
  std::size_t used_ = in_window_;
};
}  // namespace nhalf::trace
