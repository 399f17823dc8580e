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
/// Whether the root alone gives or gets blocks, or all ranks do; and whether a rank has one of them
/// for all others or one for each.
struct BlockFlow {
  bool from_root = false, gives_each = false;
  bool to_root = false, gets_each = false;
};

/// Blocks, each of which a rank made for another one or for everybody. The bytes differ by both;
/// whatever the operation does not write is found, down to the last byte.
template <Collectives T, BlockFlow flow>
class BlockOperation : public Operation<T> {
 public:
  BlockOperation(T& transport, const Case& point)
      : Operation<T>(transport, point, is_one_for_all ? 0 : room(transport, point, flow.gives_each),
                     room(transport, point, flow.gets_each)),
        shares_(point, transport.size()) {
    aim();
  }

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
  /// Where both are of one kind the result takes the place of what was given, which a block for all
  /// always does; otherwise this rank's own block lies among those of all.
  void aim() final {
    const bool gives = !flow.from_root || this->is_root();
    const bool gets = !flow.to_root || this->is_root();
    this->in_ = gives ? this->in_buffer_.bytes() : Bytes{};
    this->out_ = gets ? this->out_buffer_.bytes() : Bytes{};
    if (!gives || !gets || !(this->in_place_ || is_one_for_all)) return;
    const int rank = this->transport_.rank();
    if constexpr (flow.gives_each == flow.gets_each) {
      this->in_ = this->out_;
    } else if constexpr (flow.gives_each) {
      this->out_ = block(this->in_, rank);
    } else {
      this->in_ = block(this->out_, rank);
    }
  }

  [[nodiscard]] std::size_t block_bytes(int rank) const {
    return shares_.of(this->size_bytes_, rank, partner_of(this->transport_));
  }
  [[nodiscard]] std::size_t before(int rank) const {
    return shares_.before(this->size_bytes_, rank, partner_of(this->transport_));
  }

 private:
  static constexpr bool is_one_for_all = !flow.gives_each && !flow.gets_each;

  /// Whose blocks for others these are; nobody's if they are the same for all.
  static int partner_of(const T& transport) {
    return flow.gives_each && flow.gets_each ? transport.rank() : Shares::nobody;
  }
  /// Bytes of the block of this rank, or of the blocks of all.
  static std::size_t room(const T& transport, const Case& point, bool of_all) {
    const int ranks = transport.size();
    const Shares shares(point, ranks);
    return of_all ? shares.before(point.size_bytes, ranks, partner_of(transport))
                  : shares.of(point.size_bytes, transport.rank());
  }

  /// Who made the block of this number in `in_` for whom, and the same for `out_` afterwards.
  [[nodiscard]] std::uint32_t given_seed(int block) const {
    return seed(this->transport_.rank(), flow.gives_each ? block : this->root_);
  }
  [[nodiscard]] std::uint32_t got_seed(int block) const {
    return seed(flow.gets_each ? block : this->root_,
                flow.gives_each ? this->transport_.rank() : this->root_);
  }
  [[nodiscard]] std::uint32_t seed(int from, int to) const {
    return static_cast<std::uint32_t>(from * this->transport_.size() + to + 2);
  }

  /// One of the blocks of a buffer, which may be one itself.
  [[nodiscard]] Bytes block(Bytes part, int rank) const {
    return is_one(part) ? part : part.subspan(before(rank), block_bytes(rank));
  }
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
using Bcast = ChosenOperation<BlockOperation<T, BlockFlow{.from_root = true}>,
                              algorithms::bcast::all<T>, operations::bcast, bcast_info>;
NHALF_FORMS(bcast_info, Bcast, bcast);

inline constexpr auto gather_info = collective_pattern(
    "gather", "the root collects a block from every rank; the size is that of a block", true);
template <Collectives T>
using Gather = ChosenOperation<BlockOperation<T, BlockFlow{.to_root = true, .gets_each = true}>,
                               algorithms::gather::all<T>, operations::gather, gather_info>;
NHALF_FORMS(gather_info, Gather, gather);

inline constexpr auto scatter_info = collective_pattern(
    "scatter", "the root sends every rank a block of its own; the size is that of a block", true);
template <Collectives T>
using Scatter = ChosenOperation<BlockOperation<T, BlockFlow{.from_root = true, .gives_each = true}>,
                                algorithms::scatter::all<T>, operations::scatter, scatter_info>;
NHALF_FORMS(scatter_info, Scatter, scatter);

inline constexpr auto allgather_info = collective_pattern(
    "allgather", "all ranks collect a block from every rank; the size is that of a block", false);
template <Collectives T>
using Allgather =
    ChosenOperation<BlockOperation<T, BlockFlow{.gets_each = true}>, algorithms::allgather::all<T>,
                    operations::allgather, allgather_info>;
NHALF_FORMS(allgather_info, Allgather, allgather);

inline constexpr auto alltoall_info = collective_pattern(
    "alltoall", "every rank sends every rank a block of its own; the size is that of a block",
    false);
template <Collectives T>
using Alltoall =
    ChosenOperation<BlockOperation<T, BlockFlow{.gives_each = true, .gets_each = true}>,
                    algorithms::alltoall::all<T>, operations::alltoall, alltoall_info>;
NHALF_FORMS(alltoall_info, Alltoall, alltoall);
}  // namespace nhalf
