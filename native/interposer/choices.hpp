// nhalf-needs: MPI
// The rules of this process, and the algorithms that they may name; counts the calls of each
// operation by way, if the user asks for it.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "algorithms/all_allgather.hpp"
#include "algorithms/all_allreduce.hpp"
#include "algorithms/all_alltoall.hpp"
#include "algorithms/all_barrier.hpp"
#include "algorithms/all_bcast.hpp"
#include "algorithms/all_gather.hpp"
#include "algorithms/all_reduce.hpp"
#include "algorithms/all_reduce_scatter.hpp"
#include "algorithms/all_scan.hpp"
#include "algorithms/all_scatter.hpp"
#include "host/kernel_files.hpp"
#include "interposer/kept_lessons.hpp"
#include "interposer/messages.hpp"
#include "interposer/table.hpp"
#include "preloaded/library.hpp"

namespace nhalf::coll {

// The default decision table, for calls that do not learn: shared memory where it was faster than
// the library's own algorithms, in benchmarks that repeat an operation and in benchmarks that
// synchronise in between, on 2 and 16 ranks with a core each and on 8 ranks that share 2 cores.

inline constexpr std::string_view rules_of_all =
    "# nhalf decision table 1\n"
    "barrier 2 inf 0 0 shared-memory\n";
inline constexpr std::string_view rules_of_intel =
    "bcast 2 8 1 4096 shared-memory\n"
    "bcast 9 64 1 512 shared-memory\n"
    "allreduce 2 8 1 2048 shared-memory\n"
    "allreduce 9 16 1 1024 shared-memory\n"
    "allgather 2 8 1 2048 shared-memory\n"
    "alltoall 2 8 1 2048 shared-memory\n"
    "gather 2 4 1 8192 shared-memory\n"
    "reduce 2 16 1 4096 shared-memory\n"
    "scatter 2 4 1 1024 shared-memory\n";
inline constexpr std::string_view rules_of_others =
    "bcast 2 16 1 8192 shared-memory\n"
    "bcast 17 64 1 4096 shared-memory\n"
    "allreduce 2 8 1 8192 shared-memory\n"
    "allgather 2 8 1 4096 shared-memory\n"
    "gather 2 4 512 8192 shared-memory\n"
    "reduce 2 16 1 8192 shared-memory\n"
    "scatter 2 4 512 2048 shared-memory\n";
inline constexpr std::string_view rules_of_open_mpi =
    "allreduce 9 16 1 1024 shared-memory\n"
    "alltoall 2 2 1 2048 shared-memory\n"
    "alltoall 3 8 1 256 shared-memory\n";
inline constexpr std::string_view rules_of_mpich =
    "allreduce 9 16 1 128 shared-memory\n"
    "alltoall 2 2 1 2048 shared-memory\n"
    "alltoall 3 8 1 256 shared-memory\n";
/// Rules with oversubscription, where context switches dominate: in shared memory a rank completes
/// its part in one time slice, messages in rounds take several.
inline constexpr std::string_view rules_oversubscribed =
    "allreduce 9 16 1 8192 shared-memory\n"
    "alltoall 2 8 1 512 shared-memory\n";

inline std::string default_table(bool is_oversubscribed) {
  std::string text(rules_of_all);
  if (!is_oversubscribed && preloaded::library_is("Intel(R) MPI")) return text += rules_of_intel;
  text += rules_of_others;
  if (is_oversubscribed) return text += rules_oversubscribed;
  return text += preloaded::library_is("Open MPI") ? rules_of_open_mpi : rules_of_mpich;
}

/// Calls `visit` with the algorithms of an operation.
template <class Visit>
auto with_algorithms(Operation operation, Visit visit) {
  switch (operation) {
    case Operation::allgather:
      return visit(algorithms::allgather::all<Messages>());
    case Operation::allreduce:
      return visit(algorithms::allreduce::all<Messages>());
    case Operation::alltoall:
      return visit(algorithms::alltoall::all<Messages>());
    case Operation::barrier:
      return visit(algorithms::barrier::all<Messages>());
    case Operation::bcast:
      return visit(algorithms::bcast::all<Messages>());
    case Operation::gather:
      return visit(algorithms::gather::all<Messages>());
    case Operation::reduce:
      return visit(algorithms::reduce::all<Messages>());
    case Operation::reduce_scatter:
      return visit(algorithms::reduce_scatter::all<Messages>());
    case Operation::scan:
      return visit(algorithms::scan::all<Messages>());
    case Operation::scatter:
      break;
  }
  return visit(algorithms::scatter::all<Messages>());
}

/// Returns the number of a way by its name; -1 if there is none that can run here.
inline int way_named(Operation operation, std::string_view name) {
  if (const int number = named_way(operation, name); number >= 0) return number;
  return with_algorithms(operation, [&](const auto& algorithms) {
    for (std::size_t i = 0; i < algorithms.size(); ++i)
      if (algorithms[i].info.name == name && algorithms[i].run != nullptr)
        return static_cast<int>(i) + way::first_algorithm;
    return -1;
  });
}

inline std::string name_of(Operation operation, int number) {
  if (number < way::first_algorithm)
    return std::string(way_names[static_cast<std::size_t>(number)]);
  return with_algorithms(operation, [&](const auto& algorithms) {
    return std::string(
        algorithms[static_cast<std::size_t>(number - way::first_algorithm)].info.name);
  });
}

/// Largest number of ways of an operation, each of which is counted.
inline constexpr int ways_max = 24;

/// Which calls learn: none, those whose results do not depend on the way, or all.
enum class Learning : unsigned char { none, exact, all };

inline Learning learning_asked() {
  const char* text = std::getenv("NHALF_COLL_LEARN");
  if (text == nullptr || *text == '\0') return Learning::exact;
  return std::string_view(text) == "0"     ? Learning::none
         : std::string_view(text) == "all" ? Learning::all
                                           : Learning::exact;
}

/// Number and placement of the ranks of a communicator, on which rules depend.
struct Place {
  int ranks = 1;
  bool is_one_host = false;
  /// Whether ranks outnumber their cores.
  bool is_oversubscribed = false;
};

/// The rules of this process, read once, and the errors in them.
class Choices {
 public:
  Choices();

