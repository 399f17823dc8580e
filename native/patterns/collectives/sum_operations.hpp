// Collective operations that add up the floats of all ranks.
#pragma once

#include "algorithms/all_allreduce.hpp"
#include "algorithms/all_reduce.hpp"
#include "algorithms/all_reduce_scatter.hpp"
#include "algorithms/all_scan.hpp"
#include "patterns/bases/collectives/forms.hpp"
#include "patterns/bases/collectives/shares.hpp"

namespace nhalf {
/// Every rank gives a vector of floats and gets the sum of ranks 0 to `summed_ - 1`, or the part of
/// it that begins with element `first_`.
///
/// The floats are whole numbers from 1 to 16, so that sums do not depend on the order (below 2^20
/// ranks), no rank can be left out or counted twice unseen, and elements cannot change places. In
/// place the sums of a timed batch are given again and grow to infinity, which takes no longer.
template <Collectives T>
class SumOperation : public Operation<T> {
 public:
  bool verify() override {
    const auto input = floats_of(this->in_);
    const auto got = floats_of(this->out_);
    for (std::size_t i = 0; i < got.size(); ++i) got[i] = -1;
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = element(this->transport_.rank(), i);
    this->run(1);
    for (std::size_t i = 0; i < got.size(); ++i)
      if (got[i] != expected(first_ + i)) return false;
    return true;
  }

 protected:
  SumOperation(T& transport, const Case& point, std::size_t in_bytes, std::size_t out_bytes)
      : Operation<T>(transport, point, in_bytes, out_bytes), summed_(transport.size()) {
    if (point.size_bytes % sizeof(float) != 0)
      throw InputError("sums are of floats: give a multiple of 4 bytes");
  }

  int summed_;
  std::size_t first_ = 0;

 private:
  static std::span<float> floats_of(Bytes data) {
    return {reinterpret_cast<float*>(data.data()), data.size() / sizeof(float)};
  }
  static float element(int rank, std::size_t i) {
    const auto place = static_cast<std::uint32_t>(i % 4093) + 1;
    const auto mixed = place * 2654435761U + static_cast<std::uint32_t>(rank) * 40503U;
    return static_cast<float>((mixed >> 13 & 15U) + 1);
  }
  [[nodiscard]] float expected(std::size_t i) const {
    float sum = 0;
    for (int rank = 0; rank < summed_; ++rank) sum += element(rank, i);
    return sum;
  }
};

inline constexpr auto reduce_info = collective_pattern(
    "reduce", "the root gets the sum of all ranks' vectors of floats; the size is that of a vector",
    true, 4);

template <Collectives T>
class Reduce : public ChosenOperation<T, SumOperation, algorithms::reduce::all<T>> {
 public:
  Reduce(T& transport, const Case& point)
      : Reduce::ChosenOperation(
            reduce_info, transport, point, point.size_bytes, point.size_bytes,
            [](T& t, Scratch&, int root, ConstBytes in, Bytes out) { t.reduce(root, in, out); }) {
    aim();
  }

 protected:
  void aim() final {
    this->out_ = this->is_root() ? this->out_buffer_.bytes() : Bytes{};
    this->in_ = this->in_place_ && this->is_root() ? this->out_ : this->in_buffer_.bytes();
  }
};
NHALF_FORMS(reduce_info, Reduce, reduce);

inline constexpr auto allreduce_info = collective_pattern(
    "allreduce",
    "all ranks get the sum of all ranks' vectors of floats; the size is that of a vector", false,
    4);

template <Collectives T>
class Allreduce : public ChosenOperation<T, SumOperation, algorithms::allreduce::all<T>> {
 public:
  Allreduce(T& transport, const Case& point)
      : Allreduce::ChosenOperation(
            allreduce_info, transport, point, point.size_bytes, point.size_bytes,
            [](T& t, Scratch&, ConstBytes in, Bytes out) { t.allreduce(in, out); }) {}
};
NHALF_FORMS(allreduce_info, Allreduce, allreduce);

inline constexpr auto scan_info = collective_pattern(
    "scan", "every rank gets the sum of its own vector of floats and those of the ranks before it",
    false, 4);
template <Collectives T>
class Scan : public ChosenOperation<T, SumOperation, algorithms::scan::all<T>> {
 public:
  Scan(T& transport, const Case& point)
      : Scan::ChosenOperation(scan_info, transport, point, point.size_bytes, point.size_bytes,
                              [](T& t, Scratch&, ConstBytes in, Bytes out) { t.scan(in, out); }) {
    this->summed_ = transport.rank() + 1;
  }
};
NHALF_FORMS(scan_info, Scan, scan);

inline constexpr auto reduce_scatter_info = collective_pattern(
    "reduce-scatter",
    "the sum of all ranks' vectors of floats, scattered in equal blocks; the size is that of a "
    "vector, rounded up to one float per rank",
    false, 4);

template <Collectives T>
class ReduceScatter : public ChosenOperation<T, SumOperation, algorithms::reduce_scatter::all<T>> {
 public:
  ReduceScatter(T& transport, const Case& point)
      : ReduceScatter::ChosenOperation(
            reduce_scatter_info, transport, point,
            before(transport, point, transport.size()) * sizeof(float),
            floats(transport, point, transport.rank()) * sizeof(float),
            [](T& t, Scratch&, ConstBytes in, Bytes out) { t.reduce_scatter(in, out); }) {
    this->first_ = before(transport, point, transport.rank());
    aim();
  }

 protected:
  void aim() final {
    this->in_ = this->in_buffer_.bytes();
    const auto block = this->out_buffer_.bytes();
    this->out_ = this->in_place_ ? this->in_.first(block.size()) : block;
  }

  /// What a rank gets, and those before it: all together as many floats as suffice for the vector.
  static std::size_t floats(const T& transport, const Case& point, int rank) {
    return Shares(point, transport.size()).of(mean_floats(transport, point), rank);
  }
  static std::size_t before(const T& transport, const Case& point, int rank) {
    return Shares(point, transport.size()).before(mean_floats(transport, point), rank);
  }

 private:
  static std::size_t mean_floats(const T& transport, const Case& point) {
    const auto ranks = static_cast<std::size_t>(transport.size());
    return (point.size_bytes / sizeof(float) + ranks - 1) / ranks;
  }
};
NHALF_FORMS(reduce_scatter_info, ReduceScatter, reduce_scatter);
}  // namespace nhalf
