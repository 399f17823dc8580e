// nhalf-needs: MPI
// Roles of calls: each runs the call and counts what it does. `run.waits` tells whether the call
// may have to wait for another rank.
#pragma once

#include "trace/recorder.hpp"
#include "trace/requests/requests.hpp"

namespace nhalf::trace {
/// A message, operation or wait whose subject is known before the call.
struct Counted {
  Subject subject;
  std::int32_t tag = 0;

  template <class Run>
  [[gnu::always_inline]] int carry_out(Recorder& on, Call /*unused*/, Run run) const {
    Cell& cell = on.cell(subject);
    const bool is_short = subject.kind == Kind::sent;
    const auto weight = subject.partner == no_process ? 0
                        : is_short                    ? on.weight(cell)
                                                      : std::uint64_t{1};
    if (weight == 0) [[likely]] {
      const int error = run();
      if (error == MPI_SUCCESS) on.add_untimed(cell, subject);
      return error;
    }
    const Ticks begin = run.begin(on);
    if (Injection::is_on) [[unlikely]]
      on.tell([this] { return subject; }, tag, begin);
    const int error = run();
    const Ticks end = run.now();
    if (error == MPI_SUCCESS) [[likely]]
      on.add(cell, subject, tag, begin, end, run.waits, weight);
    return error;
  }
};

/// A blocking receive.
struct Received {
  int source;
  MPI_Comm comm;
  MPI_Status*& status;

  template <class Run>
  [[gnu::always_inline]] int carry_out(Recorder& on, Call call, Run run) const {
    if (source == MPI_PROC_NULL) {
      const int error = run();
      if (error != MPI_SUCCESS) return error;
      const Recorder::Asking asking(on);
      const auto none = on.subject(call, Kind::received, on.communicator(comm), no_process, 0);
      on.add_untimed(on.cell(none), none);
      return error;
    }
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    Cell*& likely = on.expected(source, comm);
    const auto weight = likely == nullptr ? std::uint64_t{1} : on.weight(*likely);
    const Ticks begin = weight > 0 ? run.begin(on) : 0;
    const int error = run();
    const Ticks end = weight > 0 ? run.now() : 0;
    if (error == MPI_SUCCESS) [[likely]] {
      const Recorder::Asking asking(on);
      const auto& group = on.communicator(comm);
      const auto subject = on.subject(call, Kind::received, group,
                                      group.partner(status->MPI_SOURCE), size_of(*status));
      Cell& into = on.cell(subject);
      likely = &into;
      if (weight == 0)
        on.add_untimed(into, subject);
      else
        on.add(into, subject, status->MPI_TAG, begin, end, run.waits, weight);
    }
    return error;
  }
};

/// A send and a receive in one call, whose time counts for the receive. `sent` returns the subject
/// of the send once the handles are known to be valid.
template <class Sent>
struct Exchanged {
  Sent sent;
  std::int32_t tag;
  int source;
  MPI_Comm comm;
  MPI_Status*& status;

  template <class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    const Ticks begin = run.begin(on);
    if (Injection::is_on) [[unlikely]]
      on.tell(sent, tag, begin);
    const int error = Received{source, comm, status}.carry_out(on, call, run);
    if (error != MPI_SUCCESS) return error;
    const Recorder::Asking asking(on);
    on.add(sent(), tag, begin, begin, false);
    return error;
  }
};

/// A nonblocking receive.
struct Begun {
  int source;
  std::int32_t tag;
  const Communicator& group;
  MPI_Request* request;

  template <class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    const Subject subject = on.subject(call, Kind::received, group, no_process, 0);
    if (source == MPI_PROC_NULL) return Counted{subject}.carry_out(on, call, run);
    const auto weight = on.begun_weight();
    const Ticks begin = weight > 0 ? run.begin(on) : 0;
    const int error = run();
    const Ticks end = weight > 0 ? run.now() : 0;
    if (error != MPI_SUCCESS) return error;
    const Ticks time = weight > 0 ? on.claim(end - begin, end, weight) : 0;
    Requests::of_process().put(*request,
                               Pending{subject, &group, tag, false, true, true, begin, time});
    return error;
  }
};

/// A nonblocking send and receive under one request.
template <class Sent>
struct ExchangeBegun {
  Sent sent;
  std::int32_t tag;
  Begun received;

  template <class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    const Ticks begin = run.begin(on);
    if (Injection::is_on) [[unlikely]]
      on.tell(sent, tag, begin);
    const int error = received.carry_out(on, call, run);
    if (error != MPI_SUCCESS) return error;
    const Recorder::Asking asking(on);
    on.add(sent(), tag, begin, begin, false);
    return error;
  }
};

/// A persistent request, which is made once and started often.
struct Prepared {
  Subject subject;
  std::int32_t tag;
  const Communicator& group;
  MPI_Request* request;
  bool is_from_status = false;

  template <class Run>
  int carry_out(Recorder& /*unused*/, Call /*unused*/, Run run) const {
    const int error = run();
    if (error == MPI_SUCCESS)
      Requests::of_process().put(*request,
                                 Pending{subject, &group, tag, true, false, is_from_status, 0, 0});
    return error;
  }
};

/// Persistent requests that start: a row for the call, and one for each operation that it begins.
struct Started {
  int count;
  const MPI_Request* requests;

  template <class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    const Ticks begin = run.begin(on);
    const int error = run();
    const Ticks end = run.now();
    if (error != MPI_SUCCESS) return error;
    on.add(on.wait(call), 0, begin, end, false);
    for (int number = 0; number < count; ++number) {
      Pending pending;
      if (!Requests::of_process().start(requests[number], begin, pending)) continue;
      if (!pending.is_from_status) on.add(pending.subject, pending.tag, begin, begin, false);
    }
    return error;
  }
};

/// A new communicator, made by a collective call over its parent.
struct Made {
  Subject subject;
  MPI_Comm* created;
  /// The parent, if the new communicator cannot be queried yet.
  const Communicator* parent = nullptr;

  template <class Run>
  int carry_out(Recorder& on, Call /*unused*/, Run run) const {
    const Ticks begin = run.begin(on);
    const int error = run();
    if (error != MPI_SUCCESS) return error;
    on.add(subject, 0, begin, run.now(), run.waits);
    Communicators::of_process().made(*created, parent);
    return error;
  }
};

struct Freed {
  MPI_Comm* comm;

  template <class Run>
  int carry_out(Recorder& /*unused*/, Call /*unused*/, Run run) const {
    // Forgotten before the call, since another thread may get the same handle after it.
    Communicators::of_process().freed(number_of(*comm));
    return run();
  }
};
}  // namespace nhalf::trace
