// What a communicator has learned: a learner for each operation and class of sizes, a budget for
// all of them, and what is told of it at the end.
#pragma once

#include <cstdio>
#include <mutex>
#include <set>

#include "interposer/kept_lessons.hpp"
#include "interposer/learning.hpp"
#include "interposer/table.hpp"
#include "preloaded/lasting.hpp"

namespace nhalf::coll {

/// Classes of sizes: class 0 has no data, class n has from 2^(n-1) to 2^n - 1 bytes.
inline constexpr std::size_t size_classes = 22;

constexpr std::size_t size_class_of(std::uint64_t size_bytes) {
  return static_cast<std::size_t>(std::bit_width(size_bytes));
}

/// Smallest data of which a copy out of another process may be worth its system call.
inline constexpr std::uint64_t copied_bytes_least = 1 << 14;

/// Learners of the calls of one class: of the slots of shared memory and, where ranks can copy out
/// of each other's memory, of single copies. They take turns at trials against the library's own;
/// between these, calls go by the better of both ways, if it is better than that.
class Contest {
 public:
  [[nodiscard]] Learner& in_charge() { return is_single_copy_ ? *single_copy_ : slots_; }
  [[nodiscard]] const Learner& in_charge() const {
    return is_single_copy_ ? *single_copy_ : slots_;
  }
  /// Whether the other way of the learner in charge are single copies.
  [[nodiscard]] bool is_single_copy() const { return is_single_copy_; }
  [[nodiscard]] const Learner& slots() const { return slots_; }
  /// Returns the learner of single copies; null if it never had a turn.
  [[nodiscard]] const Learner* single_copy() const { return single_copy_.get(); }
  /// Returns the learner of the same way as the one in charge of another class; may be null.
  [[nodiscard]] const Learner* same_way(const Contest& neighbour) const {
    return neighbour.is_single_copy_ ? single_copy_.get() : &slots_;
  }

  /// Returns the last ratio of the way that is not in charge, if it is better than the library's
  /// own.
  [[nodiscard]] double rival_ratio() const {
    const Learner* rival = is_single_copy_ ? &slots_ : single_copy_.get();
    return rival != nullptr && rival->is_other_better() ? rival->ratio()
                                                        : std::numeric_limits<double>::infinity();
  }

  /// Starts, before the first call, with a way that was faster in an earlier run.
  void begin_sooner(std::string_view way) {
    slots_.begin_sooner();
    awaits_single_copy_ = way == "single-copy";
  }
  /// Whether the stretch was the last one before a first trial that single copies may have.
  [[nodiscard]] bool awaits_single_copy() const {
    return awaits_single_copy_ && in_charge().needs_memory();
  }
  /// Adds single copies to the ways.
  void admit_single_copy() {
    if (single_copy_ == nullptr) single_copy_ = std::make_unique<Learner>();
  }
  /// Puts the learner in charge whose turn for a trial it is.
  Learner& take_turn() {
    awaits_single_copy_ = false;
    if (single_copy_ == nullptr) return slots_;
    Learner& rested = in_charge();
    is_single_copy_ = was_single_copy_last_ = !was_single_copy_last_;
    if (&in_charge() != &rested) in_charge().take_turns_with(rested);
    return in_charge();
  }
  /// Puts the learner of the better way in charge, after a trial.
  void rest() {
    const bool was_single_copy = is_single_copy_;
    is_single_copy_ = is_single_copy_better();
    if (is_single_copy_ != was_single_copy) in_charge().rest_again();
  }
  /// Whether single copies are taken between trials, rather than slots or the library's own.
  [[nodiscard]] bool is_single_copy_better() const {
    return single_copy_ != nullptr && single_copy_->is_other_better() &&
           (!slots_.is_other_better() || single_copy_->ratio() < slots_.ratio());
  }

 private:
  Learner slots_;
  std::unique_ptr<Learner> single_copy_;
  bool is_single_copy_ = false, was_single_copy_last_ = false, awaits_single_copy_ = false;
};

/// What learners of one class have found, on all communicators.
struct Findings {
  int tried_calls = 0;
  std::string_view learned = "native";
  /// Whether a trial has ended clearly; the time of its way in that of the library's own.
  bool has_learned = false;
  double ratio = 1;
  double own_call_s = 0, slots_call_s = 0, single_copy_call_s = 0, saved_s = 0, lost_s = 0;

