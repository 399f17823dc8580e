#include "patterns/bases/arrays/memory_kernels.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

using nhalf::MemoryArrays;
using nhalf::MemoryCheck;
using nhalf::MemoryKernel;

namespace {

constexpr auto kernels = {MemoryKernel::copy, MemoryKernel::scale, MemoryKernel::add,
                          MemoryKernel::triad};
constexpr auto index_of = [](std::size_t i) { return i + 100; };

/// The three arrays of so many elements.
struct Memory {
  explicit Memory(std::size_t elements) : numbers(3 * elements, -1), count(elements) {}
  MemoryArrays arrays() {
    return {numbers.data(), numbers.data() + count, numbers.data() + 2 * count, count};
  }
  std::vector<double> numbers;
  std::size_t count;
};

}  // namespace

TEST_CASE("kernels do to every element what STREAM says, with tails of vectors") {
  for (std::size_t count = 0; count < 40; ++count) {
    Memory memory(count);
    const auto arrays = memory.arrays();
    MemoryCheck check;
    check.begin();
    check.fill(arrays, index_of);
    for (const auto kernel : kernels) {
      nhalf::run_kernel(kernel, arrays);
      check.ran(kernel);
    }
    CHECK(check.holds(arrays, index_of));
    for (std::size_t i = 0; i < count; ++i) {
      const double scale = MemoryCheck::weight(index_of(i));
      CHECK(arrays.a[i] == 15 * scale);
      CHECK(arrays.b[i] == 3 * scale);
      CHECK(arrays.c[i] == 4 * scale);
    }
  }
}

TEST_CASE("a kernel that did not run, and one wrong or exchanged element, are found") {
  Memory memory(1000);
  const auto arrays = memory.arrays();
  for (const auto kernel : kernels) {
    MemoryCheck check;
    check.begin();
    check.fill(arrays, index_of);
    CHECK(check.holds(arrays, index_of));
    check.ran(kernel);
    CHECK_FALSE(check.holds(arrays, index_of));
    nhalf::run_kernel(kernel, arrays);
    CHECK(check.holds(arrays, index_of));
  }
  MemoryCheck check;
  check.begin();
  check.fill(arrays, index_of);
  std::swap(arrays.b[3], arrays.b[4]);
  CHECK_FALSE(check.holds(arrays, index_of));
  std::swap(arrays.b[3], arrays.b[4]);
  arrays.a[999] *= 1 + 1e-9;
  CHECK_FALSE(check.holds(arrays, index_of));
}

TEST_CASE("what is not a number is not right") {
  Memory memory(3);
  const auto arrays = memory.arrays();
  MemoryCheck check;
  check.begin();
  check.fill(arrays, index_of);
  arrays.a[1] = std::nan("");
  CHECK_FALSE(check.holds(arrays, index_of));
}
