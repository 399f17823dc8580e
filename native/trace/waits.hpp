// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// Waits and tests: what receives brought is known when they end. Where the program ignores a
// status and a receive is under way, the library gets one of ours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "preloaded/mpi.hpp"
#include "trace/budget.hpp"
#include "trace/notes.hpp"
#include "trace/recorder.hpp"
#include "trace/requests.hpp"
#include "trace/statuses.hpp"

namespace nhalf::trace {

/// Counts a receive that was begun before, by the status that it ended with.
inline void receive_ended(Recorder& on, Pending& pending, const MPI_Status& status, Ticks end) {
  if (Requests::of_process().may_be_cancelled() && was_cancelled(status)) return;
  pending.subject.partner = pending.on->partner(status.MPI_SOURCE);
  pending.subject.size_bytes = size_of(status);
  on.add_begun(pending.subject, status.MPI_TAG, pending.begin, end, pending.time);
}

/// Receives that a wait may end; a request that is none, too, where it is persistent.
class Candidates {
 public:
  struct One {
    int place = 0;
    bool is_receive = false;
    std::uint64_t handle = 0;
    Pending pending;
  };

  /// Looks at requests before the library changes them.
  Candidates(int count, const MPI_Request* requests) {
    if (!Requests::of_process().has_any() || count <= 0) return;
    const auto number = static_cast<std::size_t>(count <= few ? count : known(count, requests));
    const auto bytes = number * sizeof(One) + static_cast<std::size_t>(count) * sizeof(MPI_Status);
    if (!take_memory(bytes)) {
      Notes::of_process().lost(Unkept::requests);
      return;
    }
    taken_bytes_ = bytes;
    all_.reserve(number);
    for (int place = 0; place < count && all_.size() < number; ++place) {
      One one{place, false, number_of(requests[place]), {}};
      one.is_receive = Requests::of_process().is_receive(requests[place], one.pending);
      if (one.pending.number == 0) continue;
      has_receives_ |= one.is_receive;
      all_.push_back(one);
    }
  }
  Candidates(const Candidates&) = delete;
  Candidates& operator=(const Candidates&) = delete;
  ~Candidates() { give_memory(taken_bytes_); }

  [[nodiscard]] bool has_receives() const { return has_receives_; }

  /// The request at a place has ended, with this status where there is one.
  void ended(Recorder& on, int place, const MPI_Status* status, Ticks end) {
    const auto found =
        std::lower_bound(all_.begin(), all_.end(), place,
                         [](const One& one, int wanted) { return one.place < wanted; });
    if (found == all_.end() || found->place != place) return;
    if (found->is_receive && status != nullptr) receive_ended(on, found->pending, *status, end);
    Requests::of_process().ended(found->handle, found->pending);
  }

 private:
  static constexpr int few = 1024;

  static int known(int count, const MPI_Request* requests) {
    int number = 0;
    for (int place = 0; place < count; ++place) {
      Pending pending;
      Requests::of_process().is_receive(requests[place], pending);
      number += pending.number > 0 ? 1 : 0;
    }
    return number;
  }

  std::vector<One> all_;
  std::size_t taken_bytes_ = 0;
  bool has_receives_ = false;
};

/// Runs a call on requests, which may end some of them, and counts its own time.
template <bool waits, class Run>
int timed_wait(Recorder& on, Call call, Run run, Ticks& end) {
  const Ticks begin = run.now();
  const int error = run();
  end = run.now();
  on.add({static_cast<std::uint16_t>(call), Kind::waiting, 0, no_partner, 0}, 0, begin, end, waits);
  return error;
}

/// MPI_Request_get_status and its like, which end nothing.
struct Looked {
  template <bool waits, class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    Ticks end = 0;
    return timed_wait<waits>(on, call, run, end);
  }
};

/// MPI_Wait and MPI_Test, whose `flag` tells whether it ended.
struct WaitOne {
  MPI_Request* request;
  MPI_Status*& status;
  const int* flag = nullptr;

  template <bool waits, class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    auto& requests = Requests::of_process();
    Pending pending;
    const bool is_known = requests.has_any();
    const auto handle = is_known ? number_of(*request) : 0;
    const bool is_receive = is_known && requests.is_receive(*request, pending);
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE && is_receive) status = &own;
    Ticks end = 0;
    const int error = timed_wait<waits>(on, call, run, end);
    if (!is_known || error != MPI_SUCCESS || (flag != nullptr && *flag == 0)) return error;
    if (is_receive) receive_ended(on, pending, *status, end);
    requests.ended(handle, pending);
    return error;
  }
};

/// MPI_Waitany and MPI_Testany.
struct WaitAny {
  int count;
  MPI_Request* requests;
  const int* index;
  MPI_Status*& status;
  const int* flag = nullptr;

  template <bool waits, class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    Candidates before(count, requests);
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE && before.has_receives()) status = &own;
    Ticks end = 0;
    const int error = timed_wait<waits>(on, call, run, end);
    if (error == MPI_SUCCESS && (flag == nullptr || *flag != 0) && *index != MPI_UNDEFINED)
      before.ended(on, *index, status == MPI_STATUS_IGNORE ? nullptr : status, end);
    return error;
  }
};

/// Statuses of the program, or ours where it ignores them.
class Statuses {
 public:
  Statuses(MPI_Status*& given, int count, const Candidates& before) {
    if (given == MPI_STATUSES_IGNORE && before.has_receives()) {
      own_.resize(static_cast<std::size_t>(count));
      given = own_.data();
    }
    used_ = given == MPI_STATUSES_IGNORE ? nullptr : given;
  }
  [[nodiscard]] const MPI_Status* at(int place) const {
    return used_ == nullptr ? nullptr : used_ + place;
  }
  /// Whether the request of a status ended well, where not all did.
  [[nodiscard]] bool is_well(int place, int error) const {
    return error == MPI_SUCCESS || (used_ != nullptr && used_[place].MPI_ERROR == MPI_SUCCESS);
  }

 private:
  std::vector<MPI_Status> own_;
  const MPI_Status* used_ = nullptr;
};

/// MPI_Waitall and MPI_Testall.
struct WaitAll {
  int count;
  MPI_Request* requests;
  MPI_Status*& statuses;
  const int* flag = nullptr;

  template <bool waits, class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    Candidates before(count, requests);
    const Statuses used(statuses, count, before);
    Ticks end = 0;
    const int error = timed_wait<waits>(on, call, run, end);
    if (error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS) return error;
    if (flag != nullptr && *flag == 0) return error;
    for (int place = 0; place < count; ++place)
      if (used.is_well(place, error)) before.ended(on, place, used.at(place), end);
    return error;
  }
};

/// MPI_Waitsome and MPI_Testsome.
struct WaitSome {
  int count;
  MPI_Request* requests;
  const int* done;
  const int* indices;
  MPI_Status*& statuses;

  template <bool waits, class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    Candidates before(count, requests);
    const Statuses used(statuses, count, before);
    Ticks end = 0;
    const int error = timed_wait<waits>(on, call, run, end);
    if (error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS) return error;
    if (*done == MPI_UNDEFINED) return error;
    for (int at = 0; at < *done; ++at)
      if (used.is_well(at, error)) before.ended(on, indices[at], used.at(at), end);
    return error;
  }
};

}  // namespace nhalf::trace
