#pragma once

#include <vector>

#include "contract/partitioned.hpp"
#include "patterns/bases/pair.hpp"

namespace nhalf {

inline constexpr AxisInfo partitioned_axes[] = {
    {"parts", "1,4,16", "", "1 to 16: how many there are of a message, each told ready in turn"}};

inline constexpr PatternInfo pingpong_partitioned{
    .name = "pingpong-partitioned",
    .what = "ping-pong with messages that were set up once and are told ready part by part",
    .needs = "partitioned",
    .messages_per_round = 2,
    .axes = partitioned_axes,
    .size_multiple = 16};
template <Partitioned T>
class PingPongPartitioned : public Pair<T> {
 public:
  PingPongPartitioned(T& transport, const Case& point)
      : Pair<T>(transport, point), parts_(point.axis("parts", 1, 16)) {
    if (point.size_bytes % static_cast<std::size_t>(parts_) != 0)
      throw InputError("a message in parts is a multiple of them: give a multiple of 16 bytes");
    if (!this->takes_part()) return;
    requests_ = {transport.prepare_parts_send(this->peer(), this->out_.bytes(), parts_),
                 transport.prepare_parts_recv(this->peer(), this->in_.bytes(), parts_)};
  }
  ~PingPongPartitioned() override {
    for (auto& request : requests_) this->transport_.release(request);
  }

  void run(std::uint64_t rounds) override {
    for (auto i = this->leads() ? rounds : 0; i > 0; --i) {
      send();
      recv();
    }
    for (auto i = this->takes_part() && !this->leads() ? rounds : 0; i > 0; --i) {
      recv();
      send();
    }
  }

 private:
  void send() {
    auto& request = requests_[0];
    this->transport_.start(request);
    for (int part = 0; part < parts_; ++part) this->transport_.ready(request, part);
    this->transport_.wait(request);
  }
  void recv() {
    this->transport_.start(requests_[1]);
    this->transport_.wait(requests_[1]);
  }

  int parts_;
  /// The send, then the receive.
  std::vector<typename T::Request> requests_;
};
NHALF_PATTERN(pingpong_partitioned, PingPongPartitioned);

}  // namespace nhalf
