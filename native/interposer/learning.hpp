// Learns, while a program runs, whether calls of about one size are faster through shared memory
// than by the library's own algorithm. This is arithmetic on agreed numbers: every rank of a
// communicator counts the same calls and is given the same times, so all decide alike.
#pragma once

#include "interposer/evidence.hpp"

namespace nhalf::coll {

/// Learns for the calls of one operation and class of sizes on one communicator. Calls come in
/// stretches; after each, `advance` chooses the next. A trial is a row of pairs, each of two blocks
/// of calls by either way, in the order own, other, other, own or the reverse. Where ranks may run
/// ahead, two pairs of longer blocks, of which the last calls are timed, confirm the other way.
class Learner {
 public:
  /// What a learner looks at when a stretch ends; equal on all ranks.
  struct Surroundings {
    /// Whether the ranks have set up shared memory.
    bool is_set_up = false;
    /// Whether some ranks may be calls ahead of others, so that the first calls of a block do not
    /// show what many take.
    bool runs_ahead = false;
    /// Learners of half and of twice the size; null if there are none.
    const Learner* smaller = nullptr;
    const Learner* larger = nullptr;
    /// The time of a third way in that of the library's own, if it is known to be better than that.
    double rival_ratio = std::numeric_limits<double>::infinity();
    /// Whether calls move so much that the first ones of a way take far longer than later ones:
    /// pages are looked up, caches change hands.
    bool is_large = false;
  };

  /// Whether the next call is the library's own, is not timed, and ends no stretch.
  [[nodiscard]] bool passes_on() const { return remaining_calls_ > 1 && !is_other_ && !is_timed_; }
  [[nodiscard]] bool is_other() const { return is_other_; }
  [[nodiscard]] bool is_timed() const { return is_timed_; }
  /// Counts a call; returns whether a stretch ends with it.
  bool count() { return --remaining_calls_ == 0; }
  /// Adds the time of a call in this process.
  void add(double call_s) { (is_other_ ? others_ : owns_).add(call_s); }

  /// Whether no call has been counted.
  [[nodiscard]] bool is_fresh() const { return phase_ == Phase::fresh; }
  /// Lets the first trial of a fresh learner begin as soon as beside a class that has learned.
  void begin_sooner() { begins_sooner_ = true; }

  /// Whether the stretch was the last one before memory is needed.
  [[nodiscard]] bool needs_memory() const { return phase_ == Phase::own_times; }
  /// Whether `advance` needs the times of all ranks.
  [[nodiscard]] bool needs_times() const {
    const bool ends_pair = block_ + 1 == blocks_of_pair && !is_leading_in_;
    return phase_ == Phase::own_times || (phase_ == Phase::pair && ends_pair);
  }
  /// Whether it matters if the next call touches pages first.
  [[nodiscard]] bool may_warm_up() const {
    return phase_ == Phase::own_times && own_call_s_ == 0 && warm_ups_ < warm_ups_most;
  }
  /// Looks for no first touches: short calls are too seldom the first in a page.
  void skip_warm_up() { warm_ups_ = warm_ups_most; }
  /// Adds pages that a call in this process touched first.
  void add_first_touches(std::int64_t pages) { first_touches_ += pages; }
  /// Returns the times of this process since all were exchanged, and the pages it touched first.
  [[nodiscard]] Spent spent() const { return {owns_.sum_s(), others_.sum_s(), 0, first_touches_}; }
  /// Waits for more calls where those that should show the time of the library's own touched pages
  /// first, as a library does until it has been once through its buffers; returns whether it does.
  bool warms_up(const Spent& spent, Budget& budget) {
    if (!may_warm_up() || spent.first_touches == 0) return false;
    calls_ += stretch_;
    budget.lose(spent.beside_s);
    wait(warm_up_calls << warm_ups_++);
    return true;
  }
  /// Returns what the calls of this process took since memory was asked for, or began.
  [[nodiscard]] double waited_s() const {
    return owns_.sum_s() / stretch_ * static_cast<double>(calls_ + stretch_ - asked_calls_);
  }
  /// Waits for as many calls again as there were, where memory cannot be set up yet.
  void wait_again() {
    asked_calls_ = calls_ += stretch_;
    owns_ = {};
    wait(std::min(calls_, calls_most));
  }

  /// Ends a stretch and begins the next, with the times of the slowest rank if it needs them.
  void advance(const Spent& spent, Budget& budget, const Surroundings& around) {
    if (phase_ != Phase::own_times) calls_ += stretch_;
    switch (phase_) {
      case Phase::fresh:
        if (begins_sooner_ || (around.is_set_up && is_beside_better(around)))
          return wait(calls_before_later);
        return wait(around.is_set_up ? 23 : calls_before_memory);
      case Phase::waiting:
        return begin_own_times();
      case Phase::own_times:
        end_own_times(spent, budget);
        return try_pairs(budget, around);
      case Phase::pair:
        if (is_leading_in_) return begin_timed();
        if (++block_ < blocks_of_pair) return begin_block();
        budget.lose(spent.beside_s);
        return judge(spent, budget, around);
      case Phase::settled:
        end_rest(budget);
        return begin_trial(budget, around);
    }
  }

