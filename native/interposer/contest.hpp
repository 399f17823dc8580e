// The ways that calls of one class may go: who has a trial, and which way calls take in between.
#pragma once

#include <array>
#include <memory>

#include "interposer/learning.hpp"
#include "interposer/table.hpp"

namespace nhalf::coll {

/// Learners of the calls of one class, one for each way past the library that is open to it: slots
/// of shared memory, and further ones. They take turns at trials against the library's own; between
/// these, calls go by the best of them, if it is better than that.
class Contest {
 public:
  /// What trials of this class may cost, of the time of its own calls: a program that calls nothing
  /// else should not notice them either.
  static constexpr double share = 0.01;
  static constexpr double constant_s = 1.2e-5;
  Budget budget{constant_s, share};

  [[nodiscard]] Learner& in_charge() {
    return way_ == way::shared_memory ? slots_ : *further_[index(way_)];
  }
  [[nodiscard]] const Learner& in_charge() const { return *learner(way_); }
  /// Returns the other way of the learner in charge.
  [[nodiscard]] int way() const { return way_; }
  /// Returns the learner of a way; null if it is not open.
  [[nodiscard]] const Learner* learner(int of_way) const {
    return of_way == way::shared_memory ? &slots_ : further_[index(of_way)].get();
  }

  /// Returns the least last ratio of the ways that are not in charge, of those that are better than
  /// the library's own.
  [[nodiscard]] double rival_ratio() const {
    double least = std::numeric_limits<double>::infinity();
    for_ways([&](int of_way, const Learner& rival) {
      if (of_way != way_ && rival.is_other_better()) least = std::min(least, rival.ratio());
    });
    return least;
  }

  /// Starts, before the first call, with a way that was faster in an earlier run.
  void begin_sooner(std::string_view name) {
    slots_.begin_sooner();
    const auto* const place = std::ranges::find(way_names, name);
    awaited_ = static_cast<int>(place - way_names.begin());
  }
  /// Whether the stretch was the last one before a first trial that a further way may have.
  [[nodiscard]] bool awaits_further_way() const {
    return awaited_ > way::shared_memory && in_charge().needs_memory();
  }
  /// Adds a way; it may be there.
  void admit(int further_way) {
    auto& learner = further_[index(further_way)];
    if (learner == nullptr) learner = std::make_unique<Learner>();
  }
  /// Puts the learner in charge whose turn for a trial it is.
  Learner& take_turn() {
    Learner& rested = in_charge();
    const int awaited = std::exchange(awaited_, way::native);
    if (awaited > way::shared_memory && learner(awaited) != nullptr) {
      turn_ = awaited;
    } else {
      do turn_ = turn_ + 1 < way::first_algorithm ? turn_ + 1 : way::shared_memory;
      while (!may_take_turn(turn_));
    }
    way_ = turn_;
    int ways = 0;
    for_ways([&](int, const Learner&) { ++ways; });
    if (&in_charge() != &rested) in_charge().take_turns_with(rested, ways);
    return in_charge();
  }
  /// Puts the learner of the best way in charge, after a trial.
  void rest() {
    const int rested = std::exchange(way_, best_way());
    if (way_ != rested) in_charge().rest_again();
  }
  /// Returns the way that calls take between trials, unless the library's own is better.
  [[nodiscard]] int best_way() const {
    int best = way::shared_memory;
    for_ways([&](int of_way, const Learner& learner) {
      const Learner& so_far = *this->learner(best);
      if (learner.is_other_better() &&
          (!so_far.is_other_better() || learner.ratio() < so_far.ratio()))
        best = of_way;
    });
    return best;
  }
  /// Calls `visit(way, learner)` for the ways that are open.
  template <class Visit>
  void for_ways(Visit visit) const {
    for (int of_way = way::shared_memory; of_way < way::first_algorithm; ++of_way)
      if (const Learner* open = learner(of_way)) visit(of_way, *open);
  }

 private:
  static constexpr std::size_t index(int of_way) { return static_cast<std::size_t>(of_way); }

  /// Whether a way is open, and would not spend on a lost trial what others need for their first.
  [[nodiscard]] bool may_take_turn(int of_way) const {
    const Learner* own = learner(of_way);
    if (own == nullptr || !own->has_tried() || own->is_other_better()) return own != nullptr;
    bool are_all_tried = true;
    for_ways(
        [&](int, const Learner& other) { are_all_tried = are_all_tried && other.has_tried(); });
    return are_all_tried;
  }

  Learner slots_;
  std::array<std::unique_ptr<Learner>, way::first_algorithm> further_;
  int way_ = way::shared_memory, turn_ = way::shared_memory, awaited_ = way::native;
};

}  // namespace nhalf::coll
