// Operations with a count and an offset per rank.
#pragma once

#include <climits>
#include <vector>

#include "contract/collectives.hpp"
#include "contract/options.hpp"
#include "contract/pattern.hpp"
#include "patterns/bases/collectives/operations.hpp"

namespace nhalf {

/// The operation Equal, with its buffers, blocks and checks, told the size of each rank's block:
/// the same for all, as in the suites, so that what naming them costs can be seen.
template <Collectives T, class Equal>
class Counted : public Equal {
 public:
  Counted(T& transport, const Case& point) : Equal(transport, addressable(transport, point)) {
    for (int rank = 0; rank < transport.size(); ++rank) {
      counts_.push_back(static_cast<int>(point.size_bytes));
      offsets_.push_back(rank * counts_.back());
    }
  }

 protected:
  [[nodiscard]] Operands operands() const {
    return {this->root_, this->in_, this->out_, counts_, offsets_};
  }

 private:
  /// A case whose offsets can be named, before there is memory for it.
  static const Case& addressable(const T& transport, const Case& point) {
    if (point.size_bytes > INT_MAX / static_cast<std::size_t>(transport.size()))
      throw InputError("offsets above 2147483647 bytes do not fit operations with counts");
    return point;
  }

  std::vector<int> counts_;
  std::vector<int> offsets_;
};

}  // namespace nhalf
