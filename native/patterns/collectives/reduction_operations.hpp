// Collective operations that combine the vectors of all ranks.
#pragma once

#include "algorithms/all_allreduce.hpp"
#include "algorithms/all_reduce.hpp"
#include "algorithms/all_reduce_scatter.hpp"
#include "algorithms/all_scan.hpp"
#include "patterns/bases/collectives/forms.hpp"
#include "patterns/bases/collectives/reduced.hpp"
#include "patterns/bases/collectives/shares.hpp"

namespace nhalf {
inline constexpr auto reduction_pattern_axes = joined(in_place_algorithm_axes, reduction_axes);

/// What is said of every reduction.
constexpr PatternInfo reduction_pattern(std::string_view name, std::string_view description,
                                        bool rooted) {
  auto info = collective_pattern(name, description, rooted, 4);
  info.axes = reduction_pattern_axes;
  return info;
}

/// Every rank gives a vector and gets the combination of those of ranks 0 to `combined_ - 1`, or
/// the part of it that begins with element `first_`.
///
/// In place the results of a timed batch are given again and grow, to infinity or from the start
/// again, which takes no longer.
template <Collectives T>
class ReductionOfVectors : public Operation<T> {
 public:
  bool verify() override {
    {
      OnHost out(this->out_);
      std::ranges::fill(out.bytes(), std::byte{0xff});
    }
    {
      OnHost in(this->in_);
      vectors_.give(this->transport_.rank(), 0, in.bytes());
    }
    this->run(1);
    return vectors_.holds(combined_, first_, OnHost(ConstBytes(this->out_)).bytes());
  }

 protected:
  ReductionOfVectors(T& transport, const Case& point)
      : ReductionOfVectors(transport, point, point.size_bytes, point.size_bytes) {}
  ReductionOfVectors(T& transport, const Case& point, std::size_t in_bytes, std::size_t out_bytes)
      : Operation<T>(transport, point, in_bytes, out_bytes),
        combined_(transport.size()),
        vectors_(checked(transport, point)) {}

  int combined_;
  std::size_t first_ = 0;

 private:
  /// Tells the transport what is combined. Throws InputError where that is not possible.
  static Reduction checked(T& transport, const Case& point) {
    const auto reduction = Reduction::of(point);
    if constexpr (Reductions<T>) {
      transport.reduce_by(reduction);
    } else {
      if (reduction != Reduction())
        throw InputError("this transport adds floats only: leave out the axes type and op");
    }
    return reduction;
  }

  ReducedVectors vectors_;
};

inline constexpr auto reduce_info = reduction_pattern(
    "reduce", "the root gets the sum of all ranks' vectors; the size is that of a vector", true);

template <Collectives T>
class ReductionAtRoot : public ReductionOfVectors<T> {
 protected:
  ReductionAtRoot(T& transport, const Case& point) : ReductionOfVectors<T>(transport, point) {
    aim();
  }

  void aim() final {
    this->out_ = this->is_root() ? this->out_buffer_.bytes() : Bytes{};
    this->in_ = this->in_place_ && this->is_root() ? this->out_ : this->in_buffer_.bytes();
  }
};
template <Collectives T>
using Reduce = ChosenOperation<ReductionAtRoot<T>, algorithms::reduce::all<T>, operations::reduce,
                               reduce_info>;
NHALF_FORMS(reduce_info, Reduce, reduce);

inline constexpr auto allreduce_info = reduction_pattern(
    "allreduce", "all ranks get the sum of all ranks' vectors; the size is that of a vector",
    false);
template <Collectives T>
using Allreduce = ChosenOperation<ReductionOfVectors<T>, algorithms::allreduce::all<T>,
                                  operations::allreduce, allreduce_info>;
NHALF_FORMS(allreduce_info, Allreduce, allreduce);

inline constexpr auto scan_info = reduction_pattern(
    "scan", "every rank gets the sum of its own vector and those of the ranks before it", false);

template <Collectives T>
class ReductionUpToHere : public ReductionOfVectors<T> {
 protected:
  ReductionUpToHere(T& transport, const Case& point) : ReductionOfVectors<T>(transport, point) {
    this->combined_ = transport.rank() + 1;
  }
};
template <Collectives T>
using Scan =
    ChosenOperation<ReductionUpToHere<T>, algorithms::scan::all<T>, operations::scan, scan_info>;
NHALF_FORMS(scan_info, Scan, scan);

inline constexpr auto reduce_scatter_info = reduction_pattern(
    "reduce-scatter",
    "the sum of all ranks' vectors, scattered in equal blocks; the size is that of a vector, "
    "rounded up to one element per rank",
    false);

template <Collectives T>
class ScatteredReduction : public ReductionOfVectors<T> {
 protected:
  ScatteredReduction(T& transport, const Case& point)
      : ReductionOfVectors<T>(transport, point,
                              before(transport, point, transport.size()) * element_bytes(point),
                              elements(transport, point, transport.rank()) * element_bytes(point)) {
    this->first_ = before(transport, point, transport.rank());
    aim();
  }

  void aim() final {
    this->in_ = this->in_buffer_.bytes();
    const auto block = this->out_buffer_.bytes();
    this->out_ = this->in_place_ ? this->in_.first(block.size()) : block;
  }

  /// What a rank gets, and those before it: all together as many elements as suffice for the
  /// vector.
  static std::size_t elements(const T& transport, const Case& point, int rank) {
    return Shares(point, transport.size()).of(mean_elements(transport, point), rank);
  }
  static std::size_t before(const T& transport, const Case& point, int rank) {
    return Shares(point, transport.size()).before(mean_elements(transport, point), rank);
  }

 private:
  static std::size_t element_bytes(const Case& point) {
    return Reduction::of(point).element_bytes();
  }
  static std::size_t mean_elements(const T& transport, const Case& point) {
    const auto ranks = static_cast<std::size_t>(transport.size());
    return (point.size_bytes / element_bytes(point) + ranks - 1) / ranks;
  }
};
template <Collectives T>
using ReduceScatter = ChosenOperation<ScatteredReduction<T>, algorithms::reduce_scatter::all<T>,
                                      operations::reduce_scatter, reduce_scatter_info>;
NHALF_FORMS(reduce_scatter_info, ReduceScatter, reduce_scatter);
}  // namespace nhalf
