// Collective operations that move bytes from rank to rank as they are.
#pragma once

#include "algorithms/all_allgather.hpp"
#include "algorithms/all_alltoall.hpp"
#include "algorithms/all_bcast.hpp"
#include "algorithms/all_gather.hpp"
#include "algorithms/all_scatter.hpp"
#include "patterns/bases/collectives/forms.hpp"
#include "patterns/bases/collectives/shares.hpp"

namespace nhalf {
/// Blocks, each of which a rank made for another one or for everybody. The bytes differ by both;
/// whatever the operation does not write is found, down to the last byte.
template <Collectives T>
class BlockOperation : public Operation<T> {
 public:
  bool verify() override {
    for (int block = 0; block < blocks(this->out_); ++block) {
      const auto got = this->block(this->out_, block);
      fill(got, got_seed(block));
      invert(got);
    }
    for (int block = 0; block < blocks(this->in_); ++block)
      fill(this->block(this->in_, block), given_seed(block));
    this->run(1);
    for (int block = 0; block < blocks(this->out_); ++block)
      if (!holds(this->block(this->out_, block), got_seed(block))) return false;
    return true;
  }

 protected:
  BlockOperation(T& transport, const Case& point, std::size_t in_bytes, std::size_t out_bytes)
      : Operation<T>(transport, point, in_bytes, out_bytes), shares_(point, transport.size()) {}

  /// Who made the block of this number in `in_` for whom, and the same for `out_` afterwards.
  [[nodiscard]] virtual std::uint32_t given_seed(int block) const = 0;
  [[nodiscard]] virtual std::uint32_t got_seed(int block) const = 0;

  [[nodiscard]] std::uint32_t seed(int from, int to) const {
    return static_cast<std::uint32_t>(from * this->transport_.size() + to + 2);
  }
  [[nodiscard]] std::uint32_t seed(int from) const { return seed(from, 0); }

  /// The block of this rank, and all blocks of a buffer, one per rank.
  [[nodiscard]] static std::size_t own(const T& transport, const Case& point) {
    return Shares(point, transport.size()).of(point.size_bytes, transport.rank());
  }
  [[nodiscard]] static std::size_t per_rank(const T& transport, const Case& point,
                                            int partner = Shares::nobody) {
    const int ranks = transport.size();
    return Shares(point, ranks).before(point.size_bytes, ranks, partner);
  }
  [[nodiscard]] std::size_t block_bytes(int rank) const {
    return shares_.of(this->size_bytes_, rank, partner_);
  }
  [[nodiscard]] std::size_t before(int rank) const {
    return shares_.before(this->size_bytes_, rank, partner_);
  }
  /// One of the blocks of a buffer, which may be one itself.
  [[nodiscard]] Bytes block(Bytes part, int rank) const {
    return is_one(part) ? part : part.subspan(before(rank), block_bytes(rank));
  }

  /// Whose blocks for others these are; nobody's if they are the same for all.
  int partner_ = Shares::nobody;

 private:
  [[nodiscard]] bool is_one(ConstBytes part) const {
    return part.size() != before(this->transport_.size());
  }
  [[nodiscard]] int blocks(ConstBytes part) const {
    return is_one(part) ? int{!part.empty()} : this->transport_.size();
  }

  Shares shares_;
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
NHALF_FORMS(bcast_info, Bcast, bcast);

inline constexpr auto gather_info = collective_pattern(
    "gather", "the root collects a block from every rank; the size is that of a block", true);

template <Collectives T>
class Gather : public ChosenOperation<T, BlockOperation, algorithms::gather::all<T>> {
 public:
  Gather(T& transport, const Case& point)
      : Gather::ChosenOperation(
            gather_info, transport, point, this->own(transport, point),
            this->per_rank(transport, point),
            [](T& t, Scratch&, int root, ConstBytes in, Bytes out) { t.gather(root, in, out); }) {
    aim();
  }

