// nhalf-needs: MPI
// Communicators by handle: their numbers in this process, and their ranks as ranks of
// MPI_COMM_WORLD. A new communicator is written at once, so that a kill loses none.
#pragma once

#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "trace/layout.hpp"
#include "trace/metadata.hpp"
#include "trace/types.hpp"

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

  void has_world_model() { is_world_model_ = true; }

#if NHALF_HAS_MPI_4
  /// Remembers all processes of a session, until it ends.
  void session_begins(MPI_Session session) {
    MPI_Group all{};
    if (NHALF_OWN(Group_from_session_pset)(session, "mpi://WORLD", &all) != MPI_SUCCESS) return;
    const std::lock_guard guard(lock_);
    sessions_.emplace_back(session, all);
  }
  /// Frees the group of a session, which must not outlive it.
  void session_ends(MPI_Session session) {
    const std::lock_guard guard(lock_);
    std::erase_if(sessions_, [&](auto& each) {
      if (each.first != session) return false;
      NHALF_OWN(Group_free)(&each.second);
      return true;
    });
  }
  /// Finds the rank of this process among all of its sessions, in `comm` if they are unknown.
  void place_in_sessions(MPI_Comm comm, int& rank, int& size) {
    const std::lock_guard guard(lock_);
    if (sessions_.empty()) {
      NHALF_OWN(Comm_rank)(comm, &rank);
      NHALF_OWN(Comm_size)(comm, &size);
      return;
    }
    NHALF_OWN(Group_rank)(sessions_.back().second, &rank);
    NHALF_OWN(Group_size)(sessions_.back().second, &size);
  }
  /// Adds all processes of the sessions as if they had MPI_COMM_WORLD.
  void made_of_sessions(int rank, int size) {
    const std::lock_guard guard(lock_);
    auto all = std::make_unique<Communicator>();
    auto ranks = std::make_shared<Ranks>(static_cast<std::size_t>(size));
    std::iota(ranks->begin(), ranks->end(), 0);
    all->rank = rank;
    all->member_count = all->partner_count = static_cast<std::uint32_t>(size);
    all->members = all->partners = listed(std::move(ranks));
    Metadata::of_process().communicator(next_, *all->members, nullptr);
    by_handle_.put(number_of(MPI_COMM_WORLD), numbered(std::move(all)));
    Metadata::of_process().communicator_name(0, "mpi://WORLD");
  }
#endif

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
    NHALF_OWN(Group_size)(group, &size);
    count = static_cast<std::uint32_t>(size);
    Ranks world_ranks(static_cast<std::size_t>(size), elsewhere);
    if (size > 0) translate(group, world_ranks);
    for (int& rank : world_ranks)
      if (rank < 0) rank = elsewhere;
    NHALF_OWN(Group_free)(&group);
    return listed(std::make_shared<const Ranks>(std::move(world_ranks)));
  }

  void translate(MPI_Group group, Ranks& world_ranks) {
    const int size = static_cast<int>(world_ranks.size());
    Ranks group_ranks(world_ranks.size());
    std::iota(group_ranks.begin(), group_ranks.end(), 0);
    const auto translate_to = [&](MPI_Group all) {
      NHALF_OWN(Group_translate_ranks)(group, size, group_ranks.data(), all, world_ranks.data());
    };
    if (is_world_model_) {
      MPI_Group all{};
      NHALF_OWN(Comm_group)(MPI_COMM_WORLD, &all);
      translate_to(all);
      NHALF_OWN(Group_free)(&all);
      return;
    }
#if NHALF_HAS_MPI_4
    // All sessions have the same processes.
    if (!sessions_.empty()) translate_to(sessions_.back().second);
#endif
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
  bool is_world_model_ = false;
#if NHALF_HAS_MPI_4
  std::vector<std::pair<MPI_Session, MPI_Group>> sessions_;
#endif
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
