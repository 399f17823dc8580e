// nhalf-needs: MPI with Fortran
// Converts the arguments of Fortran calls, which are all addresses, by their types in C.
#pragma once

#include <tuple>

#include "calls/names.hpp"
#include "preloaded/entry.hpp"

namespace nhalf::calls::fortran {
/// Returns the address of a sentinel, which is a common block; null without Fortran.
inline const void* sentinel(const char* name) {
  return dlsym(RTLD_DEFAULT, name);
}

/// Converts an address, which may be a sentinel, to C.
inline void* address(void* argument) {
  static const void* in_place = sentinel("mpi_fortran_in_place_");
  static const void* bottom = sentinel("mpi_fortran_bottom_");
  if (argument != nullptr && argument == in_place) return MPI_IN_PLACE;
  if (argument != nullptr && argument == bottom) return MPI_BOTTOM;
  return argument;
}

inline void answer(MPI_Fint* error, int value) {
  if (error != nullptr) *error = value;
}

using Arguments = std::array<void*, 14>;

inline MPI_Fint& number(void* argument) {
  return *static_cast<MPI_Fint*>(argument);
}

inline MPI_Status* status_of(void* argument, MPI_Status* own, const char* ignored) {
  return argument == sentinel(ignored) ? MPI_STATUS_IGNORE : own;
}

#define NHALF_HANDLE(type, call)                 \
  inline type handle(type*, MPI_Fint argument) { \
    return NHALF_OWN(call##_f2c)(argument);      \
  }                                              \
  inline MPI_Fint back(type argument) {          \
    return NHALF_OWN(call##_c2f)(argument);      \
  }
NHALF_HANDLE(MPI_Comm, Comm)
NHALF_HANDLE(MPI_Datatype, Type)
NHALF_HANDLE(MPI_Op, Op)
NHALF_HANDLE(MPI_Group, Group)
NHALF_HANDLE(MPI_Win, Win)
NHALF_HANDLE(MPI_Info, Info)
NHALF_HANDLE(MPI_Request, Request)
NHALF_HANDLE(MPI_Message, Message)
#undef NHALF_HANDLE

template <class Type>
concept IsHandle = requires(Type handle) { back(handle); };

/// Converts numbers, lists of numbers and data.
template <class Type>
struct From {
  void* argument;
  Type value() {
    if constexpr (std::is_pointer_v<Type> && std::is_void_v<std::remove_pointer_t<Type>>)
      return address(argument);
    else if constexpr (std::is_pointer_v<Type>)
      return static_cast<Type>(weights(argument));
    else
      return *static_cast<Type*>(argument);
  }
  void end(int /*unused*/) {}

  static void* weights(void* argument) {
    static const void* none = sentinel("mpi_fortran_unweighted_");
    static const void* empty = sentinel("mpi_fortran_weights_empty_");
    if (argument != nullptr && argument == none) return MPI_UNWEIGHTED;
    if (argument != nullptr && argument == empty) return MPI_WEIGHTS_EMPTY;
    return argument;
  }
};

template <IsHandle Type>
struct From<Type> {
  void* argument;
  Type value() { return handle(static_cast<Type*>(nullptr), number(argument)); }
  void end(int /*unused*/) {}
};

/// Converts a handle that the call makes or changes.
template <IsHandle Type>
struct From<Type*> {
  void* argument;
  Type own = handle(static_cast<Type*>(nullptr), number(argument));
  Type* value() { return &own; }
  void end(int error) {
    if (error == MPI_SUCCESS) number(argument) = back(own);
  }
};

template <>
struct From<MPI_Status*> {
  void* argument;
  MPI_Status own{};
  MPI_Status* used = status_of(argument, &own, "mpi_fortran_status_ignore_");
  MPI_Status* value() { return used; }
  void end(int /*unused*/) {
    if (used != MPI_STATUS_IGNORE) NHALF_OWN(Status_c2f)(used, static_cast<MPI_Fint*>(argument));
  }
};

template <class... Types, std::size_t... places>
void called(int (*call)(Types...), Arguments& arguments,
            std::index_sequence<places...> /*unused*/) {
  std::tuple<From<Types>...> converted{From<Types>{arguments[places]}...};
  const int error = call(std::get<places>(converted).value()...);
  (std::get<places>(converted).end(error), ...);
  answer(static_cast<MPI_Fint*>(arguments[sizeof...(Types)]), error);
}

/// Makes the call for C with converted arguments.
template <class... Types>
void by_type(int (*call)(Types...), Arguments& arguments) {
  called(call, arguments, std::index_sequence_for<Types...>());
}
}  // namespace nhalf::calls::fortran

/// Takes as many arguments as the longest call, and reads its own only.
#define NHALF_FORTRAN(lower, function)                                                      \
  static void fortran_##lower(void* a0, void* a1, void* a2, void* a3, void* a4, void* a5,   \
                              void* a6, void* a7, void* a8, void* a9, void* a10, void* a11, \
                              void* a12, void* a13) {                                       \
    using namespace nhalf::calls::fortran;                                                  \
    Arguments values{a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13};           \
    function(values);                                                                       \
  }                                                                                         \
  NHALF_ENTRY(mpi_##lower##_, &fortran_##lower)                                             \
  NHALF_ENTRY(mpi_##lower##_f08_, &fortran_##lower)

namespace nhalf::calls::fortran {
inline void init(Arguments& arguments) {
  answer(static_cast<MPI_Fint*>(arguments[0]), MPI_Init(nullptr, nullptr));
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
    is_ignored_ = argument == sentinel("mpi_fortran_statuses_ignore_");
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
  answer(static_cast<MPI_Fint*>(arguments[at]), error);
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
