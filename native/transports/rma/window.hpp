// nhalf-needs: MPI
// A window of MPI with what is needed to access it.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "contract/buffer.hpp"
#include "contract/options.hpp"
#include "contract/windows.hpp"

namespace nhalf {

/// Memory of every rank on MPI_COMM_WORLD, zeros at first, freed by all ranks together with
/// `close`.
class MpiWindow {
 public:
  MpiWindow(std::size_t size_bytes, WindowKind kind) : own_(is_own(kind) ? size_bytes : 0) {
    const auto size = static_cast<MPI_Aint>(size_bytes);
    void* base = own_.bytes().data();
    if (kind == WindowKind::create) {
      MPI_Win_create(base, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
    } else if (kind == WindowKind::dynamic) {
      attach(base, size);
    } else if (kind == WindowKind::shared) {
      require_one_host();
      MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window_);
    } else {
      MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window_);
    }
    local_ = {static_cast<std::byte*>(base), size_bytes};
    if (size_bytes > 0 && !is_own(kind)) std::memset(base, 0, size_bytes);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MpiWindow(MpiWindow&& other) noexcept
      : own_(std::move(other.own_)),
        local_(other.local_),
        addresses_(std::move(other.addresses_)),
        window_(std::exchange(other.window_, MPI_WIN_NULL)) {}
  MpiWindow& operator=(MpiWindow&&) = delete;

  /// All ranks call it.
  void close() {
    if (window_ == MPI_WIN_NULL) return;
    if (!addresses_.empty()) {
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_detach(window_, local_.data());
    }
    MPI_Win_free(&window_);
  }

  [[nodiscard]] Bytes local() const { return local_; }
  [[nodiscard]] MPI_Win handle() const { return window_; }
  /// Returns MPI's displacement of a place in a rank's memory.
  [[nodiscard]] MPI_Aint place(int rank, std::size_t offset) const {
    const auto first = addresses_.empty() ? 0 : addresses_[static_cast<std::size_t>(rank)];
    return first + static_cast<MPI_Aint>(offset);
  }

 private:
  static bool is_own(WindowKind kind) {
    return kind == WindowKind::create || kind == WindowKind::dynamic;
  }

  static void require_one_host() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int beside = 0;
    int all = 0;
    MPI_Comm_size(node, &beside);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_free(&node);
    int alone = beside == all ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &alone, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (alone == 0) throw InputError("window=shared: the ranks are on several hosts");
  }

  /// Attaches memory whose addresses the ranks tell each other; where it is empty, one byte of it.
  void attach(void* base, MPI_Aint size) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
    MPI_Win_attach(window_, base, std::max<MPI_Aint>(size, 1));
    MPI_Aint mine = 0;
    MPI_Get_address(base, &mine);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    addresses_.resize(static_cast<std::size_t>(ranks));
    MPI_Allgather(&mine, 1, MPI_AINT, addresses_.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  }

  Buffer own_;
  Bytes local_;
  std::vector<MPI_Aint> addresses_;
  MPI_Win window_ = MPI_WIN_NULL;
};

/// Some ranks of MPI_COMM_WORLD as a group.
inline MPI_Group group_of(std::span<const int> ranks) {
  MPI_Group everybody = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &everybody);
  MPI_Group_incl(everybody, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Group_free(&everybody);
  return some;
}

}  // namespace nhalf
