// What a communicator has learned: a learner for each operation and class of sizes, a budget for
// all of them, and what is told of it at the end.
#pragma once

#include <cstdio>
#include <mutex>
#include <set>

#include "interposer/learning.hpp"
#include "interposer/table.hpp"
#include "preloaded/lasting.hpp"

namespace nhalf::coll {

/// Classes of sizes: class 0 has no data, class n has from 2^(n-1) to 2^n - 1 bytes.
inline constexpr std::size_t size_classes = 22;

constexpr std::size_t size_class_of(std::uint64_t size_bytes) {
  return static_cast<std::size_t>(std::bit_width(size_bytes));
}

/// What learners of one class on all communicators have findings.
struct Findings {
  int tried_calls = 0;
  bool is_other_better = false;
  double own_call_s = 0, other_call_s = 0, saved_s = 0, lost_s = 0;

  void add(const Learner& learner) {
    if (!learner.has_tried()) return;
    tried_calls += learner.tried_calls();
    is_other_better = learner.is_other_better();
    own_call_s = learner.own_call_s();
    other_call_s = learner.other_call_s();
    saved_s += learner.saved_s();
    lost_s += learner.lost_s();
  }
};

class Lessons {
 public:
  /// What trials on a communicator may cost beside their share, and what set-ups and these
  /// constants of all communicators of a process may, beside a share of calls before them.
  static constexpr double communicator_s = 5e-4;
  static constexpr double process_s = 5e-3;

  Lessons() {
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

  /// Returns the learner of a class that has been called; null of others, and of larger sizes.
  [[nodiscard]] Learner* known(Operation operation, std::uint64_t size_bytes) const {
    auto* const row = rows_[index_of(operation)].get();
    const auto number = size_class_of(size_bytes);
    return row == nullptr || number >= size_classes ? nullptr : &(*row)[number];
  }
  /// Returns the learner of a class; null of sizes that are the library's own.
  [[nodiscard]] Learner* of(Operation operation, std::uint64_t size_bytes) {
    auto& row = rows_[index_of(operation)];
    if (row == nullptr) row = std::make_unique<Row>();
    return known(operation, size_bytes);
  }
  /// Returns what surrounds a learner of an operation.
  [[nodiscard]] Learner::Surroundings around(Operation operation, const Learner& learner,
                                             bool is_set_up) const {
    const auto& row = *rows_[index_of(operation)];
    const auto* const first = row.data() + (operation == Operation::barrier ? 0 : 1);
    const auto most_bytes = std::uint64_t{1} << static_cast<unsigned>(&learner - row.data());
    return {is_set_up, runs_ahead(operation) && most_bytes <= ahead_bytes_most,
            &learner > first ? &learner - 1 : nullptr,
            &learner < &row.back() ? &learner + 1 : nullptr};
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
    auto& process = of_process();
    const std::lock_guard lock(process.mutex);
    auto all = process.ended;
    for (const Lessons* lessons : process.live) lessons->add_to(all);
    std::string lines;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t number = 0; number < size_classes; ++number)
        if (all[i][number].tried_calls > 0) lines += line(i, number, all[i][number]);
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

  using Row = std::array<Learner, size_classes>;
  using AllFindings = PerOperation<std::array<Findings, size_classes>>;

  struct Process {
    preloaded::Mutex mutex;
    std::set<const Lessons*> live;
    AllFindings ended;
    Budget budget{process_s};
  };
  static Process& of_process() { return preloaded::lasting<Process>(); }

  void add_to(AllFindings& all) const {
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t number = 0; number < size_classes && rows_[i] != nullptr; ++number)
        all[i][number].add((*rows_[i])[number]);
  }

  static std::string line(std::size_t operation, std::size_t number, const Findings& findings) {
    std::array<char, 256> text{};
    const auto from = number == 0 ? 0 : std::uint64_t{1} << (number - 1);
    std::snprintf(text.data(), text.size(),
                  "nhalf: %s from %llu bytes learned %s: %.2f us through shared memory, %.2f us by"
                  " the library; %d calls tried, %.3f ms lost by that, %.3f ms saved\n",
                  std::string(operation_names[operation]).c_str(),
                  static_cast<unsigned long long>(from),
                  findings.is_other_better ? "shared-memory" : "native",
                  findings.other_call_s * 1e6, findings.own_call_s * 1e6, findings.tried_calls,
                  findings.lost_s * 1e3, findings.saved_s * 1e3);
    return text.data();
  }

  PerOperation<std::unique_ptr<Row>> rows_;
};

}  // namespace nhalf::coll
