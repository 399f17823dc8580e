// SPDX-License-Identifier: Apache-2.0
// There and back between ranks 0 and 1, for any way of sending.
#pragma once

#include <cstdint>

#include "core/buffer.hpp"
#include "core/pair.hpp"
#include "core/pattern.hpp"

namespace nhalf {

/// Ranks 0 and 1 send in turn, each with one buffer to send from and one to receive into, as the
/// OSU and Intel benchmarks do. `send` is the call under test and is compiled into the loop.
template <Transport T>
class PingPongLoop : public Pair<T> {
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
        transport.recv(1, in);
      }
    } else if (transport.rank() == 1) {
      for (auto i = rounds; i > 0; --i) {
        transport.recv(0, in);
        send(transport, 0, out);
      }
    }
  }
};

}  // namespace nhalf
