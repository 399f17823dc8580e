// Collective operations that move bytes from rank to rank as they are.
#pragma once

#include "algorithms/all_allgather.hpp"
#include "algorithms/all_alltoall.hpp"
#include "algorithms/all_bcast.hpp"
#include "algorithms/all_gather.hpp"
#include "algorithms/all_scatter.hpp"
#include "patterns/bases/collectives/forms.hpp"

namespace nhalf {

/// Blocks of size_bytes_, each of which a rank made for another one or for everybody. The bytes
/// differ by both; whatever the operation does not write is found, down to the last byte.
template <Collectives T>
class BlockOperation : public Operation<T> {
 public:
  bool verify() override {
    for (int block = 0; block < out_blocks(); ++block) {
      fill(got(block), got_seed(block));
      std::ranges::transform(got(block), got(block).begin(), [](std::byte b) { return ~b; });
    }
    for (int block = 0; block < in_blocks(); ++block)
      fill(block_of(this->in_, block, this->size_bytes_), given_seed(block));
    this->run(1);
    for (int block = 0; block < out_blocks(); ++block)
      if (!holds(got(block), got_seed(block))) return false;
    return true;
  }

 protected:
  using Operation<T>::Operation;

  /// Who made the block of this number in `in_` for whom, and the same for `out_` afterwards.
  [[nodiscard]] virtual std::uint32_t given_seed(int block) const = 0;
  [[nodiscard]] virtual std::uint32_t got_seed(int block) const = 0;

  [[nodiscard]] std::uint32_t seed(int from, int to) const {
    return static_cast<std::uint32_t>(from * this->transport_.size() + to + 2);
  }
  [[nodiscard]] std::uint32_t seed(int from) const { return seed(from, 0); }

  /// All of a buffer's blocks, one per rank.
  [[nodiscard]] static std::size_t per_rank(const T& transport, const Case& point) {
    return point.size_bytes * static_cast<std::size_t>(transport.size());
  }

 private:
  [[nodiscard]] int blocks(ConstBytes part) const {
    return this->size_bytes_ == 0 ? 0 : static_cast<int>(part.size() / this->size_bytes_);
  }
  [[nodiscard]] int in_blocks() const { return blocks(this->in_); }
  [[nodiscard]] int out_blocks() const { return blocks(this->out_); }
  [[nodiscard]] Bytes got(int block) const {
    return block_of(this->out_, block, this->size_bytes_);
  }
};

inline constexpr auto bcast_axes = joined(algorithm_axes, part_axis);

inline constexpr PatternInfo bcast_info{
    .name = "bcast",
    .what = "the root sends the same bytes to all ranks; the size is what each of them gets",
    .needs = "collectives",
    .timing = Timing::operation,
    .axes = bcast_axes,
    .rooted = true};

template <Collectives T>
class Bcast : public ChosenOperation<T, BlockOperation, algorithms::bcast::all<T>> {
 public:
  Bcast(T& transport, const Case& point)
      : Bcast::ChosenOperation(bcast_info, transport, point, 0, point.size_bytes,
                               [](T& t, Scratch&, int root, Bytes data) { t.bcast(root, data); }) {
    aim();
  }

 protected:
  void aim() final {
    this->out_ = this->out_buffer_.bytes();
    this->in_ = this->is_root() ? this->out_ : Bytes{};
  }
  [[nodiscard]] std::uint32_t given_seed(int) const override { return this->seed(this->root_); }
  [[nodiscard]] std::uint32_t got_seed(int) const override { return this->seed(this->root_); }
};
NHALF_PATTERN(bcast_info, Bcast);
NHALF_FORMS(bcast_info, Bcast, bcast);

inline constexpr auto gather_info = collective_pattern(
    "gather", "the root collects a block from every rank; the size is that of a block", true);

template <Collectives T>
class Gather : public ChosenOperation<T, BlockOperation, algorithms::gather::all<T>> {
 public:
  Gather(T& transport, const Case& point)
      : Gather::ChosenOperation(
            gather_info, transport, point, point.size_bytes, this->per_rank(transport, point),
            [](T& t, Scratch&, int root, ConstBytes in, Bytes out) { t.gather(root, in, out); }) {
    aim();
  }

