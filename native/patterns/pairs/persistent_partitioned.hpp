// Messages between two ranks that are set up once, before they are timed, whole or in parts.
#pragma once

#include "contract/messages.hpp"
#include "patterns/bases/pair.hpp"

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

inline constexpr PatternInfo pingpong_persistent{
    .name = "pingpong-persistent",
    .what = "ping-pong whose sends and receives are set up once and started again and again",
    .needs = "persistent",
    .messages_per_round = 2};
template <Persistent T>
class PingPongPersistent : public PreparedPair<T> {
 public:
  PingPongPersistent(T& transport, const Case& point) : PreparedPair<T>(transport, point, 1) {}

  void run(std::uint64_t rounds) override {
    if (!this->takes_part()) return;
    take_turns(rounds, this->leads(), [this] { this->send(); }, [this] { this->recv(); });
  }
};
NHALF_PATTERN(pingpong_persistent, PingPongPersistent);

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

inline constexpr PatternInfo bibw_persistent{.name = "bibw-persistent",
                                             .what = "as bibw, with messages that were set up once",
                                             .needs = "persistent",
                                             .bytes_factor = 2,
                                             .rounds_min = 16};
template <Persistent T>
class BibwPersistent : public PreparedPair<T> {
 public:
  BibwPersistent(T& transport, const Case& point)
      : PreparedPair<T>(transport, point, message_window) {}

  void run(std::uint64_t rounds) override {
    if (this->takes_part()) this->stream(rounds, true, true);
  }
};
NHALF_PATTERN(bibw_persistent, BibwPersistent);

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
    if (this->takes_part())
      take_turns(rounds, this->leads(), [this] { send(); }, [this] { recv(); });
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
