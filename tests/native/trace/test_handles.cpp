// SPDX-License-Identifier: Apache-2.0
#include "trace/handles.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

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
