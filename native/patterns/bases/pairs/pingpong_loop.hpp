// There and back between two ranks, for any way of sending, the answer as long as the message or
// empty.
#pragma once

#include "patterns/bases/pair.hpp"

namespace nhalf {
/// Two ranks send in turn, each with one buffer to send from and one to receive into, as the OSU
/// and Intel benchmarks do. `send` is the call under test and is compiled into the loop.
template <Transport T>
class PingPongLoop : public Pair<T> {
 public:
  using Pair<T>::Pair;

  /// A round without data, so that it costs little where messages are long.
  void settle() override {
    if (this->leads()) {
      this->transport_.send(this->peer(), ConstBytes{});
      this->transport_.recv(this->peer(), Bytes{});
    } else if (this->takes_part()) {
      this->transport_.recv(this->peer(), Bytes{});
      this->transport_.send(this->peer(), ConstBytes{});
    }
  }

 protected:
  template <class Send, class Recv>
  void loop(std::uint64_t rounds, Send send, Recv recv) {
    T& transport = this->transport_;
    const int peer = this->peer();
    const ConstBytes out = this->out_.bytes();
    const Bytes in = this->in_.bytes();
    if (this->leads()) {
      for (auto i = rounds; i > 0; --i) {
        send(transport, peer, out);
        recv(transport, peer, in);
      }
    } else if (this->takes_part()) {
      for (auto i = rounds; i > 0; --i) {
        recv(transport, peer, in);
        send(transport, peer, out);
      }
    }
  }

  /// Runs the rounds with the standard receive.
  template <class Send>
  void loop(std::uint64_t rounds, Send send) {
    loop(rounds, send, [](T& transport, int peer, Bytes data) { transport.recv(peer, data); });
  }

  /// And with the standard send, too.
  void loop(std::uint64_t rounds) {
    loop(rounds, [](T& transport, int peer, ConstBytes data) { transport.send(peer, data); });
  }
};

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
