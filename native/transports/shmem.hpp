// nhalf-needs: MPI
// nhalf-links: -loshmem
// nhalf-package: libopenmpi-dev
// OpenSHMEM as Open MPI has it, in the processes that MPI starts.
#pragma once

#include <shmem.h>
#include <atomic>

#include "contract/exposed_memory.hpp"
#include "contract/pattern.hpp"
#include "transports/bases/message_collectives.hpp"
#include "transports/bases/pending_messages.hpp"

namespace nhalf::shmem {
// Memory that lies at the same place in the symmetric heap of every rank.

/// Room in the heap, at the same place for all; called by all ranks. Throws InputError where there
/// is none.
inline std::byte* allocated(std::size_t size_bytes) {
  auto* const address = static_cast<std::byte*>(shmem_align(4096, size_bytes));
  if (address == nullptr)
    throw InputError("no " + std::to_string(size_bytes) +
                     " bytes left in the symmetric heap: set SHMEM_SYMMETRIC_SIZE");
  return address;
}

/// Zeros at first. All ranks make it together, and free it together: its end frees nothing.
class Symmetric {
 public:
  Symmetric() = default;
  /// Throws InputError if the heap is full.
  explicit Symmetric(std::size_t size_bytes)
      : data_(allocated(size_bytes + 4096)), size_bytes_(size_bytes) {
    std::memset(data_, 0, size_bytes);
    shmem_barrier_all();
  }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] Bytes bytes() const { return {data_, size_bytes_}; }

