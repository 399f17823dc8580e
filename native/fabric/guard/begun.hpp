// nhalf-needs: MPI
// Follows operations from the call that begins them to the one that completes them, to find those
// that must move bytes between ranks but did not.
#pragma once

#include "fabric/role.hpp"

namespace nhalf::fabric {
/// The operations that a call may complete, found before it makes their requests unknown; those
/// that it frees are followed no more.
class Completed {
 public:
  explicit Completed(const roles::Role& role) : how_(role.completed) {
    if (role.freed.count > 0) begun_operations().remove(*role.freed.first);
    const auto& requests = how_.requests;
    for (int at = 0; at < requests.count && number_ < candidates_.size(); ++at) {
      auto* operation = begun_operations().find(requests.first[at]);
      if (operation != nullptr && operation->is_active) candidates_[number_++] = {at, operation};
    }
  }

  void check(const Interface& network) {
    if (number_ == 0 || (how_.flag != nullptr && *how_.flag == 0)) return;
    for (std::size_t number = 0; number < number_; ++number) {
      const auto& [place, operation] = candidates_[number];
      if (!is_complete(place)) continue;
      operation->is_active = false;
      Guard::check_operation(network, operation->name, operation->ranks, operation->amount,
                             operation->before);
    }
  }

 private:
  struct Candidate {
    int place;
    Operation* operation;
  };

  [[nodiscard]] bool is_complete(int place) const {
    if (how_.places == nullptr) return true;
    // Where no request is active, the number of those that are complete is undefined.
    const auto* const end = how_.places + std::max(*how_.number, 0);
    return *how_.number != MPI_UNDEFINED && std::find(how_.places, end, place) != end;
  }

  roles::Completing how_;
  std::size_t number_ = 0;
  std::array<Candidate, 64> candidates_;
};

/// Notes an operation whose request a call has made.
inline void note_begun(const roles::Role& role, const char* name, MPI_Request request,
                       const Passed& before) {
  Operation operation;
  operation.name = name;
  operation.amount = role.amount;
  operation.ranks = role.ranks;
  operation.is_persistent = role.prepared != nullptr;
  operation.is_active = !operation.is_persistent && operation.ranks > 0;
  operation.before = before;
  if (!operation.is_persistent) Guard::of_process().note(operation.amount);
  begun_operations().note(request, operation);
}

/// Notes that persistent operations begin once more.
inline void note_started(const roles::Requests& requests, const Passed& before) {
  for (int at = 0; at < requests.count; ++at) {
    auto* operation = begun_operations().find(requests.first[at]);
    if (operation == nullptr || !operation->is_persistent) continue;
    operation->is_active = operation->ranks > 0;
    operation->before = before;
    Guard::of_process().note(operation->amount);
  }
}

// Follows accesses to other ranks' memory until they are complete there, to find those that did not
// pass the network.

/// Accesses to a window that are not complete: to one rank, or to several.
struct Reached {
  Amount amount;
  Passed before;
  int target = roles::Reach::everyone;
};

inline HandleTable<MPI_Win, Reached, 6>& reached_windows() {
  static constinit HandleTable<MPI_Win, Reached, 6> windows;
  return windows;
}

/// Notes an access that a call has begun.
inline void note_access(const roles::Role& role, const Passed& before) {
  Guard::of_process().note(role.amount);
  auto* const reached = reached_windows().find(role.reach.window);
  if (reached == nullptr) {
    reached_windows().note(role.reach.window, {role.amount, before, role.reach.target});
    return;
  }
  reached->amount += role.amount;
  if (reached->target != role.reach.target) reached->target = roles::Reach::everyone;
}

/// Checks the accesses that a call has completed. One that completes those to one rank of several
/// leaves it open what passed for it.
inline void check_accesses(const Interface& network, const roles::Reach& reach) {
  const auto* const reached = reached_windows().find(reach.window);
  if (reached == nullptr) return;
  if (reach.target == roles::Reach::everyone || reach.target == reached->target)
    Guard::check_accesses(network, reached->amount, reached->before);
  reached_windows().remove(reach.window);
}
}  // namespace nhalf::fabric
