// Times that a launch has once, and that are the same in all samples.
#pragma once

#include <cstdint>
#include <optional>

#include "contract/pattern.hpp"

namespace nhalf {

/// Launches are what differs, and what intervals are of.
template <Transport T>
class LaunchTime : public Pattern {
 public:
  explicit LaunchTime(T& transport) : transport_(transport) {}

  /// Nothing that counts, but a batch has to last.
  void run(std::uint64_t rounds) override {
    rounds_ = rounds;
    pass_rounds(transport_, rounds);
  }
  bool verify() override { return true; }
  [[nodiscard]] std::optional<double> timed_s() const override {
    return static_cast<double>(rounds_) * took_s_;
  }

 protected:
  T& transport_;
  double took_s_ = 0;

 private:
  std::uint64_t rounds_ = 1;
};

}  // namespace nhalf
