// nhalf-needs: MPI
// Roles of calls that make or free handles: windows, matched messages, requests.
#pragma once

#include "trace/role_makers.hpp"

namespace nhalf::trace {
struct WindowMade {
  Subject subject;
  const Communicator& group;
  MPI_Win* window;

  template <class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    const int error = Counted{subject}.carry_out(on, call, run);
    if (error == MPI_SUCCESS) Windows::of_process().put(number_of(*window), &group);
    return error;
  }
};

inline WindowMade window_made(Recorder& on, Call call, MPI_Comm comm, MPI_Win* window) {
  return {collective(on, call, 0, comm).subject, on.communicator(comm), window};
}

struct WindowFreed {
  MPI_Win* window;

  template <class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    const auto handle = number_of(*window);
    auto role = synchronised(on, call, *window);
    role.subject.kind = Kind::collective;
    const int error = role.carry_out(on, call, run);
    if (error == MPI_SUCCESS) Windows::of_process().erase(handle);
    return error;
  }
};

/// A matched probe, which reserves the message for one receive.
struct MatchedProbe {
  MPI_Comm comm;
  MPI_Message* message;
  const int* flag = nullptr;

  template <class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    const int error = waiting(on, call, comm).carry_out(on, call, run);
    if (error == MPI_SUCCESS && (flag == nullptr || *flag != 0))
      Matched::of_process().put(number_of(*message), &on.communicator(comm));
    return error;
  }
};

inline const Communicator& taken(Recorder& on, MPI_Message message) {
  const auto* group = Matched::of_process().find(number_of(message));
  Matched::of_process().erase(number_of(message));
  return group == nullptr ? on.communicator(MPI_COMM_WORLD) : *group;
}

struct MatchedReceive {
  const Communicator& group;
  MPI_Status*& status;

  template <class Run>
  int carry_out(Recorder& on, Call call, Run run) const {
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    const Ticks begin = run.begin(on);
    const int error = run();
    if (error == MPI_SUCCESS)
      on.add(on.subject(call, Kind::received, group, group.partner(status->MPI_SOURCE),
                        size_of(*status)),
             status->MPI_TAG, begin, run.now(), run.waits);
    return error;
  }
};

struct RequestFreed {
  MPI_Request* request;

  template <class Run>
  int carry_out(Recorder& /*unused*/, Call /*unused*/, Run run) const {
    Requests::of_process().freed(number_of(*request));
    return run();
  }
};

struct Cancelled {
  template <class Run>
  int carry_out(Recorder& /*unused*/, Call /*unused*/, Run run) const {
    Requests::of_process().some_are_cancelled();
    return run();
  }
};

struct Named {
  MPI_Comm comm;
  const char* name;

  template <class Run>
  int carry_out(Recorder& on, Call /*unused*/, Run run) const {
    const int error = run();
    if (error != MPI_SUCCESS) return error;
    const Recorder::Asking asking(on);
    Communicators::named(on.communicator(comm), name);
    return error;
  }
};
}  // namespace nhalf::trace
