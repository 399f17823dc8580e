// State of the simulated machine for all ranks, with the messages in flight, and its parameters,
// from a transport's options.
#pragma once

#include <set>

#include "timing/clock.hpp"
#include "transports/bases/control.hpp"
#include "transports/bases/fibers.hpp"
#include "transports/model/mailbox.hpp"

namespace nhalf {
/// A rank, or the way from one rank to another, on which everything takes longer by a factor.
struct Slowness {
  static constexpr OptionInfo described[] = {
      {"slow", "1", "", "factor on the times of messages that slow_from and slow_to choose"},
      {"slow_from", "", "", "only messages of this rank"},
      {"slow_to", "", "", "only messages to this rank"}};

  explicit Slowness(const Options& options)
      : slow_factor(options.number("slow", 1.0)),
        from(options.number("slow_from", anybody)),
        to(options.number("slow_to", anybody)) {}

  /// On everything that happens to a message, its gap at a rank aside.
  [[nodiscard]] double on_message(int sender, int receiver) const {
    const bool chosen = (from == anybody || from == sender) && (to == anybody || to == receiver);
    return chosen ? slow_factor : 1;
  }
  /// On the gap at its sender, which is slow only with messages to all.
  [[nodiscard]] double on_sender(int sender) const {
    return to == anybody ? on_message(sender, anybody) : 1;
  }
  [[nodiscard]] double on_receiver(int receiver) const {
    return from == anybody ? on_message(anybody, receiver) : 1;
  }
  /// Whether it is about the way between two ranks, on which one message then follows another.
  [[nodiscard]] bool is_way(int sender, int receiver) const {
    return from == sender && to == receiver;
  }

  static constexpr int anybody = -1;
  double slow_factor;
  int from;
  int to;
};

/// A message of n bytes leaves o_s after the call, arrives nG + L later and is taken in o_r: one
/// way T(n) = o_s + L + o_r + nG. Between two messages of one sender (or to one receiver) lie at
/// least g + nG.
struct ModelParameters {
  static constexpr OptionInfo described[] = {
      {"o_s", "1e-6", "s", "overhead of a send"},
      {"o_r", "1e-6", "s", "overhead of a receive"},
      {"g", "2e-6", "s", "gap between messages"},
      {"L", "5e-6", "s", "latency of the network"},
      {"G", "1e-10", "s/B", "gap per byte"},
      {"match_s", "0", "s", "for each message or receive that a tagged receive or message passes"},
      {"connect_s", "0", "s", "further latency of the first message from a rank to another"},
      {"eager_bytes", "0", "B", "messages above this size use the rendezvous protocol; 0: none do"},
      {"rendezvous_s", "0", "s", "further latency of a rendezvous message"},
      {"rendezvous_G", "0", "s/B", "gap per byte of a rendezvous message; 0: the same G"},
      {"packet_offset_bytes", "0", "B", "size at which the second packet begins"},
      {"packet_bytes", "0", "B", "length of each further packet; 0: no packets"},
      {"packet_s", "0", "s", "further latency of each packet after the first"},
      {"noise", "0", "", "sigma of the lognormal factor drawn for each batch"},
      {"launch_noise", "0", "", "sigma of the lognormal factor drawn for each launch"},
      {"tail_fraction", "0", "", "fraction of batches that take tail_factor times as long"},
      {"tail_factor", "2", "", "factor on all times of these batches"},
      {"states", "2", "", "states of the machine, each slower than the one before"},
      {"state_slow", "1", "", "factor on all times from a state to the next slower one"},
      {"state_fraction", "0", "", "fraction of batches in slow states"},
      {"state_dwell", "20", "", "mean number of batches that a slow state lasts"},
      {"flag_s", "0", "s", "a flag between two cores in the fastest state; 0: there are none"},
      {"flag_slow", "2", "", "factor on flags from a state to the next slower one"},
      {"drift_per_s", "0", "1/s", "relative growth of all times per virtual second"},
      {"jitter_s", "0", "s", "mean of the exponential further latency drawn for each message"},
      {"clock_resolution_s", "0", "s", "smallest step of the virtual clock; 0: exact"},
      Slowness::described[0],
      Slowness::described[1],
      Slowness::described[2],
      ClockError::described[0],
      ClockError::described[1],
      {"seed", "1", "", "of the random numbers"},
  };