 protected:
  void aim() final {
    this->out_ = this->is_root() ? this->out_buffer_.bytes() : Bytes{};
    this->in_ = this->in_place_ && this->is_root()
                    ? block_of(this->out_, this->root_, this->size_bytes_)
                    : this->in_buffer_.bytes();
  }
  [[nodiscard]] std::uint32_t given_seed(int) const override {
    return this->seed(this->transport_.rank(), this->root_);
  }
  [[nodiscard]] std::uint32_t got_seed(int block) const override {
    return this->seed(block, this->root_);
  }
};
NHALF_PATTERN(gather_info, Gather);
NHALF_FORMS(gather_info, Gather, gather);

inline constexpr auto scatter_info = collective_pattern(
    "scatter", "the root sends every rank a block of its own; the size is that of a block", true);

template <Collectives T>
class Scatter : public ChosenOperation<T, BlockOperation, algorithms::scatter::all<T>> {
 public:
  Scatter(T& transport, const Case& point)
      : Scatter::ChosenOperation(
            scatter_info, transport, point, this->per_rank(transport, point), point.size_bytes,
            [](T& t, Scratch&, int root, ConstBytes in, Bytes out) { t.scatter(root, in, out); }) {
    aim();
  }

 protected:
  void aim() final {
    this->in_ = this->is_root() ? this->in_buffer_.bytes() : Bytes{};
    this->out_ = this->in_place_ && this->is_root()
                     ? block_of(this->in_, this->root_, this->size_bytes_)
                     : this->out_buffer_.bytes();
  }
  [[nodiscard]] std::uint32_t given_seed(int block) const override {
    return this->seed(this->root_, block);
  }
  [[nodiscard]] std::uint32_t got_seed(int) const override {
    return this->seed(this->root_, this->transport_.rank());
  }
};
NHALF_PATTERN(scatter_info, Scatter);
NHALF_FORMS(scatter_info, Scatter, scatter);

inline constexpr auto allgather_info = collective_pattern(
    "allgather", "all ranks collect a block from every rank; the size is that of a block", false);

template <Collectives T>
class Allgather : public ChosenOperation<T, BlockOperation, algorithms::allgather::all<T>> {
 public:
  Allgather(T& transport, const Case& point)
      : Allgather::ChosenOperation(
            allgather_info, transport, point, point.size_bytes, this->per_rank(transport, point),
            [](T& t, Scratch&, ConstBytes in, Bytes out) { t.allgather(in, out); }) {
    aim();
  }

 protected:
  void aim() final {
    this->out_ = this->out_buffer_.bytes();
    this->in_ = this->in_place_ ? block_of(this->out_, this->transport_.rank(), this->size_bytes_)
                                : this->in_buffer_.bytes();
  }
  [[nodiscard]] std::uint32_t given_seed(int) const override {
    return this->seed(this->transport_.rank());
  }
  [[nodiscard]] std::uint32_t got_seed(int block) const override { return this->seed(block); }
};
NHALF_PATTERN(allgather_info, Allgather);
NHALF_FORMS(allgather_info, Allgather, allgather);

inline constexpr auto alltoall_info = collective_pattern(
    "alltoall", "every rank sends every rank a block of its own; the size is that of a block",
    false);

template <Collectives T>
class Alltoall : public ChosenOperation<T, BlockOperation, algorithms::alltoall::all<T>> {
 public:
  Alltoall(T& transport, const Case& point)
      : Alltoall::ChosenOperation(
            alltoall_info, transport, point, this->per_rank(transport, point),
            this->per_rank(transport, point),
            [](T& t, Scratch&, ConstBytes in, Bytes out) { t.alltoall(in, out); }) {}

 protected:
  [[nodiscard]] std::uint32_t given_seed(int block) const override {
    return this->seed(this->transport_.rank(), block);
  }
  [[nodiscard]] std::uint32_t got_seed(int block) const override {
    return this->seed(block, this->transport_.rank());
  }
};
NHALF_PATTERN(alltoall_info, Alltoall);
NHALF_FORMS(alltoall_info, Alltoall, alltoall);

}  // namespace nhalf
