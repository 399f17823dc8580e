// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Requests of which something is to be known when they end: receives, whose size and sender are
// known then, and all that is started again and again.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "preloaded/lasting.hpp"
#include "preloaded/mpi.hpp"
#include "trace/communicators.hpp"
#include "trace/handles.hpp"
#include "trace/kinds.hpp"
#include "trace/lock.hpp"
#include "trace/notes.hpp"
#include "trace/ticks.hpp"

namespace nhalf::trace {

struct Pending {
  Subject subject;
  const Communicator* on = nullptr;
  std::int32_t tag = 0;
  bool is_persistent = false;
  bool is_active = false;
  /// Its size and sender are those of a status.
  bool is_from_status = false;
  Ticks begin = 0;
  Ticks time = 0;
  /// Of all that were ever put, from 1 on: the next request may have the same handle.
  std::uint64_t number = 0;
};

class Requests {
 public:
  static Requests& of_process() { return preloaded::lasting<Requests>(); }

  [[nodiscard]] bool has_any() const { return !known_.is_empty(); }
  [[nodiscard]] bool may_be_cancelled() const {
    return may_be_cancelled_.load(std::memory_order_relaxed);
  }
  void some_are_cancelled() { may_be_cancelled_.store(true, std::memory_order_relaxed); }

  template <class Request>
  void put(Request request, Pending pending) {
    const std::lock_guard guard(lock_);
    pending.number = ++numbers_;
    if (!known_.put(number_of(request), pending)) Notes::of_process().lost(Unkept::requests);
  }

  /// A persistent request begins; what is known of it, if anything is.
  template <class Request>
  bool start(Request request, Ticks begin, Pending& found) {
    const std::lock_guard guard(lock_);
    Pending* known = known_.find(number_of(request));
    if (known == nullptr) return false;
    known->is_active = true;
    known->begin = begin;
    found = *known;
    return true;
  }

  /// Whether a receive is under way under this handle, and what is known of the handle.
  template <class Request>
  bool is_receive(Request request, Pending& found) {
    if (known_.is_empty()) return false;
    const std::lock_guard guard(lock_);
    const Pending* known = known_.find(number_of(request));
    if (known == nullptr) return false;
    found = *known;
    return known->is_active && known->is_from_status;
  }

  /// The request that was known under this handle has ended. One that is persistent may start
  /// again. The handle may belong to another one already, which another thread has begun since.
  void ended(std::uint64_t handle, const Pending& before) {
    const std::lock_guard guard(lock_);
    Pending* known = known_.find(handle);
    if (known == nullptr || known->number != before.number) return;
    if (known->is_persistent)
      known->is_active = false;
    else
      known_.erase(handle);
  }

  void freed(std::uint64_t handle) {
    const std::lock_guard guard(lock_);
    known_.erase(handle);
  }

 private:
  Lock lock_;
  Handles<Pending> known_;
  std::uint64_t numbers_ = 0;
  std::atomic<bool> may_be_cancelled_{false};
};

}  // namespace nhalf::trace