  explicit ModelParameters(const Options& options)
      : o_s(options.number("o_s", 1e-6)),
        o_r(options.number("o_r", 1e-6)),
        g(options.number("g", 2e-6)),
        L(options.number("L", 5e-6)),
        G(options.number("G", 1e-10)),
        match_s(options.number("match_s", 0.0)),
        connect_s(options.number("connect_s", 0.0)),
        eager_bytes(options.number("eager_bytes", 0.0)),
        rendezvous_s(options.number("rendezvous_s", 0.0)),
        rendezvous_G(options.number("rendezvous_G", 0.0)),
        packet_offset_bytes(options.number("packet_offset_bytes", 0.0)),
        packet_bytes(options.number("packet_bytes", 0.0)),
        packet_s(options.number("packet_s", 0.0)),
        noise(options.number("noise", 0.0)),
        launch_noise(options.number("launch_noise", 0.0)),
        tail_fraction(options.number("tail_fraction", 0.0)),
        tail_factor(options.number("tail_factor", 2.0)),
        states(options.number("states", 2)),
        state_slow(options.number("state_slow", 1.0)),
        state_fraction(options.number("state_fraction", 0.0)),
        state_dwell(std::max(1.0, options.number("state_dwell", 20.0))),
        flag_s(options.number("flag_s", 0.0)),
        flag_slow(options.number("flag_slow", 2.0)),
        drift_per_s(options.number("drift_per_s", 0.0)),
        jitter_s(options.number("jitter_s", 0.0)),
        clock_resolution_s(options.number("clock_resolution_s", 0.0)),
        slowness(options),
        seed(options.number("seed", std::uint64_t{1})) {
    if (state_fraction > 1) throw InputError("state_fraction is a fraction from 0 to 1");
    if (tail_fraction > 1) throw InputError("tail_fraction is a fraction from 0 to 1");
    if (states < 2)
      throw InputError("states is a number from 2 on; state_fraction=0 has one state");
  }

  [[nodiscard]] bool rendezvous(double n) const { return eager_bytes > 0 && n > eager_bytes; }
  [[nodiscard]] double bytes_s(double n) const {
    return n * (rendezvous(n) && rendezvous_G > 0 ? rendezvous_G : G);
  }
  [[nodiscard]] double latency_s(double n) const {
    double latency = L + (rendezvous(n) ? rendezvous_s : 0);
    if (packet_bytes > 0 && n >= packet_offset_bytes)
      latency += packet_s * (std::floor((n - packet_offset_bytes) / packet_bytes) + 1);
    return latency;
  }

  double o_s, o_r, g, L, G;
  double match_s, connect_s;
  double eager_bytes, rendezvous_s, rendezvous_G;
  double packet_offset_bytes, packet_bytes, packet_s;
  double noise, launch_noise;
  double tail_fraction, tail_factor;
  int states;
  double state_slow, state_fraction, state_dwell, flag_s, flag_slow, drift_per_s;
  double jitter_s, clock_resolution_s;
  Slowness slowness;
  std::uint64_t seed;
};

/// The noise of the simulated machine: a factor on all times, drawn anew at each barrier and so for
/// each batch.
class Weather {
 public:
  explicit Weather(const ModelParameters& p) : parameters_(p) { reseed(p.seed); }

  /// Begins another launch: its own factor, its own sequence.
  void reseed(std::uint64_t seed) {
    random_.seed(seed);
    launch_factor_ = lognormal(parameters_.launch_noise);
    state_ = uniform_(random_) < parameters_.state_fraction ? slow_state() : 0;
    factor_ = launch_factor_;
  }

