// A pending send or receive, and the queue of those in one direction.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nhalf::shmq {

/// Goes on whenever there is room, or something has come.
struct Operation {
  std::byte* data = nullptr;
  std::size_t size_bytes = 0;
  /// Sent or received so far.
  std::size_t done_bytes = 0;
  /// Size that the sender of a received message announced; bytes beyond `size_bytes` are dropped.
  std::size_t announced_bytes = 0;
  /// Count of boxes or pulled messages at which a submitted send completes.
  std::uint64_t awaited = 0;
  enum class State : std::uint8_t { begins, goes_on, awaits_pull, awaits_box, awaits_peer, done };
  State state = State::begins;
  /// A send that returns only when its receive has started.
  bool answered = false;
  bool sends = false;
  int peer = -1;
  Operation* next = nullptr;
};

/// First in, first out; owns nothing.
class Queue {
 public:
  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  Operation& front() { return *first_; }
  void push(Operation& operation) {
    operation.next = nullptr;
    if (empty())
      first_ = &operation;
    else
      last_->next = &operation;
    last_ = &operation;
  }
  void pop() { first_ = first_->next; }

 private:
  Operation* first_ = nullptr;
  Operation* last_ = nullptr;
};

}  // namespace nhalf::shmq
