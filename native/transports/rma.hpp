// nhalf-needs: MPI
// nhalf-data-by: MPI
// One-sided communication of the Message Passing Interface: windows.
#pragma once

#include "contract/pattern.hpp"
#include "transports/bases/message_collectives.hpp"
#include "transports/bases/pending_messages.hpp"
#include "transports/mpi/messages.hpp"
#include "transports/rma/channels.hpp"

namespace nhalf {
// The life of a window between two ranks, step by step.

/// A window of ranks 0 and 1 alone: rank 0's memory, which rank 1 puts to and gets from.
class PairWindow {
 public:
  static constexpr std::string_view steps =
      "create,register,connect,put,get,fence,disconnect,destroy";

  PairWindow() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_split(MPI_COMM_WORLD, rank_ < 2 ? 0 : MPI_UNDEFINED, rank_, &pair_);
  }
  PairWindow(const PairWindow&) = delete;
  PairWindow& operator=(const PairWindow&) = delete;
  ~PairWindow() {
    if (pair_ != MPI_COMM_NULL) MPI_Comm_free(&pair_);
  }

  /// Collective over both ranks, whose waits for each other before a step are not timed.
  template <class Timed>
  void live(ConstBytes out, Bytes in, Timed timed) {
    const auto size_bytes = static_cast<MPI_Aint>(rank_ == 0 ? out.size() : 0);
    void* memory = nullptr;
    if (rank_ == 0) timed(Step::create, [&] { MPI_Alloc_mem(size_bytes, MPI_INFO_NULL, &memory); });
    MPI_Barrier(pair_);
    MPI_Win window = MPI_WIN_NULL;
    timed(Step::enlist,
          [&] { MPI_Win_create(memory, size_bytes, 1, MPI_INFO_NULL, pair_, &window); });
    if (rank_ == 1) use(window, out, in, timed);
    MPI_Barrier(pair_);
    timed(Step::destroy, [&] {
      MPI_Win_free(&window);
      if (rank_ == 0) MPI_Free_mem(memory);
    });
  }

 private:
  template <class Timed>
  static void use(MPI_Win window, ConstBytes out, Bytes in, Timed timed) {
    const int count = static_cast<int>(out.size());
    timed(Step::connect, [&] { MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window); });
    timed(Step::put, [&] {
      MPI_Put(out.data(), count, MPI_BYTE, 0, 0, count, MPI_BYTE, window);
      MPI_Win_flush(0, window);
    });
    timed(Step::get, [&] {
      MPI_Get(in.data(), count, MPI_BYTE, 0, 0, count, MPI_BYTE, window);
      MPI_Win_flush(0, window);
    });
    timed(Step::fence, [&] { MPI_Win_flush(0, window); });
    timed(Step::disconnect, [&] { MPI_Win_unlock(0, window); });
  }

  int rank_ = 0;
  MPI_Comm pair_ = MPI_COMM_NULL;
};