  /// Draws the factor of the next batch, which begins at `now_s`.
  void next_batch(double now_s) {
    step_state();
    factor_ = launch_factor_ * lognormal(parameters_.noise) * tail() *
              std::pow(parameters_.state_slow, state_) * (1 + parameters_.drift_per_s * now_s);
  }

  /// Returns the time of a flag between two cores in the present state; NaN if there are none.
  [[nodiscard]] double flag_s() const {
    if (parameters_.flag_s <= 0) return std::numeric_limits<double>::quiet_NaN();
    return parameters_.flag_s * std::pow(parameters_.flag_slow, state_);
  }

  [[nodiscard]] double factor() const { return factor_; }

  /// Returns the delay of the next message.
  double jitter_s() {
    if (parameters_.jitter_s <= 0) return 0;
    return -parameters_.jitter_s * std::log1p(-uniform_(random_));
  }

 private:
  double lognormal(double sigma) { return sigma > 0 ? std::exp(sigma * normal_(random_)) : 1.0; }

  /// Draws the factor of a batch, which is rarely that of the tail; nothing is drawn without one.
  double tail() {
    const double fraction = parameters_.tail_fraction;
    return fraction > 0 && uniform_(random_) < fraction ? parameters_.tail_factor : 1.0;
  }

  /// Draws one of the slow states, which are equally likely.
  int slow_state() {
    if (parameters_.states == 2) return 1;
    return std::uniform_int_distribution<int>{1, parameters_.states - 1}(random_);
  }

  /// A Markov chain whose stationary share of batches in slow states is `state_fraction`.
  void step_state() {
    const double fraction = parameters_.state_fraction;
    if (fraction <= 0 || fraction >= 1) return;
    const double leave_slow = 1 / parameters_.state_dwell;
    const double leave_fast = std::min(1.0, leave_slow * fraction / (1 - fraction));
    if (uniform_(random_) < (state_ > 0 ? leave_slow : leave_fast))
      state_ = state_ > 0 ? 0 : slow_state();
  }

  ModelParameters parameters_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  double launch_factor_ = 1;
  double factor_ = 1;
  /// 0 is the fastest.
  int state_ = 0;
};

/// A started receive of a tagged message; any rank or any tag where it is below 0.
struct PostedReceive {
  int from;
  int tag;
  Bytes data;
  std::uint64_t number;

  [[nodiscard]] bool accepts(const ModelMessage& message) const {
    return (from < 0 || from == message.sender) && (tag < 0 || tag == message.tag);
  }
};

/// The machine that all ranks share.
class ModelMachine {
 public:
  static constexpr int nobody = -1;
  static constexpr int anybody = -2;

  struct alignas(64) Rank {
    double clock_s = 0;
    /// How long its processor was busy with messages.
    double busy_s = 0;
    double sender_free_s = 0;
    double last_arrival_s = -1;
    /// Time at which its latest synchronous message was received; below 0 before.
    double taken_s = -1;
    ClockError clock_error;
    /// Rank from which it awaits a message, or anybody.
    int waits_for = nobody;
    /// Receives of tagged messages that wait for theirs, in the order of their start.
    std::vector<PostedReceive> posted;
  };

  ModelMachine(int count, const Options& options)
      : parameters(options),
        weather(parameters),
        ranks(static_cast<std::size_t>(count)),
        control({fibers}, ranks.size()) {
    if (!ClockError::asked_for(options)) return;
    for (int rank = 0; rank < count; ++rank)
      ranks[static_cast<std::size_t>(rank)].clock_error = ClockError(options, rank);
  }

  ModelParameters parameters;
  Weather weather;
  Fibers fibers;
  std::vector<Rank> ranks;
  Control<Fibers::Waiting> control;
  Mailbox mailbox;
  /// Time from which a shared link between two ranks, if there is one, can carry the next message.
  double way_free_s = 0;
  std::uint64_t barriers_done = 0;
  std::uint64_t messages = 0;
  /// From whom to whom there has been a message, if the first one takes longer.
  std::set<std::pair<int, int>> connected;
  int arrived = 0;
};
}  // namespace nhalf
