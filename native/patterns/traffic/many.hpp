// Messages that fan out from one rank, in to one, or from all to all.
#pragma once

#include "patterns/bases/links.hpp"
#include "timing/stopwatch.hpp"

namespace nhalf {
inline constexpr PatternInfo many_to_many{
    .name = "many-to-many",
    .what =
        "every rank sends a message of its own to each other one and gets one from each, all "
        "started at once; the time until the slowest rank has all of a round",
    .needs = "non-blocking",
    .timing = Timing::slowest_rank};

/// Nobody is more than a round ahead, because every round needs a message from everybody.
template <NonBlocking T>
class ManyToMany : public Links<T> {
 public:
  ManyToMany(T& transport, const Case& point)
      : ManyToMany(transport, point, all_but(transport.rank(), transport.size())) {}

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    for (auto i = rounds; i > 0; --i) {
      // Receives come first, to start and to wait for: a transport may need them to end the sends.
      auto next = requests_.begin();
      for (const auto& link : this->in_) *next++ = transport.irecv(link.peer, link.data);
      for (const auto& link : this->out_) *next++ = transport.isend(link.peer, link.data);
      wait_all(transport, std::span(requests_));
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override { return moved_bytes_; }

 private:
  ManyToMany(T& transport, const Case& point, const std::vector<int>& partners)
      // Whom this rank serves k-th, that rank hears k-th: sends go up in rank, receives down.
      : Links<T>(transport, point, partners, {partners.rbegin(), partners.rend()}),
        requests_(2 * partners.size()),
        moved_bytes_(static_cast<std::uint64_t>(transport.size()) * partners.size() *
                     point.size_bytes) {}

  std::vector<typename T::Request> requests_;
  std::uint64_t moved_bytes_;
};
NHALF_PATTERN(many_to_many, ManyToMany);

/// Rounds of a fan that may be under way before whoever receives answers.
inline constexpr std::uint64_t fan_window = 32;

/// Whoever sends does so in one go, whoever receives takes messages in the order of ranks. After
/// fan_window rounds, and at the end, every receiver answers each of its senders with an empty
/// message: so what is timed is sending until the data has been taken and not the filling of
/// buffers, nobody runs ahead by more than a window, and a round costs the same in batches of any
/// length. The sampler takes the answers off.
///
/// The one rank's own time, from its first message of a window to its last and without the answers,
/// is a second result, `root_s`: how soon it can do something else. Outwards, rank 0 sends to all
/// others, else they send to it.
template <Transport T, bool outwards>
class FanLoop : public Links<T> {
 public:
  FanLoop(T& transport, const Case& point)
      : Links<T>(transport, point, peers(transport, outwards), peers(transport, !outwards)),
        moved_bytes_(static_cast<std::uint64_t>(transport.size() - 1) * point.size_bytes),
        watch_(transport) {}

  void run(std::uint64_t rounds) override {
    T& transport = this->transport_;
    watch_.reset();
    rounds_ = rounds;
    while (rounds > 0) {
      const auto together = std::min(rounds, fan_window);
      watch_.time([&] { move(together); });
      for (const auto& link : this->in_) transport.send(link.peer, ConstBytes{});
      for (const auto& link : this->out_) transport.recv(link.peer, Bytes{});
      rounds -= together;
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override { return moved_bytes_; }

  /// Seconds per round of the latest batch at rank 0.
  std::vector<Value> values() override {
    const auto spent_s = watch_.seconds();
    if (!spent_s) return {};
    return {{"root_s", *spent_s / static_cast<double>(rounds_)}};
  }

 private:
  /// The messages of some rounds.
  void move(std::uint64_t rounds) {
    for (auto i = rounds; i > 0; --i) {
      for (const auto& link : this->out_) this->transport_.send(link.peer, link.data);
      for (const auto& link : this->in_) this->transport_.recv(link.peer, link.data);
    }
  }

  static std::vector<int> peers(const T& transport, bool of_root) {
    if (of_root != (transport.rank() == 0)) return {};
    return of_root ? all_but(0, transport.size()) : std::vector<int>{0};
  }

  std::uint64_t moved_bytes_;
  Stopwatch<T> watch_;
  std::uint64_t rounds_ = 0;
};

/// What is said of either of these patterns.
constexpr PatternInfo fan_pattern(std::string_view name, std::string_view description) {
  return {.name = name,
          .what = description,
          .rounds_min = fan_window,
          .acknowledged = true,
          .window = fan_window,
          .timing = Timing::slowest_rank};
}

inline constexpr auto many_to_one = fan_pattern(
    "many-to-one",
    "every rank sends a message of its own to rank 0, 32 rounds before it answers; the time of a "
    "round, without the answers");
template <Transport T>
using ManyToOne = FanLoop<T, false>;
NHALF_PATTERN(many_to_one, ManyToOne);

inline constexpr auto one_to_many = fan_pattern(
    "one-to-many",
    "rank 0 sends a message of its own to each other rank, 32 rounds before they answer; the time "
    "of a round, without the answers");
template <Transport T>
using OneToMany = FanLoop<T, true>;
NHALF_PATTERN(one_to_many, OneToMany);
}  // namespace nhalf
