// The routed operations, with their names in decision tables.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace nhalf::coll {

enum class Operation : unsigned char {
  allgather,
  allreduce,
  alltoall,
  barrier,
  bcast,
  gather,
  reduce,
  reduce_scatter,
  scan,
  scatter,
};

inline constexpr std::array<std::string_view, 10> operation_names{
    "allgather", "allreduce", "alltoall",       "barrier", "bcast",
    "gather",    "reduce",    "reduce-scatter", "scan",    "scatter"};

/// A value for each operation.
template <class Value>
using PerOperation = std::array<Value, operation_names.size()>;

constexpr std::size_t index_of(Operation operation) {
  return static_cast<std::size_t>(operation);
}

constexpr std::optional<Operation> operation_named(std::string_view name) {
  for (std::size_t i = 0; i < operation_names.size(); ++i)
    if (operation_names[i] == name) return static_cast<Operation>(i);
  return std::nullopt;
}

}  // namespace nhalf::coll
