// A long send ends when its bytes have left, however long they still are on their way.
#pragma once

#include <smpi/smpi.h>

#include <memory>
#include <simgrid/s4u.hpp>
#include <unordered_map>

#include "simulator/departures.hpp"
#include "simulator/smpi.hpp"

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

 private:
  static inline std::unordered_map<const Request*, std::shared_ptr<Departure>> departing_;
};

}  // namespace nhalf::simulator

void simgrid::smpi::Request::start() {
  nhalf::simulator::Sends::start(this);
}

void simgrid::smpi::Request::finish_wait(Request** request, MPI_Status* status) {
  nhalf::simulator::Sends::finish_wait(request, status);
}
