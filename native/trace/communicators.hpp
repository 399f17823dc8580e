// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Communicators by handle: their numbers in this process, and their ranks as ranks of
// MPI_COMM_WORLD. A new communicator is written at once, so that a kill loses none.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "preloaded/lasting.hpp"
#include "preloaded/mpi.hpp"
#include "trace/budget.hpp"
#include "trace/error_handlers.hpp"
#include "trace/handles.hpp"
#include "trace/kinds.hpp"
#include "trace/library.hpp"
#include "trace/lock.hpp"
#include "trace/metadata.hpp"

namespace nhalf::trace {

using Ranks = std::vector<int>;

struct Communicator {
  std::uint32_t number = 0;
  /// Ranks of MPI_COMM_WORLD that messages go to (of the remote group, if there is one).
  std::shared_ptr<const Ranks> partners;
  /// Ranks of MPI_COMM_WORLD of the local group.
  std::shared_ptr<const Ranks> members;
  /// Lengths of both lists, which are empty if they exceed the memory budget.
  std::uint32_t partner_count = 0;
  std::uint32_t member_count = 0;
  int rank = 0;
  bool is_between = false;

  [[nodiscard]] std::int32_t partner(int rank_in_it) const {
    if (rank_in_it == MPI_PROC_NULL) return no_process;
    if (rank_in_it == MPI_ROOT) return at(*members, rank);
    return at(*partners, rank_in_it);
  }

 private:
  static std::int32_t at(const Ranks& ranks, int place) {
    const bool is_there = place >= 0 && static_cast<std::size_t>(place) < ranks.size();
    return is_there ? ranks[static_cast<std::size_t>(place)] : elsewhere;
  }
};

class Communicators {
 public:
  /// Incremented whenever handles that threads remember may be stale.
  static inline std::atomic<std::uint32_t> generation{1};

  static Communicators& of_process() { return preloaded::lasting<Communicators>(); }

  /// Returns the communicator of a handle, null for an unknown handle if the library may not be
  /// queried. The result stays valid until the process ends.
  const Communicator* of(MPI_Comm comm, bool may_ask) {
    const std::lock_guard guard(lock_);
    if (auto* entry = by_handle_.find(number_of(comm))) return *entry;
    return may_ask ? add(comm, nullptr) : nullptr;
  }

  /// Returns a placeholder for a communicator of which nothing is known.
  static const Communicator& unknown() {
    static const auto& none =
        *new Communicator{0, std::make_shared<const Ranks>(), std::make_shared<const Ranks>()};
    return none;
  }

  /// Uses the first communicator made from a group as the world of a program with sessions only.
  void session_begins(MPI_Comm comm) {
    world_ = comm;
    NHALF_OWN(Comm_group)(comm, &session_group_);
    has_session_ = true;
  }
  /// Frees the group of a session, which must not outlive it.
  void session_ends() {
    if (has_session_) NHALF_OWN(Group_free)(&session_group_);
    has_session_ = false;
  }
  [[nodiscard]] bool has_session() const { return has_session_; }
  /// Returns the communicator whose ranks identify processes.
  [[nodiscard]] MPI_Comm world() const { return world_; }
  void world_is(MPI_Comm comm) { world_ = comm, is_world_model_ = true; }

  /// Adds a new communicator; with the group of `parent` if it cannot be queried yet.
  void made(MPI_Comm comm, const Communicator* parent = nullptr) {
    if (comm == MPI_COMM_NULL) return;
    const std::lock_guard guard(lock_);
    add(comm, parent);
    generation.fetch_add(1, std::memory_order_relaxed);
  }

  void freed(std::uint64_t handle) {
    const std::lock_guard guard(lock_);
    by_handle_.erase(handle);
    generation.fetch_add(1, std::memory_order_relaxed);
  }

  static void named(const Communicator& communicator, const char* name) {
    Metadata::of_process().communicator_name(communicator.number, name);
  }

 private:
  using List = std::shared_ptr<const Ranks>;

  const Communicator* add(MPI_Comm comm, const Communicator* parent) {
    auto communicator = std::make_unique<Communicator>();
    if (parent != nullptr)
      *communicator = *parent;
    else if (!asked_quietly([&] { return ask(comm, *communicator); }))
      return &unknown();
    const bool has_place = by_handle_.put(number_of(comm), communicator.get());
    const auto* entry = has_place && has_number(*communicator)
                            ? numbered(std::move(communicator))
                            : without_number(std::move(communicator));
    if (has_place) by_handle_.put(number_of(comm), entry);
    return entry;
  }

  /// Writes one more communicator to the metadata; false beyond the limits.
  bool has_number(const Communicator& added) {
    return next_ < communicators_max && added.members->size() == added.member_count &&
           added.partners->size() == added.partner_count && take_memory(communicator_bytes) &&
           Metadata::of_process().communicator(next_, *added.members,
                                               added.is_between ? added.partners.get() : nullptr);
  }

