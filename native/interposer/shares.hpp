// The shares of a vector that is cut among ranks.
#pragma once

#include "contract/buffer.hpp"

namespace nhalf::coll {

/// One share of each rank, in their order, cut between elements; they differ by an element at most.
class Shares {
 public:
  Shares(std::size_t vector_bytes, std::size_t element_bytes, int ranks)
      : elements_(vector_bytes / element_bytes),
        element_bytes_(element_bytes),
        ranks_(static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] std::size_t start_bytes(int rank) const {
    return elements_ * static_cast<std::size_t>(rank) / ranks_ * element_bytes_;
  }
  [[nodiscard]] std::size_t size_bytes(int rank) const {
    return start_bytes(rank + 1) - start_bytes(rank);
  }
  [[nodiscard]] std::size_t largest_bytes() const {
    return (elements_ + ranks_ - 1) / ranks_ * element_bytes_;
  }
  /// Returns the share of a rank in a vector.
  template <class Span>
  Span of(Span vector, int rank) const {
    return vector.subspan(start_bytes(rank), size_bytes(rank));
  }
  /// Returns the part of a rank's share at `at` of at most `part_bytes`, in a vector; it may be
  /// empty.
  template <class Span>
  Span part_of(Span vector, int rank, std::size_t at, std::size_t part_bytes) const {
    const auto share = of(vector, rank);
    const auto start = std::min(at, share.size());
    return share.subspan(start, std::min(part_bytes, share.size() - start));
  }

 private:
  std::size_t elements_, element_bytes_, ranks_;
};

}  // namespace nhalf::coll
