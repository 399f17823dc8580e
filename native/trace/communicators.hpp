// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Communicators by handle: their numbers in this process, and the ranks of MPI_COMM_WORLD that
// their ranks are. What is made is written at once, so that a kill loses none.
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
#include "trace/notes.hpp"

namespace nhalf::trace {

using Ranks = std::vector<int>;

struct Communicator {
  std::uint32_t number = 0;
  /// Ranks of MPI_COMM_WORLD that messages go to, and those of the own group.
  std::shared_ptr<const Ranks> partners;
  std::shared_ptr<const Ranks> members;
  /// How many there are; the lists are empty where there was no room for them.
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
  /// Raised whenever what threads remember of handles may be wrong.
  static inline std::atomic<std::uint32_t> generation{1};

  static Communicators& of_process() { return preloaded::lasting<Communicators>(); }

  /// One that was not seen when it was made is made known now, where the library may be asked;
  /// null elsewhere. Valid for good.
  const Communicator* of(MPI_Comm comm, bool may_ask) {
    const std::lock_guard guard(lock_);
    if (auto* known = by_handle_.find(number_of(comm))) return *known;
    return may_ask ? add(comm, nullptr) : nullptr;
  }

  /// Stands for one of which nothing is known.
  static const Communicator& unknown() {
    static const auto& none =
        *new Communicator{0, std::make_shared<const Ranks>(), std::make_shared<const Ranks>()};
    return none;
  }

  /// A program of sessions has no world: the first communicator that it makes from a group is it.
  void session_begins(MPI_Comm comm) {
    world_ = comm;
    NHALF_OWN(Comm_group)(comm, &session_group_);
    has_session_ = true;
  }
  /// Nothing of a session may be kept beyond it.
  void session_ends() {
    if (has_session_) NHALF_OWN(Group_free)(&session_group_);
    has_session_ = false;
  }
  [[nodiscard]] bool has_session() const { return has_session_; }
  /// Whose ranks all others are told in.
  [[nodiscard]] MPI_Comm world() const { return world_; }
  void world_is(MPI_Comm comm) { world_ = comm, is_world_model_ = true; }

  /// One that was just made; where its group cannot be asked for yet it is that of `like`.
  void made(MPI_Comm comm, const Communicator* like = nullptr) {
    if (comm == MPI_COMM_NULL) return;
    const std::lock_guard guard(lock_);
    add(comm, like);
    generation.fetch_add(1, std::memory_order_relaxed);
  }

  void freed(std::uint64_t handle) {
    const std::lock_guard guard(lock_);
    by_handle_.erase(handle);
    generation.fetch_add(1, std::memory_order_relaxed);
  }

  static void named(const Communicator& one, const char* name) {
    Notes::of_process().communicator_name(one.number, name);
  }

 private:
  using List = std::shared_ptr<const Ranks>;

  const Communicator* add(MPI_Comm comm, const Communicator* like) {
    auto made = std::make_unique<Communicator>();
    if (like != nullptr)
      *made = *like;
    else if (!asked_quietly([&] { return ask(comm, *made); }))
      return &unknown();
    const bool has_place = by_handle_.put(number_of(comm), made.get());
    const auto* kept = has_place && has_number(*made) ? numbered(std::move(made))
                                                      : without_number(std::move(made));
    if (has_place) by_handle_.put(number_of(comm), kept);
    return kept;
  }

  /// Whether one more can be noted.
  bool has_number(const Communicator& made) {
    return next_ < communicators_max && made.members->size() == made.member_count &&
           made.partners->size() == made.partner_count && take_memory(communicator_bytes) &&
           Notes::of_process().communicator(next_, *made.members,
                                            made.is_between ? made.partners.get() : nullptr);
  }

  const Communicator* numbered(std::unique_ptr<Communicator> made) {
    made->number = next_++;
    all_.push_back(std::move(made));
    return all_.back().get();
  }

  /// Those of the same ranks are one: a program may make and free them without end.
  const Communicator* without_number(std::unique_ptr<Communicator> made) {
    Notes::of_process().lost(Unkept::communicators);
    made->number = communicators_max;
    auto& known = without_number_[{made->members.get(), made->partners.get(), made->member_count,
                                   made->partner_count, made->rank}];
    if (known == nullptr) {
      known = made.get();
      all_.push_back(std::move(made));
    }
    return known;
  }

  /// Whether there is such a communicator.
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

  /// Ranks of MPI_COMM_WORLD, one list for all groups of the same; frees the group.
  List translated(MPI_Group group, std::uint32_t& count) {
    int size = 0;
    MPI_Group all = session_group_;
    NHALF_OWN(Group_size)(group, &size);
    count = static_cast<std::uint32_t>(size);
    if (is_world_model_) NHALF_OWN(Comm_group)(world_, &all);
    Ranks own(static_cast<std::size_t>(size));
    Ranks theirs(own.size(), elsewhere);
    for (int rank = 0; rank < size; ++rank) own[static_cast<std::size_t>(rank)] = rank;
    if (size > 0 && (is_world_model_ || has_session_))
      NHALF_OWN(Group_translate_ranks)(group, size, own.data(), all, theirs.data());
    for (int& rank : theirs)
      if (rank < 0) rank = elsewhere;
    if (is_world_model_) NHALF_OWN(Group_free)(&all);
    NHALF_OWN(Group_free)(&group);
    return listed(std::make_shared<const Ranks>(std::move(theirs)));
  }

  /// An empty list where there is no room.
  List listed(List list) {
    if (const auto known = lists_.find(list); known != lists_.end()) return *known;
    const std::size_t bytes = list_bytes + list->size() * sizeof(int);
    if (!lists_.empty() && !take_memory(bytes)) return no_ranks_;
    return *lists_.insert(std::move(list)).first;
  }

  struct ByRanks {
    bool operator()(const List& one, const List& other) const { return *one < *other; }
  };

  /// With what the allocator and containers add.
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
  /// None is given back: what was begun on one may end after it was freed.
  std::vector<std::unique_ptr<Communicator>> all_;
};

/// The communicator whose ranks all others are told in: MPI_COMM_WORLD where there is one.
inline MPI_Comm world() {
  return Communicators::of_process().world();
}

/// Windows and matched messages have a communicator, too.
template <class Kind>
class Belonging {
 public:
  static Belonging& of_process() { return preloaded::lasting<Belonging>(); }
  void put(std::uint64_t handle, const Communicator* on) {
    const std::lock_guard guard(lock_);
    known_.put(handle, on);
  }
  const Communicator* find(std::uint64_t handle) {
    const std::lock_guard guard(lock_);
    auto* known = known_.find(handle);
    return known == nullptr ? nullptr : *known;
  }
  void erase(std::uint64_t handle) {
    const std::lock_guard guard(lock_);
    known_.erase(handle);
  }

 private:
  Lock lock_;
  Handles<const Communicator*> known_;
};

using Windows = Belonging<struct OfWindows>;
using Matched = Belonging<struct OfMessages>;

}  // namespace nhalf::trace
