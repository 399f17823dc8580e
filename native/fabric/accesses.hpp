// The memory of this rank that others may reach, and what this rank has asked of others. An access
// is a message: its head says what one rank does to the memory of another, which takes no part in
// it.
#pragma once

#include <unordered_map>

#include "fabric/message.hpp"

namespace nhalf::fabric {
// What one rank does to the memory of another, which takes no part in it: the head of a message
// that carries it there, and of its answer.

/// How an atomic access combines its operand with what is there; the swaps have a condition.
enum class Operation : std::uint8_t {
  minimum,
  maximum,
  sum,
  product,
  logical_or,
  logical_and,
  bit_or,
  bit_and,
  logical_xor,
  bit_xor,
  read,
  write,
  swap_if_equal,
  swap_if_not_equal,
  swap_if_less_or_equal,
  swap_if_less,
  swap_if_greater_or_equal,
  swap_if_greater,
  swap_of_mask,
  number_of_operations
};

enum class Number : std::uint8_t {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  single_precision,
  double_precision,
  number_of_types
};

struct Access {
  enum class Kind : std::uint8_t { put, get, combine, answer };

  Kind kind = Kind::put;
  Operation operation = Operation::write;
  Number type = Number::uint8;
  /// Whether the answer brings what was there before.
  bool wants_old = false;
  bool has_failed = false;
  /// The memory: a place in what was registered under a key.
  std::uint64_t key = 0;
  std::uint64_t place = 0;
  std::uint64_t size_bytes = 0;
  /// What the rank that asked calls it.
  std::uint64_t number = 0;

  /// Returns what a message carries.
  static Access& in(Message& message) { return *reinterpret_cast<Access*>(message.body()); }
  static std::byte* data_in(Message& message) { return message.body() + sizeof(Access); }
};

// Atomic operations on memory. One rank runs at a time, so they are ordinary ones.

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

/// An access that has not been answered.
struct Asked {
  /// Where the answer's bytes go.
  std::vector<iovec> parts;
  void* context = nullptr;
  bool is_reported = true;
  std::size_t size_bytes = 0;
  /// Counts what is complete; null if nobody does.
  std::uint64_t* counter = nullptr;

  /// Returns what the library hears when an answer is there.
  [[nodiscard]] Completion completion(Message& answer) const {
    Completion completion(answer.arrival, context);
    completion.cost = answer.cost;
    completion.size_bytes = size_bytes;
    completion.is_access = true;
    if (Access::in(answer).has_failed) completion.failure = Failure::no_memory;
    return completion;
  }
};

class Accesses {
 public:
  /// Opens memory to others; false if a key is taken.
  bool open(std::uint64_t key, std::byte* begin, std::size_t size_bytes) {
    return memory_.try_emplace(key, Part{begin, size_bytes}).second;
  }
  void close(std::uint64_t key) { memory_.erase(key); }

  std::uint64_t ask(Asked pending) {
    asked_.emplace(++last_number_, std::move(pending));
    return last_number_;
  }
  /// Takes what an answer is for.
  Asked answered(std::uint64_t number) {
    auto node = asked_.extract(number);
    return node.empty() ? Asked{} : std::move(node.mapped());
  }

  /// Returns how many bytes the answer to an access brings.
  static std::size_t answer_bytes(const Access& access) {
    const bool brings = access.kind == Access::Kind::get || access.wants_old;
    return brings ? static_cast<std::size_t>(access.size_bytes) : 0;
  }

  /// Does what another rank asks, and writes what it gets; false if there is no such memory.
  bool serve(const Access& access, const std::byte* data, std::byte* answer) {
    std::byte* const target = at(access);
    if (target == nullptr) return access.size_bytes == 0;
    const auto bytes = static_cast<std::size_t>(access.size_bytes);
    if (bytes == 0) return true;
    if (answer_bytes(access) > 0) std::memcpy(answer, target, bytes);
    if (access.kind == Access::Kind::put) std::memcpy(target, data, bytes);
    if (access.kind != Access::Kind::combine) return true;
    const bool has_operand = access.operation != Operation::read;
    combine(access.operation, access.type, target, has_operand ? data : nullptr,
            is_conditional(access.operation) ? data + bytes : nullptr, bytes);
    return true;
  }

 private:
  struct Part {
    std::byte* begin;
    std::size_t size_bytes;
  };

  [[nodiscard]] std::byte* at(const Access& access) const {
    const auto registration = memory_.find(access.key);
    if (registration == memory_.end()) return nullptr;
    const auto& part = registration->second;
    const bool fits =
        access.place <= part.size_bytes && access.size_bytes <= part.size_bytes - access.place;
    return fits ? part.begin + access.place : nullptr;
  }

  std::unordered_map<std::uint64_t, Part> memory_;
  std::unordered_map<std::uint64_t, Asked> asked_;
  std::uint64_t last_number_ = 0;
};
}  // namespace nhalf::fabric
