// SPDX-License-Identifier: Apache-2.0
// A machine with known parameters and a virtual clock: what is measured on it must be what was put
// in. LogGP after A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, "LogGP: Incorporating Long
// Messages into the LogP Model", SPAA 1995.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "contract/options.hpp"
#include "contract/pattern.hpp"
#include "contract/transport.hpp"
#include "timing/clock.hpp"
#include "transports/bases/fibers.hpp"
#include "transports/bases/message_collectives.hpp"

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
      {"eager_bytes", "0", "B", "messages above this size use the rendezvous protocol; 0: none do"},
      {"rendezvous_s", "0", "s", "further latency of a rendezvous message"},
      {"rendezvous_G", "0", "s/B", "gap per byte of a rendezvous message; 0: the same G"},
      {"packet_offset_bytes", "0", "B", "size at which the second packet begins"},
      {"packet_bytes", "0", "B", "length of each further packet; 0: no packets"},
      {"packet_s", "0", "s", "further latency of each packet after the first"},
      {"noise", "0", "", "sigma of the lognormal factor drawn for each batch"},
      {"launch_noise", "0", "", "sigma of the lognormal factor drawn for each launch"},
      {"state_slow", "1", "", "factor on all times in the slow state"},
      {"state_fraction", "0", "", "fraction of batches in the slow state"},
      {"state_dwell", "20", "", "mean number of batches that the slow state lasts"},
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
        eager_bytes(options.number("eager_bytes", 0.0)),
        rendezvous_s(options.number("rendezvous_s", 0.0)),
        rendezvous_G(options.number("rendezvous_G", 0.0)),
        packet_offset_bytes(options.number("packet_offset_bytes", 0.0)),
        packet_bytes(options.number("packet_bytes", 0.0)),
        packet_s(options.number("packet_s", 0.0)),
        noise(options.number("noise", 0.0)),
        launch_noise(options.number("launch_noise", 0.0)),
        state_slow(options.number("state_slow", 1.0)),
        state_fraction(options.number("state_fraction", 0.0)),
        state_dwell(std::max(1.0, options.number("state_dwell", 20.0))),
        drift_per_s(options.number("drift_per_s", 0.0)),
        jitter_s(options.number("jitter_s", 0.0)),
        clock_resolution_s(options.number("clock_resolution_s", 0.0)),
        slowness(options),
        seed(options.number("seed", std::uint64_t{1})) {
    if (state_fraction > 1) throw InputError("state_fraction is a fraction from 0 to 1");
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
  double eager_bytes, rendezvous_s, rendezvous_G;
  double packet_offset_bytes, packet_bytes, packet_s;
  double noise, launch_noise, state_slow, state_fraction, state_dwell, drift_per_s;
  double jitter_s, clock_resolution_s;
  Slowness slowness;
  std::uint64_t seed;
};

/// What makes the simulated machine unsteady: one factor on all times, drawn anew at each barrier,
/// that is, for each batch.
class Weather {
 public:
  explicit Weather(const ModelParameters& p) : parameters_(p) { reseed(p.seed); }

  /// Begins another launch: its own factor, its own sequence.
  void reseed(std::uint64_t seed) {
    random_.seed(seed);
    launch_factor_ = lognormal(parameters_.launch_noise);
    slow_ = uniform_(random_) < parameters_.state_fraction;
    factor_ = launch_factor_;
  }

  /// Draws the factor of the next batch, which begins at `now_s`.
  void next_batch(double now_s) {
    step_state();
    factor_ = launch_factor_ * lognormal(parameters_.noise) *
              (slow_ ? parameters_.state_slow : 1.0) * (1 + parameters_.drift_per_s * now_s);
  }

  [[nodiscard]] double factor() const { return factor_; }

  /// What the next message takes longer.
  double jitter_s() {
    if (parameters_.jitter_s <= 0) return 0;
    return -parameters_.jitter_s * std::log1p(-uniform_(random_));
  }

 private:
  double lognormal(double sigma) { return sigma > 0 ? std::exp(sigma * normal_(random_)) : 1.0; }

  /// A two-state Markov chain whose stationary share of slow batches is `state_fraction`.
  void step_state() {
    const double fraction = parameters_.state_fraction;
    if (fraction <= 0 || fraction >= 1) return;
    const double leave_slow = 1 / parameters_.state_dwell;
    const double leave_fast = std::min(1.0, leave_slow * fraction / (1 - fraction));
    if (uniform_(random_) < (slow_ ? leave_slow : leave_fast)) slow_ = !slow_;
  }

  ModelParameters parameters_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  double launch_factor_ = 1;
  double factor_ = 1;
  bool slow_ = false;
};

