#pragma once

#include "patterns/bases/pairs/prepared_pair.hpp"

namespace nhalf {

inline constexpr PatternInfo stream_persistent{
    .name = "stream-persistent",
    .what =
        "rank 0 pumps messages that were set up once to rank 1, windows of 64 at a time; rank 1 "
        "acknowledges once at the end of a batch",
    .needs = "persistent",
    .rounds_min = 16,
    .acknowledged = true};

template <Persistent T>
class StreamPersistent : public PreparedPair<T> {
 public:
  StreamPersistent(T& transport, const Case& point)
      : PreparedPair<T>(transport, point, transport.rank() == 0 ? message_window : 0) {}

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    if (!this->takes_part()) return;
    this->stream(rounds, this->leads(), !this->leads());
    if (this->leads()) {
      transport.recv(this->peer(), Bytes{});
    } else {
      transport.send(this->peer(), ConstBytes{});
    }
  }

 protected:
  [[nodiscard]] bool receives() const override { return this->takes_part() && !this->leads(); }
};

NHALF_PATTERN(stream_persistent, StreamPersistent);

}  // namespace nhalf