  /// Ends the calls that show the time of the library's own.
  void end_own_times(const Spent& spent, Budget& budget) {
    calls_ += stretch_;
    const bool is_first = own_call_s_ == 0;
    steady_call_s_ = spent.own_s / own_calls;
    own_call_s_ = steady_call_s_ * block_ratio_;
    budget.lose(spent.beside_s);
    budget.add_own(steady_call_s_ * static_cast<double>(is_first ? calls_ : stretch_));
  }

  // A rest between trials, in which another learner of the same calls may take its turn.

  [[nodiscard]] bool rests() const { return phase_ == Phase::settled; }
  /// Ends a rest of which all calls have been counted.
  void end_rest(Budget& budget) {
    budget.add_own(own_call_s_ / block_ratio_ * stretch_);
    saved_s_ += saved_since_s(stretch_);
    stretch_ = 0;
  }
  void begin_trial(const Budget& budget, const Surroundings& around) {
    if (around.runs_ahead && !is_other_better_) return begin_own_times();
    try_pairs(budget, around);
  }
  /// Learns of the library's own what another learner knows, and rests no longer than all `ways`
  /// together may.
  void take_turns_with(Learner& partner, int ways) {
    phase_ = Phase::settled;
    own_call_s_ = partner.own_call_s_;
    steady_call_s_ = partner.steady_call_s_;
    block_ratio_ = partner.block_ratio_;
    rest_calls_most_ = partner.rest_calls_most_ = rest_calls_most / ways;
  }
  void rest_again() { rest(); }

  [[nodiscard]] bool has_tried() const { return tried_calls_ > 0; }
  /// Whether a trial has ended.
  [[nodiscard]] bool has_learned() const { return has_learned_; }
  /// Whether the other way is taken between trials.
  [[nodiscard]] bool is_other_better() const { return is_other_better_; }
  /// Calls by the other way in trials.
  [[nodiscard]] int tried_calls() const { return tried_calls_; }
  /// Seconds of a call in the last trial.
  [[nodiscard]] double own_call_s() const { return own_call_s_; }
  [[nodiscard]] double other_call_s() const { return own_call_s_ * ratio_; }
  /// The time of the other way in that of the library's own, in the last trial.
  [[nodiscard]] double ratio() const { return ratio_; }
  /// Seconds that the other way has saved between trials.
  [[nodiscard]] double saved_s() const {
    const bool lasts = phase_ == Phase::settled;
    return saved_s_ + (lasts ? saved_since_s(stretch_ - remaining_calls_) : 0);
  }
  /// Seconds that trials took longer than the library's own.
  [[nodiscard]] double lost_s() const { return std::max(0.0, lost_s_); }

 private:
  enum class Phase : unsigned char { fresh, waiting, own_times, pair, settled };

  static constexpr int own_calls = 8;
  static constexpr std::int64_t calls_before_memory = 119;
  static constexpr std::int64_t calls_before_later = 3;
  static constexpr std::int64_t calls_most = 1 << 24;
  /// Calls until the first look whether the library still touches pages first, twice as many until
  /// each further one, and how many there are: other pages may be the program's.
  static constexpr std::int64_t warm_up_calls = 53;
  static constexpr int warm_ups_most = 5;
  static constexpr int blocks_of_pair = 4;
  static constexpr int block_calls_most = 4;
  /// Calls that are not timed, as many as shared memory has buffers, and timed ones, of the blocks
  /// in pairs that confirm what the others said.
  static constexpr int lead_in_calls = 16;
  static constexpr int confirming_calls = 8;
  static constexpr int confirming_pairs = 2;
  /// Calls, more or less, until ranks run ahead again.
  static constexpr int catching_up_calls = 64;
  static constexpr int pairs_most = 32;
  /// Pairs after which the other way has to be ahead by evidence to go on.
  static constexpr int pairs_hopeful = 6;
  static constexpr std::int64_t rest_calls_first = 64;
  static constexpr std::int64_t rest_calls_most = 1500;
  /// Capital that proves the other way, disproves it, and brings back the library's own.
  static constexpr double proves = 100, disproves = 10, brings_back = 20;
  /// What is supposed before anything is known.
  static constexpr double ratio_unknown = 2;
  static constexpr double ratio_first_large = 16, ratio_next_large = 4;
  static constexpr double ratio_poor = 1.5;
  static constexpr double interrupted_of_steady = 4;
  static constexpr double ratio_clear = 0.9, ratio_clearer = 0.7;

