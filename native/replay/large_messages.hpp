// Large messages from their offer to the begin of their transfer. A transfer needs a posted
// receive, and a receiver inside MPI: libraries without a progress thread move large messages only
// within their calls. What is already offered when its receive is posted goes at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "replay/columns.hpp"

namespace nhalf::replay {
/// A message whose transfer can begin, and when.
struct Transfer {
  double begin_s;
  Number message;

  auto operator<=>(const Transfer&) const = default;
};

class LargeMessages {
  enum class State : std::uint8_t { unknown, offered, gone };

 public:
  /// When a rank is inside MPI from a moment on; that moment if it never is.
  using Inside = std::function<double(Number rank, double from_s)>;

  LargeMessages(const Script& script, Inside inside_s)
      : script_(script),
        inside_s_(std::move(inside_s)),
        states_(static_cast<std::size_t>(script.route.size), State::unknown),
        offered_s_(states_.size()),
        posted_s_(states_.size(), std::numeric_limits<double>::quiet_NaN()) {
    std::map<std::pair<Number, Number>, std::size_t> places;
    for (Place route = 0; route < script.source.size; ++route) {
      const auto pair = std::pair(script.source[route], script.target[route]);
      pairs_.push_back(places.try_emplace(pair, places.size()).first->second);
      const auto back = std::pair(pair.second, pair.first);
      opposites_.push_back(places.try_emplace(back, places.size()).first->second);
    }
    by_pair_.resize(places.size());
  }

  /// Notes when the receive of a message was posted first.
  void post(Number message, double now_s) {
    auto& posted_s = posted_s_[place(message)];
    if (!std::isnan(posted_s)) return;
    posted_s = now_s;
    if (is_offered(message)) add(message);
  }

  /// Notes when the sender of a message was ready first.
  void offer(Number message, double now_s) {
    auto& state = states_[place(message)];
    if (state != State::unknown) return;
    state = State::offered;
    offered_s_[place(message)] = now_s;
    if (!std::isnan(posted_s_[place(message)])) add(message);
  }

  [[nodiscard]] bool was_offered(Number message) const {
    return states_[place(message)] != State::unknown;
  }

  [[nodiscard]] bool is_offered(Number message) const {
    return states_[place(message)] == State::offered;
  }

  /// Takes the message whose transfer can begin first. All actors have to be stuck, so that every
  /// later transfer begins later.
  std::optional<Transfer> first() { return take(ready_, std::numeric_limits<double>::infinity()); }

  /// Takes a message in the opposite direction whose transfer begins before a moment.
  std::optional<Transfer> crossing(Number message, double before_s) {
    return take(by_pair_[opposites_[place(script_.route[message])]], before_s);
  }

  /// Drops the offer of a message that is under way.
  void forget(Number message) { states_[place(message)] = State::gone; }

  /// Looks again when each transfer can begin: a skipped call may have made it earlier.
  void renew() {
    renew(ready_);
    for (auto& ready : by_pair_) renew(ready);
  }

 private:
  using Heap = std::vector<Transfer>;

  static std::size_t place(Place number) { return static_cast<std::size_t>(number); }

  void add(Number message) {
    const Transfer transfer{begin_s(message), message};
    push(ready_, transfer);
    push(by_pair_[pairs_[place(script_.route[message])]], transfer);
  }

  [[nodiscard]] double begin_s(Number message) const {
    const double offered_s = offered_s_[place(message)], posted_s = posted_s_[place(message)];
    if (offered_s <= posted_s) return posted_s;
    return inside_s_(script_.target[script_.route[message]], offered_s);
  }

  static void push(Heap& heap, Transfer transfer) {
    heap.push_back(transfer);
    std::ranges::push_heap(heap, std::greater{});
  }

  static void pop(Heap& heap) {
    std::ranges::pop_heap(heap, std::greater{});
    heap.pop_back();
  }

  /// Takes what begins first and before a moment. While ranks go on a transfer can only begin
  /// later than was known when it was put here.
  std::optional<Transfer> take(Heap& heap, double before_s) {
    while (!heap.empty()) {
      const auto earliest = heap.front();
      if (!is_offered(earliest.message)) {
        pop(heap);
        continue;
      }
      if (const double now_s = begin_s(earliest.message); now_s > earliest.begin_s) {
        pop(heap);
        push(heap, {now_s, earliest.message});
        continue;
      }
      if (earliest.begin_s >= before_s) break;
      pop(heap);
      forget(earliest.message);
      return earliest;
    }
    return std::nullopt;
  }

  void renew(Heap& heap) const {
    for (auto& transfer : heap) transfer.begin_s = begin_s(transfer.message);
    std::ranges::make_heap(heap, std::greater{});
  }

  const Script& script_;
  Inside inside_s_;
  std::vector<State> states_;
  std::vector<double> offered_s_, posted_s_;
  std::vector<std::size_t> pairs_, opposites_;
  Heap ready_;
  std::vector<Heap> by_pair_;
};
}  // namespace nhalf::replay
