// nhalf-needs: MPI
// All calls of the table by number, with their names and traits. Calls with large counts share the
// name of the plain call.
#pragma once

#include "calls/traits.hpp"
#include "preloaded/library.hpp"

/// Whether the library has the calls of MPI 4; Open MPI 5 does, though it does not claim MPI 4.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define NHALF_HAS_MPI_4 1
#else
#define NHALF_HAS_MPI_4 0
#endif

// An operation is a call in three forms, whose requests and roles follow from the blocking one.
#define NHALF_INSIDE(...) __VA_ARGS__
#define NHALF_OPERATION(name, lower, flow, data, sizes, arguments, ...)                 \
  NHALF_CALL(name, lower, (Traits{waits, {flow, data, sizes}}), arguments, __VA_ARGS__) \
  NHALF_CALL(I##lower, i##lower, (Traits{returns, {flow, data, sizes}}),                \
             (NHALF_INSIDE arguments, request), __VA_ARGS__)                            \
  NHALF_PERSISTENT(name##_init, lower##_init, (Traits{returns, {flow, data, sizes}}),   \
                   (NHALF_INSIDE arguments, info, request),                             \
                   prepared(on, (__VA_ARGS__), comm, request))
#if NHALF_HAS_MPI_4
#define NHALF_PERSISTENT(...) NHALF_CALL(__VA_ARGS__)
#else
#define NHALF_PERSISTENT(...)
#endif

// The parameters of a function whose arguments have these names, up to 16: `auto` before each, so
// that their types are those of the library's own function, by NHALF_AS.
#define NHALF_PARAMETERS(...) NHALF_SCAN_16(NHALF_PARAMETER(__VA_ARGS__))
#define NHALF_PARAMETER(name, ...) \
  [[maybe_unused]] auto name __VA_OPT__(, NHALF_NEXT_PARAMETER NHALF_BRACKETS(__VA_ARGS__))
#define NHALF_BRACKETS ()
#define NHALF_NEXT_PARAMETER() NHALF_PARAMETER
#define NHALF_SCAN_16(...) NHALF_SCAN_4(NHALF_SCAN_4(NHALF_SCAN_4(NHALF_SCAN_4(__VA_ARGS__))))
#define NHALF_SCAN_4(...) NHALF_INSIDE(NHALF_INSIDE(NHALF_INSIDE(NHALF_INSIDE(__VA_ARGS__))))
#define NHALF_AS(name, function) static_cast<decltype(&PMPI_##name)>(&function)

namespace nhalf::calls {
#define NHALF_CALL(name, lower, traits, arguments, ...) name,
enum class Call : std::uint16_t {
#include "calls/all.inc"
  number_of_calls
};
#undef NHALF_CALL

inline constexpr auto calls_max = static_cast<std::size_t>(Call::number_of_calls);

#define NHALF_CALL(name, lower, traits, arguments, ...) "MPI_" #name,
inline constexpr std::array<const char*, calls_max> call_names{
#include "calls/all.inc"
};
#undef NHALF_CALL

inline constexpr auto call_traits = [] {
  using enum Effect;
  using enum Flow;
  using enum Data;
  using enum Sizes;
#define NHALF_CALL(name, lower, traits, arguments, ...) traits,
  return std::array<Traits, calls_max>{
#include "calls/all.inc"
  };
#undef NHALF_CALL
}();

constexpr const char* name_of(Call call) {
  return call_names[static_cast<std::size_t>(call)];
}
constexpr const Traits& traits_of(Call call) {
  return call_traits[static_cast<std::size_t>(call)];
}

/// Whether a call may have to wait for another rank.
constexpr bool can_wait(Call call) {
  const Effect effect = traits_of(call).effect;
  return effect == Effect::waits || effect == Effect::completes;
}

// Finds the MPI library's own calls. No MPI library is linked, since this library is also loaded
// into launchers and shells, and before an MPI library that may be loaded late.

/// Returns the same call of the next tool or of the library.
template <auto call, class Function>
[[gnu::always_inline]] inline Function* next(const char* name) {
  static constinit std::atomic<Function*> cached{nullptr};
  if (Function* function = cached.load(std::memory_order_relaxed)) [[likely]]
    return function;
  auto* function = reinterpret_cast<Function*>(preloaded::behind(name));
  cached.store(function, std::memory_order_relaxed);
  return function;
}

/// Returns a call of the library for our own use; `Tag` distinguishes calls of one type.
template <class Tag, class Function>
Function* own(const char* name) {
  static auto* const function = reinterpret_cast<Function*>(preloaded::in_mpi(name));
  return function;
}

#define NHALF_OWN(name) \
  (::nhalf::calls::own<struct Tag##name, decltype(PMPI_##name)>("PMPI_" #name))
}  // namespace nhalf::calls
