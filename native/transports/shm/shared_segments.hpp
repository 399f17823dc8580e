// nhalf-needs: MPI
// Memory of each rank that all ranks of the host can write.
#pragma once

#include "host/segment.hpp"
#include "transports/bases/mpi_control.hpp"

namespace nhalf {
/// One segment of every rank, mapped by every rank, all of one size. It has no name and goes with
/// the last process that has it.
class SharedSegments {
 public:
  SharedSegments() = default;

  /// Maps all segments; collective. Throws InputError at every rank if one of them fails.
  SharedSegments(MpiControl& control, std::size_t size_bytes) : size_bytes_(size_bytes) {
    if (!control.is_one_host()) throw InputError("shared memory needs all ranks on one host");
    auto own = Segment::create(size_bytes);
    if (!control.all(own && own.reserve(0, size_bytes)))
      throw InputError("no shared memory of " + std::to_string(size_bytes) +
                       " bytes for each rank");
    bool opened = true;
    for (const auto& address : control.everybodys(own.address())) {
      const bool is_own = address == own.address();
      segments_.push_back(is_own ? Segment{} : Segment::open(address, size_bytes));
      opened = opened && (is_own || segments_.back());
    }
    if (!control.all(opened))
      throw InputError("ranks may not open each other's memory: run them as one user");
    own.close_file();
    for (auto& segment : segments_) segment.close_file();
    segments_[static_cast<std::size_t>(control.rank())] = std::move(own);
  }

  /// The memory of a rank.
  [[nodiscard]] Bytes of(int rank) const {
    return {segments_[static_cast<std::size_t>(rank)].data(), size_bytes_};
  }

 private:
  std::size_t size_bytes_ = 0;
  std::vector<Segment> segments_;
};
}  // namespace nhalf
