// Threads of two ranks that talk to each other, one to one, at the same time.
#pragma once

#include "patterns/bases/threads/thread_messages.hpp"

namespace nhalf {

/// Each thread of rank 0 talks to the one of rank 1 that has its number; further ranks take no
/// part.
template <ThreadMultiple T>
class ThreadPairs : public ThreadMessages<T> {
 protected:
  ThreadPairs(T& transport, const Case& point)
      : ThreadMessages<T>(transport, point, transport.rank() < 2 ? 1 - transport.rank() : -1) {}

  [[nodiscard]] bool leads() const { return this->transport_.rank() == 0; }
  [[nodiscard]] int peer() const { return 1 - this->transport_.rank(); }
  void send(int thread, ConstBytes data) {
    this->transport_.send(this->channel(thread), peer(), data);
  }
  void recv(int thread, Bytes data) { this->transport_.recv(this->channel(thread), peer(), data); }
};

}  // namespace nhalf