/// The machine that all ranks share.
class ModelMachine {
 public:
  struct Message {
    double arrival_s = 0;
    std::vector<std::byte> data;
    std::shared_ptr<double> taken_s;
  };
  struct Rank {
    double clock_s = 0;
    double sender_free_s = 0;
    double last_arrival_s = -1;
    ClockError clock_error;
  };

  ModelMachine(int count, const Options& options)
      : parameters(options),
        weather(parameters),
        ranks(static_cast<std::size_t>(count)),
        channels(static_cast<std::size_t>(count) * static_cast<std::size_t>(count)) {
    for (int rank = 0; rank < count; ++rank)
      ranks[static_cast<std::size_t>(rank)].clock_error = ClockError(options, rank);
  }

  std::deque<Message>& channel(int from, int to) {
    return channels[static_cast<std::size_t>(from) * ranks.size() + static_cast<std::size_t>(to)];
  }

  ModelParameters parameters;
  Weather weather;
  Fibers fibers;
  std::vector<Rank> ranks;
  std::vector<std::deque<Message>> channels;
  std::vector<std::vector<std::byte>> spare;
  /// When the slow way between two ranks, if there is one, can take the next message.
  double way_free_s = 0;
  std::uint64_t barriers_done = 0;
  std::uint64_t messages = 0;
  int arrived = 0;
  bool agreed = true;
  bool verdict = true;
  std::vector<std::string> gathered;
  Bytes shared;
};

/// One rank of the simulated machine.
class ModelTransport : public MessageCollectives<ModelTransport> {
 public:
  using MessageCollectives::gather;
  using MessageCollectives::wait;
  static constexpr TransportInfo info{
      "model", "a simulated machine with given LogGP parameters on a virtual clock",
      ModelParameters::described};
  static constexpr std::string_view clock_name = "virtual";

  /// A started receive is done when it is waited for; a started send is done at once.
  struct Request {
    int from = -1;
    Bytes data;
  };

  template <class Body>
  static int launch(int, char**, int ranks, const Options& options, Body body) {
    ModelMachine machine(ranks, options);
    machine.fibers.run(ranks, [&](int rank) {
      ModelTransport transport(machine, rank);
      body(transport);
    });
    return 0;
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return static_cast<int>(machine_.ranks.size()); }
  [[nodiscard]] double clock_resolution_s() const { return machine_.parameters.clock_resolution_s; }
  [[nodiscard]] double now_s() const {
    const double step_s = clock_resolution_s();
    const double shown_s = me().clock_error.shown_s(me().clock_s);
    return step_s > 0 ? std::floor(shown_s / step_s) * step_s : shown_s;
  }
  /// Time does not pass by itself here.
  void idle_until(double clock_s) {
    me().clock_s = std::max(me().clock_s, me().clock_error.true_s(clock_s));
  }
  [[nodiscard]] std::string clock_source() const {
    return me().clock_error.any() ? "rank " + std::to_string(rank_) : "virtual";
  }
  /// Messages that all ranks have sent so far.
  [[nodiscard]] std::uint64_t messages_sent() const { return machine_.messages; }

  void send(int peer, ConstBytes data) { post(peer, data); }
  void rsend(int peer, ConstBytes data) { post(peer, data); }
  void bsend(int peer, ConstBytes data) { post(peer, data); }
  void attach_buffer(std::size_t, int) {}
  void detach_buffer() {}

  /// Ends when word has come back that the receiver took the message.
  void ssend(int peer, ConstBytes data) {
    auto taken_s = std::make_shared<double>(-1);
    post(peer, data).taken_s = taken_s;
    machine_.fibers.wait_until([taken_s] { return *taken_s >= 0; });
    me().clock_s = std::max(me().clock_s, *taken_s + machine_.parameters.L * factor());
  }

  void recv(int peer, Bytes data) {
    auto& channel = machine_.channel(peer, rank_);
    machine_.fibers.wait_until([&channel] { return !channel.empty(); });
    auto message = std::move(channel.front());
    channel.pop_front();
    if (message.data.size() > data.size()) throw InputError("a message is longer than its receive");
    const auto size_bytes = std::min(message.data.size(), data.size());
    if (size_bytes > 0) std::memcpy(data.data(), message.data.data(), size_bytes);
    const double n = static_cast<double>(message.data.size());
    machine_.spare.push_back(std::move(message.data));
    arrive(message.arrival_s, n, peer);
    if (message.taken_s) *message.taken_s = me().clock_s;
  }

