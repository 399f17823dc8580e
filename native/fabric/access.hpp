// What one rank does to the memory of another, which takes no part in it: the head of a message
// that carries it there, and of its answer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fabric/message.hpp"

namespace nhalf::fabric {

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

}  // namespace nhalf::fabric
