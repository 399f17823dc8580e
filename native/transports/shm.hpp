// nhalf-needs: MPI
// Memory of other processes of the host, written and read directly.
#pragma once

#include "contract/pattern.hpp"
#include "transports/bases/message_collectives.hpp"
#include "transports/bases/pending_messages.hpp"
#include "transports/bases/stepwise_segment.hpp"
#include "transports/shm/shared_segments.hpp"
#include "transports/shm/signals.hpp"

namespace nhalf {
// Messages from one process to one other through memory that both have mapped.

/// A ring of slots in shared memory, written by one rank and read by another. A message travels in
/// pieces of at most one slot; both sides know its size. Zeros are an empty channel.
class Channel {
 public:
  static constexpr std::size_t slots = 4;
  static constexpr std::size_t slot_bytes = 8192;

  /// Moves what can be moved now; whether the message is whole.
  bool push(ConstBytes& remaining, bool& first) {
    return move_pieces(remaining, first, slot_bytes, [this](ConstBytes piece) {
      const auto number = written_.load(std::memory_order_relaxed);
      if (number - read_.load(std::memory_order_acquire) == slots) return false;
      if (!piece.empty()) std::memcpy(ring_[number % slots].data(), piece.data(), piece.size());
      written_.store(number + 1, std::memory_order_release);
      return true;
    });
  }

  bool pull(Bytes& remaining, bool& first) {
    return move_pieces(remaining, first, slot_bytes, [this](Bytes piece) {
      const auto number = read_.load(std::memory_order_relaxed);
      if (written_.load(std::memory_order_acquire) == number) return false;
      if (!piece.empty()) std::memcpy(piece.data(), ring_[number % slots].data(), piece.size());
      read_.store(number + 1, std::memory_order_release);
      return true;
    });
  }

 private:
  alignas(64) std::atomic<std::uint64_t> written_{0};
  alignas(64) std::atomic<std::uint64_t> read_{0};
  alignas(64) std::array<std::array<std::byte, slot_bytes>, slots> ring_;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share no locks");

// Memory that each rank exposes to the others, with its signals.

/// Memory of `size_bytes` of every rank that the others put to; see OneSided and SignallingPuts.
class SharedRegion {
 public:
  SharedRegion(MpiControl& control, std::size_t size_bytes)
      : rank_(control.rank()),
        memory_at_(Signals::room_bytes(control.size())),
        memory_(control, memory_at_ + size_bytes),
        signals_(starts(control.size()), rank_) {}

  /// The memory is gone where all ranks have said so.
  void forget() { memory_ = {}; }

  [[nodiscard]] Bytes local() const { return of(rank_); }
  [[nodiscard]] Bytes of(int rank) const { return memory_.of(rank).subspan(memory_at_); }
  [[nodiscard]] Signals& signals() { return signals_; }

  void put(int peer, std::size_t offset, ConstBytes data) const {
    watched_put(of(peer), offset, data);
  }
  void put_and_signal(int peer, std::size_t offset, ConstBytes data, int slot) {
    if (signals_.raise_with_put(peer, data, offset, slot)) return;
    put(peer, offset, data);
    signals_.raise_in_turn(peer, slot);
  }

 private:
  [[nodiscard]] std::vector<std::byte*> starts(int ranks) const {
    std::vector<std::byte*> addresses;
    for (int rank = 0; rank < ranks; ++rank) addresses.push_back(memory_.of(rank).data());
    return addresses;
  }

  int rank_;
  std::size_t memory_at_;
  SharedSegments memory_;
  Signals signals_;
};

/// Remote shared memory of one host: what a rank exposes, the others put to and get from.
class SharedMemoryTransport : public MpiControl,
                              public StartedByMpi<SharedMemoryTransport>,
                              public PendingMessages<SharedMemoryTransport>,
                              public MessageCollectives<SharedMemoryTransport> {
 public:
  using MessageCollectives::gather;
  using MessageCollectives::wait;
  using MpiControl::gather;
  using PendingMessages::wait;
  static constexpr TransportInfo info{"shm", "shared memory of the processes of one host",
                                      ClockError::described};

  explicit SharedMemoryTransport(const Options& options)
      : MpiControl(options),
        PendingMessages(waiting_, size()),
        waiting_(*this),
        channels_(*this, sizeof(Channel) * static_cast<std::size_t>(size())),
        board_(expose(page_bytes)) {}

  bool push(int peer, ConstBytes& remaining, bool& first) {
    return channel(rank(), peer).push(remaining, first);
  }
  bool pull(int peer, Bytes& remaining, bool& first) {
    return channel(peer, rank()).pull(remaining, first);
  }

  using Region = SharedRegion;

  Region expose(std::size_t size_bytes) { return {*this, size_bytes}; }
  void put(Region& region, int peer, std::size_t offset, ConstBytes data) {
    region.put(peer, offset, data);
  }
  void get(Region& region, int peer, std::size_t offset, Bytes data) {
    if (!data.empty()) std::memcpy(data.data(), mapped(region, peer).data() + offset, data.size());
  }
  /// The region of a rank, for plain loads and stores.
  [[nodiscard]] Bytes mapped(const Region& region, int peer) const { return region.of(peer); }
  template <class Holds>
  void until(Holds holds) const {
    waiting_.until(holds);
  }
  void complete(Region&, int) { std::atomic_thread_fence(std::memory_order_release); }
  void signal(Region& region, int peer, int slot) { region.signals().raise(peer, slot); }
  void put_and_signal(Region& region, int peer, std::size_t offset, ConstBytes data, int slot) {
    region.put_and_signal(peer, offset, data, slot);
  }
  void await_signal(Region& region, int slot) {
    waiting_.until([&] { return region.signals().take(slot, region.local()); });
  }
  void withdraw(Region& region) {
    MpiControl::barrier();
    region.forget();
  }

  static constexpr std::string_view steps = all_steps;
  template <class Timed>
  void segment_life(ConstBytes out, Bytes in, Timed timed) {
    if (rank() == 0) {
      const auto publish = [&](const SegmentAddress& address) {
        put(board_, 1, 0, std::as_bytes(std::span(&address, 1)));
        signal(board_, 1, 0);
      };
      expose_segment_once(out.size(), timed, publish, [&] { await_signal(board_, 0); });
    }
    if (rank() != 1) return;
    const auto learn = [&] {
      await_signal(board_, 0);
      SegmentAddress address;
      std::memcpy(&address, board_.local().data(), sizeof address);
      return address;
    };
    use_segment_once(out, in, timed, learn, [&] { signal(board_, 0, 0); });
  }

  [[nodiscard]] std::string library() const { return "POSIX shared memory"; }

 private:
  /// Lies in the receiver's memory.
  Channel& channel(int from, int to) {
    auto* first = reinterpret_cast<Channel*>(channels_.of(to).data());
    return first[from];
  }

  Waiting waiting_;
  SharedSegments channels_;
  /// The region in which segments are announced.
  Region board_;
};

static_assert(MappedMemory<SharedMemoryTransport> && SignallingPuts<SharedMemoryTransport>);
static_assert(SegmentLife<SharedMemoryTransport>);
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::SharedMemoryTransport);
