// Composes the time of a pattern of messages on the network of a machine, by the loops of patterns/
// and as the sampler times their batches (timing/sampler.hpp).
#pragma once

#include "composer/ranks.hpp"
#include "patterns/bases/traffic/ring_layout.hpp"
#include "patterns/pairs/distance_pairs.hpp"
#include "patterns/pairs/exchange_pingping.hpp"
#include "patterns/traffic/many.hpp"

namespace nhalf {
/// One ring of all ranks, whose members send to both neighbours pairwise: the ring of b_eff without
/// the memory that it walks through.
class WholeRing : public Links<ComposedTransport> {
 public:
  static constexpr PatternInfo info{.name = "ring", .what = "", .timing = Timing::slowest_rank};

  WholeRing(ComposedTransport& transport, const Case& point)
      : WholeRing(
            transport, point,
            RingLayout(transport.size(), RingLayout::regular, 1).neighbours(transport.rank())) {}
  void run(std::uint64_t rounds) override {
    for (auto i = rounds; i > 0; --i)
      for (std::size_t side = 0; side < out_.size(); ++side)
        transport_.exchange(out_[side].peer, out_[side].data, in_[side].peer, in_[side].data);
  }

 private:
  WholeRing(ComposedTransport& transport, const Case& point, RingLayout::Neighbours there)
      : Links(transport, point, sides(there.next, there.before), sides(there.before, there.next)) {}
  /// In a ring of two both neighbours are one rank.
  static std::vector<int> sides(int first, int second) {
    return first == second ? std::vector{first} : std::vector{first, second};
  }
};

/// A pattern whose traffic is composed.
struct ComposedPattern {
  PatternInfo info;
  std::unique_ptr<Pattern> (*make)(ComposedTransport&, const Case&);
};

template <class Made>
std::unique_ptr<Pattern> made_for(ComposedTransport& transport, const Case& point) {
  return std::make_unique<Made>(transport, point);
}

inline constexpr ComposedPattern composed_patterns[] = {
    {exchange, made_for<Exchange<ComposedTransport>>},
    {pingping, made_for<PingPing<ComposedTransport>>},
    {pairs_latency, made_for<PairsLatency<ComposedTransport>>},
    {pairs_bandwidth, made_for<PairsBandwidth<ComposedTransport>>},
    {one_to_many, made_for<OneToMany<ComposedTransport>>},
    {many_to_one, made_for<ManyToOne<ComposedTransport>>},
    {many_to_many, made_for<ManyToMany<ComposedTransport>>},
    {WholeRing::info, made_for<WholeRing>}};

/// Returns the seconds of some rounds among all ranks.
inline double rounds_s(const network::Wires& wires, const ComposedPattern& pattern,
                       const Case& point, std::uint64_t rounds) {
  ComposedMachine machine(wires);
  std::vector<double> times_s(machine.ranks.size());
  machine.fibers.run(wires.ranks(), [&](int rank) {
    ComposedTransport transport(machine, rank);
    const auto traffic = pattern.make(transport, point);
    if (pattern.info.rounds_min > 1) {
      traffic->settle();
      machine.start_together();
    }
    const double began_s = transport.now_s();
    traffic->run(rounds);
    times_s[static_cast<std::size_t>(rank)] = transport.now_s() - began_s;
    machine.end();
  });
  if (pattern.info.timing == Timing::first_rank) return times_s.front();
  return *std::ranges::max_element(times_s);
}

/// Returns the seconds of a pattern as a probe counts them; nothing for an unknown one. Of pairs
/// all are there at once, so that their messages pass between both halves of the ranks.
inline std::optional<double> traffic_s(const network::Wires& wires, std::string_view name,
                                       std::size_t size_bytes) {
  const auto* pattern =
      std::ranges::find(composed_patterns, name, [](const auto& known) { return known.info.name; });
  if (pattern == std::end(composed_patterns)) return std::nullopt;
  const Case point{.size_bytes = size_bytes,
                   .axes = Options::parse("pairs=" + std::to_string(wires.ranks() / 2), ' ')};
  const auto& info = pattern->info;
  const auto rounds = info.rounds_min;
  const double time_s = rounds_s(wires, *pattern, point, rounds);
  if (const auto few = info.taken_off(); info.acknowledged)
    return (time_s - rounds_s(wires, *pattern, point, few)) / static_cast<double>(rounds - few);
  return time_s / static_cast<double>(rounds) / info.messages_per_round;
}
}  // namespace nhalf
