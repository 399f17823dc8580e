#include "trace/handles.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

TEST_CASE("without memory nothing more is kept of handles, and what was kept stays") {
  const auto before = nhalf::trace::memory_remaining_bytes.load();
  nhalf::trace::Handles<std::uint64_t> handles;
  std::uint64_t kept = 0;
  nhalf::trace::memory_remaining_bytes = nhalf::trace::memory_reserve_bytes + 100'000;
  for (std::uint64_t handle = 1; handle <= 10'000; ++handle)
    if (handles.put(handle, handle)) ++kept;
  CHECK(kept > 500);
  CHECK(kept < 5'000);
  for (std::uint64_t handle = 1; handle <= kept; ++handle) REQUIRE(handles.find(handle) != nullptr);
  CHECK(handles.find(10'000) == nullptr);
  CHECK(handles.put(1, 7));
  nhalf::trace::memory_remaining_bytes = before;
}

TEST_CASE("what is known of handles is what was put there last") {
  nhalf::trace::Handles<int> handles;
  std::map<std::uint64_t, int> expected;
  std::mt19937 random(7);
  for (int step = 0; step < 50'000; ++step) {
    const std::uint64_t handle = random() % 500;
    if (random() % 2 == 0) {
      handles.put(handle, step);
      expected[handle] = step;
    } else {
      handles.erase(handle);
      expected.erase(handle);
    }
  }
  for (std::uint64_t handle = 0; handle < 500; ++handle) {
    const int* const found = handles.find(handle);
    const auto known = expected.find(handle);
    REQUIRE((found != nullptr) == (known != expected.end()));
    if (found != nullptr) CHECK(*found == known->second);
  }
  CHECK(handles.is_empty() == expected.empty());
}
