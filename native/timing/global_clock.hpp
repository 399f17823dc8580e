// A global clock for all ranks, with its uncertainty.
#pragma once

#include <unordered_map>

#include "host/kernel_files.hpp"
#include "timing/clock.hpp"
#include "timing/clock_lines.hpp"

namespace nhalf {
/// Consecutive ranks, which need no memory however many they are, or a list of ranks.
class Team {
 public:
  Team() = default;
  explicit Team(std::vector<int> ranks) : listed_(std::move(ranks)) {}
  static Team from_to(int first, int end) {
    Team team;
    team.first_ = first;
    team.end_ = end;
    return team;
  }

  [[nodiscard]] std::size_t size() const {
    return listed_.empty() ? static_cast<std::size_t>(end_ - first_) : listed_.size();
  }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] int operator[](std::size_t place) const {
    return listed_.empty() ? first_ + static_cast<int>(place) : listed_[place];
  }

  /// Returns the position of a rank in the team.
  [[nodiscard]] std::optional<std::size_t> place_of(int rank) const {
    if (listed_.empty()) {
      if (rank < first_ || rank >= end_) return std::nullopt;
      return static_cast<std::size_t>(rank - first_);
    }
    const auto place = std::ranges::lower_bound(listed_, rank);
    if (place == listed_.end() || *place != rank) return std::nullopt;
    return static_cast<std::size_t>(place - listed_.begin());
  }

 private:
  int first_ = 0, end_ = 0;
  std::vector<int> listed_;
};

/// The time of rank 0's clock at every rank, within a stated uncertainty.
///
/// Ranks learn it down a tree (HCA3: S. Hunold, A. Carpen-Amarie, "Hierarchical Clock
/// Synchronization in MPI", CLUSTER 2018): ranks that have it serve those without, in log2(p)
/// rounds. The client asks, the reference answers with its reading, so the reading lies between the
/// client's own before and after: bounds that hold however uneven the two ways are (F. Cristian,
/// "Probabilistic clock synchronization", Distributed Computing 3 (1989) 146). Each burst of
/// exchanges is a gate for the lines of ClockLines, widened by the uncertainty of the reference.
/// Leaders of the groups of ranks that claim one clock source come first, then each group. A burst
/// that finds no offset to the clock above means that both are the same clock, whose lines are
/// copied; a rank that finds an offset learns like a leader.
template <Transport T>
class GlobalClock {
 public:
  explicit GlobalClock(T& transport) : GlobalClock(transport, calibrate(transport)) {}
  GlobalClock(T& transport, const ClockQuality& clock)
      : transport_(transport), resolution_s_(clock.resolution_s) {}

  /// Synchronises the clocks, for the first time or again; collective.
  void synchronise() {
    if (is_exact<T> || has_virtual_clock(transport_)) {
      leaders_ = Team::from_to(0, 1);
      return;
    }
    if (leaders_.empty()) find_groups();
    const double start_s = transport_.now_s();
    descend(leaders_, false);
    descend(group_, true);
    std::vector<double> everyone_s = uncertainties_s();
    if (transport_.rank() == 0) reached_s_ = *std::ranges::max_element(everyone_s);
    share(transport_, reached_s_);
    latest_s_ = transport_.now_s();
    patience_s_ = std::max(std::clamp(2 * patience_s_, patience_min_s, patience_max_s),
                           patience_min_cost * (latest_s_ - start_s));
  }

  /// Synchronises again if any rank's uncertainty exceeds the bound, and returns whether it did;
  /// collective.
  bool refresh(double bound_s) {
    if (!synchronised()) {
      synchronise();
      return true;
    }
    if (is_exact<T> || has_virtual_clock(transport_)) return false;
    const auto everyone_s = uncertainties_s();
    bool again = transport_.rank() == 0 && stale(*std::ranges::max_element(everyone_s), bound_s);
    share(transport_, again);
    if (again) synchronise();
    return again;
  }
  bool refresh() { return refresh(bound_s()); }

