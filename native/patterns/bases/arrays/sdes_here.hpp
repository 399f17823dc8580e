// Both tables of differences of simplified DES at every rank, in shared arrays.
#pragma once

#include "contract/pattern.hpp"
#include "patterns/bases/arrays/array_access.hpp"
#include "patterns/bases/arrays/sdes_attack.hpp"
#include "patterns/bases/arrays/sdes_build.hpp"

namespace nhalf::sdes {

/// All ranks build the tables together; then each gets them whole into its own part of two shared
/// arrays, and looks up there.
template <ArraysOf T>
class TablesHere {
 public:
  explicit TablesHere(T& transport)
      : pairs_(transport, one_block_each(s_boxes_tabled.pairs(), transport.size())),
        counts_(transport, one_block_each(s_boxes_tabled.counts(), transport.size())) {
    const auto ranks = static_cast<std::size_t>(transport.size());
    DistributionTable<T> built(transport, s_boxes_tabled,
                               pgas::Layout::even(s_boxes_tabled.rows(), ranks));
    built.build(Access::cast);
    built.pairs().shared().barrier();
    built.table().shared().barrier();
    built.pairs().shared().get(0, pairs_.local());
    built.table().shared().get(0, counts_.local());
    // Nobody takes down its part while another reads it.
    transport.barrier();
  }

  /// Looks up by pointers of an access.
  template <Access access>
  [[nodiscard]] auto inputs() {
    const auto rank = pairs_.rank();
    return TabledPairs{pointer_by<access>(pairs_, rank * s_boxes_tabled.pairs(), 0),
                       pointer_by<access>(counts_, rank * s_boxes_tabled.counts(), 0)};
  }

 private:
  pgas::shared_array<std::uint8_t, T> pairs_;
  pgas::shared_array<std::uint16_t, T> counts_;
};

}  // namespace nhalf::sdes
