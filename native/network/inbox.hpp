// Messages on their way to a rank, in the order in which they arrive. They come in one after the
// other: a message that arrives while another one does is there later.
#pragma once

#include <algorithm>

#include "network/message.hpp"

namespace nhalf::network {
class Inbox {
 public:
  Inbox(State& state, int rank)
      : state_(state), port_(state.ports[static_cast<std::size_t>(rank)]) {}

  void put(Message& message) {
    const Offset place = state_.offset_of(&message);
    message.following = 0;
    if (port_.incoming_first == 0) {
      port_.incoming_first = port_.incoming_last = place;
    } else if (auto& last = state_.at<Message>(port_.incoming_last);
               last.arrival <= message.arrival) {
      last.following = port_.incoming_last = place;
    } else {
      Offset* before = &port_.incoming_first;
      while (state_.at<Message>(*before).arrival <= message.arrival)
        before = &state_.at<Message>(*before).following;
      message.following = *before;
      *before = place;
    }
  }

  /// Counts a message that begins to come in, and keeps the way for this long if it is alone there.
  void expect(Picoseconds begin, Picoseconds busy) {
    port_.incoming_free = std::max(port_.incoming_free, begin) + busy;
  }

  /// Returns when the first message is there; never without one. What came in beside others need
  /// not come in again.
  [[nodiscard]] Picoseconds due() const {
    if (port_.incoming_first == 0) return never;
    const auto& message = state_.at<Message>(port_.incoming_first);
    const auto behind = std::min(port_.incoming_at + message.busy_in, port_.incoming_free);
    return std::max(message.arrival, behind);
  }

  /// Takes the first message, whose arrival is now when it was there.
  Message& take() {
    auto& message = state_.at<Message>(port_.incoming_first);
    message.arrival = port_.incoming_at = due();
    port_.incoming_first = message.following;
    if (port_.incoming_first == 0) port_.incoming_last = 0;
    return message;
  }

 private:
  State& state_;
  Port& port_;
};
}  // namespace nhalf::network
