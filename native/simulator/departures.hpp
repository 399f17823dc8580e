// Messages leave a rank one after the other, as they leave an adapter. SimGrid would let all that
// are under way share it, so that the first message of a tree arrived with the last.
#pragma once

#include <algorithm>
#include <deque>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Action.hpp>
#include <simgrid/s4u.hpp>
#include <unordered_map>

namespace simgrid::kernel::resource {

/// The part of a class of SimGrid that is used here; its header is not installed.
class NetworkAction : public Action {};

}  // namespace simgrid::kernel::resource

namespace nhalf::simulator {

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

  /// Takes a message that starts now, `gap_s` before the next one from its host at least. Without a
  /// host it waits for none.
  void add(Action& action, const Host* from, double latency_s, double gap_s) {
    action.suspend();
    auto* port = from == nullptr ? nullptr : &ports_[from];
    auto& message = messages_[&action] = {&action, port, now_s(), latency_s, gap_s};
    if (port != nullptr) port->waiting.push_back(&message);
    if (port == nullptr || port->waiting.size() == 1) let_go(message);
  }

 private:
  using Timer = simgrid::kernel::timer::Timer;
  struct Port;
  struct Message {
    Action* action = nullptr;
    Port* port = nullptr;
    double leaves_s = 0;
    double latency_s = 0;
    double gap_s = 0;
    Timer* latency = nullptr;
  };
  /// The way out of a host: the message whose bytes move is the first that waits.
  struct Port {
    std::deque<Message*> waiting;
    double free_s = 0;
  };

  static double now_s() { return simgrid::s4u::Engine::get_clock(); }

  static void let_go(Message& message) {
    if (message.port != nullptr)
      message.leaves_s = std::max(message.leaves_s, message.port->free_s);
    const double moves_s = message.leaves_s + message.latency_s;
    if (moves_s <= now_s()) return message.action->resume();
    message.latency = Timer::set(moves_s, [&message] {
      message.latency = nullptr;
      message.action->resume();
    });
  }

  /// Its last byte left a latency ago.
  void end(const Action* action) {
    const auto place = messages_.find(action);
    if (place == messages_.end()) return;
    auto& message = place->second;
    if (message.latency != nullptr) message.latency->remove();
    if (auto* port = message.port; port != nullptr) {
      auto& waiting = port->waiting;
      const bool is_first = waiting.front() == &message;
      waiting.erase(std::ranges::find(waiting, &message));
      if (is_first)
        port->free_s = std::max(now_s() - message.latency_s, message.leaves_s + message.gap_s);
      if (is_first && !waiting.empty()) let_go(*waiting.front());
    }
    messages_.erase(place);
  }

  std::unordered_map<const Host*, Port> ports_;
  std::unordered_map<const Action*, Message> messages_;
};

}  // namespace nhalf::simulator
