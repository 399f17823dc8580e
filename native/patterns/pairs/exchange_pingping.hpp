// Two ranks send to each other at once, and name the sender of what they receive, or do not.
#pragma once

#include "contract/messages.hpp"
#include "patterns/bases/pair.hpp"

namespace nhalf {
inline constexpr PatternInfo exchange{
    .name = "exchange",
    .what = "ranks 0 and 1 each send one message and receive one in a single call",
    .needs = "duplex",
    .bytes_factor = 2};
template <Duplex T>
class Exchange : public Pair<T> {
 public:
  Exchange(T& transport, const Case& point) : Pair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    if (transport.rank() > 1) return;
    const int peer = this->peer();
    for (auto i = rounds; i > 0; --i)
      transport.exchange(peer, this->out_.bytes(), peer, this->in_.bytes());
  }
};
NHALF_PATTERN(exchange, Exchange);

/// Both ranks send and receive at once; `any_source`: receives name no sender.
template <NonBlocking T, bool any_source>
class PingPingBy : public Pair<T> {
 public:
  PingPingBy(T& transport, const Case& point) : Pair<T>(transport, point) {}
  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    const int peer = this->peer();
    for (auto i = this->takes_part() ? rounds : 0; i > 0; --i) {
      auto sent = transport.isend(peer, this->out_.bytes());
      if constexpr (any_source) {
        transport.recv_any(this->in_.bytes());
      } else {
        transport.recv(peer, this->in_.bytes());
      }
      transport.wait(sent);
    }
  }
};

inline constexpr PatternInfo pingping{
    .name = "pingping",
    .what = "ranks 0 and 1 send to each other at once: non-blocking send, receive, wait",
    .needs = "non-blocking"};
template <NonBlocking T>
using PingPing = PingPingBy<T, false>;
NHALF_PATTERN(pingping, PingPing);

inline constexpr PatternInfo pingping_anysource{
    .name = "pingping-anysource",
    .what = "ping-ping whose receives take a message from any rank",
    .needs = "any-source, non-blocking"};
template <class T>
  requires AnySource<T> && NonBlocking<T>
using PingPingAnySource = PingPingBy<T, true>;
NHALF_PATTERN(pingping_anysource, PingPingAnySource);
}  // namespace nhalf
