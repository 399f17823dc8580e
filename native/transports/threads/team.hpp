// Communication of threads: a channel between every two, and shared state.
#pragma once

#include <atomic>
#include <mutex>

#include "contract/buffer.hpp"
#include "host/cores.hpp"

namespace nhalf {
// Memory that each thread exposes to the others: they have its address.

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

static_assert(std::atomic<std::uint64_t>::is_always_lock_free,
              "a lock would be timed with every message");

/// Number of polls before a waiting thread yields. With oversubscription, the awaited thread may
/// need this very core.
inline int spins_before_yield = 4000;

/// Polls for a while, then yields the core.
template <class Ready>
void spin_until(Ready ready) {
  for (int spins = 0; !ready(); ++spins) {
    if (spins < spins_before_yield) {
      pause_briefly();
    } else {
      std::this_thread::yield();
    }
  }
}

/// Messages from one rank to one other: a ring of slots, written by the one and read by the other.
/// Short messages are copied into the slot; long ones are read from the sender's memory.
class ThreadChannel {
 public:
  static constexpr std::size_t slots = 64;
  static constexpr std::size_t eager_bytes = 1024;

  /// Puts a message into the next slot; the number that `taken` asks about.
  std::uint64_t put(ConstBytes data, bool by_reference) {
    const auto number = written_++;
    auto& slot = ring_[number % slots];
    spin_until([&] { return slot.turn.load(std::memory_order_acquire) == 2 * (number / slots); });
    slot.size = data.size();
    slot.source = by_reference ? data.data() : nullptr;
    if (!by_reference && !data.empty()) std::memcpy(slot.data.data(), data.data(), data.size());
    slot.turn.store(2 * (number / slots) + 1, std::memory_order_release);
    return number;
  }

  /// Takes the next message.
  void take(Bytes data) {
    const auto number = read_++;
    auto& slot = ring_[number % slots];
    spin_until(
        [&] { return slot.turn.load(std::memory_order_acquire) == 2 * (number / slots) + 1; });
    const std::byte* source = slot.source != nullptr ? slot.source : slot.data.data();
    const auto size_bytes = std::min(slot.size, data.size());
    if (!data.empty() && size_bytes > 0) std::memcpy(data.data(), source, size_bytes);
    slot.turn.store(2 * (number / slots) + 2, std::memory_order_release);
  }

  /// Whether the next message is there.
  [[nodiscard]] bool holds_message() const {
    const auto turn = ring_[read_ % slots].turn.load(std::memory_order_acquire);
    return turn == 2 * (read_ / slots) + 1;
  }

  /// Whether the receiver has taken message `number`.
  [[nodiscard]] bool has_taken(std::uint64_t number) const {
    const auto turn = ring_[number % slots].turn.load(std::memory_order_acquire);
    return turn >= 2 * (number / slots) + 2;
  }

  /// Waits until the receiver has taken message `number`.
  void wait_taken(std::uint64_t number) {
    spin_until([&] { return has_taken(number); });
  }

 private:
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> turn{0};
    std::size_t size = 0;
    const std::byte* source = nullptr;
    std::array<std::byte, eager_bytes> data;
  };
  /// Slots for as many messages as patterns have in flight at once.
  std::array<Slot, slots> ring_;
  alignas(64) std::uint64_t written_ = 0;
  alignas(64) std::uint64_t read_ = 0;
};

/// State of all threads.
class ThreadTeam {
 public:
  explicit ThreadTeam(int count)
      : ranks(count),
        exposed(static_cast<std::size_t>(count)),
        channels_(static_cast<std::size_t>(count) * static_cast<std::size_t>(count)) {}

  /// The channel between two ranks, made when either side first needs it.
  ThreadChannel& channel(int from, int to) {
    const std::lock_guard lock(mutex_);
    auto& channel = channels_[static_cast<std::size_t>(from * ranks + to)];
    if (!channel) channel = std::make_unique<ThreadChannel>();
    return *channel;
  }

  int ranks;
  std::atomic<int> waiting{0};
  std::atomic<std::uint64_t> barriers{0};
  std::atomic<bool> agreed{true};
  Bytes shared;
  std::vector<std::string> gathered;
  /// Memory that each thread is about to expose.
  std::vector<ThreadPart*> exposed;

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadChannel>> channels_;
};
}  // namespace nhalf
