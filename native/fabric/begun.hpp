// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Follows operations from the call that begins them to the one that completes them, to find those
// that must move bytes between ranks but took no time.
#pragma once

#include <array>
#include <cstddef>

#include "fabric/guard.hpp"
#include "fabric/interface.hpp"
#include "fabric/operations.hpp"
#include "fabric/roles.hpp"

namespace nhalf::fabric {

/// The operations that a call may complete, found before it makes their requests unknown; those
/// that it frees are followed no more.
class Completed {
 public:
  explicit Completed(const roles::Role& role) : flag_(role.flag) {
    if (role.freed.count > 0) begun_operations().remove(*role.freed.first);
    for (int at = 0; at < role.completed.count && number_ < operations_.size(); ++at) {
      auto* operation = begun_operations().find(role.completed.first[at]);
      if (operation != nullptr && operation->is_active) operations_[number_++] = operation;
    }
  }

  void check(const Interface& network) {
    if (flag_ != nullptr && *flag_ == 0) return;
    for (std::size_t at = 0; at < number_; ++at) {
      auto& operation = *operations_[at];
      operation.is_active = false;
      if (network.now() == operation.begin) Guard::refuse(network, operation.name, operation.ranks);
    }
  }

 private:
  const int* flag_;
  std::size_t number_ = 0;
  std::array<Operation*, 64> operations_;
};

/// Notes an operation whose request a call has made.
inline void note_begun(const roles::Role& role, const char* name, MPI_Request request,
                       Picoseconds begin) {
  Operation operation;
  operation.name = name;
  operation.ranks = role.must_move ? Guard::ranks_in(role.comm) : 0;
  operation.is_persistent = role.prepared != nullptr;
  operation.is_active = !operation.is_persistent && operation.ranks > 0;
  operation.begin = begin;
  // An operation on one rank, or between two groups, need not send.
  const bool is_sent = role.must_move ? operation.ranks > 0 : role.sent.messages > 0;
  if (is_sent) operation.sent = role.sent;
  if (!operation.is_persistent) Guard::of_process().note_sent(operation.sent);
  begun_operations().note(request, operation);
}

/// Notes that persistent operations begin once more.
inline void note_started(const roles::Requests& requests, Picoseconds begin) {
  for (int at = 0; at < requests.count; ++at) {
    auto* operation = begun_operations().find(requests.first[at]);
    if (operation == nullptr || !operation->is_persistent) continue;
    operation->is_active = true;
    operation->begin = begin;
    Guard::of_process().note_sent(operation->sent);
  }
}

}  // namespace nhalf::fabric
