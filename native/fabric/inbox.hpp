// SPDX-License-Identifier: Apache-2.0
// Messages on their way to a rank, in the order in which they arrive. They come in one after the
// other: a message that arrives while another one does is there later.
#pragma once

#include <algorithm>

#include "fabric/message.hpp"
#include "fabric/picoseconds.hpp"
#include "fabric/region.hpp"

namespace nhalf::fabric {

class Inbox {
 public:
  Inbox(Region& region, int rank)
      : region_(region), slot_(region.slots[static_cast<std::size_t>(rank)]) {}

  void put(Message& message) {
    const Offset place = region_.offset_of(&message);
    message.following = 0;
    if (slot_.first == 0) {
      slot_.first = slot_.last = place;
    } else if (auto& last = region_.at<Message>(slot_.last); last.arrival <= message.arrival) {
      last.following = slot_.last = place;
    } else {
      Offset* before = &slot_.first;
      while (region_.at<Message>(*before).arrival <= message.arrival)
        before = &region_.at<Message>(*before).following;
      message.following = *before;
      *before = place;
    }
  }

  /// Counts a message that begins to come in, and keeps the way for this long if it is alone there.
  void expect(Picoseconds begin, Picoseconds busy) {
    slot_.incoming_free = std::max(slot_.incoming_free, begin) + busy;
  }

  /// Returns when the first message is there; never without one. What came in beside others need
  /// not come in again.
  [[nodiscard]] Picoseconds due() const {
    if (slot_.first == 0) return never;
    const auto& message = region_.at<Message>(slot_.first);
    const auto behind = std::min(slot_.incoming_last + message.busy, slot_.incoming_free);
    return std::max(message.arrival, behind);
  }

  /// Takes the first message, whose arrival is now when it was there.
  Message& take() {
    auto& message = region_.at<Message>(slot_.first);
    message.arrival = slot_.incoming_last = due();
    slot_.first = message.following;
    if (slot_.first == 0) slot_.last = 0;
    return message;
  }

 private:
  Region& region_;
  Slot& slot_;
};

}  // namespace nhalf::fabric
