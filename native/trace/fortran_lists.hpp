// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI with Fortran
// Calls of Fortran with lists of requests and statuses; places count from 1 on there.
#pragma once

#include <vector>

#include "preloaded/mpi.hpp"
#include "trace/fortran_arguments.hpp"

namespace nhalf::trace::fortran {

inline void init(Given& given) {
  nhalf::fortran::answer(static_cast<MPI_Fint*>(given[0]), MPI_Init(nullptr, nullptr));
}

inline int init_thread(int required, int* provided) {
  return MPI_Init_thread(nullptr, nullptr, required, provided);
}

/// The first two arguments of all these calls.
class Requested {
 public:
  explicit Requested(Given& given)
      : given_(static_cast<MPI_Fint*>(given[1])), own_(static_cast<std::size_t>(number(given[0]))) {
    for (std::size_t at = 0; at < own_.size(); ++at)
      own_[at] = handle(static_cast<MPI_Request*>(nullptr), given_[at]);
  }
  ~Requested() {
    for (std::size_t at = 0; at < own_.size(); ++at) given_[at] = back(own_[at]);
  }
  Requested(const Requested&) = delete;
  Requested& operator=(const Requested&) = delete;

  [[nodiscard]] int count() const { return static_cast<int>(own_.size()); }
  MPI_Request* data() { return own_.data(); }

 private:
  MPI_Fint* given_;
  std::vector<MPI_Request> own_;
};

/// Where statuses go; null in C where the program ignores them.
class StatusList {
 public:
  StatusList(void* given, int count)
      : given_(static_cast<MPI_Fint*>(given)), own_(static_cast<std::size_t>(count)) {
    is_ignored_ = given == nhalf::fortran::sentinel("mpi_fortran_statuses_ignore_");
  }
  MPI_Status* data() { return is_ignored_ ? MPI_STATUSES_IGNORE : own_.data(); }
  void give_back(int count) {
    constexpr auto words = sizeof(MPI_Status) / sizeof(MPI_Fint);
    if (is_ignored_) return;
    for (int at = 0; at < count; ++at)
      NHALF_OWN(Status_c2f)(&own_[static_cast<std::size_t>(at)],
                            given_ + static_cast<std::size_t>(at) * words);
  }

 private:
  MPI_Fint* given_;
  std::vector<MPI_Status> own_;
  bool is_ignored_ = false;
};

inline void place(void* given, int index) {
  number(given) = index == MPI_UNDEFINED ? MPI_UNDEFINED : index + 1;
}

inline void finish(Given& given, std::size_t at, int error) {
  nhalf::fortran::answer(static_cast<MPI_Fint*>(given[at]), error);
}

inline void start_all(Given& given) {
  Requested requests(given);
  finish(given, 2, MPI_Startall(requests.count(), requests.data()));
}

inline void wait_all(Given& given) {
  Requested requests(given);
  StatusList statuses(given[2], requests.count());
  const int error = MPI_Waitall(requests.count(), requests.data(), statuses.data());
  statuses.give_back(requests.count());
  finish(given, 3, error);
}

inline void test_all(Given& given) {
  Requested requests(given);
  StatusList statuses(given[3], requests.count());
  int& flag = number(given[2]);
  const int error = MPI_Testall(requests.count(), requests.data(), &flag, statuses.data());
  if (flag != 0) statuses.give_back(requests.count());
  finish(given, 4, error);
}

inline void wait_any(Given& given) {
  Requested requests(given);
  From<MPI_Status*> status{given[3]};
  int index = MPI_UNDEFINED;
  const int error = MPI_Waitany(requests.count(), requests.data(), &index, status.value());
  place(given[2], index);
  status.end(error);
  finish(given, 4, error);
}

inline void test_any(Given& given) {
  Requested requests(given);
  From<MPI_Status*> status{given[4]};
  int index = MPI_UNDEFINED;
  const int error =
      MPI_Testany(requests.count(), requests.data(), &index, &number(given[3]), status.value());
  place(given[2], index);
  status.end(error);
  finish(given, 5, error);
}

template <class Call>
void some(Given& given, Call call) {
  Requested requests(given);
  StatusList statuses(given[4], requests.count());
  int& done = number(given[2]);
  auto* indices = static_cast<MPI_Fint*>(given[3]);
  const int error = call(requests.count(), requests.data(), &done, indices, statuses.data());
  for (int at = 0; at < done && done != MPI_UNDEFINED; ++at) indices[at] += 1;
  if (done != MPI_UNDEFINED) statuses.give_back(done);
  finish(given, 5, error);
}

inline void wait_some(Given& given) {
  some(given, &MPI_Waitsome);
}

inline void test_some(Given& given) {
  some(given, &MPI_Testsome);
}

}  // namespace nhalf::trace::fortran
