// A machine with known parameters and a virtual clock: what is measured on it must be what was put
// in. LogGP after A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, "LogGP: Incorporating Long
// Messages into the LogP Model", SPAA 1995.
#pragma once

#include "contract/pattern.hpp"
#include "transports/bases/message_collectives.hpp"
#include "transports/model/machine.hpp"

namespace nhalf {
/// The transport of one rank of the simulated machine.
class ModelTransport : public MessageCollectives<ModelTransport> {
 public:
  using MessageCollectives::gather;
  using MessageCollectives::wait;
  static constexpr TransportInfo info{
      "model", "a simulated machine with given LogGP parameters on a virtual clock",
      ModelParameters::described};
  static constexpr std::string_view clock_name = "virtual";
  static constexpr bool one_thread = true;

  /// A started receive is done when it is waited for; a started send is done at once.
  struct Request {
    int from = -1;
    Bytes data;
    /// The number of a receive of a tagged message; others have 0.
    std::uint64_t number = 0;
  };

  template <class Body>
  static int launch(int, char**, int ranks, const Options& options, Body body) {
    ModelMachine machine(ranks, options);
    machine.fibers.run(ranks, [&](int rank) {
      ModelTransport transport(machine, rank);
      body(transport);
    });
    return 0;
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return static_cast<int>(machine_.ranks.size()); }
  [[nodiscard]] double clock_resolution_s() const { return machine_.parameters.clock_resolution_s; }
  [[nodiscard]] double now_s() const {
    const double step_s = clock_resolution_s();
    const double shown_s = me().clock_error.shown_s(me().clock_s);
    return step_s > 0 ? std::floor(shown_s / step_s) * step_s : shown_s;
  }
  /// Time does not pass by itself here.
  void idle_until(double clock_s) {
    me().clock_s = std::max(me().clock_s, me().clock_error.true_s(clock_s));
  }
  [[nodiscard]] std::string clock_source() const {
    return me().clock_error.any() ? "rank " + std::to_string(rank_) : "virtual";
  }
  /// Returns how long this rank's processor was busy: its overheads.
  [[nodiscard]] double busy_s() const { return me().busy_s; }
  /// Messages that all ranks have sent so far.
  [[nodiscard]] std::uint64_t messages_sent() const { return machine_.messages; }
  /// Returns how often ranks resumed after a wait.
  [[nodiscard]] std::uint64_t turns() const { return machine_.fibers.turns(); }

  void send(int peer, ConstBytes data) { post(peer, data); }
  void rsend(int peer, ConstBytes data) { post(peer, data); }
  void bsend(int peer, ConstBytes data) { post(peer, data); }
  void attach_buffer(std::size_t, int) {}
  void detach_buffer() {}

  /// Ends when word has come back that the receiver took the message.
  void ssend(int peer, ConstBytes data) {
    me().taken_s = -1;
    post(peer, data).synchronous = true;
    machine_.fibers.wait_until([this] { return me().taken_s >= 0; });
    me().clock_s = std::max(me().clock_s, me().taken_s + machine_.parameters.L * factor());
  }

  void recv(int peer, Bytes data) {
    bool fits = true;
    coming_from(peer);
    machine_.mailbox.take(peer, rank_, [&](const ModelMessage& message) {
      const auto size_bytes = message.data.size();
      fits = size_bytes <= data.size();
      if (fits && size_bytes > 0) std::memcpy(data.data(), message.data.data(), size_bytes);
      arrive(message.arrival_s, static_cast<double>(size_bytes), peer);
      if (message.synchronous) tell_taken(peer);
    });
    if (!fits) throw InputError("a message is longer than its receive");
  }

