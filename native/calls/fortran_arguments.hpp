// nhalf-needs: MPI with Fortran
// Converts the arguments of Fortran calls, which are all addresses, by their types in C.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "calls/library.hpp"
#include "preloaded/entry.hpp"
#include "preloaded/mpi.hpp"
#include "preloaded/sentinels.hpp"

namespace nhalf::calls::fortran {

using Arguments = std::array<void*, 14>;

inline MPI_Fint& number(void* argument) {
  return *static_cast<MPI_Fint*>(argument);
}

inline MPI_Status* status_of(void* argument, MPI_Status* own, const char* ignored) {
  return argument == nhalf::fortran::sentinel(ignored) ? MPI_STATUS_IGNORE : own;
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
      return nhalf::fortran::address(argument);
    else if constexpr (std::is_pointer_v<Type>)
      return static_cast<Type>(weights(argument));
    else
      return *static_cast<Type*>(argument);
  }
  void end(int /*unused*/) {}

  static void* weights(void* argument) {
    static const void* none = nhalf::fortran::sentinel("mpi_fortran_unweighted_");
    static const void* empty = nhalf::fortran::sentinel("mpi_fortran_weights_empty_");
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
  nhalf::fortran::answer(static_cast<MPI_Fint*>(arguments[sizeof...(Types)]), error);
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
