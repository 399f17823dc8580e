// One phase of a dense pattern: every rank has at most one message to send and one to get.
//
// After the kinds of patterns in R. Fatoohi, K. Kardys, S. Koshy, S. Sivaramakrishnan, J. Vetter,
// "Performance evaluation of high-speed interconnects using dense communication patterns", Parallel
// Computing 32 (2006); who exactly meets whom in a phase is our own definition, said at each.
#pragma once

#include "contract/permutation.hpp"
#include "patterns/bases/links.hpp"

namespace nhalf {
/// Whom a rank sends to and hears from in a phase, and how many messages the phase has in all.
struct Phase {
  std::vector<int> to;
  std::vector<int> from;
  int messages = 0;

  /// Both ways between two ranks; below 0: nobody.
  static Phase with(int partner, int pairs) {
    const auto peers = partner < 0 ? std::vector<int>{} : std::vector<int>{partner};
    return {peers, peers, 2 * pairs};
  }
};

/// Sends and receives in one call, again and again. Everybody who sends also hears from somebody,
/// so nobody runs ahead by more rounds than there are ranks. `phase_of` says whom a rank meets.
template <Duplex T, Phase (*phase_of)(int rank, int ranks, const Case& point)>
class PhaseLoop : public Links<T> {
 public:
  PhaseLoop(T& transport, const Case& point)
      : PhaseLoop(transport, point, phase_of(transport.rank(), transport.size(), point)) {}
  void run(std::uint64_t rounds) override {
    if (this->out_.empty()) return;
    T& transport = this->transport_;
    const auto [to, out] = this->out_.front();
    const auto [from, in] = this->in_.front();
    for (auto i = rounds; i > 0; --i) transport.exchange(to, out, from, in);
  }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override { return moved_bytes_; }

 private:
  PhaseLoop(T& transport, const Case& point, const Phase& phase)
      : Links<T>(transport, point, phase.to, phase.from),
        moved_bytes_(static_cast<std::uint64_t>(phase.messages) * point.size_bytes) {}

  std::uint64_t moved_bytes_;
};

/// What is said of every one of these patterns.
constexpr PatternInfo dense_pattern(std::string_view name, std::string_view description,
                                    std::span<const AxisInfo> axes) {
  return {.name = name,
          .what = description,
          .needs = "duplex",
          .timing = Timing::slowest_rank,
          .axes = axes};
}

inline constexpr AxisInfo dense_alltoall_axes[] = {
    {"phase", "1:ranks-1", "", "distance to the receiver"}};

inline constexpr auto dense_alltoall =
    dense_pattern("dense-alltoall",
                  "every rank sends to the one `phase` above it and "
                  "receives from the one `phase` below: one phase "
                  "of an all-to-all exchange without congestion",
                  dense_alltoall_axes);

inline Phase alltoall_phase(int rank, int ranks, const Case& point) {
  const int step = point.axis("phase", 1, ranks - 1);
  return {{(rank + step) % ranks}, {(rank + ranks - step) % ranks}, ranks};
}

template <Duplex T>
using DenseAlltoall = PhaseLoop<T, alltoall_phase>;
NHALF_PATTERN(dense_alltoall, DenseAlltoall);

inline constexpr AxisInfo dense_pairwise_axes[] = {
    {"phase", "1:ranks-1", "", "distance within each pair"}};

inline constexpr auto dense_pairwise =
    dense_pattern("dense-pairwise", "ranks in pairs at distance `phase` send to each other at once",
                  dense_pairwise_axes);

/// In each block of 2k ranks the first k pair with those k above them (for powers of two: rank
/// with rank XOR k); who would pair beyond the last rank is idle. Below 0: idle.
inline int pairwise_partner(int rank, int ranks, int step) {
  const bool lower = rank % (2 * step) < step;
  const int partner = lower ? rank + step : rank - step;
  return partner < ranks ? partner : -1;
}

/// How many pairs that makes.
inline int pairwise_pairs(int ranks, int step) {
  const int remainder = ranks % (2 * step);
  return ranks / (2 * step) * step + std::max(0, remainder - step);
}

inline Phase pairwise_phase(int rank, int ranks, const Case& point) {
  const int step = point.axis("phase", 1, ranks - 1);
  return Phase::with(pairwise_partner(rank, ranks, step), pairwise_pairs(ranks, step));
}

template <Duplex T>
using DensePairwise = PhaseLoop<T, pairwise_phase>;
NHALF_PATTERN(dense_pairwise, DensePairwise);

inline constexpr AxisInfo dense_cumulative_axes[] = {
    {"phase", "1:ranks/2", "", "pairs that take part"}};

inline constexpr auto dense_cumulative =
    dense_pattern("dense-cumulative",
                  "the first `phase` of the pairs (i, i + ranks/2) "
                  "send to each other at once: one pair in the "
                  "first phase, all in the last",
                  dense_cumulative_axes);

inline Phase cumulative_phase(int rank, int ranks, const Case& point) {
  const int half = ranks / 2;
  const int pairs = point.axis("phase", 1, half);
  const bool takes_part = rank % half < pairs && rank < 2 * half;
  return Phase::with(takes_part ? (rank + half) % (2 * half) : -1, pairs);
}

template <Duplex T>
using DenseCumulative = PhaseLoop<T, cumulative_phase>;
NHALF_PATTERN(dense_cumulative, DenseCumulative);

inline constexpr AxisInfo dense_random_axes[] = {
    {"phase", "1:ranks-1", "",
     "number of the random order; its first two ranks are a pair, and so on"},
    {"seed", "1", "1", "of the random orders"}};

inline constexpr auto dense_random = dense_pattern(
    "dense-random", "ranks in pairs that are drawn anew for each phase send to each other at once",
    dense_random_axes);

inline Phase random_phase(int rank, int ranks, const Case& point) {
  const int number = point.axis("phase", 1, ranks - 1);
  const auto order = permutation(ranks, point.axes.number("seed", std::uint64_t{1}), number);
  const auto place = std::ranges::find(order, rank) - order.begin();
  const auto partner = static_cast<std::size_t>(place % 2 == 0 ? place + 1 : place - 1);
  return Phase::with(partner < order.size() ? order[partner] : -1, ranks / 2);
}

template <Duplex T>
using DenseRandom = PhaseLoop<T, random_phase>;
NHALF_PATTERN(dense_random, DenseRandom);
}  // namespace nhalf