  void exchange(int to, ConstBytes out, int from, Bytes in) {
    post(to, out);
    recv(from, in);
  }
  Request isend(int peer, ConstBytes data) {
    post(peer, data);
    return {};
  }
  Request irecv(int peer, Bytes data) { return {peer, data}; }
  /// Tagged messages lie in a queue that has to be searched from its front, as do started receives.
  /// They came in when they arrived: whoever finds one there waits for nothing.
  Request isend_tagged(int peer, int tag, ConstBytes data) {
    auto& message = post(peer, data, tagged_messages);
    message.sender = rank_;
    message.tag = tag;
    return {};
  }
  Request irecv_tagged(int peer, int tag, Bytes data) {
    const PostedReceive receive{peer, tag, data, ++receives_};
    const auto is_here = [&](const ModelMessage& message) {
      return receive.accepts(message) && message.arrival_s <= me().clock_s;
    };
    const bool was_here = machine_.mailbox.take_first(
        tagged_messages, rank_, is_here,
        [&](const ModelMessage& message, int passed) { accept(message, receive, passed); });
    if (was_here) return {};
    me().posted.push_back(receive);
    return {peer, data, receive.number};
  }
  void recv_tagged(int peer, int tag, Bytes data) {
    auto request = irecv_tagged(peer, tag, data);
    wait(request);
  }
  void wait(Request& request) {
    if (request.number > 0) {
      await_posted(request.number);
      request = {};
    }
    if (request.from >= 0) recv(request.from, request.data);
    request.from = -1;
  }
  /// Waits until all that is to be received has been sent: which arrives first is certain only
  /// then.
  std::size_t wait_any(std::span<Request> requests) {
    auto first = requests.size();
    double first_s = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].from < 0) continue;
      const double arrival_s = coming_from(requests[i].from).arrival_s;
      if (first < requests.size() && arrival_s >= first_s) continue;
      first = i;
      first_s = arrival_s;
    }
    if (first < requests.size()) wait(requests[first]);
    return first;
  }

  /// Timed when they are first asked for: whoever sent before has connected by then.
  RoundTrips first_messages(int partner) {
    std::byte byte{};
    const auto send_byte = [&](int peer) { send(peer, std::span(&byte, 1)); };
    const auto recv_byte = [&](int peer) { recv(peer, std::span(&byte, 1)); };
    const auto [place, is_new] = first_messages_.try_emplace(partner);
    if (is_new)
      place->second =
          RoundTrips::of(rank_, partner, [this] { return now_s(); }, send_byte, recv_byte);
    return place->second;
  }

  /// Brings all virtual clocks together and begins another batch.
  void barrier() {
    meet([this] {
      double latest_s = 0;
      for (const auto& rank : machine_.ranks) latest_s = std::max(latest_s, rank.clock_s);
      for (auto& rank : machine_.ranks) rank.clock_s = rank.sender_free_s = latest_s;
      machine_.way_free_s = latest_s;
      machine_.weather.next_batch(latest_s);
    });
  }
  bool all(bool mine) { return machine_.control.all(rank_, mine); }
  void broadcast(Bytes data) { machine_.control.broadcast(rank_, data); }
  std::vector<std::string> gather(const std::string& text) {
    return machine_.control.gather(rank_, text);
  }
  [[nodiscard]] std::string library() const { return "simulated LogGP machine"; }

  /// Returns the time of a flag between two cores; NaN if the machine has none.
  [[nodiscard]] double flag_s() const { return machine_.weather.flag_s(); }

  /// Begins another launch of the simulated machine (its random factors); any rank may ask.
  void reseed(std::uint64_t seed) {
    meet([this, seed] { machine_.weather.reseed(seed); });
  }

 private:
  ModelTransport(ModelMachine& machine, int rank) : machine_(machine), rank_(rank) {}

  [[nodiscard]] ModelMachine::Rank& me() const {
    return machine_.ranks[static_cast<std::size_t>(rank_)];
  }
  [[nodiscard]] double factor() const { return machine_.weather.factor(); }

  /// Waits until an unreceived message of a rank is there.
  const ModelMessage& coming_from(int peer) {
    const ModelMessage* message = machine_.mailbox.first(peer, rank_);
    if (message != nullptr) return *message;
    me().waits_for = peer;
    machine_.fibers.wait_until([&] {
      message = machine_.mailbox.first(peer, rank_);
      return message != nullptr;
    });
    me().waits_for = ModelMachine::nobody;
    return *message;
  }
  /// Takes tagged messages for whichever started receive accepts them first, until that with this
  /// number has its own.
  void await_posted(std::uint64_t number) {
    auto& posted = me().posted;
    while (std::ranges::find(posted, number, &PostedReceive::number) != posted.end()) {
      auto receive = posted.end();
      const auto is_awaited = [&](const ModelMessage& message) {
        receive = std::ranges::find_if(
            posted, [&](const auto& posted_one) { return posted_one.accepts(message); });
        return receive != posted.end();
      };
      const auto take = [&](const ModelMessage& message, int) {
        accept(message, *receive, static_cast<int>(receive - posted.begin()));
        posted.erase(receive);
      };
      if (machine_.mailbox.take_first(tagged_messages, rank_, is_awaited, take)) continue;
      const auto messages_before = machine_.messages;
      me().waits_for = ModelMachine::anybody;
      machine_.fibers.wait_until([&] { return machine_.messages > messages_before; });
      me().waits_for = ModelMachine::nobody;
    }
  }
  void accept(const ModelMessage& message, const PostedReceive& receive, int passed) {
    const auto& p = machine_.parameters;
    const auto size_bytes = message.data.size();
    if (size_bytes > receive.data.size()) throw InputError("a message is longer than its receive");
    if (size_bytes > 0) std::memcpy(receive.data.data(), message.data.data(), size_bytes);
    const double busy_s =
        (p.o_r * p.slowness.on_message(message.sender, rank_) + p.match_s * passed) * factor();
    me().clock_s = std::max(me().clock_s, message.arrival_s) + busy_s;
    me().busy_s += busy_s;
  }
  void tell_taken(int sender) {
    machine_.ranks[static_cast<std::size_t>(sender)].taken_s = me().clock_s;
    machine_.fibers.wake(sender);
  }

  /// A message of this rank, or one that lies in a queue for all senders.
  ModelMessage& post(int peer, ConstBytes data) { return post(peer, data, rank_); }
  ModelMessage& post(int peer, ConstBytes data, int queue) {
    const auto& p = machine_.parameters;
    const double n = static_cast<double>(data.size());
    const double slow = p.slowness.on_message(rank_, peer);
    const double gap_s = (p.g + p.bytes_s(n)) * factor();
    const double overhead_s = p.o_s * slow * factor();
    const double began_s = std::max(me().clock_s, me().sender_free_s);
    me().clock_s = began_s + overhead_s;
    me().busy_s += overhead_s;
    me().sender_free_s = began_s + gap_s * p.slowness.on_sender(rank_);
    double leaves_s = began_s;
    if (p.slowness.is_way(rank_, peer)) {
      leaves_s = std::max(began_s, machine_.way_free_s);
      machine_.way_free_s = leaves_s + gap_s * slow;
    }
    const bool connects = p.connect_s > 0 && machine_.connected.emplace(rank_, peer).second;
    const double latency_s = p.latency_s(n) + (connects ? p.connect_s : 0);
    const double arrival_s = leaves_s + overhead_s + (p.bytes_s(n) + latency_s) * slow * factor() +
                             machine_.weather.jitter_s();
    ++machine_.messages;
    const int awaited = machine_.ranks[static_cast<std::size_t>(peer)].waits_for;
    if (awaited == rank_ || awaited == ModelMachine::anybody) machine_.fibers.wake(peer);
    return machine_.mailbox.put(queue, peer, arrival_s, data);
  }

  /// The receiver takes messages no closer together than its gap allows.
  void arrive(double arrival_s, double n, int from) {
    const auto& p = machine_.parameters;
    const double gap_s = (p.g + p.bytes_s(n)) * factor() * p.slowness.on_receiver(rank_);
    const double taken_s =
        std::max(arrival_s, me().last_arrival_s + (me().last_arrival_s < 0 ? 0 : gap_s));
    me().last_arrival_s = taken_s;
    const double overhead_s = p.o_r * factor() * p.slowness.on_message(from, rank_);
    me().clock_s = std::max(me().clock_s, taken_s) + overhead_s;
    me().busy_s += overhead_s;
  }

  /// Waits for all ranks; the last one to come acts for all.
  template <class Action>
  void meet(Action action) {
    const auto turn = machine_.barriers_done;
    if (++machine_.arrived == size()) {
      machine_.arrived = 0;
      action();
      ++machine_.barriers_done;
      machine_.fibers.wake_all();
    }
    machine_.fibers.wait_until([this, turn] { return machine_.barriers_done > turn; });
  }

  static constexpr int tagged_messages = std::numeric_limits<int>::min();

  ModelMachine& machine_;
  int rank_;
  std::uint64_t receives_ = 0;
  std::map<int, RoundTrips> first_messages_;
};
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::ModelTransport);
