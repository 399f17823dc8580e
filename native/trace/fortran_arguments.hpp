// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI with Fortran
// Arguments of Fortran as C has them, by their types in C; all of them are addresses.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "preloaded/mpi.hpp"
#include "preloaded/sentinels.hpp"
#include "trace/library.hpp"

namespace nhalf::trace::fortran {

using Given = std::array<void*, 14>;

inline MPI_Fint& number(void* given) {
  return *static_cast<MPI_Fint*>(given);
}

inline MPI_Status* status_of(void* given, MPI_Status* own, const char* ignored) {
  return given == nhalf::fortran::sentinel(ignored) ? MPI_STATUS_IGNORE : own;
}

#define NHALF_HANDLE(type, call)              \
  inline type handle(type*, MPI_Fint given) { \
    return NHALF_OWN(call##_f2c)(given);      \
  }                                           \
  inline MPI_Fint back(type given) {          \
    return NHALF_OWN(call##_c2f)(given);      \
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
concept IsHandle = requires(Type one) { back(one); };

/// Numbers, lists of numbers and data.
template <class Type>
struct From {
  void* given;
  Type value() {
    if constexpr (std::is_pointer_v<Type> && std::is_void_v<std::remove_pointer_t<Type>>)
      return nhalf::fortran::address(given);
    else if constexpr (std::is_pointer_v<Type>)
      return static_cast<Type>(weights(given));
    else
      return *static_cast<Type*>(given);
  }
  void end(int /*unused*/) {}

  static void* weights(void* given) {
    static const void* none = nhalf::fortran::sentinel("mpi_fortran_unweighted_");
    static const void* empty = nhalf::fortran::sentinel("mpi_fortran_weights_empty_");
    if (given != nullptr && given == none) return MPI_UNWEIGHTED;
    if (given != nullptr && given == empty) return MPI_WEIGHTS_EMPTY;
    return given;
  }
};

template <IsHandle Type>
struct From<Type> {
  void* given;
  Type value() { return handle(static_cast<Type*>(nullptr), number(given)); }
  void end(int /*unused*/) {}
};

/// A handle that the call makes or changes.
template <IsHandle Type>
struct From<Type*> {
  void* given;
  Type own = handle(static_cast<Type*>(nullptr), number(given));
  Type* value() { return &own; }
  void end(int error) {
    if (error == MPI_SUCCESS) number(given) = back(own);
  }
};

template <>
struct From<MPI_Status*> {
  void* given;
  MPI_Status own{};
  MPI_Status* used = status_of(given, &own, "mpi_fortran_status_ignore_");
  MPI_Status* value() { return used; }
  void end(int /*unused*/) {
    if (used != MPI_STATUS_IGNORE) NHALF_OWN(Status_c2f)(used, static_cast<MPI_Fint*>(given));
  }
};

template <class... Types, std::size_t... places>
void called(int (*call)(Types...), Given& given, std::index_sequence<places...> /*unused*/) {
  std::tuple<From<Types>...> all{From<Types>{given[places]}...};
  const int error = call(std::get<places>(all).value()...);
  (std::get<places>(all).end(error), ...);
  nhalf::fortran::answer(static_cast<MPI_Fint*>(given[sizeof...(Types)]), error);
}

/// Makes the call for C.
template <class... Types>
void by_type(int (*call)(Types...), Given& given) {
  called(call, given, std::index_sequence_for<Types...>());
}

}  // namespace nhalf::trace::fortran
