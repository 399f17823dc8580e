// nhalf-needs: MPI
// Waits and tests, at whose end size and sender of receives are known. If the program ignores the
// status of a receive, the library gets one of the tracer's.
#pragma once

#include "trace/recorder.hpp"
#include "trace/requests/requests.hpp"

namespace nhalf::trace {
/// Returns a status that is no receive's until the library fills it.
inline MPI_Status unfilled_status() {
  MPI_Status status{};
  status.MPI_SOURCE = MPI_ANY_SOURCE;
  return status;
}

/// Whether a status is that of a message, or of one from nobody.
inline bool is_of_message(const MPI_Status& status, const Communicator& on) {
  if (status.MPI_SOURCE < 0) return status.MPI_SOURCE == MPI_PROC_NULL;
  return on.partner_count == 0 || static_cast<std::uint32_t>(status.MPI_SOURCE) < on.partner_count;
}

/// Counts a nonblocking receive by its status.
inline void receive_ended(Recorder& on, Pending& pending, const MPI_Status& status, Ticks end) {
  if (!is_of_message(status, *pending.on)) return;
  if (Requests::of_process().may_be_cancelled() && was_cancelled(status)) return;
  pending.subject.partner = pending.on->partner(status.MPI_SOURCE);
  pending.subject.size_bytes = size_of(status);
  on.add_begun(pending.subject, status.MPI_TAG, pending.begin, end, pending.time);
}

/// Tracked requests that a wait may end: receives and persistent requests.
class Candidates {
 public:
  struct Candidate {
    int place = 0;
    bool is_receive = false;
    std::uint64_t handle = 0;
    Pending pending;
  };

  /// Copies the tracked requests before the library changes the handles.
  Candidates(int count, const MPI_Request* requests) {
    if (!Requests::of_process().has_any() || count <= 0) return;
    const auto number = static_cast<std::size_t>(count <= few ? count : tracked(count, requests));
    const auto bytes =
        number * sizeof(Candidate) + static_cast<std::size_t>(count) * sizeof(MPI_Status);
    if (!take_memory(bytes)) {
      Metadata::of_process().lost(Dropped::requests);
      Requests::of_process().drop(count, requests);
      return;
    }
    taken_bytes_ = bytes;
    candidates_.reserve(number);
    for (int place = 0; place < count && candidates_.size() < number; ++place) {
      Candidate candidate{place, false, number_of(requests[place]), {}};
      candidate.is_receive = Requests::of_process().is_receive(requests[place], candidate.pending);
      if (candidate.pending.number == 0) continue;
      has_receives_ |= candidate.is_receive;
      candidates_.push_back(candidate);
    }
  }
  Candidates(const Candidates&) = delete;
  Candidates& operator=(const Candidates&) = delete;
  ~Candidates() { give_memory(taken_bytes_); }

  [[nodiscard]] bool has_receives() const { return has_receives_; }

  /// Records the end of the request at a place, with its status if there is one.
  void ended(Recorder& on, int place, const MPI_Status* status, Ticks end) {
    const auto ended = std::lower_bound(
        candidates_.begin(), candidates_.end(), place,
        [](const Candidate& candidate, int sought) { return candidate.place < sought; });
    if (ended == candidates_.end() || ended->place != place) return;
    if (ended->is_receive && status != nullptr) receive_ended(on, ended->pending, *status, end);
    Requests::of_process().ended(ended->handle, ended->pending);
  }

  /// Records the end of all whose handles have changed, after a call that failed.
  void ended_without_status(const MPI_Request* requests) {
    for (const auto& candidate : candidates_)
      if (number_of(requests[candidate.place]) != candidate.handle)
        Requests::of_process().ended(candidate.handle, candidate.pending);
  }

 private:
  static constexpr int few = 1024;

  static int tracked(int count, const MPI_Request* requests) {
    int number = 0;
    for (int place = 0; place < count; ++place) {
      Pending pending;
      Requests::of_process().is_receive(requests[place], pending);
      number += pending.number > 0 ? 1 : 0;
    }
    return number;
  }

