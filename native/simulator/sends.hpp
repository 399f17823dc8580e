// A long send ends when its bytes have left, however long they still are on their way.
#pragma once

#include "simulator/departures.hpp"
#include "simulator/smpi.hpp"

namespace simgrid::kernel::activity {
class CommImpl;
}  // namespace simgrid::kernel::activity

namespace nhalf::simulator {
/// SMPI lets a send end at once, or when its message has arrived. Here all end at once, and who
/// waits for one that is long waits until it has left.
class Sends {
 public:
  using Request = simgrid::smpi::Request;

  static void start(Request* request) {
    static const auto own = smpi_own<void (*)(Request*)>("_ZN7simgrid4smpi7Request5startEv");
    const auto* host = simgrid::s4u::this_actor::get_host();
    Departures::take_awaited(host);
    own(request);
    if (auto departure = Departures::take_awaited(host)) departing_[request] = departure;
  }

  static void finish_wait(Request** request, MPI_Status* status) {
    static const auto own = smpi_own<decltype(&finish_wait)>(
        "_ZN7simgrid4smpi7Request11finish_waitEPPS1_P10MPI_Status");
    if (const auto place = departing_.find(*request); place != departing_.end()) {
      const auto departure = place->second;
      departing_.erase(place);
      if (!departure->is_over) {
        // Messages to an actor that is suspended would wait for it.
        departure->waiting = simgrid::s4u::Semaphore::create(0);
        departure->waiting->acquire();
      }
    }
    own(request, status);
  }

  /// SMPI copies what is sent, since its sender may write to it again. Memory that all ranks share
  /// (folded_memory.hpp) holds nothing to copy.
  static const void* copied(const void* data, unsigned flags) {
    if (data == nullptr || (flags & receives) != 0) return data;
    std::vector<std::pair<std::size_t, std::size_t>> own_blocks;
    std::size_t offset = 0;
    return smpi_is_shared(data, own_blocks, &offset) != 0 && own_blocks.empty() ? nullptr : data;
  }

 private:
  /// SMPI's MPI_REQ_RECV.
  static constexpr unsigned receives = 8;

  static inline std::unordered_map<const Request*, std::shared_ptr<Departure>> departing_;
};
}  // namespace nhalf::simulator

/// The constructor of a request.
extern "C" void nhalf_make_request(
    void* request, const void* data, int count, MPI_Datatype type, long from, long to, int tag,
    MPI_Comm comm, unsigned flags,
    MPI_Op op) asm("_ZN7simgrid4smpi7RequestC1EPKviPNS0_8DatatypeElliPNS0_4CommEjPNS0_2OpE");

void nhalf_make_request(void* request, const void* data, int count, MPI_Datatype type, long from,
                        long to, int tag, MPI_Comm comm, unsigned flags, MPI_Op op) {
  static const auto own = nhalf::simulator::smpi_own<decltype(&nhalf_make_request)>(
      "_ZN7simgrid4smpi7RequestC1EPKviPNS0_8DatatypeElliPNS0_4CommEjPNS0_2OpE");
  own(request, nhalf::simulator::Sends::copied(data, flags), count, type, from, to, tag, comm,
      flags, op);
}

void smpi_comm_copy_buffer_callback(simgrid::kernel::activity::CommImpl* message, void* data,
                                    std::size_t size_bytes) {
  static const auto own = nhalf::simulator::smpi_own<decltype(&smpi_comm_copy_buffer_callback)>(
      "_Z30smpi_comm_copy_buffer_callbackPN7simgrid6kernel8activity8CommImplEPvm");
  if (data != nullptr) own(message, data, size_bytes);
}

void simgrid::smpi::Request::start() {
  nhalf::simulator::Sends::start(this);
}

void simgrid::smpi::Request::finish_wait(Request** request, MPI_Status* status) {
  nhalf::simulator::Sends::finish_wait(request, status);
}