  static bool is_better(const Learner* learner) { return learner && learner->is_other_better_; }
  static bool is_beside_better(const Surroundings& around) {
    return is_better(around.smaller) || is_better(around.larger);
  }

  void begin(std::int64_t calls, bool is_other, bool is_timed) {
    stretch_ = remaining_calls_ = static_cast<std::uint32_t>(calls);
    is_other_ = is_other;
    is_timed_ = is_timed;
  }
  void wait(std::int64_t calls) {
    phase_ = Phase::waiting;
    begin(calls, false, false);
  }

  /// Times calls among many of the library's own, where ranks are as far ahead as they get.
  void begin_own_times() {
    phase_ = Phase::own_times;
    owns_ = {};
    first_touches_ = 0;
    begin(own_calls, false, true);
  }

  void try_pairs(const Budget& budget, const Surroundings& around) {
    const double ratio = supposed_ratio(around);
    block_calls_ = ratio > ratio_poor ? 1 : 2;
    has_lead_in_ = false;
    if (!budget.allows(excess_s(ratio))) return around.runs_ahead ? rest_longer() : rest();
    evidence_ = {};
    pairs_ = confirmed_ = 0;
    is_confirming_ = false;
    begin_times();
    begin_pair();
  }

  /// Returns the time of the other way in that of the library's own by what is known before a
  /// trial.
  [[nodiscard]] double supposed_ratio(const Surroundings& around) const {
    if (has_tried()) return ratio_;
    double ratio = ratio_unknown;
    for (const Learner* learner : {around.larger, around.smaller})
      if (learner != nullptr && learner->has_tried()) ratio = learner->ratio_;
    if (!around.is_large) return ratio;
    return is_beside_better(around) ? ratio_next_large : ratio_first_large;
  }
  /// Returns what the next pair is expected to cost.
  [[nodiscard]] double excess_s(double ratio) const {
    const double own_excess = block_ratio_ - 1;
    const double other_excess = std::max(0.0, ratio * block_ratio_ - 1);
    return 2 * calls_of_block() * own_call_s_ / block_ratio_ * (own_excess + other_excess);
  }
  /// Returns the calls of a block, timed or not.
  [[nodiscard]] int calls_of_block() const {
    return block_calls_ + (has_lead_in_ ? lead_in_calls : 0);
  }

  void begin_times() {
    trial_ = {};
    trial_calls_ = 0;
  }

  void begin_pair() {
    phase_ = Phase::pair;
    block_ = 0;
    owns_ = others_ = {};
    // Orders are drawn, so that nothing that the program does in turns meets them.
    draws_ = draws_ * 1664525U + 1013904223U;
    begin_block();
  }
  void begin_block() {
    if (!has_lead_in_) return begin_timed();
    is_leading_in_ = true;
    begin(lead_in_calls, is_other_block(), false);
  }
  void begin_timed() {
    is_leading_in_ = false;
    begin(block_calls_, is_other_block(), true);
  }
  [[nodiscard]] bool is_other_block() const {
    const bool is_inner = block_ == 1 || block_ == 2;
    const bool begins_with_other = draws_ >> 31U != 0;
    return is_inner != begins_with_other;
  }

  void judge(Spent spent, Budget& budget, const Surroundings& around) {
    const int calls = 2 * block_calls_;
    // Of two calls, one that is interrupted or first touches a page is most of their time.
    if (block_calls_ == 1)
      spent.own_s = std::min(spent.own_s, interrupted_of_steady * steady_call_s_ * calls);
    trial_.own_s += spent.own_s;
    trial_.other_s += spent.other_s;
    trial_calls_ += calls;
    tried_calls_ += 2 * calls_of_block();
    ++pairs_;
    const double calls_per_timed = static_cast<double>(calls_of_block()) / block_calls_;
    // Where ranks run ahead by the library's own, its calls lose in blocks, too.
    const bool is_ahead = around.runs_ahead && !is_other_better_;
    const double own_s = is_ahead ? std::min(spent.own_s, steady_call_s_ * calls) : spent.own_s;
    budget.add_own(2 * own_s * calls_per_timed);
    const double lost_s = (spent.other_s + spent.own_s - 2 * own_s) * calls_per_timed;
    lost_s_ += lost_s;
    budget.lose(lost_s);
    own_call_s_ = trial_.own_s / trial_calls_;
    block_ratio_ = own_s > 0 ? spent.own_s / own_s : 1;
    ratio_ = trial_.own_s > 0 ? trial_.other_s / trial_.own_s : 1;
    if (block_calls_ > 1 && spent.own_s != spent.other_s)
      evidence_.add(spent.other_s < spent.own_s);
    if (is_far_worse(spent) || is_own_kept()) return settle(false, budget);
    // What would not be taken needs no further pair.
    if (block_calls_ > 1 && ratio_ > around.rival_ratio)
      return settle(is_other_better_ && ratio_ < 1, budget);
    if (is_confirming_) {
      if (spent.other_s >= spent.own_s) return settle(false, budget);
      if (++confirmed_ == confirming_pairs) return settle(is_below_steady(), budget);
    } else if (is_other_kept(around)) {
      const bool is_clear = is_other_better_ && ratio_ < ratio_clearer;
      if (has_lead_in_ || !around.runs_ahead || is_clear) return settle(true, budget);
      is_confirming_ = !is_other_better_;
      has_lead_in_ = true;
      evidence_ = {};
      begin_times();
    }
    block_calls_ = has_lead_in_ ? confirming_calls : std::min(2 * block_calls_, block_calls_most);
    if (!budget.allows(excess_s(ratio_))) return settle(is_other_better_ && ratio_ < 1, budget);
    begin_pair();
  }