  void exchange(int to, ConstBytes out, int from, Bytes in) {
    post(to, out);
    recv(from, in);
  }
  Request isend(int peer, ConstBytes data) {
    post(peer, data);
    return {};
  }
  Request irecv(int peer, Bytes data) { return {peer, data}; }
  void wait(Request& request) {
    if (request.from >= 0) recv(request.from, request.data);
    request.from = -1;
  }
  /// Waits until all that is to be received has been sent: which arrives first is certain only
  /// then.
  std::size_t wait_any(std::span<Request> requests) {
    auto first = requests.size();
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].from < 0) continue;
      machine_.fibers.wait_until([this, &requests, i] { return !coming(requests[i]).empty(); });
      const bool earlier =
          first == requests.size() ||
          coming(requests[i]).front().arrival_s < coming(requests[first]).front().arrival_s;
      if (earlier) first = i;
    }
    if (first < requests.size()) wait(requests[first]);
    return first;
  }

  /// Brings all virtual clocks together and begins another batch.
  void barrier() {
    meet([this] {
      double latest_s = 0;
      for (const auto& rank : machine_.ranks) latest_s = std::max(latest_s, rank.clock_s);
      for (auto& rank : machine_.ranks) rank.clock_s = rank.sender_free_s = latest_s;
      machine_.way_free_s = latest_s;
      machine_.weather.next_batch(latest_s);
    });
  }
  bool all(bool mine) {
    machine_.agreed = machine_.agreed && mine;
    meet([this] { machine_.verdict = std::exchange(machine_.agreed, true); });
    return machine_.verdict;
  }
  void broadcast(Bytes data) {
    if (rank_ == 0) machine_.shared = data;
    meet([] {});
    if (rank_ != 0 && !data.empty()) std::memcpy(data.data(), machine_.shared.data(), data.size());
    meet([] {});
  }
  std::vector<std::string> gather(const std::string& text) {
    machine_.gathered.resize(machine_.ranks.size());
    machine_.gathered[static_cast<std::size_t>(rank_)] = text;
    meet([] {});
    auto texts = rank_ == 0 ? machine_.gathered : std::vector<std::string>{};
    meet([] {});
    return texts;
  }
  [[nodiscard]] std::string library() const { return "simulated LogGP machine"; }

  /// Begins another launch of the simulated machine (its random factors); any rank may ask.
  void reseed(std::uint64_t seed) {
    meet([this, seed] { machine_.weather.reseed(seed); });
  }

 private:
  ModelTransport(ModelMachine& machine, int rank) : machine_(machine), rank_(rank) {}

  [[nodiscard]] ModelMachine::Rank& me() const {
    return machine_.ranks[static_cast<std::size_t>(rank_)];
  }
  [[nodiscard]] double factor() const { return machine_.weather.factor(); }

  std::deque<ModelMachine::Message>& coming(const Request& request) {
    return machine_.channel(request.from, rank_);
  }

  ModelMachine::Message& post(int peer, ConstBytes data) {
    const auto& p = machine_.parameters;
    const double n = static_cast<double>(data.size());
    const double slow = p.slowness.on_message(rank_, peer);
    const double gap_s = (p.g + p.bytes_s(n)) * factor();
    const double overhead_s = p.o_s * slow * factor();
    const double began_s = std::max(me().clock_s, me().sender_free_s);
    me().clock_s = began_s + overhead_s;
    me().sender_free_s = began_s + gap_s * p.slowness.on_sender(rank_);
    double leaves_s = began_s;
    if (p.slowness.is_way(rank_, peer)) {
      leaves_s = std::max(began_s, machine_.way_free_s);
      machine_.way_free_s = leaves_s + gap_s * slow;
    }
    ModelMachine::Message message;
    message.arrival_s = leaves_s + overhead_s + (p.bytes_s(n) + p.latency_s(n)) * slow * factor() +
                        machine_.weather.jitter_s();
    ++machine_.messages;
    if (!machine_.spare.empty()) {
      message.data = std::move(machine_.spare.back());
      machine_.spare.pop_back();
    }
    message.data.assign(data.begin(), data.end());
    return machine_.channel(rank_, peer).emplace_back(std::move(message));
  }

  /// The receiver takes messages no closer together than its gap allows.
  void arrive(double arrival_s, double n, int from) {
    const auto& p = machine_.parameters;
    const double gap_s = (p.g + p.bytes_s(n)) * factor() * p.slowness.on_receiver(rank_);
    const double taken_s =
        std::max(arrival_s, me().last_arrival_s + (me().last_arrival_s < 0 ? 0 : gap_s));
    me().last_arrival_s = taken_s;
    me().clock_s =
        std::max(me().clock_s, taken_s) + p.o_r * factor() * p.slowness.on_message(from, rank_);
  }

  /// Waits for all ranks; the last one to come acts for all.
  template <class Action>
  void meet(Action action) {
    const auto turn = machine_.barriers_done;
    if (++machine_.arrived == size()) {
      machine_.arrived = 0;
      action();
      ++machine_.barriers_done;
    }
    machine_.fibers.wait_until([this, turn] { return machine_.barriers_done > turn; });
  }

  ModelMachine& machine_;
  int rank_;
};

}  // namespace nhalf

NHALF_TRANSPORT(nhalf::ModelTransport);
