// All pairs of ranks: in rounds of a tournament, or all at once, where each pair's own time is
// taken.
#pragma once

#include "patterns/bases/links.hpp"
#include "patterns/bases/pairs/partners.hpp"
#include "patterns/pairs/pingpong.hpp"
#include "patterns/pairs/stream_bibw.hpp"
#include "timing/statistics.hpp"

namespace nhalf {
inline constexpr AxisInfo pair_map_latency_axes[] = {round_axis};

inline constexpr PatternInfo pair_map_latency{
    .name = "pair-map-latency",
    .what =
        "ping-pong of all pairs of a round of a tournament at once; half the round trip of the "
        "slowest, each pair's own in rank_s",
    .messages_per_round = 2,
    .timing = Timing::slowest_rank,
    .axes = pair_map_latency_axes};

/// The lower rank of each pair goes first, unless axis `direction` says otherwise.
inline Game tournament_game(int rank, int ranks, const Case& point) {
  constexpr std::string_view directions[] = {"up", "down"};
  const TournamentRound round(ranks, point, point.choice("direction", directions) == 0);
  return {.partners = round.partners(rank), .values = round.values()};
}
template <Transport T>
using PairMapLatency = PlayedBy<PingPong<T>, T, tournament_game>;
NHALF_PATTERN(pair_map_latency, PairMapLatency);

inline constexpr AxisInfo pair_map_bandwidth_axes[] = {
    round_axis, {"direction", "up,down", "", "up: the lower rank of each pair sends"}};

inline constexpr PatternInfo pair_map_bandwidth{
    .name = "pair-map-bandwidth",
    .what =
        "in all pairs of a round of a tournament at once one rank pumps messages to the other, "
        "which acknowledges once at the end of a batch; each pair's own time is its sender's "
        "in rank_s",
    .rounds_min = 16,
    .acknowledged = true,
    .timing = Timing::slowest_rank,
    .axes = pair_map_bandwidth_axes};

template <Transport T>
using PairMapBandwidth = PlayedBy<Stream<T>, T, tournament_game>;
NHALF_PATTERN(pair_map_bandwidth, PairMapBandwidth);

/// A round begins at a barrier: every rank starts a window of messages to every other and receives
/// what the others send in the order in which it comes. A pair's time ends when its last message is
/// here. Who is sent to first changes from round to round, so that no pair is always late.
template <FirstDone T>
class PairMapTogether : public Links<T> {
 public:
  /// Messages from each rank to each other in a round: less than what any transport holds.
  static constexpr std::size_t window = 4;
  static constexpr std::size_t rounds_kept = 64;

  PairMapTogether(T& transport, const Case& point)
      : Links<T>(transport, point, all_but(transport.rank(), transport.size()),
                 all_but(transport.rank(), transport.size())),
        peers_(this->out_.size()),
        incoming_(peers_),
        outgoing_(peers_ * window),
        missing_(peers_),
        times_s_(peers_ * rounds_kept) {}

  void run(std::uint64_t rounds) override {
    timed_s_ = 0;
    for (auto i = rounds; i > 0; --i) round();
  }

  [[nodiscard]] std::optional<double> timed_s() const override { return timed_s_; }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override {
    const auto size_bytes = peers_ > 0 ? this->out_.front().data.size() : 0;
    return (peers_ + 1) * peers_ * window * size_bytes;
  }

  /// `A>B`: seconds per message from A to B, the median over the latest rounds; and the window.
  std::vector<Value> values() override {
    const auto kept_rounds = std::min(rounds_done_, rounds_kept);
    const auto ranks = peers_ + 1;
    std::vector<double> mine_s(ranks, 0);
    for (std::size_t peer = 0; peer < peers_; ++peer) {
      const auto times_s = std::span(times_s_).subspan(peer * rounds_kept, kept_rounds);
      mine_s[static_cast<std::size_t>(this->in_[peer].peer)] =
          median(times_s) / static_cast<double>(window);
    }
    std::vector<Value> columns{{"window", static_cast<double>(window)}};
    const auto everyone_s = collect(this->transport_, std::span<const double>(mine_s));
    for (std::size_t i = 0; i < everyone_s.size(); ++i)
      if (const auto to = i / ranks, from = i % ranks; from != to)
        columns.push_back({std::to_string(from) + ">" + std::to_string(to), everyone_s[i]});
    return columns;
  }

 private:
  void round() {
    T& transport = this->transport_;
    std::ranges::fill(missing_, window);
    transport.barrier();
    const double began_s = transport.now_s();
    for (std::size_t i = 0; i < peers_; ++i)
      incoming_[i] = transport.irecv(this->in_[i].peer, this->in_[i].data);
    start_sends();
    auto waiting = peers_;
    while (waiting > 0) {
      const auto i = transport.wait_any(incoming_);
      if (--missing_[i] > 0) {
        incoming_[i] = transport.irecv(this->in_[i].peer, this->in_[i].data);
        continue;
      }
      times_s_[i * rounds_kept + rounds_done_ % rounds_kept] = transport.now_s() - began_s;
      --waiting;
    }
    wait_all(transport, std::span(outgoing_));
    timed_s_ += transport.now_s() - began_s;
    ++rounds_done_;
  }

  /// One message to each in turn, again and again. The first turn moves by the golden section.
  void start_sends() {
    const auto share = static_cast<double>(rounds_done_) * 0.6180339887498949;
    const auto first =
        static_cast<std::size_t>((share - std::floor(share)) * static_cast<double>(peers_));
    for (std::size_t i = 0; i < outgoing_.size(); ++i) {
      const auto& link = this->out_[(first + i) % peers_];
      outgoing_[i] = this->transport_.isend(link.peer, link.data);
    }
  }

  std::size_t peers_;
  std::vector<typename T::Request> incoming_;
  std::vector<typename T::Request> outgoing_;
  /// By sender the messages of this round that are still to come.
  std::vector<std::size_t> missing_;
  std::vector<double> times_s_;
  std::size_t rounds_done_ = 0;
  double timed_s_ = 0;
};

inline constexpr PatternInfo pair_map_together{
    .name = "pair-map-together",
    .what =
        "every rank streams to every other at once; the time until the slowest has all, each "
        "pair's own in values",
    .needs = "wait-any",
    .timing = Timing::inner};
NHALF_PATTERN(pair_map_together, PairMapTogether);
}  // namespace nhalf