  /// Whether the other way takes less than the library's own did among many of its calls: in
  /// blocks, ranks do not get as far ahead.
  [[nodiscard]] bool is_below_steady() const {
    return trial_.other_s < steady_call_s_ * trial_calls_;
  }
  /// Whether no further pair is needed: the fewer its calls, the more one interruption weighs.
  [[nodiscard]] bool is_far_worse(const Spent& spent) const {
    const double most = block_calls_ == 1 ? 3 : block_calls_ == 2 ? 2 : ratio_poor;
    return spent.other_s > most * spent.own_s && ratio_ > ratio_poor;
  }
  [[nodiscard]] bool is_own_kept() const {
    if (pairs_ >= pairs_most && (ratio_ > 1 || !is_other_better_)) return true;
    // Ways that are about equal would be tried on and on.
    if (pairs_ >= pairs_hopeful && !is_other_better_ && evidence_.for_other() < 1) return true;
    return evidence_.for_own() >= (is_other_better_ ? brings_back : disproves);
  }
  [[nodiscard]] bool is_other_kept(const Surroundings& around) const {
    if (is_other_better_)
      return evidence_.other_wins() > evidence_.own_wins() || pairs_ >= pairs_most;
    if (ratio_ < 1 && evidence_.for_other() >= proves) return true;
    return is_beside_better(around) && ratio_ < ratio_clear && evidence_.other_wins() >= 2 &&
           evidence_.own_wins() == 0;
  }

  void settle(bool is_other_better, Budget& budget) {
    const bool stays = is_other_better == is_other_better_;
    has_learned_ = true;
    // Calls since the last trial may have been slower than they could.
    if (!stays && is_other_better_ && ratio_ > 1)
      budget.lose(static_cast<double>(rest_calls_) * own_call_s_ * (ratio_ - 1));
    rest_calls_ = stays ? std::min(2 * rest_calls_, rest_calls_most_) : rest_calls_first;
    is_other_better_ = is_other_better;
    // Nor do ranks run ahead at once when a trial is over.
    if (!is_other_better) budget.lose(catching_up_calls * own_call_s_ * (1 - 1 / block_ratio_));
    rest();
  }
  /// Where the library's own is timed before each trial, that costs something, too: frequent looks
  /// would never let a debt be paid.
  void rest_longer() {
    rest_calls_ = std::min(2 * rest_calls_, rest_calls_most_);
    rest();
  }
  void rest() {
    phase_ = Phase::settled;
    begin(rest_calls_, is_other_better_, false);
  }

  [[nodiscard]] double saved_since_s(std::uint32_t calls) const {
    return is_other_better_ ? calls * own_call_s_ * (1 - ratio_) : 0;
  }

  std::uint32_t remaining_calls_ = 1, stretch_ = 1;
  bool is_other_ = false, is_timed_ = false;
  bool is_other_better_ = false, has_learned_ = false, begins_sooner_ = false;
  bool has_lead_in_ = false, is_leading_in_ = false, is_confirming_ = false;
  Phase phase_ = Phase::fresh;
  int block_ = 0, block_calls_ = 1, pairs_ = 0, confirmed_ = 0, trial_calls_ = 0, tried_calls_ = 0;
  int warm_ups_ = 0;
  std::int64_t first_touches_ = 0;
  std::uint32_t draws_ = 1;
  std::int64_t calls_ = 0, asked_calls_ = 0;
  std::int64_t rest_calls_ = rest_calls_first, rest_calls_most_ = rest_calls_most;
  CallTimes owns_, others_;
  Evidence evidence_;
  Spent trial_;
  /// Times of a call by the library's own in a trial and among many, and the quotient of both; the
  /// time of the other way in that of the library's own in the same blocks.
  double own_call_s_ = 0, steady_call_s_ = 0, block_ratio_ = 1, ratio_ = 1;
  double lost_s_ = 0, saved_s_ = 0;
};

}  // namespace nhalf::coll
