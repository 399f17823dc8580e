// Two ranks whose messages are set up once, before they are timed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "contract/persistent.hpp"
#include "patterns/bases/pair.hpp"
#include "patterns/bases/window.hpp"

namespace nhalf {

/// One prepared receive and a window of prepared sends, all of the same bytes.
template <Persistent T>
class PreparedPair : public Pair<T> {
 public:
  PreparedPair(T& transport, const Case& point, std::size_t window) : Pair<T>(transport, point) {
    if (!this->takes_part()) return;
    receive_.push_back(transport.prepare_recv(this->peer(), this->in_.bytes()));
    while (sends_.size() < window)
      sends_.push_back(transport.prepare_send(this->peer(), this->out_.bytes()));
  }
  ~PreparedPair() override {
    for (auto& request : receive_) this->transport_.release(request);
    for (auto& request : sends_) this->transport_.release(request);
  }

 protected:
  void send() {
    this->transport_.start(sends_.front());
    this->transport_.wait(sends_.front());
  }
  void recv() {
    this->transport_.start(receive_.front());
    this->transport_.wait(receive_.front());
  }

  /// Sends that many messages, at most a window of them under way, and receives as many where it
  /// is told to.
  void stream(std::uint64_t rounds, bool sends, bool receives) {
    windows(rounds, sends ? sends_.size() : message_window, [&](std::size_t together) {
      const auto some = std::span(sends_).first(sends ? together : 0);
      if (sends) this->transport_.start_all(some);
      for (auto i = receives ? together : 0; i > 0; --i) recv();
      if (sends) wait_all(this->transport_, some);
    });
  }

 private:
  std::vector<typename T::Request> receive_;
  std::vector<typename T::Request> sends_;
};

}  // namespace nhalf
