// Memory that each thread exposes to the others: they have its address.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "contract/buffer.hpp"
#include "contract/transport.hpp"

namespace nhalf {

/// Memory that one thread exposes, with its signals, each in a separate cache line.
struct ThreadPart {
  struct alignas(64) Signal {
    std::atomic<std::uint64_t> count{0};
  };

  explicit ThreadPart(std::size_t size_bytes) : memory(size_bytes) {}

  Buffer memory;
  std::array<Signal, OneSidedLimits::slots> signals;
};

/// One thread's part and where the others' are; see OneSided.
class ThreadRegion {
 public:
  ThreadRegion(std::unique_ptr<ThreadPart> own, std::vector<ThreadPart*> parts)
      : own_(std::move(own)), parts_(std::move(parts)) {}

  [[nodiscard]] Bytes local() const { return own_->memory.bytes(); }
  [[nodiscard]] Bytes of(int rank) const { return part(rank).memory.bytes(); }
  [[nodiscard]] std::atomic<std::uint64_t>& signal(int rank, int slot) const {
    return part(rank).signals[static_cast<std::size_t>(slot)].count;
  }
  [[nodiscard]] std::atomic<std::uint64_t>& own_signal(int slot) const {
    return own_->signals[static_cast<std::size_t>(slot)].count;
  }
  void forget() { own_.reset(); }

 private:
  [[nodiscard]] ThreadPart& part(int rank) const { return *parts_[static_cast<std::size_t>(rank)]; }

  std::unique_ptr<ThreadPart> own_;
  std::vector<ThreadPart*> parts_;
};

}  // namespace nhalf
