// nhalf-needs: MPI
// Messages that go on piece by piece, many at a time, over whatever moves a piece.
#pragma once

#include "transports/bases/progressing_control.hpp"

namespace nhalf {
/// Moves what is left of a message in pieces of at most `most_bytes`, as `push` and `pull` below do
/// it, while `move(piece)` can; whether the message is whole. An empty message is one piece.
template <class Data, class Move>
bool move_pieces(Data& remaining, bool& first, std::size_t most_bytes, Move move) {
  while (first || !remaining.empty()) {
    const auto piece = remaining.first(std::min(remaining.size(), most_bytes));
    if (!move(piece)) return false;
    remaining = remaining.subspan(piece.size());
    first = false;
  }
  return true;
}

/// Sending and receiving, blocking and not, for a transport Self that has
///     bool push(int peer, ConstBytes& remaining, bool& first)
///     bool pull(int peer, Bytes& remaining, bool& first)
/// which move what can be moved now without waiting, take it off `remaining`, and tell whether the
/// message is whole; `first` is true until they moved something of it. Messages to one rank, and
/// from one rank, keep their order. While a rank waits for one message all others go on.
template <class Self>
class PendingMessages {
 public:
  /// A message that was started, by its place; none once it was waited for.
  struct Request {
    static constexpr std::uint32_t none = UINT32_MAX;
    std::uint32_t place = none;
  };

  PendingMessages(const Waiting& waiting, int ranks)
      : waiting_(waiting), queues_(2 * static_cast<std::size_t>(ranks)) {}

  void send(int peer, ConstBytes data) { finish(sends_to(peer), Message{.out = data}); }
  void recv(int peer, Bytes data) { finish(receives_from(peer), Message{.in = data}); }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    auto sent = isend(to, out);
    recv(from, in);
    wait(sent);
  }

  Request isend(int peer, ConstBytes data) { return start(sends_to(peer), Message{.out = data}); }
  Request irecv(int peer, Bytes data) { return start(receives_from(peer), Message{.in = data}); }

  void wait(Request& request) {
    if (request.place == Request::none) return;
    waiting_.until([&] { return messages_[request.place].done || (go_on(), false); });
    forget(request);
  }
  std::size_t wait_any(std::span<Request> requests) {
    std::size_t completed = requests.size();
    waiting_.until([&] {
      bool any = false;
      for (std::size_t i = 0; i < requests.size() && completed == requests.size(); ++i) {
        if (requests[i].place == Request::none) continue;
        any = true;
        if (messages_[requests[i].place].done) completed = i;
      }
      if (completed == requests.size() && any) go_on();
      return completed < requests.size() || !any;
    });
    if (completed < requests.size()) forget(requests[completed]);
    return completed;
  }

 private:
  static constexpr std::uint32_t end = UINT32_MAX;

  /// The remaining bytes of a message, and the next message of its queue.
  struct Message {
    ConstBytes out{};
    Bytes in{};
    bool first = true;
    bool done = false;
    std::uint32_t next = end;
  };
  struct Queue {
    std::uint32_t head = end;
    std::uint32_t tail = end;
  };

  static std::size_t sends_to(int peer) { return 2 * static_cast<std::size_t>(peer); }
  static std::size_t receives_from(int peer) { return 2 * static_cast<std::size_t>(peer) + 1; }

  /// Moves what can be moved of a message of a queue; whether it is whole.
  bool move(std::size_t queue, Message& message) {
    const int peer = static_cast<int>(queue / 2);
    auto& self = static_cast<Self&>(*this);
    const bool whole = queue % 2 == 0 ? self.push(peer, message.out, message.first)
                                      : self.pull(peer, message.in, message.first);
    return whole;
  }

  /// Completes a message, without a queue entry in the usual case that nothing precedes it.
  void finish(std::size_t queue, Message message) {
    if (queues_[queue].head != end) {
      auto request = start(queue, message);
      wait(request);
      return;
    }
    waiting_.until([&] {
      if (move(queue, message)) return true;
      if (!busy_.empty()) go_on();
      return false;
    });
  }

  Request start(std::size_t queue, Message message) {
    auto& [head, tail] = queues_[queue];
    message.done = head == end && move(queue, message);
    const auto place = take_place();
    messages_[place] = message;
    if (message.done) return {place};
    if (head == end) {
      head = tail = place;
      busy_.push_back(queue);
    } else {
      messages_[tail].next = place;
      tail = place;
    }
    return {place};
  }

  /// Moves the first message of every queue, and those after it where it is whole.
  void go_on() {
    for (std::size_t i = 0; i < busy_.size();) {
      auto& queue = queues_[busy_[i]];
      while (queue.head != end && move(busy_[i], messages_[queue.head])) {
        messages_[queue.head].done = true;
        queue.head = messages_[queue.head].next;
      }
      if (queue.head == end) {
        busy_[i] = busy_.back();
        busy_.pop_back();
      } else {
        ++i;
      }
    }
  }

  /// Places are used again, so that none is made once there are as many as were ever needed.
  std::uint32_t take_place() {
    if (free_.empty()) {
      messages_.emplace_back();
      free_.reserve(messages_.capacity());
      busy_.reserve(queues_.size());
      return static_cast<std::uint32_t>(messages_.size() - 1);
    }
    const auto place = free_.back();
    free_.pop_back();
    return place;
  }
  void forget(Request& request) {
    free_.push_back(request.place);
    request.place = Request::none;
  }

  const Waiting& waiting_;
  std::vector<Queue> queues_;
  std::vector<std::size_t> busy_;
  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_;
};
}  // namespace nhalf
