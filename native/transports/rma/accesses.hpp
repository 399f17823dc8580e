// nhalf-needs: MPI
// Accesses to windows of MPI, in every way that the standard has to begin and end them.
#pragma once

#include <mpi.h>

#include <exception>

#include "contract/buffer.hpp"
#include "contract/exposed_memory.hpp"
#include "contract/options.hpp"

namespace nhalf {
// A window of MPI with what is needed to access it.

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

/// The calls of one-sided MPI, one to one.
class MpiAccesses {
 public:
  /// A window that is accessed in one way, by and of known ranks.
  class Window {
   public:
    Window(std::size_t size_bytes, WindowKind kind, WindowAccess access,
           std::span<const int> targets, std::span<const int> origins)
        : memory_(size_bytes, kind),
          access_(access),
          targets_(targets.begin(), targets.end()),
          is_accessed_(!origins.empty()),
          targets_group_(group_of(targets)),
          origins_group_(group_of(origins)) {
      if (is_locked()) MPI_Win_lock_all(0, memory_.handle());
    }
    Window(Window&& other) noexcept
        : memory_(std::move(other.memory_)),
          access_(other.access_),
          targets_(std::move(other.targets_)),
          is_accessed_(other.is_accessed_),
          targets_group_(std::exchange(other.targets_group_, MPI_GROUP_NULL)),
          origins_group_(std::exchange(other.origins_group_, MPI_GROUP_NULL)) {}
    Window& operator=(Window&&) = delete;

    [[nodiscard]] Bytes local() const { return memory_.local(); }

   private:
    friend MpiAccesses;
    [[nodiscard]] bool is_locked() const {
      return access_ == WindowAccess::flush || access_ == WindowAccess::flush_local;
    }

    MpiWindow memory_;
    WindowAccess access_;
    std::vector<int> targets_;
    bool is_accessed_;
    MPI_Group targets_group_;
    MPI_Group origins_group_;
  };

  Window open_window(std::size_t size_bytes, WindowKind kind, WindowAccess access,
                     std::span<const int> targets, std::span<const int> origins) {
    return {size_bytes, kind, access, targets, origins};
  }
  void close_window(Window& window) {
    if (std::uncaught_exceptions() > 0) return;
    if (window.is_locked()) MPI_Win_unlock_all(window.memory_.handle());
    MPI_Group_free(&window.targets_group_);
    MPI_Group_free(&window.origins_group_);
    window.memory_.close();
  }

  /// Completes accesses that `end` may have left pending.
  void complete(Window& window) {
    if (window.is_locked()) MPI_Win_flush_all(window.memory_.handle());
  }

  void begin(Window& window) {
    const auto handle = window.memory_.handle();
    switch (window.access_) {
      case WindowAccess::fence:
        MPI_Win_fence(0, handle);
        break;
      case WindowAccess::pscw:
        if (window.is_accessed_) MPI_Win_post(window.origins_group_, 0, handle);
        if (!window.targets_.empty()) MPI_Win_start(window.targets_group_, 0, handle);
        break;
      case WindowAccess::lock:
        for (const int peer : window.targets_) MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, handle);
        break;
      case WindowAccess::lock_all:
        if (!window.targets_.empty()) MPI_Win_lock_all(0, handle);
        break;
      default:
        break;
    }
  }
  void end(Window& window) {
    const auto handle = window.memory_.handle();
    switch (window.access_) {
      case WindowAccess::fence:
        MPI_Win_fence(0, handle);
        break;
      case WindowAccess::pscw:
        if (!window.targets_.empty()) MPI_Win_complete(handle);
        if (window.is_accessed_) MPI_Win_wait(handle);
        break;
      case WindowAccess::lock:
        for (const int peer : window.targets_) MPI_Win_unlock(peer, handle);
        break;
      case WindowAccess::lock_all:
        if (!window.targets_.empty()) MPI_Win_unlock_all(handle);
        break;
      case WindowAccess::flush:
        for (const int peer : window.targets_) MPI_Win_flush(peer, handle);
        break;
      case WindowAccess::flush_local:
        for (const int peer : window.targets_) MPI_Win_flush_local(peer, handle);
        break;
    }
  }

  void put(Window& window, int peer, std::size_t offset, ConstBytes data) {
    put_to(window.memory_, peer, offset, data);
  }
  void get(Window& window, int peer, std::size_t offset, Bytes data) {
    get_from(window.memory_, peer, offset, data);
  }
  void accumulate(Window& window, int peer, std::size_t offset, ConstBytes data) {
    MPI_Accumulate(data.data(), floats(data), MPI_FLOAT, peer, window.memory_.place(peer, offset),
                   floats(data), MPI_FLOAT, MPI_SUM, window.memory_.handle());
  }
  void get_accumulate(Window& window, int peer, std::size_t offset, ConstBytes data, Bytes before) {
    MPI_Get_accumulate(data.data(), floats(data), MPI_FLOAT, before.data(), floats(data), MPI_FLOAT,
                       peer, window.memory_.place(peer, offset), floats(data), MPI_FLOAT, MPI_SUM,
                       window.memory_.handle());
  }
  void fetch_and_add(Window& window, int peer, std::size_t offset, const std::int64_t& term,
                     std::int64_t& before) {
    MPI_Fetch_and_op(&term, &before, MPI_INT64_T, peer, window.memory_.place(peer, offset), MPI_SUM,
                     window.memory_.handle());
  }
  void compare_and_swap(Window& window, int peer, std::size_t offset, const std::int64_t& expected,
                        const std::int64_t& desired, std::int64_t& before) {
    MPI_Compare_and_swap(&desired, &expected, &before, MPI_INT64_T, peer,
                         window.memory_.place(peer, offset), window.memory_.handle());
  }

 protected:
  static void put_to(const MpiWindow& memory, int peer, std::size_t offset, ConstBytes data) {
    const int count = static_cast<int>(data.size());
    MPI_Put(data.data(), count, MPI_BYTE, peer, memory.place(peer, offset), count, MPI_BYTE,
            memory.handle());
  }
  static void get_from(const MpiWindow& memory, int peer, std::size_t offset, Bytes data) {
    const int count = static_cast<int>(data.size());
    MPI_Get(data.data(), count, MPI_BYTE, peer, memory.place(peer, offset), count, MPI_BYTE,
            memory.handle());
  }

 private:
  static int floats(ConstBytes data) { return static_cast<int>(data.size() / sizeof(float)); }
};
}  // namespace nhalf
