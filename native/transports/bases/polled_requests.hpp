// Which of several requests is complete first, by polls of each in turn; and a queue whose memory
// stays.
#pragma once

#include "contract/vocabulary.hpp"

namespace nhalf {
/// Begins where the last request was found, so that no sender is always served last.
class PolledRequests {
 public:
  /// The place of the first request that `is_done`; their number where none `is_started`.
  /// `until(holds)` waits.
  template <class Request, class Until, class IsStarted, class IsDone>
  std::size_t first_done(std::span<Request> requests, Until until, IsStarted is_started,
                         IsDone is_done) {
    const auto count = requests.size();
    std::size_t completed = count;
    until([&] {
      bool any = false;
      for (std::size_t i = 0; i < count && completed == count; ++i) {
        const auto place = (looked_at_ + i) % count;
        const bool is_pending = is_started(requests[place]);
        any = any || is_pending;
        if (is_pending && is_done(requests[place])) completed = place;
      }
      return completed < count || !any;
    });
    if (completed < count) looked_at_ = completed + 1;
    return completed;
  }

 private:
  std::size_t looked_at_ = 0;
};

/// A first-in, first-out queue in a ring.
template <class Item>
class RingQueue {
 public:
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] Item& front() { return items_[first_]; }

  void push(Item item) {
    if (count_ == items_.size()) grow();
    items_[(first_ + count_++) & (items_.size() - 1)] = std::move(item);
  }
  void pop() {
    first_ = (first_ + 1) & (items_.size() - 1);
    --count_;
  }

 private:
  void grow() {
    std::vector<Item> larger(items_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i)
      larger[i] = std::move(items_[(first_ + i) & (items_.size() - 1)]);
    items_ = std::move(larger);
    first_ = 0;
  }

  std::vector<Item> items_ = std::vector<Item>(64);
  std::size_t first_ = 0, count_ = 0;
};
}  // namespace nhalf
