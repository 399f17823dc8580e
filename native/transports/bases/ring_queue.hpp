// A queue whose memory stays: once it has been as long as it gets, it allocates no more.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace nhalf {

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
