// Messages from one process to one other through memory that both have mapped.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "contract/transport.hpp"

namespace nhalf {

/// A ring of slots in shared memory, written by one rank and read by another. A message travels in
/// pieces of at most one slot; both sides know its size. Zeros are an empty channel.
class Channel {
 public:
  static constexpr std::size_t slots = 4;
  static constexpr std::size_t slot_bytes = 8192;

  /// Moves what can be moved now; whether the message is whole.
  bool push(ConstBytes& remaining, bool& first) {
    while (first || !remaining.empty()) {
      const auto number = written_.load(std::memory_order_relaxed);
      if (number - read_.load(std::memory_order_acquire) == slots) return false;
      const auto piece = remaining.first(std::min(remaining.size(), slot_bytes));
      if (!piece.empty()) std::memcpy(ring_[number % slots].data(), piece.data(), piece.size());
      written_.store(number + 1, std::memory_order_release);
      remaining = remaining.subspan(piece.size());
      first = false;
    }
    return true;
  }

  bool pull(Bytes& remaining, bool& first) {
    while (first || !remaining.empty()) {
      const auto number = read_.load(std::memory_order_relaxed);
      if (written_.load(std::memory_order_acquire) == number) return false;
      const auto piece = remaining.first(std::min(remaining.size(), slot_bytes));
      if (!piece.empty()) std::memcpy(piece.data(), ring_[number % slots].data(), piece.size());
      read_.store(number + 1, std::memory_order_release);
      remaining = remaining.subspan(piece.size());
      first = false;
    }
    return true;
  }

 private:
  alignas(64) std::atomic<std::uint64_t> written_{0};
  alignas(64) std::atomic<std::uint64_t> read_{0};
  alignas(64) std::array<std::array<std::byte, slot_bytes>, slots> ring_;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share no locks");

}  // namespace nhalf
