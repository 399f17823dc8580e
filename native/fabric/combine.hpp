// Atomic operations on memory. One rank runs at a time, so they are ordinary ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "fabric/access.hpp"

namespace nhalf::fabric {

constexpr std::size_t bytes_of(Number type) {
  constexpr std::size_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  return bytes[static_cast<std::size_t>(type)];
}
constexpr bool is_conditional(Operation operation) {
  return operation >= Operation::swap_if_equal;
}
/// Bits of numbers that are no integers are not combined.
constexpr bool can_combine(Operation operation, Number type) {
  const bool is_bitwise = operation == Operation::bit_or || operation == Operation::bit_and ||
                          operation == Operation::bit_xor || operation == Operation::swap_of_mask;
  return operation < Operation::number_of_operations && type < Number::number_of_types &&
         !(is_bitwise && type >= Number::single_precision);
}

/// Returns what is there afterwards.
template <class Type>
Type combined(Operation operation, Type target, Type operand, Type compared) {
  // Unsigned numbers of at least an int's size wrap around.
  using Wide = std::conditional_t<std::is_integral_v<Type>, std::uint64_t, Type>;
  const auto swapped = [&](bool is_met) { return is_met ? operand : target; };
  switch (operation) {
    case Operation::minimum:
      return std::min(target, operand);
    case Operation::maximum:
      return std::max(target, operand);
    case Operation::sum:
      return static_cast<Type>(static_cast<Wide>(target) + static_cast<Wide>(operand));
    case Operation::product:
      return static_cast<Type>(static_cast<Wide>(target) * static_cast<Wide>(operand));
    case Operation::logical_or:
      return static_cast<Type>(target != Type{} || operand != Type{});
    case Operation::logical_and:
      return static_cast<Type>(target != Type{} && operand != Type{});
    case Operation::logical_xor:
      return static_cast<Type>((target != Type{}) != (operand != Type{}));
    case Operation::write:
      return operand;
    case Operation::swap_if_equal:
      return swapped(compared == target);
    case Operation::swap_if_not_equal:
      return swapped(compared != target);
    case Operation::swap_if_less_or_equal:
      return swapped(compared <= target);
    case Operation::swap_if_less:
      return swapped(compared < target);
    case Operation::swap_if_greater_or_equal:
      return swapped(compared >= target);
    case Operation::swap_if_greater:
      return swapped(compared > target);
    default:
      break;
  }
  if constexpr (std::is_integral_v<Type>) {
    switch (operation) {
      case Operation::bit_or:
        return static_cast<Type>(target | operand);
      case Operation::bit_and:
        return static_cast<Type>(target & operand);
      case Operation::bit_xor:
        return static_cast<Type>(target ^ operand);
      case Operation::swap_of_mask:
        return static_cast<Type>((operand & compared) | (target & ~compared));
      default:
        break;
    }
  }
  return target;
}

template <class Type>
void combine_all(Operation operation, std::byte* target, const std::byte* operands,
                 const std::byte* compared, std::size_t count) {
  for (std::size_t at = 0; at < count; ++at) {
    Type values[3]{};
    const auto skipped = at * sizeof(Type);
    std::memcpy(&values[0], target + skipped, sizeof(Type));
    if (operands != nullptr) std::memcpy(&values[1], operands + skipped, sizeof(Type));
    if (compared != nullptr) std::memcpy(&values[2], compared + skipped, sizeof(Type));
    const Type result = combined(operation, values[0], values[1], values[2]);
    std::memcpy(target + skipped, &result, sizeof(Type));
  }
}

/// Combines numbers with those that are there; `compared` are those of a condition, or null.
inline void combine(Operation operation, Number type, std::byte* target, const std::byte* operands,
                    const std::byte* compared, std::size_t bytes) {
  const auto count = bytes / bytes_of(type);
  const auto all = [&]<class Type>(Type) {
    combine_all<Type>(operation, target, operands, compared, count);
  };
  switch (type) {
    case Number::int8:
      return all(std::int8_t{});
    case Number::uint8:
      return all(std::uint8_t{});
    case Number::int16:
      return all(std::int16_t{});
    case Number::uint16:
      return all(std::uint16_t{});
    case Number::int32:
      return all(std::int32_t{});
    case Number::uint32:
      return all(std::uint32_t{});
    case Number::int64:
      return all(std::int64_t{});
    case Number::uint64:
      return all(std::uint64_t{});
    case Number::single_precision:
      return all(float{});
    case Number::double_precision:
      return all(double{});
    case Number::number_of_types:
      return;
  }
}

}  // namespace nhalf::fabric
