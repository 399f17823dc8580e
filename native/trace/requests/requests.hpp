// nhalf-needs: MPI
// Pending requests that need attention when they end: receives, whose size and sender are known
// then, and persistent requests.
#pragma once

#include "trace/communicators.hpp"

namespace nhalf::trace {
[[gnu::always_inline]] inline std::uint64_t size_of(const MPI_Status& status) {
#if defined(OPEN_MPI)
  return static_cast<std::uint64_t>(status._ucount);
#else
  // A size that fits an int is returned sooner.
  int few = 0;
  static auto* const count = NHALF_OWN(Get_count);
  if (count(&status, MPI_BYTE, &few) == MPI_SUCCESS && few >= 0) [[likely]]
    return static_cast<std::uint64_t>(few);
  MPI_Count bytes = 0;
  static auto* const ask = NHALF_OWN(Get_elements_x);
  if (ask(&status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < 0) return 0;
  return static_cast<std::uint64_t>(bytes);
#endif
}

inline bool was_cancelled(const MPI_Status& status) {
  int flag = 0;
  NHALF_OWN(Test_cancelled)(&status, &flag);
  return flag != 0;
}

/// A request that is tracked until it ends.
struct Pending {
  Subject subject;
  const Communicator* on = nullptr;
  std::int32_t tag = 0;
  bool is_persistent = false;
  bool is_active = false;
  /// Whether size and sender come from the status.
  bool is_from_status = false;
  Ticks begin = 0;
  Ticks time = 0;
  /// Serial number from 1, which distinguishes requests with the same handle.
  std::uint64_t number = 0;
};

class Requests {
 public:
  static Requests& of_process() { return preloaded::lasting<Requests>(); }

  /// Whether a request has ever been tracked.
  static bool has_had_any() { return has_had_any_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool has_any() const { return !pending_.is_empty(); }
  [[nodiscard]] bool may_be_cancelled() const {
    return may_be_cancelled_.load(std::memory_order_relaxed);
  }
  void some_are_cancelled() { may_be_cancelled_.store(true, std::memory_order_relaxed); }

  template <class Request>
  void put(Request request, Pending pending) {
    has_had_any_.store(true, std::memory_order_relaxed);
    const std::lock_guard guard(lock_);
    pending.number = ++numbers_;
    if (!pending_.put(number_of(request), pending)) Metadata::of_process().lost(Dropped::requests);
  }

  /// Marks a persistent request as active and copies it; false if it is unknown.
  template <class Request>
  bool start(Request request, Ticks begin, Pending& pending) {
    const std::lock_guard guard(lock_);
    Pending* entry = pending_.find(number_of(request));
    if (entry == nullptr) return false;
    entry->is_active = true;
    entry->begin = begin;
    pending = *entry;
    return true;
  }

  /// Whether a receive is active under this handle; copies the request if it is known.
  template <class Request>
  bool is_receive(Request request, Pending& pending) {
    if (pending_.is_empty()) return false;
    const std::lock_guard guard(lock_);
    const Pending* entry = pending_.find(number_of(request));
    if (entry == nullptr) return false;
    pending = *entry;
    return entry->is_active && entry->is_from_status;
  }

  /// Records the end of a request; a persistent one may start again. The handle may already belong
  /// to a newer request of another thread.
  void ended(std::uint64_t handle, const Pending& before) {
    const std::lock_guard guard(lock_);
    Pending* entry = pending_.find(handle);
    if (entry == nullptr || entry->number != before.number) return;
    if (entry->is_persistent)
      entry->is_active = false;
    else
      pending_.erase(handle);
  }

  /// A request was freed, or another one has its handle.
  void freed(std::uint64_t handle) {
    if (pending_.is_empty()) return;
    const std::lock_guard guard(lock_);
    pending_.erase(handle);
  }

  /// Forgets requests before a call that may end them and is not counted; persistent ones count
  /// again when they start.
  template <class Request>
  void drop(int count, const Request* requests) {
    if (pending_.is_empty()) return;
    const std::lock_guard guard(lock_);
    for (int place = 0; place < count; ++place) {
      const auto handle = number_of(requests[place]);
      Pending* entry = pending_.find(handle);
      if (entry != nullptr && entry->is_persistent)
        entry->is_active = false;
      else if (entry != nullptr)
        pending_.erase(handle);
    }
  }

 private:
  static inline constinit std::atomic<bool> has_had_any_{false};

  Lock lock_;
  Handles<Pending> pending_;
  std::uint64_t numbers_ = 0;
  std::atomic<bool> may_be_cancelled_{false};
};
}  // namespace nhalf::trace
