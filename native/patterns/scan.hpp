// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithms/all_scan.hpp"
#include "patterns/bases/chosen_algorithm.hpp"
#include "patterns/bases/sum_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo scan_info{
    .name = "scan",
    .what = "every rank gets the sum of its own vector of floats and those of the ranks before it",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_algorithm_axes,
    .size_multiple = 4};

template <Collectives T>
class Scan : public SumOperation<T> {
 public:
  static std::vector<AlgorithmEntry> known() { return entries_of(list()); }

  Scan(T& transport, const Case& point)
      : SumOperation<T>(transport, point, point.size_bytes, point.size_bytes),
        algorithm_(scan_info, point, list(),
                   [](T& t, Scratch&, ConstBytes in, Bytes out) { t.scan(in, out); }) {
    this->summed_ = transport.rank() + 1;
    aim();
  }

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds) algorithm_(this->transport_, this->in_, this->out_);
  }

 protected:
  void aim() final {
    this->out_ = this->out_buffer_.bytes();
    this->in_ = this->in_place_ ? this->out_ : this->in_buffer_.bytes();
  }

 private:
  static const auto& list() { return algorithms::scan::all<T>(); }

  ChosenAlgorithm<T, algorithms::scan::Signature> algorithm_;
};

NHALF_PATTERN(scan_info, Scan);

}  // namespace nhalf
