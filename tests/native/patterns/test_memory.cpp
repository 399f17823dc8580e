// SPDX-License-Identifier: Apache-2.0
// STREAM in ordinary arrays: what is counted, and that a wrong element is found.
#include <doctest/doctest.h>

#include <string>

#include "rank_counts.hpp"
#include "roster.hpp"
#include "timing/sampler.hpp"

namespace nhalf::test_memory {

namespace {

const PatternEntry<ProbeTransport>& entry_of(const std::string& name) {
  const auto& all = patterns<ProbeTransport>();
  return *std::ranges::find(all, name, [](const auto& entry) { return entry.info.name; });
}

}  // namespace

TEST_CASE("kernels of memory are there where a rank's computing takes the clock's time") {
  for (const auto* name : {"memory-copy", "memory-scale", "memory-add", "memory-triad"})
    CHECK((entry_of(name).make != nullptr) == Computing<ProbeTransport>);
}

TEST_CASE("STREAM counts every array that is read or written once") {
  CHECK(entry_of("memory-copy").info.bytes_factor == 2);
  CHECK(entry_of("memory-scale").info.bytes_factor == 2);
  CHECK(entry_of("memory-add").info.bytes_factor == 3);
  CHECK(entry_of("memory-triad").info.bytes_factor == 3);
}

TEST_CASE("arrays are right before and after timing, also one element or none at some ranks") {
  if constexpr (Computing<ProbeTransport>) {
    for (const auto* name : {"memory-copy", "memory-scale", "memory-add", "memory-triad"})
      for (const int ranks : {1, 3})
        for (const std::size_t size_bytes : {0UL, 8UL, 16UL, 80000UL}) {
          CAPTURE(name);
          CAPTURE(size_bytes);
          ProbeTransport::launch(0, nullptr, ranks, Options{}, [&](ProbeTransport& transport) {
            const auto pattern = entry_of(name).make(transport, {.size_bytes = size_bytes});
            bool right = pattern->verify();
            pattern->run(3);
            right = right && pattern->values().empty();
            const bool all_right = transport.all(right);
            if (transport.rank() == 0) CHECK(all_right);
          });
        }
  }
}

}  // namespace nhalf::test_memory