  void free() {
    if (data_ != nullptr) shmem_free(data_);
    data_ = nullptr;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

/// A ring of slots for every sender, in the memory of every receiver. The sender puts a piece into
/// a slot and then its number beside the ring; the receiver puts the number back once it has copied
/// the piece. Both sides know the size of a message.
class Channels {
 public:
  /// All ranks call it.
  Channels(int rank, int ranks)
      : rank_(rank),
        memory_(sizeof(Ring) * static_cast<std::size_t>(ranks)),
        sent_(static_cast<std::size_t>(ranks)),
        taken_(static_cast<std::size_t>(ranks)) {}

  /// Moves what can be moved now; whether the message is whole.
  bool push(int peer, ConstBytes& remaining, bool& first) {
    auto& sent = sent_[static_cast<std::size_t>(peer)];
    auto& theirs = ring(rank_);
    return move_pieces(remaining, first, slot_bytes, [&](ConstBytes piece) {
      if (sent - seen(ring(peer).taken) == slots) return false;
      if (!piece.empty())
        shmem_putmem(theirs.pieces[sent % slots], piece.data(), piece.size(), peer);
      shmem_fence();
      shmem_uint64_p(&theirs.arrived, ++sent, peer);
      return true;
    });
  }

  bool pull(int peer, Bytes& remaining, bool& first) {
    auto& taken = taken_[static_cast<std::size_t>(peer)];
    auto& mine = ring(peer);
    return move_pieces(remaining, first, slot_bytes, [&](Bytes piece) {
      if (seen(mine.arrived) == taken) return false;
      if (!piece.empty()) std::memcpy(piece.data(), mine.pieces[taken % slots], piece.size());
      shmem_uint64_p(&ring(rank_).taken, ++taken, peer);
      return true;
    });
  }

 private:
  static constexpr std::size_t slots = 8;
  static constexpr std::size_t slot_bytes = 8192;

  /// Pieces that one rank sends to this one, and how many of this one's pieces it has received.
  struct Ring {
    alignas(64) std::uint64_t arrived;
    alignas(64) std::uint64_t taken;
    alignas(64) std::byte pieces[slots][slot_bytes];
  };

  /// The ring of a sender, which lies at the same address in every receiver.
  [[nodiscard]] Ring& ring(int sender) const {
    return reinterpret_cast<Ring*>(memory_.data())[sender];
  }
  /// A number that another rank puts. Asking OpenSHMEM lets its own work go on.
  static std::uint64_t seen(std::uint64_t& number) {
    shmem_uint64_test(&number, SHMEM_CMP_NE, 0);
    return std::atomic_ref(number).load(std::memory_order_acquire);
  }

  int rank_;
  Symmetric memory_;
  std::vector<std::uint64_t> sent_, taken_;
};
}  // namespace nhalf::shmem

namespace nhalf {
/// Puts, gets and barriers are OpenSHMEM's own; messages are made of puts.
class ShmemTransport : public ProgressingControl<ShmemTransport>,
                       public PendingMessages<ShmemTransport>,
                       public MessageCollectives<ShmemTransport> {
 public:
  using MessageCollectives::gather;
  using MessageCollectives::wait;
  using PendingMessages::wait;
  using ProgressingControl::gather;
  static constexpr TransportInfo info{"shmem", "puts and gets of OpenSHMEM, messages made of them",
                                      ClockError::described};

  explicit ShmemTransport(const Options& options)
      : ProgressingControl(options),
        PendingMessages(waiting(), size()),
        channels_(rank(), size()) {}

  /// The end is MPI's: shmem_finalize of Open MPI 4.1.4 crashes after the work, and so does what it
  /// has registered to run at the end of a process.
  template <class Body>
  static int launch(int argc, char** argv, int, const Options& options, Body body) {
    MPI_Init(&argc, &argv);
    shmem_init();
    try {
      ShmemTransport transport(options);
      body(transport);
      transport.barrier();
    } catch (const std::exception& error) {
      give_up(error);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    std::fflush(nullptr);
    MPI_Finalize();
    std::_Exit(0);
  }

  bool push(int peer, ConstBytes& remaining, bool& first) {
    return channels_.push(peer, remaining, first);
  }
  bool pull(int peer, Bytes& remaining, bool& first) {
    return channels_.pull(peer, remaining, first);
  }
  void synchronise() { shmem_barrier_all(); }

  /// Signals first, a cache line each, then the bytes that are exposed.
  class Region {
   public:
    [[nodiscard]] Bytes local() const { return memory_.bytes().subspan(signals_bytes); }

   private:
    friend ShmemTransport;
    static constexpr std::size_t line_bytes = 64;
    static constexpr std::size_t signals_bytes = line_bytes * OneSidedLimits::slots;
    explicit Region(std::size_t size_bytes) : memory_(signals_bytes + size_bytes) {}

    [[nodiscard]] std::byte* at(std::size_t offset) const {
      return memory_.data() + signals_bytes + offset;
    }
    [[nodiscard]] std::uint64_t& signal(int slot) const {
      return *reinterpret_cast<std::uint64_t*>(memory_.data() +
                                               line_bytes * static_cast<std::size_t>(slot));
    }

    shmem::Symmetric memory_;
    /// Number of signals of each slot that have been awaited.
    std::array<std::uint64_t, OneSidedLimits::slots> awaited_{};
  };

  Region expose(std::size_t size_bytes) { return Region(size_bytes); }
  void put(Region& region, int peer, std::size_t offset, ConstBytes data) {
    shmem_putmem(region.at(offset), data.data(), data.size(), peer);
  }
  void get(Region& region, int peer, std::size_t offset, Bytes data) {
    shmem_getmem(data.data(), region.at(offset), data.size(), peer);
  }
  void complete(Region&, int) { shmem_quiet(); }
  void signal(Region& region, int peer, int slot) {
    shmem_fence();
    shmem_ulong_atomic_add(reinterpret_cast<unsigned long*>(&region.signal(slot)), 1, peer);
  }
  void await_signal(Region& region, int slot) {
    auto& awaited = region.awaited_[static_cast<std::size_t>(slot)];
    go_on_until([&] {
      return std::atomic_ref(region.signal(slot)).load(std::memory_order_acquire) > awaited;
    });
    ++awaited;
  }
  void withdraw(Region& region) {
    shmem_quiet();
    barrier();
    region.memory_.free();
  }

  static constexpr std::string_view steps = "create,put,get,fence,signal,destroy";
  /// Memory is made and freed by all ranks together, and is where all know it.
  template <class Timed>
  void segment_life(ConstBytes out, Bytes in, Timed timed) {
    shmem_barrier_all();
    std::byte* memory = nullptr;
    timed(Step::create, [&] { memory = shmem::allocated(out.size()); });
    if (rank() == 1) {
      timed(Step::put, [&] {
        shmem_putmem(memory, out.data(), out.size(), 0);
        shmem_quiet();
      });
      timed(Step::get, [&] { shmem_getmem(in.data(), memory, in.size(), 0); });
      timed(Step::fence, [] { shmem_quiet(); });
      timed(Step::signal, [&] { send(0, ConstBytes{}); });
    }
    if (rank() == 0) recv(1, Bytes{});
    shmem_barrier_all();
    timed(Step::destroy, [&] { shmem_free(memory); });
  }

  /// Asks for what never is, and OpenSHMEM's own work goes on.
  void progress() {
    static std::uint64_t never = 0;
    shmem_uint64_test(&never, SHMEM_CMP_NE, 0);
  }

  [[nodiscard]] std::string library() const {
    char name[SHMEM_MAX_NAME_LEN] = "";
    shmem_info_get_name(name);
    int major = 0, minor = 0;
    shmem_info_get_version(&major, &minor);
    return "OpenSHMEM " + std::to_string(major) + "." + std::to_string(minor) + ", " + name;
  }

 private:
  shmem::Channels channels_;
};

static_assert(OneSided<ShmemTransport> && SegmentLife<ShmemTransport>);
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::ShmemTransport);
