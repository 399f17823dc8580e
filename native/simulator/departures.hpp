// Messages leave a rank one after the other, as they leave an adapter, and come in so. SimGrid
// would let all that are under way share it, so that the first message of a tree arrived with the
// last.
#pragma once

#include <algorithm>
#include <deque>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/s4u.hpp>
#include <unordered_map>
#include <vector>

namespace simgrid::kernel::resource {

/// What a signal of links passes. The headers that SimGrid installs only name it (forward.h): its
/// definition is in none of them. Nothing is used of it but what its base has.
class NetworkAction : public Action {};

}  // namespace simgrid::kernel::resource

namespace nhalf::simulator {

/// What a message takes, as messages of network/message.hpp have it.
struct MessageTimes {
  /// Bytes that it moves, without those that SMPI adds.
  double moved_bytes = 0;
  /// Before its bytes move, and while they do alone; 0: as long as the way makes them.
  double latency_s = 0;
  double work_s = 0;
  /// How far the next one from its sender, and to its receiver, is behind it at least.
  double busy_out_s = 0;
  double busy_in_s = 0;
  /// What its bytes take more while others pass the other way at either end.
  double against_s = 0;
};

/// Lets the bytes of a message move when its latency has passed and those of the message before
/// have left its host. SimGrid, which gives messages of a short latency a larger share, knows of no
/// latency: all are equal.
class Departures {
 public:
  using Action = simgrid::kernel::resource::Action;
  using Host = simgrid::s4u::Host;

  Departures() {
    using simgrid::kernel::resource::NetworkAction;
    simgrid::s4u::Link::on_communication_state_change_cb(
        [this](const NetworkAction& action, Action::State) {
          if (action.get_state() != Action::State::STARTED) end(&action);
        });
  }

  /// Takes a message that starts now. Without a host it waits for none there.
  void add(Action& action, const Host* from, const Host* to, const MessageTimes& times) {
    action.suspend();
    action.set_remains(times.moved_bytes);
    auto& message =
        messages_[&action] = {&action, from, port_of(from), port_of(to), times, now_s()};
    bound(message);
    if (message.out == nullptr) return let_go(message);
    message.out->waiting.push_back(&message);
    if (message.out->waiting.size() == 1) let_go(message);
  }

 private:
  using Timer = simgrid::kernel::timer::Timer;
  /// What is closer together happens at one time: sums of times differ by their rounding.
  static constexpr double instant_s = 1e-10;
  struct Message;
  /// When a message would come in alone, and when it does.
  struct Arrival {
    double alone_s;
    double due_s;
  };
  /// The ways out of a host and into it. The message whose bytes leave is the first that waits.
  struct Port {
    std::deque<Message*> waiting;
    double free_s = 0;
    /// Messages whose bytes are about to move here, and those on their way.
    std::vector<Message*> starting;
    std::deque<Arrival> arrivals;
    /// When all that is on its way in could be there, and when the last message was.
    double in_free_s = 0;
    double in_last_s = 0;
    /// Messages that pass out and in, where those slow each other down.
    int passing_out = 0;
    int passing_in = 0;

    /// Counts a message whose bytes may move now; returns how long others keep it from coming in.
    double wait_s(const MessageTimes& times) {
      in_free_s = std::max(in_free_s, now_s()) + times.busy_in_s;
      for (; !arrivals.empty() && arrivals.front().due_s <= now_s(); arrivals.pop_front())
        in_last_s = std::max(in_last_s, arrivals.front().due_s);
      const double alone_s = now_s() + times.work_s;
      const auto place =
          std::ranges::upper_bound(arrivals, alone_s + instant_s, {}, &Arrival::alone_s);
      const double last_s = place == arrivals.begin() ? in_last_s : std::prev(place)->due_s;
      const double due_s = std::max(alone_s, std::min(last_s + times.busy_in_s, in_free_s));
      arrivals.insert(place, {alone_s, due_s});
      return due_s - alone_s;
    }
  };
  struct Message {
    Action* action = nullptr;
    const Host* from = nullptr;
    Port* out = nullptr;
    Port* in = nullptr;
    MessageTimes times;
    double leaves_s = 0;
    /// When its bytes move without those that come in before it.
    double moves_s = 0;
    /// Until its bytes move, and until the next one may leave that its bytes do not wait for.
    Timer* timer = nullptr;
    Timer* departure = nullptr;
    bool passes = false;
  };

