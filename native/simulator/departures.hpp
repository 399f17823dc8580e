// Messages leave a rank one after the other, as they leave an adapter, and come in so. SimGrid
// would let all that are under way share it, so that the first message of a tree arrived with the
// last, and would not tell a sender that its bytes have left before they arrive.
#pragma once

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
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
  /// While its bytes move alone, and until it arrives when they have left.
  double work_s = 0;
  double latency_s = 0;
  /// How far the next one from its sender, and to its receiver, is behind it at least.
  double busy_out_s = 0;
  double busy_in_s = 0;
  /// What its bytes take more while others pass the other way at either end.
  double against_s = 0;
  /// Whether its send ends when its bytes have left; else it has ended before.
  bool is_awaited = false;
};

/// Whether a message has left its rank, and who waits for that.
struct Departure {
  bool is_over = false;
  simgrid::s4u::SemaphorePtr waiting;
};

/// Lets the bytes of a message move when those of the message before have left its host, and lets
/// it arrive its latency later, after those that arrive before. SimGrid, which gives messages of a
/// short latency a larger share, knows of no latency: all are equal.
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
    auto& message =
        messages_[&action] = {&action, rank_of(from), port_of(from), port_of(to), times};
    if (message.out == nullptr) return begin(message);
    if (times.is_awaited) awaited_[from] = message.departure = std::make_shared<Departure>();
    message.out->waiting.push_back(&message);
    if (message.out->waiting.size() == 1) let_go(message);
  }

  /// The message of a host that was last to be taken, if its send has to wait for it; none twice.
  static std::shared_ptr<Departure> take_awaited(const Host* from) {
    const auto place = awaited_.find(from);
    return place == awaited_.end() ? nullptr : std::move(place->second);
  }

 private:
  using Timer = simgrid::kernel::timer::Timer;
  /// What is closer together happens at one time: sums of times differ by their rounding.
  static constexpr double instant_s = 1e-10;
  struct Message;
  /// The ways out of a host and into it.
  struct Port {
    /// Messages that leave; the bytes of the first of them move.
    std::deque<Message*> waiting;
    double free_s = 0;
    /// Messages whose bytes have left, in the order in which they arrive, and until the first is
    /// there.
    std::deque<Message*> coming;
    Timer* timer = nullptr;
    /// When all that is on its way in could be there, and when the last message was.
    double in_free_s = 0;
    double in_last_s = 0;
    /// Messages that pass out and in, where those slow each other down.
    int passing_out = 0;
    int passing_in = 0;

    /// When the first message is there. What came in beside others need not come in again.
    [[nodiscard]] double due_s() const {
      const auto& first = *coming.front();
      return std::max(first.arrival_s, std::min(in_last_s + first.times.busy_in_s, in_free_s));
    }
  };
  struct Message {
    Action* action = nullptr;
    long rank = 0;
    Port* out = nullptr;
    Port* in = nullptr;
    MessageTimes times;
    std::shared_ptr<Departure> departure;
    double began_s = 0;
    double arrival_s = 0;
    /// Until its bytes move, and until it arrives where it waits for none there.
    Timer* timer = nullptr;
    bool passes = false;
    bool has_left = false;
  };

  static double now_s() { return simgrid::s4u::Engine::get_clock(); }
  static long rank_of(const Host* host) {
    return host == nullptr ? 0 : host->get_all_actors().front()->get_pid();
  }
  Port* port_of(const Host* host) { return host == nullptr ? nullptr : &ports_[host]; }

  /// Does something at a time, or at once.
  template <class Deed>
  static void at(double time_s, Timer*& timer, Deed deed) {
    if (time_s <= now_s()) return deed();
    timer = Timer::set(time_s, [&timer, deed] {
      timer = nullptr;
      deed();
    });
  }
  static void forget(Timer*& timer) {
    if (timer != nullptr) timer->remove();
    timer = nullptr;
  }

  /// The message's turn to leave has come.
  void let_go(Message& message) {
    at(message.out->free_s, message.timer, [this, &message] { begin(message); });
  }
  /// Its bytes move.
  void begin(Message& message) {
    const auto& times = message.times;
    message.began_s = now_s();
    if (auto* in = message.in; in != nullptr)
      in->in_free_s = std::max(in->in_free_s, now_s() + times.latency_s) + times.busy_in_s;
    if (times.work_s == 0) return leave(message);
    message.action->set_remains(times.moved_bytes);
    count(message, 1);
    message.passes = true;
    bound(message);
    message.action->resume();
  }
  /// Its bytes have left. The next one may, and it arrives: SimGrid's action ends only then.
  void leave(Message& message) {
    message.has_left = true;
    if (message.passes) count(message, -1);
    message.passes = false;
    if (message.out != nullptr) make_way(message);
    message.arrival_s = now_s() + message.times.latency_s;
    if (message.in != nullptr) return arrive(message);
    at(message.arrival_s, message.timer, [&message] { finish(message); });
  }
  /// An action that has moved all goes on, so it must not look as if it were over. SimGrid computes
  /// with shares of links meanwhile: they change when it has done so.
  void keep_up(Message& message) {
    message.action->set_state(Action::State::STARTED);
    message.action->set_remains(std::numeric_limits<double>::max());
    left_.push_back(&message);
    if (left_.size() > 1) return;
    Timer::set(now_s(), [this] {
      auto departed = std::exchange(left_, {});
      std::ranges::sort(departed, {}, &Message::rank);
      for (auto* each : departed) each->action->suspend();
      for (auto* each : departed) leave(*each);
    });
  }
  static void finish(const Message& message) { message.action->finish(Action::State::FINISHED); }
  void make_way(Message& message) {
    auto& port = *message.out;
    port.waiting.pop_front();
    port.free_s = std::max(now_s(), message.began_s + message.times.busy_out_s);
    if (message.departure != nullptr) tell(*message.departure);
    if (!port.waiting.empty()) let_go(*port.waiting.front());
  }
  static void tell(Departure& departure) {
    departure.is_over = true;
    if (departure.waiting != nullptr) departure.waiting->release();
  }

  /// It comes in by its time; of several at one time the one of the lowest rank is first.
  void arrive(Message& message) {
    auto& coming = message.in->coming;
    const auto is_before = [&](const Message* other) {
      const double ahead_s = message.arrival_s - other->arrival_s;
      return ahead_s < -instant_s || (ahead_s < instant_s && message.rank < other->rank);
    };
    auto place = coming.end();
    while (place != coming.begin() && is_before(*std::prev(place))) --place;
    coming.insert(place, &message);
    if (coming.front() == &message) look(*message.in);
  }
  /// Waits until the first message is there.
  void look(Port& port) {
    forget(port.timer);
    if (port.coming.empty()) return;
    at(port.due_s(), port.timer, [this, &port] {
      if (port.due_s() > now_s() + instant_s) return look(port);
      const auto& message = *port.coming.front();
      port.coming.pop_front();
      port.in_last_s = now_s();
      finish(message);
      look(port);
    });
  }

  /// Its bytes have left, it is there, or it has failed.
  void end(const Action* action) {
    const auto place = messages_.find(action);
    if (place == messages_.end()) return;
    auto& message = place->second;
    const bool has_failed = action->get_state() != Action::State::FINISHED;
    if (!has_failed && !message.has_left) return keep_up(message);
    forget(message.timer);
    if (message.passes) count(message, -1);
    std::erase(left_, &message);
    if (message.out != nullptr) std::erase(message.out->waiting, &message);
    if (message.in != nullptr) std::erase(message.in->coming, &message);
    messages_.erase(place);
  }

  /// Counts a message that passes, or takes it off; messages the other way notice.
  void count(const Message& message, int change) {
    if (message.times.against_s == 0 || message.out == nullptr || message.in == nullptr) return;
    message.out->passing_out += change;
    message.in->passing_in += change;
    for (const auto& [action, each] : messages_)
      if (each.passes && each.times.against_s > 0) bound(each);
  }
  static void bound(const Message& message) {
    const auto& times = message.times;
    const bool is_against = message.out != nullptr && message.in != nullptr &&
                            (message.out->passing_in > 0 || message.in->passing_out > 0);
    message.action->set_bound(times.moved_bytes /
                              (times.work_s + (is_against ? times.against_s : 0)));
  }

  static inline std::unordered_map<const Host*, std::shared_ptr<Departure>> awaited_;
  std::unordered_map<const Host*, Port> ports_;
  std::unordered_map<const Action*, Message> messages_;
  /// Messages whose bytes have left just now.
  std::vector<Message*> left_;
};
}  // namespace nhalf::simulator
