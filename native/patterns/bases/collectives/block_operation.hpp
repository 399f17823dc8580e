// Collective operations that move bytes from rank to rank as they are.
#pragma once

#include <algorithm>
#include <cstdint>

#include "patterns/bases/collectives/operation.hpp"

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

}  // namespace nhalf
