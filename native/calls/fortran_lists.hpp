// nhalf-needs: MPI with Fortran
// Fortran calls with lists of requests and statuses; Fortran counts places from 1.
#pragma once

#include <vector>

#include "calls/fortran_arguments.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::calls::fortran {

inline void init(Arguments& arguments) {
  nhalf::fortran::answer(static_cast<MPI_Fint*>(arguments[0]), MPI_Init(nullptr, nullptr));
}

inline int init_thread(int required, int* provided) {
  return MPI_Init_thread(nullptr, nullptr, required, provided);
}

/// Returns room for as many elements, and for one where the number is wrong: the library then finds
/// no fault but that.
template <class Element>
std::vector<Element> room_for(int count) {
  return std::vector<Element>(count > 0 ? static_cast<std::size_t>(count) : 1);
}

/// Whether a call has set the statuses of its requests.
inline bool has_statuses(int error) {
  return error == MPI_SUCCESS || error == MPI_ERR_IN_STATUS;
}

/// The list of requests in the first two arguments, which is copied back at the end.
class RequestList {
 public:
  explicit RequestList(Arguments& arguments)
      : handles_(static_cast<MPI_Fint*>(arguments[1])),
        count_(number(arguments[0])),
        own_(room_for<MPI_Request>(count_)) {
    for (int at = 0; at < count_; ++at)
      own_[static_cast<std::size_t>(at)] = handle(static_cast<MPI_Request*>(nullptr), handles_[at]);
  }
  ~RequestList() {
    for (int at = 0; at < count_; ++at) handles_[at] = back(own_[static_cast<std::size_t>(at)]);
  }
  RequestList(const RequestList&) = delete;
  RequestList& operator=(const RequestList&) = delete;

  /// The number that the program gives, which may be negative.
  [[nodiscard]] int count() const { return count_; }
  MPI_Request* data() { return own_.data(); }

 private:
  MPI_Fint* handles_;
  int count_;
  std::vector<MPI_Request> own_;
};

/// The list of statuses; MPI_STATUSES_IGNORE in C if the program ignores them.
class StatusList {
 public:
  StatusList(void* argument, int count)
      : target_(static_cast<MPI_Fint*>(argument)), own_(room_for<MPI_Status>(count)) {
    is_ignored_ = argument == nhalf::fortran::sentinel("mpi_fortran_statuses_ignore_");
  }
  MPI_Status* data() { return is_ignored_ ? MPI_STATUSES_IGNORE : own_.data(); }
  void give_back(int count) {
    constexpr auto words = sizeof(MPI_Status) / sizeof(MPI_Fint);
    if (is_ignored_) return;
    for (int at = 0; at < count; ++at)
      NHALF_OWN(Status_c2f)(&own_[static_cast<std::size_t>(at)],
                            target_ + static_cast<std::size_t>(at) * words);
  }

 private:
  MPI_Fint* target_;
  std::vector<MPI_Status> own_;
  bool is_ignored_ = false;
};

inline void place(void* argument, int index) {
  number(argument) = index == MPI_UNDEFINED ? MPI_UNDEFINED : index + 1;
}

inline void finish(Arguments& arguments, std::size_t at, int error) {
  nhalf::fortran::answer(static_cast<MPI_Fint*>(arguments[at]), error);
}

inline void start_all(Arguments& arguments) {
  RequestList requests(arguments);
  finish(arguments, 2, MPI_Startall(requests.count(), requests.data()));
}

inline void wait_all(Arguments& arguments) {
  RequestList requests(arguments);
  StatusList statuses(arguments[2], requests.count());
  const int error = MPI_Waitall(requests.count(), requests.data(), statuses.data());
  if (has_statuses(error)) statuses.give_back(requests.count());
  finish(arguments, 3, error);
}

inline void test_all(Arguments& arguments) {
  RequestList requests(arguments);
  StatusList statuses(arguments[3], requests.count());
  int& flag = number(arguments[2]);
  const int error = MPI_Testall(requests.count(), requests.data(), &flag, statuses.data());
  if (has_statuses(error) && flag != 0) statuses.give_back(requests.count());
  finish(arguments, 4, error);
}

inline void wait_any(Arguments& arguments) {
  RequestList requests(arguments);
  From<MPI_Status*> status{arguments[3]};
  int index = MPI_UNDEFINED;
  const int error = MPI_Waitany(requests.count(), requests.data(), &index, status.value());
  place(arguments[2], index);
  status.end(error);
  finish(arguments, 4, error);
}

inline void test_any(Arguments& arguments) {
  RequestList requests(arguments);
  From<MPI_Status*> status{arguments[4]};
  int index = MPI_UNDEFINED;
  const int error =
      MPI_Testany(requests.count(), requests.data(), &index, &number(arguments[3]), status.value());
  place(arguments[2], index);
  status.end(error);
  finish(arguments, 5, error);
}

template <class Call>
void some(Arguments& arguments, Call call) {
  RequestList requests(arguments);
  StatusList statuses(arguments[4], requests.count());
  int& completed = number(arguments[2]);
  auto* indices = static_cast<MPI_Fint*>(arguments[3]);
  const int error = call(requests.count(), requests.data(), &completed, indices, statuses.data());
  const int ended = has_statuses(error) && completed != MPI_UNDEFINED ? completed : 0;
  for (int at = 0; at < ended; ++at) indices[at] += 1;
  statuses.give_back(ended);
  finish(arguments, 5, error);
}

inline void wait_some(Arguments& arguments) {
  some(arguments, &MPI_Waitsome);
}

inline void test_some(Arguments& arguments) {
  some(arguments, &MPI_Testsome);
}

}  // namespace nhalf::calls::fortran
