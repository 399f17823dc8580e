#include "fabric/accesses.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace nhalf::fabric {
namespace {

template <class Type>
Type after(Operation operation, Number type, Type there, Type operand, Type compared = {}) {
  std::array<std::byte, sizeof(Type)> memory;
  std::memcpy(memory.data(), &there, sizeof there);
  combine(operation, type, memory.data(), reinterpret_cast<std::byte*>(&operand),
          reinterpret_cast<std::byte*>(&compared), sizeof(Type));
  std::memcpy(&there, memory.data(), sizeof there);
  return there;
}

TEST_CASE("operations combine numbers of a type") {
  using I = std::int32_t;
  CHECK(after<I>(Operation::sum, Number::int32, -5, 3) == -2);
  CHECK(after<I>(Operation::sum, Number::int32, INT32_MAX, 1) == INT32_MIN);
  CHECK(after<I>(Operation::minimum, Number::int32, -5, 3) == -5);
  CHECK(after<std::uint32_t>(Operation::minimum, Number::uint32, 0xFFFF'FFFBu, 3) == 3);
  CHECK(after<double>(Operation::product, Number::double_precision, 1.5, 2.0) == 3.0);
  CHECK(after<float>(Operation::logical_and, Number::single_precision, 0.5f, 0.0f) == 0.0f);
  CHECK(after<I>(Operation::bit_xor, Number::int32, 6, 3) == 5);
  CHECK(after<I>(Operation::read, Number::int32, 6, 3) == 6);
}

TEST_CASE("swaps have conditions on what is there") {
  using I = std::int64_t;
  CHECK(after<I>(Operation::swap_if_equal, Number::int64, 4, 9, 4) == 9);
  CHECK(after<I>(Operation::swap_if_equal, Number::int64, 4, 9, 5) == 4);
  CHECK(after<I>(Operation::swap_if_less, Number::int64, 4, 9, 3) == 9);
  CHECK(after<I>(Operation::swap_if_greater, Number::int64, 4, 9, 3) == 4);
  CHECK(after<I>(Operation::swap_of_mask, Number::int64, 0xF0, 0x0A, 0x0F) == 0xFA);
}

TEST_CASE("bits of numbers with fractions are not combined") {
  CHECK(can_combine(Operation::sum, Number::double_precision));
  CHECK_FALSE(can_combine(Operation::bit_or, Number::double_precision));
}

TEST_CASE("memory is reached within what is open") {
  std::array<std::byte, 16> memory{};
  std::array<std::byte, 16> answer{};
  Accesses accesses;
  REQUIRE(accesses.open(7, memory.data(), memory.size()));
  CHECK_FALSE(accesses.open(7, memory.data(), memory.size()));
  const std::byte one{1};
  Access put;
  put.key = 7;
  put.place = 15;
  put.size_bytes = 1;
  CHECK(accesses.serve(put, &one, answer.data()));
  CHECK(memory[15] == one);
  put.place = 16;
  CHECK_FALSE(accesses.serve(put, &one, answer.data()));
  put.place = UINT64_MAX;
  CHECK_FALSE(accesses.serve(put, &one, answer.data()));
  Access get;
  get.kind = Access::Kind::get;
  get.key = 7;
  get.size_bytes = 16;
  CHECK(accesses.serve(get, &one, answer.data()));
  CHECK(answer == memory);
  accesses.close(7);
  CHECK_FALSE(accesses.serve(get, &one, answer.data()));
}

}  // namespace
}  // namespace nhalf::fabric
