// What a rank sends: it gives messages memory and their times, hands them to the network, and
// reports them when they have left.
#pragma once

#include "fabric/accesses.hpp"
#include "fabric/endpoint.hpp"
#include "fabric/flows.hpp"

namespace nhalf::fabric {
/// What is added to the messages of a rank while the tracer asks for that, as on a machine that is
/// slower by just so much: always, or within operations (trace/inject.hpp).
struct Delay {
  Picoseconds latency = 0;
  /// What the processor at either end is busy for.
  Picoseconds overhead = 0;
  double per_byte = 0.0;

  /// Adds to a message that has its times, but for what its sender is busy.
  void add_to(Message& message) const {
    const auto streams =
        static_cast<Picoseconds>(std::llround(per_byte * static_cast<double>(message.size_bytes)));
    message.flow.latency += latency;
    for (auto* busy : {&message.busy_out, &message.busy_in})
      *busy = std::max(*busy, std::min(*busy, message.flow.work) + streams);
    message.flow.work += streams;
    message.cost += overhead;
  }
};

class Sender {
 public:
  static constexpr std::size_t ahead_messages_max = 64;
  static constexpr std::size_t ahead_bytes_max = 1 << 20;

  Sender(Region& region, Heap& heap, Flows& flows, const Wires& wires, const Delay& delay, int rank)
      : region_(region), heap_(heap), flows_(flows), wires_(wires), delay_(delay), rank_(rank) {}

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

  /// Counts a message that is sent before its rank's turn: it leaves at an event of its own, in the
  /// order of time. Whether so much of the memory waits for it that the other ranks must catch up.
  bool is_far_ahead(std::size_t size_bytes) {
    ahead_bytes_ += size_bytes;
    return ++ahead_messages_ > ahead_messages_max || ahead_bytes_ > ahead_bytes_max;
  }
  /// They have caught up.
  void note_turn() { ahead_messages_ = ahead_bytes_ = 0; }

  /// Sends a message now, for which the rank's processor is busy. A queue, if there is one, gets
  /// the completion with this context.
  void send(Message& message, Completions* queue, void* context) {
    auto& own = member();
    const bool is_to_itself = message.source.rank == message.target;
    const bool is_awaited =
        !is_to_itself && queue != nullptr && message.size_bytes > wires_.eager_bytes;
    if (!is_to_itself) own.now += wire_of(message).send + delay_.overhead;
    if (is_awaited) {
      message.departure = allocated(sizeof(Departure));
      region_.at<Departure>(message.departure).at = never;
    }
    send_at(message, own.now);
    if (queue == nullptr) return;
    Completion sent(own.now, context);
    sent.size_bytes = message.size_bytes;
    sent.envelope = message.envelope;
    if (is_awaited)
      departing_.push_back({message.departure, queue, sent});
    else
      queue->add(sent);
  }
  /// Sends a message that may leave at a time, without the processor.
  void send_at(Message& message, Picoseconds time) {
    ++region_.messages;
    message.source.rank == message.target ? arrive_here(message, time) : leave_at(message, time);
  }

  [[nodiscard]] bool has_departing() const { return !departing_.empty(); }
  /// Returns when the first message that this rank waits for has left it, if that is known.
  [[nodiscard]] Picoseconds departure() const {
    return departing_.empty() ? never : region_.at<Departure>(departing_.front().place).at;
  }
  /// Reports what has left by a time.
  void report_until(Picoseconds time) {
    for (; departure() <= time; departing_.pop_front()) {
      auto& [place, queue, sent] = departing_.front();
      sent.at = departure();
      queue->add(sent);
      heap_.give_back(place, sizeof(Departure));
    }
  }

 private:
  /// The completion of a send whose message has not left yet, in the order in which they leave.
  struct Departing {
    Offset place;
    Completions* queue;
    Completion sent;
  };

  Member& member() { return region_.members[static_cast<std::size_t>(rank_)]; }
  [[nodiscard]] const Wire& wire_of(const Message& message) const {
    return wires_.between(rank_, static_cast<int>(message.target));
  }
  Offset allocated(std::size_t size_bytes) {
    const auto place = heap_.take(size_bytes);
    if (place == 0) {
      const auto& call = region_.slots[static_cast<std::size_t>(rank_)].doing.call;
      stop(region_, "memory",
           "rank " + std::to_string(rank_) + " sends in " + call.data() +
               ", and messages that nobody has received fill the memory of the virtual network (" +
               std::to_string((region_.network.heap.end + offsetof(Region, network)) >> 20) +
               " MiB)");
    }
    return place;
  }
  void leave_at(Message& message, Picoseconds time) {
    auto& own = member();
    ++own.messages;
    own.bytes += message.size_bytes;
    const auto& wire = wire_of(message);
    set_times(message, wire, time);
    message.cost = wire.receive;
    message.flow.latency +=
        wires_.noise.added(wire.transit(message.size_bytes), Noisy::message, rank_, own.messages);
    delay_.add_to(message);
    flows_.add(message);
  }
  void arrive_here(Message& message, Picoseconds time) {
    message.arrival = time;
    region_.slots[static_cast<std::size_t>(rank_)].accesses += message.is_access ? 1 : 0;
    Inbox(region_, rank_).put(message);
  }

  Region& region_;
  Heap& heap_;
  Flows& flows_;
  const Wires& wires_;
  const Delay& delay_;
  int rank_;
  std::deque<Departing> departing_;
  std::size_t ahead_messages_ = 0;
  std::size_t ahead_bytes_ = 0;
};

/// Accesses of ranks to each other's memory as messages: asks for them, serves those of others, and
/// takes the answers.
class Serving {
 public:
  Serving(Accesses& accesses, Sender& sender, Endpoints& endpoints)
      : accesses_(accesses), sender_(sender), endpoints_(endpoints) {}

  /// Asks for an access, with which `parts` go.
  void ask(const Endpoint& from, Address to, const Access& access, std::span<const iovec> parts,
           Asked pending) {
    auto& message = sender_.access(from.number, to, access, bytes_in(parts));
    Access::in(message).number = accesses_.ask(std::move(pending));
    gather(parts, Access::data_in(message));
    sender_.send(message, nullptr, nullptr);
  }
  /// Does what another rank asks, or takes its answer.
  void serve(Message& message) {
    const bool is_answer = Access::in(message).kind == Access::Kind::answer;
    is_answer ? take_answer(message) : answer(message);
    sender_.release(message);
  }

 private:
  void answer(Message& request) {
    const auto& access = Access::in(request);
    const auto size_bytes = Accesses::answer_bytes(access);
    auto& message = sender_.access(request.endpoint, request.source, access, size_bytes);
    Access& head = Access::in(message);
    head.kind = Access::Kind::answer;
    head.size_bytes = size_bytes;
    head.has_failed = !accesses_.serve(access, Access::data_in(request), Access::data_in(message));
    sender_.send_at(message, request.arrival);
  }
  void take_answer(Message& message) {
    const auto& access = Access::in(message);
    const auto pending = accesses_.answered(access.number);
    scatter(pending.parts, 0, Access::data_in(message),
            static_cast<std::size_t>(access.size_bytes));
    if (pending.counter != nullptr) ++*pending.counter;
    auto* const queue = endpoints_.queue_of_sends(message.endpoint);
    if (queue == nullptr || !(pending.is_reported || access.has_failed)) return;
    queue->add(pending.completion(message));
  }

  Accesses& accesses_;
  Sender& sender_;
  Endpoints& endpoints_;
};
}  // namespace nhalf::fabric