  /// Whether to synchronise again, given the worst rank's uncertainty. Shared clocks, and clocks
  /// that agree by chance, are checked again from time to time.
  [[nodiscard]] bool stale(double worst_s, double bound_s) const {
    return worst_s > bound_s || transport_.now_s() - latest_s_ > patience_s_;
  }
  [[nodiscard]] bool stale(double worst_s) const { return stale(worst_s, bound_s()); }

  [[nodiscard]] bool synchronised() const { return !leaders_.empty(); }
  /// Returns the worst rank's uncertainty after the last synchronisation.
  [[nodiscard]] double reached_s() const { return reached_s_; }
  [[nodiscard]] double bound_s() const { return std::max(2 * reached_s_, bound_min_s); }
  /// Whether this rank found that it shares a clock with another rank.
  [[nodiscard]] bool shared() const { return shared_; }

  [[nodiscard]] double global_s(double local_s) const {
    return local_s + lines_.between(local_s).middle_s();
  }
  /// Returns the local reading at the global time `global_s`, by fixed-point iteration, which
  /// converges because drifts are small.
  [[nodiscard]] double local_s(double global_s) const {
    double reading_s = global_s;
    for (int i = 0; i < 6; ++i) reading_s = global_s - lines_.between(reading_s).middle_s();
    return reading_s;
  }
  /// Returns how far the true global time of this reading can be from `global_s(local_s)`.
  [[nodiscard]] double uncertainty_s(double local_s) const {
    if (!synchronised()) return std::numeric_limits<double>::infinity();
    return lines_.between(local_s).half_width_s() + (shared_ ? 2 : 1) * resolution_s_;
  }

 private:
  static constexpr double bound_min_s = 1e-6;
  static constexpr double patience_min_s = 0.01;
  static constexpr double patience_max_s = 1;
  static constexpr double patience_min_cost = 20;

  /// The tightest bounds on the offset among the exchanges of a burst.
  struct Burst {
    double high_at_s = 0, high_reference_s = std::numeric_limits<double>::infinity();
    double low_at_s = 0, low_reference_s = -std::numeric_limits<double>::infinity();

    void learn(double before_s, double reference_s, double after_s) {
      if (reference_s - before_s < high_reference_s - high_at_s) {
        high_at_s = before_s;
        high_reference_s = reference_s;
      }
      if (reference_s - after_s > low_reference_s - low_at_s) {
        low_at_s = after_s;
        low_reference_s = reference_s;
      }
    }
  };
  enum class Request : char { reading, lines };

  [[nodiscard]] std::vector<double> uncertainties_s() {
    const double mine_s = uncertainty_s(transport_.now_s());
    return collect(transport_, std::span(&mine_s, 1));
  }

  /// Returns a name for the source of this rank's clock; ranks with equal names may share it.
  [[nodiscard]] std::string claim() {
    if constexpr (requires { transport_.clock_source(); }) {
      return transport_.clock_source();
    } else {
      auto boot = boot_id();
      if (boot.empty()) boot = "rank " + std::to_string(transport_.rank());
      return boot + ' ' + std::string(T::clock_name);
    }
  }

  /// Finds the leaders (first ranks) of all groups with one claim, and the members of this rank's
  /// group. No list of ranks is needed if all claims are equal or all differ.
  void find_groups() {
    const int rank = transport_.rank();
    const int ranks = transport_.size();
    std::vector<int> leader_of;
    int groups = 0;
    std::unordered_map<std::string, int> leaders;
    for (const auto& claimed : transport_.gather(claim()))
      leader_of.push_back(
          leaders.try_emplace(claimed, static_cast<int>(leader_of.size())).first->second);
    groups = static_cast<int>(leaders.size());
    share(transport_, groups);
    leaders_ = Team::from_to(0, groups);
    group_ = groups == 1 ? Team::from_to(0, ranks) : Team::from_to(rank, rank + 1);
    if (groups > 1 && groups < ranks) list_groups(std::move(leader_of));
  }

