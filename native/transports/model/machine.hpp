// State of the simulated machine for all ranks, with the messages in flight.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "contract/options.hpp"
#include "contract/transport.hpp"
#include "timing/clock.hpp"
#include "transports/bases/control.hpp"
#include "transports/bases/fibers.hpp"
#include "transports/model/mailbox.hpp"
#include "transports/model/parameters.hpp"

namespace nhalf {

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
    factor_ = launch_factor_ * lognormal(parameters_.noise) *
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
