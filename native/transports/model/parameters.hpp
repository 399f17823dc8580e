// Parameters of the simulated machine, from a transport's options.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "contract/options.hpp"
#include "contract/transport.hpp"
#include "timing/clock.hpp"

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
  int states;
  double state_slow, state_fraction, state_dwell, flag_s, flag_slow, drift_per_s;
  double jitter_s, clock_resolution_s;
  Slowness slowness;
  std::uint64_t seed;
};

}  // namespace nhalf
