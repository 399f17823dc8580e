// SPDX-License-Identifier: Apache-2.0
// Messages of a rank in the memory that all ranks share. A run that fills it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "fabric/access.hpp"
#include "fabric/exceeded.hpp"
#include "fabric/heap.hpp"
#include "fabric/message.hpp"
#include "fabric/picoseconds.hpp"
#include "fabric/region.hpp"
#include "fabric/stop_run.hpp"

namespace nhalf::fabric {

class MessagePool {
 public:
  MessagePool(Region& region, Heap& heap, int rank) : region_(region), heap_(heap), rank_(rank) {}

  /// Returns a message from an endpoint of this rank, whose bytes are yet to be written.
  Message& message(std::uint32_t endpoint, Address to, std::size_t size_bytes,
                   std::uint32_t head_bytes = 0) {
    const auto place = allocated(sizeof(Message) + head_bytes + size_bytes);
    auto& message = *new (&region_.at<std::byte>(place)) Message;
    message.head_bytes = head_bytes;
    message.size_bytes = size_bytes;
    message.source = {static_cast<std::uint32_t>(rank_), endpoint};
    message.target = to.rank;
    message.endpoint = to.endpoint;
    return message;
  }
  /// Returns an access, or its answer.
  Message& access(std::uint32_t endpoint, Address to, const Access& access,
                  std::size_t size_bytes) {
    auto& carrier = message(endpoint, to, size_bytes, sizeof(Access));
    carrier.is_access = true;
    new (carrier.body()) Access(access);
    return carrier;
  }
  void release(Message& message) { heap_.give_back(region_.offset_of(&message), message.room()); }

  /// Returns the place where the network writes when a message has left.
  Offset departure() {
    const auto place = allocated(sizeof(Departure));
    region_.at<Departure>(place).at = never;
    return place;
  }
  void release_departure(Offset place) { heap_.give_back(place, sizeof(Departure)); }

 private:
  Offset allocated(std::size_t size_bytes) {
    const auto place = heap_.take(size_bytes);
    if (place == 0) {
      const auto& call = region_.slots[static_cast<std::size_t>(rank_)].doing.call;
      stop(region_, "memory", memory_exceeded(rank_, call.data(), region_.heap.end));
    }
    return place;
  }

  Region& region_;
  Heap& heap_;
  int rank_;
};

}  // namespace nhalf::fabric
