// Sums over the threads of a team, at every thread.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "apps/npb/openmp_world.hpp"

namespace nhalf::npb {

/// One barrier a sum: threads write and read places by turns, so that nobody overwrites what
/// another one still reads. All threads have the same total to the last bit.
class TeamSum {
 public:
  static constexpr std::size_t numbers_max = 8;

  explicit TeamSum(OpenMpWorld& world)
      : world_(world), places_(static_cast<std::size_t>(world.threads)) {}

  [[nodiscard]] int threads() const { return static_cast<int>(places_.size()); }

  /// Every thread of the team calls it, with as many numbers as the others.
  void add(int thread, std::span<double> numbers) {
    auto& mine = places_[static_cast<std::size_t>(thread)];
    const std::size_t turn = mine.turn;
    mine.turn = 1 - turn;
    for (std::size_t i = 0; i < numbers.size(); ++i) mine.numbers[turn][i] = numbers[i];
    world_.wait();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = 0;
      for (const auto& place : places_) numbers[i] += place.numbers[turn][i];
    }
  }

 private:
  struct alignas(64) Place {
    std::array<std::array<double, numbers_max>, 2> numbers{};
    std::size_t turn = 0;
  };
  OpenMpWorld& world_;
  std::vector<Place> places_;
};

}  // namespace nhalf::npb
