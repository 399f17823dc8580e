// nhalf-needs: MPI
// Counts the calls of each operation by way, if the user asks for it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "interposer/choices.hpp"

namespace nhalf::coll {

class Counts {
 public:
  static Counts& of_process() {
    static constinit Counts counts;
    return counts;
  }

  void add(Operation operation, int number) {
    if (!is_enabled_) return;
    const auto at = static_cast<std::size_t>(std::min(number, ways_max - 1));
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
