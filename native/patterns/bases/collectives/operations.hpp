// The operations of contract/operations.inc by their names: how a transport is asked for each form.
#pragma once

#include <string_view>

#include "contract/neighbourhoods.hpp"
#include "contract/persistent_collectives.hpp"

namespace nhalf {

/// What an operation is called with at one rank; those without counts leave them empty.
struct Operands {
  int root = 0;
  ConstBytes in{};
  Bytes out{};
  PerRank counts{};
  PerRank offsets{};
};

/// Operands of an operation among neighbours.
template <class Neighbourhood>
struct NeighbourOperands {
  const Neighbourhood& among;
  ConstBytes in{};
  Bytes out{};
  PerRank counts{};
  PerRank offsets{};
  WideOffsets wide_offsets{};
};

/// Each operation is a type: `run` does it, `begin` starts it, `prepare` sets it up to be started;
/// `begins` says which transports have its non-blocking form, and `begun_needs` what others lack.
namespace operations {

#define NHALF_FORM(form, call, ...)                                           \
  static auto form(auto& transport, const Operands& operands) {               \
    [[maybe_unused]] const auto& [root, in, out, counts, offsets] = operands; \
    return transport.call(__VA_ARGS__);                                       \
  }
#define NHALF_OPERATION(needed, Needed, operation, ...)     \
  struct operation {                                        \
    static constexpr std::string_view begun_needs = needed; \
    template <class T>                                      \
    static constexpr bool begins = Needed<T>;               \
    NHALF_FORM(run, operation, __VA_ARGS__)                 \
    NHALF_FORM(begin, i##operation, __VA_ARGS__)            \
    NHALF_FORM(prepare, prepare_##operation, __VA_ARGS__)   \
  };
#define NHALF_EQUAL(...) \
  NHALF_OPERATION("non-blocking-collectives", NonBlockingCollectives, __VA_ARGS__)
#define NHALF_VARYING(...) \
  NHALF_OPERATION("non-blocking-varying-collectives", NonBlockingVaryingCollectives, __VA_ARGS__)
#include "contract/operations.inc"
#undef NHALF_OPERATION
#undef NHALF_FORM

#define NHALF_FORM(form, call, ...)                                                          \
  static auto form(auto& transport, const auto& operands) {                                  \
    [[maybe_unused]] const auto& [among, in, out, counts, offsets, wide_offsets] = operands; \
    return transport.call(__VA_ARGS__);                                                      \
  }
#define NHALF_NEIGHBOUR(operation, ...)                               \
  struct operation {                                                  \
    static constexpr std::string_view begun_needs = "neighbourhoods"; \
    template <class T>                                                \
    static constexpr bool begins = Neighbourhoods<T>;                 \
    NHALF_FORM(run, operation, __VA_ARGS__)                           \
    NHALF_FORM(begin, i##operation, __VA_ARGS__)                      \
  };
#include "contract/operations.inc"
#undef NHALF_FORM

}  // namespace operations
}  // namespace nhalf
