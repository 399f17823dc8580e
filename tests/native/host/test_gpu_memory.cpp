#include "host/gpu_memory.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "gpu_child.hpp"

namespace gpu = nhalf::gpu;
using nhalf::gpu::in_child;
using nhalf::gpu::MemoryKind;

namespace {
/// Runs `work` while buffers are of a kind.
std::string with_memory(MemoryKind kind, const std::function<std::string()>& work,
                        const std::map<std::string, std::string>& variables = {}) {
  return in_child(variables, [&] {
    nhalf::memory_source = gpu::memory_of(kind, 0);
    return work();
  });
}

std::string spoiled_is_found() {
  nhalf::Buffer buffer(10000);
  buffer.fill(5);
  if (!buffer.holds(5)) return "lost";
  {
    nhalf::OnHost reachable(buffer.bytes());
    reachable.bytes()[9999] ^= std::byte{1};
  }
  return buffer.holds(5) ? "unseen" : "seen";
}

std::string copied_with_the_host() {
  nhalf::Buffer here(5000, nhalf::host_memory);
  nhalf::Buffer there(5000);
  here.fill(3);
  nhalf::place(here.bytes(), there.bytes());
  if (!there.holds(3)) return "not there";
  nhalf::invert(there.bytes());
  if (there.holds(3)) return "not inverted";
  nhalf::invert(there.bytes());
  nhalf::fill(here.bytes(), 4);
  nhalf::place(there.bytes(), here.bytes());
  return here.holds(3) ? "same" : "not back";
}
}  // namespace

TEST_CASE("buffers of every kind of memory are filled, checked and copied") {
  for (const auto kind :
       {MemoryKind::host, MemoryKind::pinned, MemoryKind::managed, MemoryKind::device}) {
    CAPTURE(static_cast<int>(kind));
    CHECK(with_memory(kind, spoiled_is_found) == "seen");
    CHECK(with_memory(kind, copied_with_the_host) == "same");
    CHECK(with_memory(kind, [] {
            nhalf::Buffer empty(0);
            empty.fill(1);
            return std::string(empty.holds(2) ? "empty" : "full");
          }) == "empty");
  }
}

TEST_CASE("a buffer is given back to where it is from") {
  CHECK(with_memory(MemoryKind::device, [] {
          nhalf::Buffer buffer(100);
          nhalf::memory_source = nhalf::host_memory;
          buffer = nhalf::Buffer(100);
          return std::to_string(gpu::allocations().size());
        }) == "0");
}

TEST_CASE("a GPU without memory refuses the point") {
  const auto refused = [] {
    try {
      nhalf::memory_source = gpu::memory_of(MemoryKind::pinned, 0);
      setenv("NHALF_STAND_IN_FAULT", "out-of-memory", 1);
      const nhalf::Buffer buffer(100);
    } catch (const nhalf::InputError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  CHECK(in_child({}, refused).starts_with("the GPU has not enough free memory"));
}

TEST_CASE("the clock of a GPU is what its kernel counts") {
  const auto clock = [] { return std::to_string(std::lround(gpu::Gpu::of(0).clock_hz() / 1e6)); };
  CHECK(in_child({{"NHALF_STAND_IN_CLOCK_HZ", "1.98e9"}}, clock) == "1980");
  CHECK(in_child({{"NHALF_STAND_IN_CLOCK_HZ", "3.45e8"}}, clock) == "345");
}

TEST_CASE("a rank takes a GPU near its cores, in turns") {
  CHECK(gpu::lists_cpu("0-3,8,12-15\n", 8));
  CHECK(gpu::lists_cpu("0-3,8,12-15", 13));
  CHECK_FALSE(gpu::lists_cpu("0-3,8,12-15", 4));
  CHECK_FALSE(gpu::lists_cpu("", 0));
  CHECK_FALSE(gpu::lists_cpu("none", 0));
  const std::array<std::string, 4> near{"0-15", "0-15", "16-31", "16-31"};
  const std::array first{3};
  const std::array second{20, 21};
  const std::array neither{99};
  CHECK(gpu::nearest(near, first, 0) == 0);
  CHECK(gpu::nearest(near, first, 1) == 1);
  CHECK(gpu::nearest(near, first, 2) == 0);
  CHECK(gpu::nearest(near, second, 0) == 2);
  CHECK(gpu::nearest(near, neither, 3) == 3);
  CHECK(gpu::nearest(near, neither, 6) == 2);
}