  std::vector<Candidate> candidates_;
  std::size_t taken_bytes_ = 0;
  bool has_receives_ = false;
};

/// Runs a call on requests and counts its time.
template <class Run>
int timed_wait(Recorder& on, Call call, Run run, Ticks& end) {
  const Ticks begin = run.begin(on);
  const int error = run();
  end = run.now();
  on.add(on.wait(call), 0, begin, end, run.waits);
  return error;
}

/// MPI_Request_get_status and the like, which end no request.
struct CheckedOnly {
  template <class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    Ticks end = 0;
    return timed_wait(on, call, run, end);
  }
};

/// MPI_Wait, and MPI_Test, whose `flag` tells whether the request ended.
struct WaitOne {
  MPI_Request* request;
  MPI_Status*& status;
  const int* flag = nullptr;

  template <class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    auto& requests = Requests::of_process();
    Pending pending;
    const bool is_known = requests.has_any();
    const auto handle = is_known ? number_of(*request) : 0;
    const bool is_receive = is_known && requests.is_receive(*request, pending);
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE && is_receive) {
      own = unfilled_status();
      status = &own;
    }
    Ticks end = 0;
    const int error = timed_wait(on, call, run, end);
    if (!is_known) return error;
    if (error != MPI_SUCCESS) {
      if (number_of(*request) != handle) requests.ended(handle, pending);
      return error;
    }
    if (flag != nullptr && *flag == 0) return error;
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

  template <class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    Candidates before(count, requests);
    MPI_Status own = unfilled_status();
    if (status == MPI_STATUS_IGNORE && before.has_receives()) status = &own;
    Ticks end = 0;
    const int error = timed_wait(on, call, run, end);
    if (error != MPI_SUCCESS) before.ended_without_status(requests);
    if (error == MPI_SUCCESS && (flag == nullptr || *flag != 0) && *index != MPI_UNDEFINED)
      before.ended(on, *index, status == MPI_STATUS_IGNORE ? nullptr : status, end);
    return error;
  }
};

/// Statuses of the program, or the tracer's if the program ignores them.
class Statuses {
 public:
  Statuses(MPI_Status*& statuses, int count, const Candidates& before) {
    if (statuses == MPI_STATUSES_IGNORE && before.has_receives()) {
      own_.resize(static_cast<std::size_t>(count), unfilled_status());
      statuses = own_.data();
    }
    used_ = statuses == MPI_STATUSES_IGNORE ? nullptr : statuses;
  }
  [[nodiscard]] const MPI_Status* at(int place) const {
    return used_ == nullptr ? nullptr : used_ + place;
  }
  /// Whether the request at a place succeeded, even if the call reported an error.
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

  template <class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    Candidates before(count, requests);
    const Statuses used(statuses, count, before);
    Ticks end = 0;
    const int error = timed_wait(on, call, run, end);
    const bool has_statuses = error == MPI_SUCCESS || error == MPI_ERR_IN_STATUS;
    const bool has_ended = has_statuses && (flag == nullptr || *flag != 0);
    for (int place = 0; has_ended && place < count; ++place)
      if (used.is_well(place, error)) before.ended(on, place, used.at(place), end);
    if (error != MPI_SUCCESS) before.ended_without_status(requests);
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

  template <class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    Candidates before(count, requests);
    const Statuses used(statuses, count, before);
    Ticks end = 0;
    const int error = timed_wait(on, call, run, end);
    const bool has_statuses = error == MPI_SUCCESS || error == MPI_ERR_IN_STATUS;
    for (int at = 0; has_statuses && *done != MPI_UNDEFINED && at < *done; ++at)
      if (used.is_well(at, error)) before.ended(on, indices[at], used.at(at), end);
    if (error != MPI_SUCCESS) before.ended_without_status(requests);
    return error;
  }
};
}  // namespace nhalf::trace
