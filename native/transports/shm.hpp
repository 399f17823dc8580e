// nhalf-needs: MPI
// Memory of other processes of the host, written and read directly.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "contract/buffer.hpp"
#include "contract/options.hpp"
#include "contract/pattern.hpp"
#include "contract/segment_life.hpp"
#include "contract/transport.hpp"
#include "transports/bases/message_collectives.hpp"
#include "transports/bases/mpi_control.hpp"
#include "transports/bases/pending_messages.hpp"
#include "transports/bases/stepwise_segment.hpp"
#include "transports/bases/waiting.hpp"
#include "transports/shm/channel.hpp"
#include "transports/shm/shared_region.hpp"
#include "transports/shm/shared_segments.hpp"

namespace nhalf {

/// Remote shared memory of one host: what a rank exposes, the others put to and get from.
class SharedMemoryTransport : public MpiControl,
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

  template <class Body>
  static int launch(int argc, char** argv, int, const Options& options, Body body) {
    return launch_by_mpi<SharedMemoryTransport>(argc, argv, options, body);
  }

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
