// A message there, an empty one back, for any way to send it.
#pragma once

#include <cstdint>

#include "patterns/bases/pair.hpp"

namespace nhalf {

/// Rank 0 sends the message and waits for rank 1's empty answer before the next one: there is never
/// more than one message under way. `send` is compiled into the loop.
template <Transport T>
class RoundTripLoop : public Pair<T> {
 public:
  using Pair<T>::Pair;

 protected:
  template <class Send>
  void loop(std::uint64_t rounds, Send send) {
    T& transport = this->transport_;
    const ConstBytes out = this->out_.bytes();
    const Bytes in = this->in_.bytes();
    if (transport.rank() == 0) {
      for (auto i = rounds; i > 0; --i) {
        send(transport, 1, out);
        transport.recv(1, Bytes{});
      }
    } else if (transport.rank() == 1) {
      for (auto i = rounds; i > 0; --i) {
        transport.recv(0, in);
        transport.send(0, ConstBytes{});
      }
    }
  }

  [[nodiscard]] bool receives() const override { return this->transport_.rank() == 1; }
};

}  // namespace nhalf
