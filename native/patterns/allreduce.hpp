// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithms/all_allreduce.hpp"
#include "patterns/bases/chosen_algorithm.hpp"
#include "patterns/bases/sum_operation.hpp"

namespace nhalf {

inline constexpr PatternInfo allreduce_info{
    .name = "allreduce",
    .what = "all ranks get the sum of all ranks' vectors of floats; the size is that of a vector",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = in_place_algorithm_axes,
    .size_multiple = 4};

template <Collectives T>
class Allreduce : public SumOperation<T> {
 public:
  static std::vector<AlgorithmEntry> known() { return entries_of(list()); }

  Allreduce(T& transport, const Case& point)
      : SumOperation<T>(transport, point, point.size_bytes, point.size_bytes),
        algorithm_(allreduce_info, point, list(),
                   [](T& t, Scratch&, ConstBytes in, Bytes out) { t.allreduce(in, out); }) {
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
  static const auto& list() { return algorithms::allreduce::all<T>(); }

  ChosenAlgorithm<T, algorithms::allreduce::Signature> algorithm_;
};

NHALF_PATTERN(allreduce_info, Allreduce);

}  // namespace nhalf