  void add(const Contest& contest) {
    const Learner* single_copy = contest.single_copy();
    const bool has_copied = single_copy != nullptr && single_copy->has_tried();
    if (!contest.slots().has_tried() && !has_copied) return;
    const bool is_copy_taken = contest.is_single_copy_better();
    // Single copies may have had their turn first.
    const bool is_copy_ahead = has_copied && !contest.slots().has_learned();
    const auto& better = is_copy_taken || is_copy_ahead ? *single_copy : contest.slots();
    ratio = better.ratio();
    // A trial may also end before anything is clear.
    has_learned = better.has_learned() && (better.is_other_better() || ratio >= 1);
    learned = !better.is_other_better() ? "native"
              : is_copy_taken           ? "single-copy"
                                        : "shared-memory";
    own_call_s = better.own_call_s();
    if (contest.slots().has_tried()) slots_call_s = contest.slots().other_call_s();
    if (has_copied) single_copy_call_s = single_copy->other_call_s();
    for (const Learner* learner : {&contest.slots(), single_copy}) {
      if (learner == nullptr) continue;
      tried_calls += learner->tried_calls();
      saved_s += learner->saved_s();
      lost_s += learner->lost_s();
    }
  }
  [[nodiscard]] KeptLessons::mapped_type kept() const {
    return {std::string(learned), static_cast<std::uint64_t>(std::min(100 * ratio, 1e6))};
  }
};

class Lessons {
 public:
  /// What trials on a communicator may cost beside their share, and what set-ups and these
  /// constants of all communicators of a process may, beside a share of calls before them.
  static constexpr double communicator_s = 5e-4;
  static constexpr double process_s = 5e-3;

  /// `start` may be null, and outlives what learns from it.
  explicit Lessons(int ranks = 0, const LessonFile* start = nullptr)
      : ranks_(ranks), start_(start) {
    const std::lock_guard lock(of_process().mutex);
    of_process().live.insert(this);
  }
  Lessons(const Lessons&) = delete;
  Lessons& operator=(const Lessons&) = delete;
  ~Lessons() {
    auto& process = of_process();
    const std::lock_guard lock(process.mutex);
    process.live.erase(this);
    add_to(process.ended);
  }

  Budget budget{communicator_s};

  /// Returns what learns in a class that has been called; null of others, and of larger sizes.
  [[nodiscard]] Contest* known(Operation operation, std::uint64_t size_bytes) const {
    auto* const row = rows_[index_of(operation)].get();
    const auto number = size_class_of(size_bytes);
    return row == nullptr || number >= size_classes ? nullptr : &(*row)[number];
  }
  /// Returns what learns in a class; null of sizes that are the library's own.
  [[nodiscard]] Contest* of(Operation operation, std::uint64_t size_bytes) {
    auto& row = rows_[index_of(operation)];
    if (row == nullptr) row = std::make_unique<Row>();
    return known(operation, size_bytes);
  }
  /// Ends a stretch of the learner in charge, with the times of the slowest rank if it needs them.
  /// `can_copy` tells whether ranks can copy out of each other's memory.
  template <class CanCopy>
  void advance(Operation operation, Contest& contest, const Spent& spent, bool is_set_up,
               CanCopy can_copy) {
    if (start_ != nullptr && contest.in_charge().is_fresh()) begin_sooner(operation, contest);
    const bool ends_own_times = contest.awaits_single_copy();
    if (contest.in_charge().rests() || ends_own_times) {
      if (ends_own_times)
        contest.in_charge().end_own_times(spent, budget);
      else
        contest.in_charge().end_rest(budget);
      if (first_bytes(operation, contest) >= copied_bytes_least && can_copy())
        contest.admit_single_copy();
      contest.take_turn().begin_trial(budget, around(operation, contest, is_set_up));
    } else {
      contest.in_charge().advance(spent, budget, around(operation, contest, is_set_up));
    }
    if (contest.in_charge().rests()) contest.rest();
  }

  /// Whether this process can afford another communicator that learns, after calls that took
  /// `waited_s` without.
  static bool can_afford(double waited_s) {
    auto& process = of_process();
    const std::lock_guard lock(process.mutex);
    process.budget.add_own(waited_s);
    return process.budget.allows(set_up_s + communicator_s);
  }
  /// Notes what setting up a communicator has cost this process, or asking whether to.
  static void spend(double spent_s) {
    auto& process = of_process();
    const std::lock_guard lock(process.mutex);
    process.budget.lose(spent_s);
  }

  /// Returns a line for each class with trials, on all communicators of this process.
  static std::string text() {
    const auto all = past().findings;
    std::string lines;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t number = 0; number < size_classes; ++number)
        if (all[i][number].tried_calls > 0) lines += line(i, number, all[i][number]);
    return lines;
  }

  /// Notes that ranks have different lessons of earlier runs.
  static void differ() {
    const std::lock_guard lock(of_process().mutex);
    of_process().ended.have_differed = true;
  }
  /// Keeps what this process has learned. Returns lines on what went wrong, or on everything.
  static std::string keep(const LessonFile& file, bool tells_all) {
    const auto own = past();
    const auto& start = file.text();
    const auto line = "nhalf: " + file.path() + ' ';
    std::string lines;
    if (own.have_differed)
      lines = "nhalf: the ranks have different lessons of earlier runs; no calls start by any\n";
    if (file.path().empty()) return lines;
    if (start.is_wrong || (tells_all && !start.complaint.empty()))
      lines += line + start.complaint + '\n';
    const auto why = own.lessons.empty() ? "" : file.keep(own.lessons);
    if (!why.empty()) lines += line + "keeps nothing of this run: " + why + '\n';
    if (tells_all)
      lines += line + "let " + std::to_string(own.begun_sooner) + " classes begin sooner, and " +
               std::to_string(own.lessons.size()) + " have learned\n";
    return lines;
  }

