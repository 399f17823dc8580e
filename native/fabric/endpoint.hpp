// One end of the network: its receives, its messages, and where it reports what is complete; and
// all those of a rank.
#pragma once

#include "fabric/message.hpp"

namespace nhalf::fabric {
// Receives that wait for messages, and messages that nobody has received: each in their order.

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

class Endpoint {
 public:
  explicit Endpoint(std::uint32_t own_number) : number(own_number) {}

  std::uint32_t number;
  Completions* of_sends = nullptr;
  Completions* of_receives = nullptr;
  /// A buffer of many messages that has less room than this goes back.
  std::size_t least_room = 64;

  /// Takes a message that is there; false if it stays until somebody receives it.
  bool arrive(Message& message, Picoseconds now) {
    auto& side = matching(message.envelope.is_tagged);
    Receive* receive = side.receive_of(message);
    if (receive == nullptr) {
      side.keep(message);
      return false;
    }
    if (complete(*receive, message, now)) side.remove(receive);
    return true;
  }

  /// Begins a receive; `release` is called with every message that it takes at once.
  template <class Release>
  void post(Receive receive, bool is_tagged, Picoseconds now, Release release) {
    auto& side = matching(is_tagged);
    while (Message* message = side.message_for(receive.selection)) {
      side.remove(message);
      const bool is_done = complete(receive, *message, now);
      release(*message);
      if (is_done) return;
    }
    side.wait_for(std::move(receive));
  }

  /// Receives a message that was claimed before; false if it is not here.
  bool receive_claimed(Receive receive, Message& message, Picoseconds now) {
    if (!tagged_.remove(&message)) return false;
    complete(receive, message, now);
    return true;
  }

  bool cancel(void* context, Picoseconds now) {
    for (const bool is_tagged : {true, false}) {
      if (!matching(is_tagged).cancel(context)) continue;
      Completion cancelled{now, context};
      cancelled.envelope.is_tagged = is_tagged;
      cancelled.is_received = true;
      cancelled.failure = Failure::cancelled;
      report(cancelled);
      return true;
    }
    return false;
  }

  [[nodiscard]] Matching& tagged() { return tagged_; }
  void report(const Completion& completion) {
    if (of_receives != nullptr) of_receives->add(completion);
  }

 private:
  Matching& matching(bool is_tagged) { return is_tagged ? tagged_ : plain_; }

  /// Copies a message and reports it; returns whether the receive is over.
  bool complete(Receive& receive, Message& message, Picoseconds now) {
    const auto room = bytes_in(receive.parts) - receive.used_bytes;
    const auto copied = std::min<std::size_t>(room, message.size_bytes);
    scatter(receive.parts, receive.used_bytes, message.body(), copied);
    auto* const begin =
        receive.parts.empty() ? nullptr : static_cast<std::byte*>(receive.parts[0].iov_base);
    Completion completion(std::max(message.arrival, now), receive.context);
    completion.cost = message.cost;
    completion.buffer = begin == nullptr ? nullptr : begin + receive.used_bytes;
    completion.size_bytes = copied;
    completion.lost_bytes = message.size_bytes - copied;
    completion.envelope = message.envelope;
    completion.source = message.source;
    completion.is_received = true;
    if (completion.lost_bytes > 0) completion.failure = Failure::truncated;
    receive.used_bytes += copied;
    const bool is_over = !receive.takes_many || room - copied < least_room;
    completion.is_released = receive.takes_many && is_over;
    if (receive.is_reported || completion.lost_bytes > 0) report(completion);
    return is_over;
  }

  Matching tagged_;
  Matching plain_;
};

/// Libraries open several endpoints and completion queues.
class Endpoints {
 public:
  Endpoint& add() {
    const auto number = static_cast<std::uint32_t>(endpoints_.size());
    return *endpoints_.emplace_back(std::make_unique<Endpoint>(number));
  }
  Completions& add_queue() { return *queues_.emplace_back(std::make_unique<Completions>()); }

  [[nodiscard]] bool is_empty() const { return endpoints_.empty(); }
  [[nodiscard]] bool has_receives() const {
    return std::any_of(endpoints_.begin(), endpoints_.end(),
                       [](auto& endpoint) { return endpoint->tagged().has_receives(); });
  }
  /// Returns when the first completion of any queue is due.
  [[nodiscard]] Picoseconds due() const {
    auto first = never;
    for (const auto& queue : queues_) first = std::min(first, queue->due());
    return first;
  }
  /// Gives a message to its endpoint; whether it is used up, and its memory free again.
  bool arrive(Message& message, Picoseconds now) {
    return message.endpoint >= endpoints_.size() ||
           endpoints_[message.endpoint]->arrive(message, now);
  }
  /// Returns where an endpoint reports its sends; null if nowhere.
  [[nodiscard]] Completions* queue_of_sends(std::uint32_t number) const {
    return endpoints_[number]->of_sends;
  }

 private:
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::vector<std::unique_ptr<Completions>> queues_;
};
}  // namespace nhalf::fabric