/// Windows of the MPI library under test. Messages are puts into rings of slots, which the receiver
/// looks at: what a program has that sends by nothing but windows.
class RmaTransport : public MpiControl,
                     public StartedByMpi<RmaTransport>,
                     public MpiNamed,
                     public MpiAccesses,
                     public PendingMessages<RmaTransport>,
                     public MessageCollectives<RmaTransport> {
 public:
  using MessageCollectives::gather;
  using MessageCollectives::wait;
  using MpiAccesses::complete;
  using MpiAccesses::end;
  using MpiAccesses::get;
  using MpiAccesses::put;
  using MpiControl::gather;
  using PendingMessages::wait;
  static constexpr TransportInfo info{"rma", "windows of the MPI library under test",
                                      ClockError::described};

  /// Messages by puts are written to memory of the host.
  static constexpr bool offers_gpu_memory(const PatternInfo& info) {
    return info.needs == "windows";
  }

  explicit RmaTransport(const Options& options)
      : MpiControl(options),
        PendingMessages(waiting_, size()),
        waiting_(*this),
        channels_(rank(), size()) {}

  bool push(int peer, ConstBytes& remaining, bool& first) {
    return channels_.push(peer, remaining, first);
  }
  bool pull(int peer, Bytes& remaining, bool& first) {
    return channels_.pull(peer, remaining, first);
  }

  /// Memory of `size_bytes` of every rank that the others put to; see OneSided. Before it lies, for
  /// each slot and rank, how many signals that rank has given.
  class Region {
   public:
    [[nodiscard]] Bytes local() const { return window_.local().subspan(data_at()); }

   private:
    friend RmaTransport;
    Region(int ranks, std::size_t size_bytes)
        : ranks_(static_cast<std::size_t>(ranks)),
          window_(data_at() + size_bytes, WindowKind::allocate),
          given_(OneSidedLimits::slots * ranks_),
          awaited_(OneSidedLimits::slots) {
      MPI_Win_lock_all(MPI_MODE_NOCHECK, window_.handle());
    }

    [[nodiscard]] std::size_t number(int slot, int from) const {
      return static_cast<std::size_t>(slot) * ranks_ + static_cast<std::size_t>(from);
    }
    [[nodiscard]] std::size_t data_at() const {
      const auto counters = OneSidedLimits::slots * ranks_ * sizeof(std::uint64_t);
      return (counters + 63) / 64 * 64;
    }
    /// Signals of all ranks that this one has not awaited.
    [[nodiscard]] bool has_signal(int slot) const {
      std::uint64_t sum = 0;
      auto* counters = reinterpret_cast<std::uint64_t*>(window_.local().data());
      for (std::size_t from = 0; from < ranks_; ++from)
        sum += std::atomic_ref(counters[static_cast<std::size_t>(slot) * ranks_ + from])
                   .load(std::memory_order_acquire);
      return sum > awaited_[static_cast<std::size_t>(slot)];
    }

    std::size_t ranks_;
    MpiWindow window_;
    /// By slot and rank, how many signals this rank has given it; puts read them.
    std::vector<std::uint64_t> given_;
    std::vector<std::uint64_t> awaited_;
  };

  Region expose(std::size_t size_bytes) { return {size(), size_bytes}; }
  void put(Region& region, int peer, std::size_t offset, ConstBytes data) {
    put_to(region.window_, peer, region.data_at() + offset, data);
    MPI_Win_flush_local(peer, region.window_.handle());
  }
  void get(Region& region, int peer, std::size_t offset, Bytes data) {
    get_from(region.window_, peer, region.data_at() + offset, data);
    MPI_Win_flush(peer, region.window_.handle());
  }
  void complete(Region& region, int peer) { MPI_Win_flush(peer, region.window_.handle()); }
  void signal(Region& region, int peer, int slot) {
    complete(region, peer);
    auto& count = region.given_[region.number(slot, peer)];
    ++count;
    put_to(region.window_, peer, region.number(slot, rank()) * sizeof count,
           std::as_bytes(std::span(&count, 1)));
    complete(region, peer);
  }
  void await_signal(Region& region, int slot) {
    waiting_.until([&] { return region.has_signal(slot) || go_on(region); });
    ++region.awaited_[static_cast<std::size_t>(slot)];
  }
  /// A rank that ends in disorder has nobody to free it with.
  void withdraw(Region& region) {
    if (std::uncaught_exceptions() > 0) return;
    MPI_Win_unlock_all(region.window_.handle());
    region.window_.close();
  }

  static constexpr std::string_view steps = PairWindow::steps;
  template <class Timed>
  void segment_life(ConstBytes out, Bytes in, Timed timed) {
    if (rank() < 2) pair_.live(out, in, timed);
  }

 private:
  /// Lets the library move what others put.
  static bool go_on(Region& region) {
    int is_pending = 0;
    MPI_Win_sync(region.window_.handle());
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_pending, MPI_STATUS_IGNORE);
    return false;
  }

  Waiting waiting_;
  RmaChannels channels_;
  PairWindow pair_;
};

static_assert(OneSided<RmaTransport>);
static_assert(SegmentLife<RmaTransport>);
static_assert(Windows<RmaTransport>);
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::RmaTransport);
