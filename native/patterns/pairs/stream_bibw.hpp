// Messages that follow one another without waiting: one way, and both ways at once.
#pragma once

#include "contract/messages.hpp"
#include "patterns/bases/pair.hpp"

namespace nhalf {
/// The first of two ranks sends without waiting; the second acknowledges once, after the last.
template <Transport T>
class Stream : public Pair<T> {
 public:
  using Pair<T>::Pair;

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    const int peer = this->peer();
    if (this->leads()) {
      if constexpr (SeveralAtOnce<T>) {
        windows(rounds, message_window, [&](std::size_t together) {
          transport.send_several(peer, together, this->out_.bytes());
        });
      } else {
        for (auto i = rounds; i > 0; --i) transport.send(peer, this->out_.bytes());
      }
      transport.recv(peer, Bytes{});
    } else if (this->takes_part()) {
      if constexpr (SeveralAtOnce<T>) {
        windows(rounds, message_window, [&](std::size_t together) {
          transport.recv_several(peer, together, this->in_.bytes());
        });
      } else {
        for (auto i = rounds; i > 0; --i) transport.recv(peer, this->in_.bytes());
      }
      transport.send(peer, ConstBytes{});
    }
  }

 protected:
  [[nodiscard]] bool receives() const override { return this->takes_part() && !this->leads(); }
};

inline constexpr PatternInfo stream{
    .name = "stream",
    .what = "rank 0 pumps messages to rank 1, which acknowledges once at the end of a batch",
    .rounds_min = 16,
    .acknowledged = true};
NHALF_PATTERN(stream, Stream);

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
      for (std::size_t i = 0; i < together; ++i) {
        if (i >= under_way_max) transport.recv(this->peer(), this->in_.bytes());
        some[i] = transport.isend(this->peer(), this->out_.bytes());
      }
      for (auto remaining = std::min(together, under_way_max); remaining > 0; --remaining)
        transport.recv(this->peer(), this->in_.bytes());
      wait_all(transport, some);
    });
  }

 private:
  /// So many sends to one rank may be started before one of its own has to be received.
  static constexpr std::size_t under_way_max = [] {
    if constexpr (requires { T::sends_under_way_max; }) return T::sends_under_way_max;
    return message_window;
  }();

  std::vector<typename T::Request> sends_;
};

template <SeveralAtOnce T>
class BibwAtOnce : public Pair<T> {
 public:
  using Pair<T>::Pair;

  void run(std::uint64_t rounds) override {
    if (!this->takes_part()) return;
    windows(rounds, message_window, [&](std::size_t together) {
      this->transport_.exchange_several(this->peer(), together, this->out_.bytes(),
                                        this->in_.bytes());
    });
  }
};

template <class T>
struct BibwChoice {};
template <NonBlocking T>
struct BibwChoice<T> : std::type_identity<Bibw<T>> {};
template <SeveralAtOnce T>
struct BibwChoice<T> : std::type_identity<BibwAtOnce<T>> {};
template <class T>
using BibwOf = typename BibwChoice<T>::type;
NHALF_PATTERN(bibw, BibwOf);
}  // namespace nhalf
