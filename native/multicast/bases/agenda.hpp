// Processes in virtual time: coroutines that wait for a moment, or for each other.
#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace nhalf::multicast {
/// A process, which begins at once and is gone when it ends.
struct Process {
  struct promise_type {
    Process get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

using Handle = std::coroutine_handle<>;

/// Waits unless it `is_ready`, after `suspend` got the process that does.
template <class IsReady, class Suspend>
struct Wait {
  IsReady is_ready;
  Suspend suspend;

  [[nodiscard]] bool await_ready() const { return is_ready(); }
  void await_suspend(Handle process) { suspend(process); }
  void await_resume() const {}
};

/// The processes that go on at a time, in the order in which that was known.
class Agenda {
 public:
  [[nodiscard]] double now_s() const { return now_s_; }
  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  [[nodiscard]] double next_s() const { return std::get<0>(waiting_.top()); }

  void add(Handle process, double at_s) { waiting_.push({at_s, ++added_, process}); }

  /// Lets the next process go on at its time.
  void step() {
    const auto [at_s, order, process] = waiting_.top();
    waiting_.pop();
    now_s_ = at_s;
    process.resume();
  }
  void pass_to(double moment_s) { now_s_ = moment_s; }

  /// Waits for a moment, which may have passed.
  auto until(double moment_s) {
    return Wait{[this, moment_s] { return moment_s <= now_s_; },
                [this, moment_s](Handle process) { add(process, moment_s); }};
  }
  auto pass(double time_s) { return until(now_s_ + time_s); }

 private:
  using Entry = std::tuple<double, std::uint64_t, Handle>;

  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting_;
  std::uint64_t added_ = 0;
  double now_s_ = 0;
};

/// Things that one process makes and another one takes, first in, first out.
template <class Thing>
class Handover {
 public:
  explicit Handover(Agenda& agenda) : agenda_(agenda) {}

  void give(Thing thing) {
    things_.push_back(std::move(thing));
    if (taker_) agenda_.add(std::exchange(taker_, nullptr), agenda_.now_s());
  }
  /// Waits for a thing; one process may.
  auto take() {
    struct Taking {
      Handover& from;
      [[nodiscard]] bool await_ready() const { return !from.things_.empty(); }
      void await_suspend(Handle process) { from.taker_ = process; }
      Thing await_resume() {
        auto thing = std::move(from.things_.front());
        from.things_.pop_front();
        return thing;
      }
    };
    return Taking{*this};
  }

 private:
  Agenda& agenda_;
  std::deque<Thing> things_;
  Handle taker_;
};
}  // namespace nhalf::multicast
