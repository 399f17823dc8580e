// One rank pumps messages to another.
#pragma once

#include <cstdint>

#include "patterns/bases/pair.hpp"

namespace nhalf {

/// The first of two ranks sends without waiting; the second acknowledges once, after the last.
template <Transport T>
class StreamLoop : public Pair<T> {
 public:
  using Pair<T>::Pair;

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    const int peer = this->peer();
    if (this->leads()) {
      for (auto i = rounds; i > 0; --i) transport.send(peer, this->out_.bytes());
      transport.recv(peer, Bytes{});
    } else if (this->takes_part()) {
      for (auto i = rounds; i > 0; --i) transport.recv(peer, this->in_.bytes());
      transport.send(peer, ConstBytes{});
    }
  }

 protected:
  [[nodiscard]] bool receives() const override { return this->takes_part() && !this->leads(); }
};

}  // namespace nhalf
