// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "patterns/bases/pair.hpp"
#include "patterns/bases/window.hpp"

namespace nhalf {

inline constexpr PatternInfo bibw{
    .name = "bibw",
    .what = "ranks 0 and 1 pump messages to each other at once, windows of 64 at a time",
    .needs = "non-blocking",
    .bytes_factor = 2,
    .rounds_min = 16};

template <NonBlocking T>
class Bibw : public Pair<T> {
 public:
  Bibw(T& transport, const Case& point) : Pair<T>(transport, point), sends_(message_window) {}

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    if (!this->takes_part()) return;
    windows(rounds, sends_.size(), [&](std::size_t together) {
      const auto some = std::span(sends_).first(together);
      for (auto& request : some) request = transport.isend(this->peer(), this->out_.bytes());
      for (auto i = together; i > 0; --i) transport.recv(this->peer(), this->in_.bytes());
      wait_all(transport, some);
    });
  }

 private:
  std::vector<typename T::Request> sends_;
};

NHALF_PATTERN(bibw, Bibw);

}  // namespace nhalf