 private:
  /// Largest size of which several calls fit into the buffers of shared memory.
  static constexpr std::uint64_t ahead_bytes_most = 1 << 16;

  /// Whether a rank may return from an operation before others have called it.
  static constexpr bool runs_ahead(Operation operation) {
    using enum Operation;
    return operation == bcast || operation == reduce || operation == gather ||
           operation == scatter || operation == scan;
  }

  /// What memory for a communicator costs, more or less.
  static constexpr double set_up_s = 3e-4;

  using Row = std::array<Contest, size_classes>;

  /// What communicators have learned, and how many of their classes began sooner by a file.
  struct Past {
    PerOperation<std::array<Findings, size_classes>> findings;
    KeptLessons lessons;
    int begun_sooner = 0;
    bool have_differed = false;
  };

  /// Returns the smallest size of a class.
  [[nodiscard]] std::uint64_t first_bytes(Operation operation, const Contest& contest) const {
    const auto number = &contest - rows_[index_of(operation)]->data();
    return std::uint64_t{1} << static_cast<unsigned>(number) >> 1U;
  }
  /// Returns what surrounds the learner in charge of an operation's class.
  [[nodiscard]] Learner::Surroundings around(Operation operation, const Contest& contest,
                                             bool is_set_up) const {
    const auto& row = *rows_[index_of(operation)];
    const auto* const first = row.data() + (operation == Operation::barrier ? 0 : 1);
    return {is_set_up,
            runs_ahead(operation) && 2 * first_bytes(operation, contest) <= ahead_bytes_most,
            &contest > first ? (&contest - 1)->same_way(contest) : nullptr,
            &contest < &row.back() ? (&contest + 1)->same_way(contest) : nullptr,
            contest.rival_ratio()};
  }

  struct Process {
    preloaded::Mutex mutex;
    std::set<const Lessons*> live;
    Past ended;
    Budget budget{process_s};
  };
  static Process& of_process() { return preloaded::lasting<Process>(); }

  /// Returns what communicators have learned so far, also those that live.
  static Past past() {
    auto& process = of_process();
    const std::lock_guard lock(process.mutex);
    auto all = process.ended;
    for (const Lessons* lessons : process.live) lessons->add_to(all);
    return all;
  }
  void add_to(Past& all) const {
    all.begun_sooner += begun_sooner_;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (std::size_t number = 0; number < size_classes && rows_[i] != nullptr; ++number) {
        const Contest& contest = (*rows_[i])[number];
        all.findings[i][number].add(contest);
        Findings own;
        own.add(contest);
        if (own.has_learned) all.lessons[calls_of(static_cast<Operation>(i), contest)] = own.kept();
      }
  }

  /// Starts a class with what was learned in earlier runs.
  void begin_sooner(Operation operation, Contest& contest) {
    const auto way = start_->faster_way(calls_of(operation, contest));
    if (way.empty()) return;
    contest.begin_sooner(way);
    ++begun_sooner_;
  }
  [[nodiscard]] std::string calls_of(Operation operation, const Contest& contest) const {
    return kept_calls(ranks_, operation, first_bytes(operation, contest));
  }

  static std::string line(std::size_t operation, std::size_t number, const Findings& findings) {
    std::array<char, 320> text{};
    const auto from = number == 0 ? 0 : std::uint64_t{1} << (number - 1);
    const auto time = [](double call_s, const char* way) {
      std::array<char, 48> of_call{};
      if (call_s > 0)
        std::snprintf(of_call.data(), of_call.size(), " %.2f us %s,", call_s * 1e6, way);
      return of_call;
    };
    std::snprintf(text.data(), text.size(),
                  "nhalf: %s from %llu bytes learned %s:%s%s %.2f us"
                  " by the library; %d calls tried, %.3f ms lost by that, %.3f ms saved\n",
                  std::string(operation_names[operation]).c_str(),
                  static_cast<unsigned long long>(from), std::string(findings.learned).c_str(),
                  time(findings.slots_call_s, "through shared memory").data(),
                  time(findings.single_copy_call_s, "by single copy").data(),
                  findings.own_call_s * 1e6, findings.tried_calls, findings.lost_s * 1e3,
                  findings.saved_s * 1e3);
    return text.data();
  }

  int ranks_;
  const LessonFile* start_;
  int begun_sooner_ = 0;
  PerOperation<std::unique_ptr<Row>> rows_;
};

}  // namespace nhalf::coll