 protected:
  void aim() final {
    this->out_ = this->is_root() ? this->out_buffer_.bytes() : Bytes{};
    this->in_ = this->in_place_ && this->is_root() ? this->block(this->out_, this->root_)
                                                   : this->in_buffer_.bytes();
  }
  [[nodiscard]] std::uint32_t given_seed(int) const override {
    return this->seed(this->transport_.rank(), this->root_);
  }
  [[nodiscard]] std::uint32_t got_seed(int block) const override {
    return this->seed(block, this->root_);
  }
};
NHALF_FORMS(gather_info, Gather, gather);

inline constexpr auto scatter_info = collective_pattern(
    "scatter", "the root sends every rank a block of its own; the size is that of a block", true);

template <Collectives T>
class Scatter : public ChosenOperation<T, BlockOperation, algorithms::scatter::all<T>> {
 public:
  Scatter(T& transport, const Case& point)
      : Scatter::ChosenOperation(
            scatter_info, transport, point, this->per_rank(transport, point),
            this->own(transport, point),
            [](T& t, Scratch&, int root, ConstBytes in, Bytes out) { t.scatter(root, in, out); }) {
    aim();
  }

 protected:
  void aim() final {
    this->in_ = this->is_root() ? this->in_buffer_.bytes() : Bytes{};
    this->out_ = this->in_place_ && this->is_root() ? this->block(this->in_, this->root_)
                                                    : this->out_buffer_.bytes();
  }
  [[nodiscard]] std::uint32_t given_seed(int block) const override {
    return this->seed(this->root_, block);
  }
  [[nodiscard]] std::uint32_t got_seed(int) const override {
    return this->seed(this->root_, this->transport_.rank());
  }
};
NHALF_FORMS(scatter_info, Scatter, scatter);

inline constexpr auto allgather_info = collective_pattern(
    "allgather", "all ranks collect a block from every rank; the size is that of a block", false);

template <Collectives T>
class Allgather : public ChosenOperation<T, BlockOperation, algorithms::allgather::all<T>> {
 public:
  Allgather(T& transport, const Case& point)
      : Allgather::ChosenOperation(
            allgather_info, transport, point, this->own(transport, point),
            this->per_rank(transport, point),
            [](T& t, Scratch&, ConstBytes in, Bytes out) { t.allgather(in, out); }) {
    aim();
  }

 protected:
  void aim() final {
    this->out_ = this->out_buffer_.bytes();
    this->in_ = this->in_place_ ? this->block(this->out_, this->transport_.rank())
                                : this->in_buffer_.bytes();
  }
  [[nodiscard]] std::uint32_t given_seed(int) const override {
    return this->seed(this->transport_.rank());
  }
  [[nodiscard]] std::uint32_t got_seed(int block) const override { return this->seed(block); }
};
NHALF_FORMS(allgather_info, Allgather, allgather);

inline constexpr auto alltoall_info = collective_pattern(
    "alltoall", "every rank sends every rank a block of its own; the size is that of a block",
    false);

template <Collectives T>
class Alltoall : public ChosenOperation<T, BlockOperation, algorithms::alltoall::all<T>> {
 public:
  Alltoall(T& transport, const Case& point)
      : Alltoall::ChosenOperation(
            alltoall_info, transport, point, this->per_rank(transport, point, transport.rank()),
            this->per_rank(transport, point, transport.rank()),
            [](T& t, Scratch&, ConstBytes in, Bytes out) { t.alltoall(in, out); }) {
    this->partner_ = transport.rank();
  }

 protected:
  [[nodiscard]] std::uint32_t given_seed(int block) const override {
    return this->seed(this->transport_.rank(), block);
  }
  [[nodiscard]] std::uint32_t got_seed(int block) const override {
    return this->seed(block, this->transport_.rank());
  }
};
NHALF_FORMS(alltoall_info, Alltoall, alltoall);
}  // namespace nhalf
