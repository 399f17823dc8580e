// What each rank sends to whom and when: drawn from a seed, alike on every rank and platform.
#pragma once

#include <random>
#include <tuple>

#include "contract/vocabulary.hpp"

namespace nhalf {
/// How sizes and times between arrivals vary around their mean: exponentially; evenly from 0 to
/// twice the mean; not at all.
enum class Law { exponential, uniform, fixed };
inline constexpr std::string_view law_names[] = {"exponential", "uniform", "fixed"};

/// Random numbers of one rank, in whole units, so that neither the distributions of the standard
/// library nor anybody's logarithm has a say.
class Draw {
 public:
  /// The mean of every law.
  static constexpr std::uint64_t mean = std::uint64_t{1} << 32;

  Draw(std::uint64_t seed, int rank) : random_(seed * 65537 + static_cast<std::uint64_t>(rank)) {}

  std::uint64_t next(Law law) {
    if (law == Law::fixed) return mean;
    return law == Law::uniform ? random_() >> 31 : exponential();
  }

  /// A number from 0 to count - 1; the remainder favours small ones by less than count / 2^64.
  std::size_t below(std::size_t count) { return random_() % count; }

 private:
  /// J. von Neumann: Various Techniques Used in Connection With Random Digits, National Bureau of
  /// Standards, Applied Mathematics Series 12, 1951. It compares random numbers and does no more:
  /// a falling run of odd length gives its first number as the fraction, and each run of even
  /// length before it adds 1.
  std::uint64_t exponential() {
    for (std::uint64_t whole = 0;; ++whole) {
      const std::uint64_t first = random_();
      std::uint64_t last = first;
      bool odd = true;
      for (std::uint64_t further = random_(); further < last; further = random_()) {
        last = further;
        odd = !odd;
      }
      if (odd) return whole * mean + (first >> 32);
    }
  }

  std::mt19937_64 random_;
};

/// One message of a schedule; it arrives at the sender's door, ready to go, when `time_share` of
/// the schedule's time is over (0 to 1).
struct ScheduledMessage {
  int to = 0;
  std::size_t size_bytes = 0;
  double time_share = 0;
};

/// What all schedules of a point have in common.
struct TrafficLaws {
  std::size_t messages = 0;
  std::size_t size_bytes = 0;
  Law size = Law::exponential;
  Law gap = Law::exponential;
  std::uint64_t seed = 1;
};

/// Sizes by their law, scaled to the same sum for every rank, as many times the mean as there are
/// messages: otherwise a hundred random sizes differ by a tenth in their sum, and the slowest of
/// many ranks would be the one that drew most. In whole numbers, so that no platform rounds
/// otherwise.
inline void draw_sizes(std::span<ScheduledMessage> messages, Draw& draw, const TrafficLaws& laws) {
  constexpr int bits = 12;
  std::vector<std::uint64_t> until;
  for (std::uint64_t sum = 0; until.size() < messages.size();)
    until.push_back(sum += draw.next(laws.size) >> bits);
  if (until.empty() || until.back() == 0) return;
  const std::uint64_t drawn = until.back();
  const std::uint64_t bytes = laws.size_bytes * messages.size();
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto message_bytes =
        until[i] * (bytes / drawn) + (until[i] * (bytes % drawn) + drawn / 2) / drawn;
    messages[i].size_bytes = message_bytes - before;
    before = message_bytes;
  }
}

/// The messages of a rank that has these `destinations` to choose from; none where it has none.
///
/// There is a gap before each message and one after the last, and together they are the whole
/// time: with the exponential law that is a Poisson process that happened to have so many arrivals.
/// Gaps, sizes and destinations are drawn in this order, so that every destination rule has the
/// same gaps and sizes.
inline std::vector<ScheduledMessage> schedule(const TrafficLaws& laws, int rank,
                                              std::span<const int> destinations) {
  if (destinations.empty()) return {};
  Draw draw(laws.seed, rank);
  std::vector<ScheduledMessage> messages(laws.messages);
  std::uint64_t clock = 0;
  for (auto& message : messages) {
    // Two arrivals are never at the same time: receivers rely on it.
    clock += draw.next(laws.gap) + 1;
    message.time_share = static_cast<double>(clock);
  }
  clock += draw.next(laws.gap) + 1;
  for (auto& message : messages) message.time_share /= static_cast<double>(clock);
  draw_sizes(messages, draw, laws);
  for (auto& message : messages) message.to = destinations[draw.below(destinations.size())];
  return messages;
}

/// A send of this rank or a receive, at its place in the order of a schedule. The seed tells the
/// message from others.
struct ScheduledStep {
  double time_share = 0;
  bool sends = false;
  int peer = 0;
  std::size_t size_bytes = 0;
  std::uint32_t seed = 0;
};

/// The sends of `rank` and its receives, in their order, from the schedules of all ranks.
///
/// ScheduledMessage j of another rank is received when that rank sends its message j + window, or
/// at the end where there is none. Before message i a rank waits for its own message i - window, so
/// that a window of buffers is enough.
///
/// No rank waits forever. Take all steps of all ranks in the order of their times, receives before
/// sends of the same time, and look at a rank whose next step is the first of all that are left. If
/// it receives, that message was sent a window earlier. If it sends, its message i - window was due
/// to be received before: the wait is over, and no more than a window of its messages is on the
/// way, which every transport can hold.
inline std::vector<ScheduledStep> steps_of(int rank,
                                           std::span<const std::vector<ScheduledMessage>> schedules,
                                           std::size_t window) {
  std::vector<ScheduledStep> steps;
  std::uint32_t seed = 0;
  for (std::size_t from = 0; from < schedules.size(); ++from) {
    const auto& messages = schedules[from];
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const auto& [to, size_bytes, time_share] = messages[i];
      ++seed;
      const bool sends = static_cast<int>(from) == rank;
      const double due = i + window < messages.size() ? messages[i + window].time_share : 1;
      if (sends) steps.push_back({time_share, true, to, size_bytes, seed});
      if (to == rank) steps.push_back({due, false, static_cast<int>(from), size_bytes, seed});
    }
  }
  std::ranges::stable_sort(
      steps, {}, [](const ScheduledStep& s) { return std::tuple(s.time_share, s.sends); });
  return steps;
}
}  // namespace nhalf
