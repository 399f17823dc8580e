// What a communicator has learned: a learner for each operation and class of sizes, a budget for
// all of them, and what is told of it at the end.
#pragma once

#include <cstdio>
#include <mutex>
#include <set>

#include "interposer/contest.hpp"
#include "interposer/floor.hpp"
#include "interposer/kept_lessons.hpp"
#include "preloaded/lasting.hpp"

namespace nhalf::coll {

/// Classes of sizes: class 0 has no data, class n has from 2^(n-1) to 2^n - 1 bytes.
inline constexpr std::size_t size_classes = 22;

constexpr std::size_t size_class_of(std::uint64_t size_bytes) {
  return static_cast<std::size_t>(std::bit_width(size_bytes));
}

/// What learners of one class have found, on all communicators.
struct Findings {
  int tried_calls = 0;
  int learned = way::native;
  /// Ranks of the communicator that learned last.
  int ranks = 0;
  /// Whether a trial has ended clearly; the time of its way in that of the library's own.
  bool has_learned = false;
  double ratio = 1;
  double saved_s = 0, lost_s = 0;
  /// Seconds of a call by each way; 0 of those that were not tried.
  std::array<double, way::first_algorithm> call_s{};

  void add(const Contest& contest, int of_ranks) {
    bool has_tried = false;
    const Learner* better = contest.learner(contest.best_way());
    contest.for_ways([&](int number, const Learner& learner) {
      if (!learner.has_tried()) return;
      has_tried = true;
      call_s[static_cast<std::size_t>(number)] = learner.other_call_s();
      // A further way may have had its turn first.
      if (!better->has_learned()) better = &learner;
      tried_calls += learner.tried_calls();
      saved_s += learner.saved_s();
      lost_s += learner.lost_s();
    });
    if (!has_tried) return;
    ranks = of_ranks;
    ratio = better->ratio();
    // A trial may also end before anything is clear.
    has_learned = better->has_learned() && (better->is_other_better() || ratio >= 1);
    learned = better->is_other_better() ? contest.best_way() : way::native;
    call_s[way::native] = better->own_call_s();
  }
  [[nodiscard]] std::string_view name() const {
    return way_names[static_cast<std::size_t>(learned)];
  }
  [[nodiscard]] KeptLessons::mapped_type kept() const {
    return {std::string(name()), static_cast<std::uint64_t>(std::min(100 * ratio, 1e6))};
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
    if (row == nullptr) {
      row = std::make_unique<Row>();
      for (Contest& contest : *row) contest.budget.be_part_of(budget);
      for (std::size_t number = 0; number < size_class_of(touching_bytes_least); ++number)
        (*row)[number].in_charge().skip_warm_up();
    }
    return known(operation, size_bytes);
  }
  /// Ends a stretch of the learner in charge, with the times of the slowest rank if it needs them.
  /// `is_open(way, size_bytes)` tells whether the operation can go a further way from this size on.
  template <class IsOpen>
  void advance(Operation operation, Contest& contest, const Spent& spent, bool is_set_up,
               IsOpen is_open) {
    if (contest.in_charge().warms_up(spent, contest.budget)) return;
    if (start_ != nullptr && contest.in_charge().is_fresh()) begin_sooner(operation, contest);
    const bool ends_own_times = contest.awaits_further_way();
    if (contest.in_charge().rests() || ends_own_times) {
      if (ends_own_times)
        contest.in_charge().end_own_times(spent, contest.budget);
      else
        contest.in_charge().end_rest(contest.budget);
      for (int number = way::single_copy; number < way::first_algorithm; ++number)
        if (may_be_worth(operation, number, first_bytes(operation, contest)) &&
            is_open(number, first_bytes(operation, contest)))
          contest.admit(number);
      contest.take_turn().begin_trial(contest.budget, around(operation, contest, is_set_up));
    } else {
      contest.in_charge().advance(spent, contest.budget, around(operation, contest, is_set_up));
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

  /// Returns a line for each class with trials, on all communicators of this process, beside what
  /// they take at least where ranks are as many as those of the floor.
  static std::string text(const Floor& floor = {}) {
    const auto all = past().findings;
    std::string lines;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t number = 0; number < size_classes; ++number)
        if (all[i][number].tried_calls > 0) lines += line(i, number, all[i][number], floor);
    return lines;
  }

  /// Returns what all communicators of this process have saved so far, less what trials have lost.
  static double saved_s() {
    double sum_s = 0;
    for (const auto& classes : past().findings)
      for (const auto& findings : classes) sum_s += findings.saved_s - findings.lost_s;
    return sum_s;
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
  /// Whether an operation can go a further way, and calls from a size on may gain by it: a copy out
  /// of another process takes a system call, short data stay in caches, and leaders speak for their
  /// groups in messages of one slot.
  static constexpr bool may_be_worth(Operation operation, int number, std::uint64_t size_bytes) {
    if (number == way::single_copy && size_bytes < copied_bytes_least) return false;
    if ((number == way::hierarchical) != (size_bytes <= Slot::size_bytes)) return false;
    return has_way(operation, number);
  }

  /// Smallest data of which a copy out of another process may be worth its system call.
  static constexpr std::uint64_t copied_bytes_least = 1 << 14;
  /// Smallest size of which enough calls touch pages first to matter: one in eight, where a library
  /// uses buffers in turn.
  static constexpr std::uint64_t touching_bytes_least = 512;

  /// Smallest size of which the first calls of a way say little.
  static constexpr std::uint64_t large_bytes_least = 1 << 16;

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
            runs_ahead(operation),
            &contest > first ? (&contest - 1)->learner(contest.way()) : nullptr,
            &contest < &row.back() ? (&contest + 1)->learner(contest.way()) : nullptr,
            contest.rival_ratio(),
            first_bytes(operation, contest) >= large_bytes_least};
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
        all.findings[i][number].add(contest, ranks_);
        Findings own;
        own.add(contest, ranks_);
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

  static std::string line(std::size_t operation, std::size_t number, const Findings& findings,
                          const Floor& floor) {
    const auto from = number == 0 ? 0 : std::uint64_t{1} << (number - 1);
    std::array<char, 160> part{};
    std::string text = "nhalf: " + std::string(operation_names[operation]) + " from " +
                       std::to_string(from) + " bytes learned " + std::string(findings.name()) +
                       ':';
    const auto add = [&](const char* format, auto... values) {
      std::snprintf(part.data(), part.size(), format, values...);
      text += part.data();
    };
    for (std::size_t i = way::shared_memory; i < way_phrases.size(); ++i)
      if (findings.call_s[i] > 0) add(" %.2f us %s,", findings.call_s[i] * 1e6, way_phrases[i]);
    add(" %.2f us %s; %d calls tried, %.3f ms lost by that, %.3f ms saved",
        findings.call_s[way::native] * 1e6, way_phrases[way::native], findings.tried_calls,
        findings.lost_s * 1e3, findings.saved_s * 1e3);
    if (findings.ranks != floor.ranks) return text + '\n';
    const double least_s = floor.operation_s(static_cast<Operation>(operation), from);
    if (least_s >= floor_s_least)
      add("; %.1f times the floor of %.3f us",
          findings.call_s[static_cast<std::size_t>(findings.learned)] / least_s, least_s * 1e6);
    return text + '\n';
  }

  /// A shorter time is no bound that a clock could show.
  static constexpr double floor_s_least = 1e-9;
  static constexpr std::array way_phrases{"by the library", "through shared memory",
                                          "by single copy", "by streaming stores",
                                          "through leaders"};

  int ranks_;
  const LessonFile* start_;
  int begun_sooner_ = 0;
  PerOperation<std::unique_ptr<Row>> rows_;
};

}  // namespace nhalf::coll