  static const Choices& of_process() { return preloaded::lasting<const Choices>(); }

  [[nodiscard]] Ranges ranges(Operation operation, const Place& place) const {
    const auto number_of = [=](const std::string& name) {
      const int number = std::max(0, way_named(operation, name));
      const bool is_shared = number > way::native && number < way::first_algorithm;
      return is_shared && !place.is_one_host ? way::native : number;
    };
    return {place.is_oversubscribed ? oversubscribed_rules_ : rules_, operation,
            static_cast<std::uint64_t>(place.ranks), number_of};
  }

  /// Returns which calls learn: none where a table is given.
  [[nodiscard]] Learning learning() const { return learning_; }
  /// Returns a hash of the table, and of what learns, equal on ranks where both are.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }
  /// Returns the error in the table; empty if there is none.
  [[nodiscard]] const std::string& complaint() const { return complaint_; }
  [[nodiscard]] const std::string& source() const { return source_; }

 private:
  std::vector<Rule> rules_, oversubscribed_rules_;
  Learning learning_ = learning_asked();
  std::string source_ = "no table";
  std::string complaint_;
  std::uint64_t digest_ = 0;
};

inline Choices::Choices() {
  std::string text = default_table(false);
  std::string oversubscribed_text = default_table(true);
  if (const char* path = std::getenv("NHALF_COLL_TABLE"); path != nullptr && *path != '\0') {
    source_ = path;
    learning_ = Learning::none;
    oversubscribed_text = text = text_of(path);
  }
  try {
    rules_ = parse_table(text);
    oversubscribed_rules_ = parse_table(oversubscribed_text);
  } catch (const InputError& error) {
    complaint_ = source_ + ": " + error.what() + "; every operation is the library's own";
  }
  for (const auto& rule : rules_)
    if (way_named(rule.operation, rule.algorithm) < 0)
      complaint_ = source_ + ": " + std::string(operation_names[index_of(rule.operation)]) +
                   " has no algorithm '" + rule.algorithm + "'; it is the library's own there";
  text += static_cast<char>(learning_);
  digest_ = digest_of(text);
}

/// The lessons of earlier runs that this process starts with, read once, if anything learns.
inline const LessonFile& lessons_of_process() {
  static const auto* const file = new LessonFile(
      Choices::of_process().learning() == Learning::none ? nullptr : std::getenv("NHALF_COLL_KEEP"),
      preloaded::library_version());
  return *file;
}

/// What a thread's present call moves, and the way that it takes.
struct PresentCall {
  int way = way::native;
  std::uint64_t size_bytes = 0;
};
inline constinit thread_local PresentCall present_call{};

class Counts {
 public:
  static Counts& of_process() {
    static constinit Counts counts;
    return counts;
  }

  /// Whether the user asks for a report.
  static bool are_wanted() { return is_enabled_; }

  void add(Operation operation, int number) {
    present_call.way = std::min(number, ways_max - 1);
    if (!is_enabled_) return;
    const auto at = static_cast<std::size_t>(present_call.way);
    counts_[index_of(operation)][at].fetch_add(1, std::memory_order_relaxed);
  }

  /// Returns one line per operation and algorithm that was called.
  [[nodiscard]] std::string text() const {
    const auto& choices = Choices::of_process();
    std::string lines = "nhalf: collectives by " + choices.source() + "\n";
    if (!choices.complaint().empty()) lines += "nhalf: " + choices.complaint() + "\n";
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const auto operation = static_cast<Operation>(i);
      for (int number = 0; number < ways_max; ++number) {
        const auto count = counts_[i][static_cast<std::size_t>(number)].load();
        if (count == 0) continue;
        lines += "nhalf: " + std::string(operation_names[i]) + " " + name_of(operation, number) +
                 " " + std::to_string(count) + "\n";
      }
    }
    return lines;
  }

  /// Prints the counts to standard error if NHALF_COLL_VERBOSE is set; an error in the table
  /// always.
  void report(int rank) const {
    if (rank != 0) return;
    const auto& complaint = Choices::of_process().complaint();
    if (is_enabled_) {
      std::fputs(text().c_str(), stderr);
    } else if (!complaint.empty()) {
      std::fprintf(stderr, "nhalf: %s\n", complaint.c_str());
    }
  }

 private:
  Counts() = default;

  static bool are_enabled() {
    const char* text = std::getenv("NHALF_COLL_VERBOSE");
    return text != nullptr && *text != '\0' && std::string(text) != "0";
  }

  PerOperation<std::array<std::atomic<std::uint64_t>, ways_max>> counts_{};
  static inline const bool is_enabled_ = are_enabled();
};

}  // namespace nhalf::coll
