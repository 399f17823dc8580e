// Receives that wait for messages, and messages that nobody has received: each in their order.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "fabric/message.hpp"

namespace nhalf::fabric {

/// Which messages a receive takes.
struct Selection {
  std::uint64_t tag = 0;
  /// Bits of the tag that do not matter.
  std::uint64_t ignored = 0;
  std::optional<Address> source;

  [[nodiscard]] bool takes(const Message& message) const {
    return ((message.envelope.tag ^ tag) & ~ignored) == 0 && (!source || *source == message.source);
  }
};

struct Receive {
  Selection selection;
  std::vector<iovec> parts;
  void* context = nullptr;
  /// Whether its end is reported.
  bool is_reported = true;
  /// Whether its buffer takes message after message, and how full it is.
  bool takes_many = false;
  std::size_t used_bytes = 0;
};

class Matching {
 public:
  /// Returns the first receive that takes a message, which stays; null if none does.
  Receive* receive_of(const Message& message) {
    for (auto& receive : receives_)
      if (receive.selection.takes(message)) return &receive;
    return nullptr;
  }
  /// Removes a receive that `receive_of` returned.
  void remove(const Receive* receive) {
    for (auto place = receives_.begin(); place != receives_.end(); ++place)
      if (&*place == receive) {
        receives_.erase(place);
        return;
      }
  }
  void wait_for(Receive receive) { receives_.push_back(std::move(receive)); }
  void keep(Message& message) { messages_.push_back(&message); }

  /// Returns the first message that nobody claimed and a selection takes, which stays; null if
  /// there is none.
  [[nodiscard]] Message* message_for(const Selection& selection) const {
    for (auto* message : messages_)
      if (!message->is_claimed && selection.takes(*message)) return message;
    return nullptr;
  }
  /// Removes a message; false if it is not here.
  bool remove(const Message* message) {
    for (auto place = messages_.begin(); place != messages_.end(); ++place)
      if (*place == message) {
        messages_.erase(place);
        return true;
      }
    return false;
  }
  /// Takes back the receive with a context; false if it is not here any more.
  bool cancel(const void* context) {
    for (auto place = receives_.begin(); place != receives_.end(); ++place)
      if (place->context == context) {
        receives_.erase(place);
        return true;
      }
    return false;
  }
  [[nodiscard]] bool has_receives() const { return !receives_.empty(); }

 private:
  std::deque<Receive> receives_;
  std::deque<Message*> messages_;
};

}  // namespace nhalf::fabric
