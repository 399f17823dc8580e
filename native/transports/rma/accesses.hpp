// nhalf-needs: MPI
// Accesses to windows of MPI, in every way that the standard has to begin and end them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "contract/windows.hpp"
#include "transports/rma/window.hpp"

namespace nhalf {

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
