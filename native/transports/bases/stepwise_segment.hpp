// The steps by which shared memory is set up, used and given back, each by the calls it takes.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>

#include "contract/exposed_memory.hpp"

namespace nhalf {
/// Memory as one process has it: a file without a name, and where it is mapped.
class StepwiseSegment {
 public:
  explicit StepwiseSegment(std::size_t size_bytes) : size_bytes_(size_bytes) {}
  StepwiseSegment(const StepwiseSegment&) = delete;
  StepwiseSegment& operator=(const StepwiseSegment&) = delete;
  ~StepwiseSegment() {
    unmap();
    disconnect();
  }

  void create() {
    file_ = memfd_create("nhalf", MFD_CLOEXEC);
    succeed(file_ >= 0 && ftruncate(file_, static_cast<off_t>(size_bytes_)) == 0);
    map(0);
  }
  /// Reserves all pages.
  void enlist() { succeed(posix_fallocate(file_, 0, static_cast<off_t>(size_bytes_)) == 0); }
  void connect(std::int64_t process, std::int64_t file) {
    const auto path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
    file_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat status{};
    succeed(file_ >= 0 && fstat(file_, &status) == 0 &&
            static_cast<std::size_t>(status.st_size) == size_bytes_);
  }
  /// Maps every page, so that no later access faults.
  void map() { map(MAP_POPULATE); }
  void disconnect() {
    if (file_ >= 0) close(file_);
    file_ = -1;
  }
  void unmap() {
    if (memory_ != nullptr) munmap(memory_, size_bytes_);
    memory_ = nullptr;
  }

  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_); }

 private:
  static void succeed(bool holds) {
    if (!holds) throw std::runtime_error("no shared memory can be had, or none can be opened");
  }
  void map(int flags) {
    void* memory = mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | flags, file_, 0);
    succeed(memory != MAP_FAILED);
    memory_ = memory;
  }

  std::size_t size_bytes_;
  int file_ = -1;
  void* memory_ = nullptr;
};

/// The address of a segment for another process of this host.
struct SegmentAddress {
  std::int64_t process = 0;
  std::int64_t file = -1;
};

/// Exports the segment: publishes its address and waits until the peer has released it.
template <class Timed, class Publish, class AwaitRelease>
void expose_segment_once(std::size_t size_bytes, Timed timed, Publish publish,
                         AwaitRelease await_release) {
  StepwiseSegment segment(size_bytes);
  timed(Step::create, [&] { segment.create(); });
  timed(Step::enlist, [&] { segment.enlist(); });
  timed(Step::publish, [&] { publish(SegmentAddress{getpid(), segment.file()}); });
  await_release();
  timed(Step::destroy, [&] {
    segment.unmap();
    segment.disconnect();
  });
}

/// Uses the segment of the peer, once its address has arrived.
template <class Timed, class Learn, class Release>
void use_segment_once(ConstBytes out, Bytes in, Timed timed, Learn learn, Release release) {
  StepwiseSegment segment(out.size());
  const SegmentAddress address = learn();
  timed(Step::connect, [&] { segment.connect(address.process, address.file); });
  timed(Step::map, [&] { segment.map(); });
  timed(Step::put, [&] { std::memcpy(segment.data(), out.data(), out.size()); });
  timed(Step::get, [&] { std::memcpy(in.data(), segment.data(), in.size()); });
  timed(Step::fence, [] { std::atomic_thread_fence(std::memory_order_seq_cst); });
  timed(Step::disconnect, [&] { segment.disconnect(); });
  timed(Step::unmap, [&] { segment.unmap(); });
  timed(Step::signal, release);
}
}  // namespace nhalf
