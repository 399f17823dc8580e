#pragma once

#include "contract/any_source.hpp"
#include "patterns/bases/pair.hpp"

namespace nhalf {

inline constexpr PatternInfo pingping_anysource{
    .name = "pingping-anysource",
    .what = "ping-ping whose receives take a message from any rank",
    .needs = "any-source, non-blocking"};

template <class T>
  requires AnySource<T> && NonBlocking<T>
class PingPingAnySource : public Pair<T> {
 public:
  PingPingAnySource(T& transport, const Case& point) : Pair<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    for (auto i = this->takes_part() ? rounds : 0; i > 0; --i) {
      auto sent = transport.isend(this->peer(), this->out_.bytes());
      transport.recv_any(this->in_.bytes());
      transport.wait(sent);
    }
  }
};

NHALF_PATTERN(pingping_anysource, PingPingAnySource);

}  // namespace nhalf