  static double now_s() { return simgrid::s4u::Engine::get_clock(); }
  Port* port_of(const Host* host) { return host == nullptr ? nullptr : &ports_[host]; }

  /// The message's turn to leave has come.
  void let_go(Message& message) {
    if (message.out != nullptr) message.leaves_s = std::max(message.leaves_s, message.out->free_s);
    message.moves_s = message.leaves_s + message.times.latency_s;
    const bool comes_in_turn = message.in != nullptr && message.times.busy_in_s > 0;
    if (comes_in_turn) message.in->starting.push_back(&message);
    const auto start = [this, &message, comes_in_turn] {
      comes_in_turn ? take_turns(*message.in) : pass(message);
    };
    if (message.moves_s <= now_s()) return start();
    message.timer = Timer::set(message.moves_s, [&message, start] {
      message.timer = nullptr;
      start();
    });
  }
  /// Messages whose bytes may move now come in one after the other; of several the one of the
  /// lowest rank is first.
  void take_turns(Port& port) {
    std::vector<Message*> ready;
    for (auto* message : port.starting)
      if (message->moves_s < now_s() + instant_s) ready.push_back(message);
    for (const auto* message : ready) std::erase(port.starting, message);
    if (ready.size() > 1) std::ranges::sort(ready, {}, [](auto* each) { return rank_of(*each); });
    for (auto* message : ready) {
      if (message->timer != nullptr) message->timer->remove();
      message->timer = nullptr;
      const double wait_s = port.wait_s(message->times);
      if (wait_s > 0)
        keep_back(*message, wait_s);
      else
        pass(*message);
    }
  }
  /// Others keep a message from coming in. Its sender goes on as if they did not.
  void keep_back(Message& message, double wait_s) {
    message.times.latency_s += wait_s;
    message.timer = Timer::set(now_s() + wait_s, [this, &message] {
      message.timer = nullptr;
      pass(message);
    });
    message.departure = Timer::set(now_s() + message.times.work_s, [this, &message] {
      message.departure = nullptr;
      leave(message, message.leaves_s + message.times.work_s);
    });
  }
  static long rank_of(const Message& message) {
    return message.from->get_all_actors().front()->get_pid();
  }
  void pass(Message& message) {
    count(message, 1);
    message.passes = true;
    message.action->resume();
  }

  /// Its last byte left a latency ago.
  void end(const Action* action) {
    const auto place = messages_.find(action);
    if (place == messages_.end()) return;
    auto& message = place->second;
    for (auto* timer : {message.timer, message.departure})
      if (timer != nullptr) timer->remove();
    if (message.passes)
      count(message, -1);
    else if (message.in != nullptr)
      std::erase(message.in->starting, &message);
    leave(message, now_s() - message.times.latency_s);
    messages_.erase(place);
  }
  /// The next one from its host may leave after it, if it has not done so.
  void leave(Message& message, double left_s) {
    auto* port = message.out;
    if (port == nullptr) return;
    const auto place = std::ranges::find(port->waiting, &message);
    if (place == port->waiting.end()) return;
    const bool is_first = place == port->waiting.begin();
    port->waiting.erase(place);
    if (!is_first) return;
    port->free_s = std::max(left_s, message.leaves_s + message.times.busy_out_s);
    if (!port->waiting.empty()) let_go(*port->waiting.front());
  }

  /// Counts a message that passes, or takes it off; messages the other way notice.
  void count(const Message& message, int change) {
    if (message.times.against_s == 0 || message.out == nullptr || message.in == nullptr) return;
    message.out->passing_out += change;
    message.in->passing_in += change;
    for (const auto& [action, each] : messages_)
      if (each.times.against_s > 0) bound(each);
  }
  static void bound(const Message& message) {
    const auto& times = message.times;
    if (times.work_s == 0) return;
    const bool is_against = message.out != nullptr && message.in != nullptr &&
                            (message.out->passing_in > 0 || message.in->passing_out > 0);
    message.action->set_bound(times.moved_bytes /
                              (times.work_s + (is_against ? times.against_s : 0)));
  }

  std::unordered_map<const Host*, Port> ports_;
  std::unordered_map<const Action*, Message> messages_;
};

}  // namespace nhalf::simulator