  /// Lists the groups from rank 0's list of their leaders.
  void list_groups(std::vector<int> leader_of) {
    leader_of.resize(static_cast<std::size_t>(transport_.size()));
    transport_.broadcast(std::as_writable_bytes(std::span(leader_of)));
    const int own_leader = leader_of[static_cast<std::size_t>(transport_.rank())];
    std::vector<int> leaders, group;
    for (int rank = 0; rank < transport_.size(); ++rank) {
      const int leader = leader_of[static_cast<std::size_t>(rank)];
      if (leader == rank) leaders.push_back(rank);
      if (leader == own_leader) group.push_back(rank);
    }
    leaders_ = Team(std::move(leaders));
    group_ = Team(std::move(group));
  }

  /// Passes the global time from team[0] down to all ranks of the team.
  void descend(const Team& team, bool one_source) {
    const auto place = team.place_of(transport_.rank());
    if (!place) return;
    const auto me = *place;
    const auto full = std::bit_floor(team.size());
    for (auto step = full / 2; step >= 1; step /= 2) {
      if (me >= full) continue;
      if (me % (2 * step) == 0) serve(team[me + step]);
      if (me % (2 * step) == step) learn_from(team[me - step], one_source);
    }
    if (me >= full) learn_from(team[me - full], one_source);
    if (me < full && me + full < team.size()) serve(team[me + full]);
  }

  /// Answers readings until the client asks for the lines of this clock, then sends these.
  void serve(int client) {
    Request request{};
    for (;;) {
      transport_.recv(client, std::as_writable_bytes(std::span(&request, 1)));
      if (request == Request::lines) break;
      const double now_s = transport_.now_s();
      transport_.send(client, std::as_bytes(std::span(&now_s, 1)));
    }
    transport_.send(client, std::as_bytes(std::span(&lines_, 1)));
  }

  template <class Answer>
  void ask(int reference, Request request, Answer& answer) {
    transport_.send(reference, std::as_bytes(std::span(&request, 1)));
    transport_.recv(reference, std::as_writable_bytes(std::span(&answer, 1)));
  }

  void learn_from(int reference, bool one_source) {
    const auto burst = exchange_with(reference);
    ClockLines above;
    ask(reference, Request::lines, above);
    // The true time lies up to one resolution after a reading.
    const double low_at_s = burst.low_at_s + resolution_s_;
    const double high_s = burst.high_reference_s + resolution_s_ - burst.high_at_s;
    const double low_s = burst.low_reference_s - low_at_s;
    const bool was_shared = shared_;
    shared_ = one_source && !differs_ && low_s <= 0 && high_s >= 0;
    if (shared_) {
      lines_ = above;
      return;
    }
    differs_ = true;
    if (was_shared) lines_ = {};
    lines_.add({.low_at_s = low_at_s,
                .low_s = low_s + above.between(burst.low_reference_s).low_s,
                .high_at_s = burst.high_at_s,
                .high_s = high_s + above.between(burst.high_reference_s).high_s});
  }

  /// Exchanges until one is as quick as the quickest, or their number or time is used up: with
  /// oversubscription a single exchange may take milliseconds.
  Burst exchange_with(int reference) {
    constexpr int least = 4, usual = 20, most = 100;
    constexpr double long_s = 2e-3, alike = 1.1;
    Burst burst;
    double quickest_s = std::numeric_limits<double>::infinity();
    const double start_s = transport_.now_s();
    for (int trip = 1; trip <= most; ++trip) {
      double reference_s = 0;
      const double before_s = transport_.now_s();
      ask(reference, Request::reading, reference_s);
      const double after_s = transport_.now_s();
      burst.learn(before_s, reference_s, after_s);
      const double trip_s = after_s - before_s;
      if (trip >= usual && trip_s <= alike * quickest_s) break;
      if (trip >= least && after_s - start_s > long_s) break;
      quickest_s = std::min(quickest_s, trip_s);
    }
    return burst;
  }

  T& transport_;
  double resolution_s_;
  ClockLines lines_;
  bool shared_ = false;
  /// Whether this rank's clock was once found to differ from the one above.
  bool differs_ = false;
  Team leaders_, group_;
  double reached_s_ = 0;
  double latest_s_ = 0;
  double patience_s_ = 0;
};
}  // namespace nhalf
