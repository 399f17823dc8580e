#include "contract/buffer.hpp"

#include <doctest/doctest.h>

using nhalf::Buffer;

TEST_CASE("a buffer of no bytes holds anything") {
  Buffer buffer(0);
  buffer.fill(3);
  CHECK(buffer.bytes().empty());
  CHECK(buffer.holds(4));
}

TEST_CASE("a buffer starts on a page and holds what it was filled with") {
  for (const std::size_t size : {1UL, 4095UL, 4096UL, 100001UL}) {
    CAPTURE(size);
    Buffer buffer(size);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % 4096 == 0);
    buffer.fill(3);
    CHECK(buffer.holds(3));
    CHECK_FALSE(buffer.holds(4));
  }
}

TEST_CASE("one wrong byte is seen, wherever it is") {
  for (const std::size_t place : {0UL, 4092UL, 4093UL, 4096UL, 99999UL}) {
    CAPTURE(place);
    Buffer buffer(100000);
    buffer.fill(3);
    buffer.bytes()[place] ^= std::byte{1};
    CHECK_FALSE(buffer.holds(3));
  }
}

TEST_CASE("data that is shifted by a power of two is seen") {
  Buffer buffer(1 << 16);
  buffer.fill(3);
  for (std::size_t shift = 1; shift < 1 << 15; shift *= 2) {
    CAPTURE(shift);
    CHECK(buffer.bytes()[0] != buffer.bytes()[shift]);
  }
}

TEST_CASE("more memory than there is, is an error") {
  CHECK_THROWS_AS(Buffer(SIZE_MAX), std::bad_alloc);
  // Volatile, or the compiler warns of what it thinks is going to be allocated.
  const volatile std::size_t half = SIZE_MAX / 2;
  CHECK_THROWS_AS(Buffer{half}, std::bad_alloc);
}