  const Communicator* numbered(std::unique_ptr<Communicator> communicator) {
    communicator->number = next_++;
    all_.push_back(std::move(communicator));
    return all_.back().get();
  }

  /// Joins communicators of equal ranks, since a program may make and free them without end.
  const Communicator* without_number(std::unique_ptr<Communicator> communicator) {
    Metadata::of_process().lost(Dropped::communicators);
    communicator->number = communicators_max;
    auto& entry = without_number_[{communicator->members.get(), communicator->partners.get(),
                                   communicator->member_count, communicator->partner_count,
                                   communicator->rank}];
    if (entry == nullptr) {
      entry = communicator.get();
      all_.push_back(std::move(communicator));
    }
    return entry;
  }

  /// Queries the library; false if there is no such communicator.
  bool ask(MPI_Comm comm, Communicator& into) {
    int is_between = 0;
    MPI_Group group{};
    if (NHALF_OWN(Comm_rank)(comm, &into.rank) != MPI_SUCCESS) return false;
    NHALF_OWN(Comm_test_inter)(comm, &is_between);
    NHALF_OWN(Comm_group)(comm, &group);
    into.members = translated(group, into.member_count);
    into.partners = into.members;
    into.partner_count = into.member_count;
    into.is_between = is_between != 0;
    if (into.is_between) {
      NHALF_OWN(Comm_remote_group)(comm, &group);
      into.partners = translated(group, into.partner_count);
    }
    return true;
  }

  /// Returns the ranks of MPI_COMM_WORLD in a group, in one list for equal groups; frees the group.
  List translated(MPI_Group group, std::uint32_t& count) {
    int size = 0;
    MPI_Group all = session_group_;
    NHALF_OWN(Group_size)(group, &size);
    count = static_cast<std::uint32_t>(size);
    if (is_world_model_) NHALF_OWN(Comm_group)(world_, &all);
    Ranks group_ranks(static_cast<std::size_t>(size));
    Ranks world_ranks(group_ranks.size(), elsewhere);
    for (int rank = 0; rank < size; ++rank) group_ranks[static_cast<std::size_t>(rank)] = rank;
    if (size > 0 && (is_world_model_ || has_session_))
      NHALF_OWN(Group_translate_ranks)(group, size, group_ranks.data(), all, world_ranks.data());
    for (int& rank : world_ranks)
      if (rank < 0) rank = elsewhere;
    if (is_world_model_) NHALF_OWN(Group_free)(&all);
    NHALF_OWN(Group_free)(&group);
    return listed(std::make_shared<const Ranks>(std::move(world_ranks)));
  }

  /// Returns the one stored list of these ranks; an empty list beyond the memory budget.
  List listed(List list) {
    if (const auto stored = lists_.find(list); stored != lists_.end()) return *stored;
    const std::size_t bytes = list_bytes + list->size() * sizeof(int);
    if (!lists_.empty() && !take_memory(bytes)) return no_ranks_;
    return *lists_.insert(std::move(list)).first;
  }

  struct ByRanks {
    bool operator()(const List& first, const List& second) const { return *first < *second; }
  };

  /// Memory of a communicator, with the overhead of allocator and containers.
  static constexpr std::size_t communicator_bytes = sizeof(Communicator) + 32;
  static constexpr std::size_t list_bytes = 160;

  Lock lock_;
  MPI_Comm world_{};
  bool is_world_model_ = false;
  bool has_session_ = false;
  MPI_Group session_group_{};
  std::uint32_t next_ = 0;
  const List no_ranks_ = std::make_shared<const Ranks>();
  Handles<const Communicator*> by_handle_;
  std::set<List, ByRanks> lists_;
  using Members = std::tuple<const Ranks*, const Ranks*, std::uint32_t, std::uint32_t, int>;
  std::map<Members, const Communicator*> without_number_;
  /// All communicators; none is deleted, since operations may end after their communicator is
  /// freed.
  std::vector<std::unique_ptr<Communicator>> all_;
};

/// Returns the communicator whose ranks identify processes: MPI_COMM_WORLD if there is one.
inline MPI_Comm world() {
  return Communicators::of_process().world();
}

/// The communicators of windows or of matched messages, by handle.
template <class Kind>
class Belonging {
 public:
  static Belonging& of_process() { return preloaded::lasting<Belonging>(); }
  void put(std::uint64_t handle, const Communicator* on) {
    const std::lock_guard guard(lock_);
    communicators_.put(handle, on);
  }
  const Communicator* find(std::uint64_t handle) {
    const std::lock_guard guard(lock_);
    auto* entry = communicators_.find(handle);
    return entry == nullptr ? nullptr : *entry;
  }
  void erase(std::uint64_t handle) {
    const std::lock_guard guard(lock_);
    communicators_.erase(handle);
  }

 private:
  Lock lock_;
  Handles<const Communicator*> communicators_;
};

using Windows = Belonging<struct OfWindows>;
using Matched = Belonging<struct OfMessages>;

}  // namespace nhalf::trace
