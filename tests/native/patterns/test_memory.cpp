// STREAM in ordinary arrays and in shared ones: what is counted, and that a wrong element is found.
#include <doctest/doctest.h>

#include <string>

#include "patterns/bases/arrays/memory_kernels.hpp"
#include "rank_counts.hpp"
#include "roster.hpp"
#include "timing/sampler.hpp"

namespace nhalf::test_memory {

namespace {

const PatternEntry<ProbeTransport>& entry_of(const std::string& name) {
  const auto& all = patterns<ProbeTransport>();
  return *std::ranges::find(all, name, [](const auto& entry) { return entry.info.name; });
}

/// Whether a pattern's arrays are right at all ranks before and after some rounds.
[[maybe_unused]] bool stays_right(const std::string& name, int ranks, std::size_t size_bytes,
                                  const std::string& axes) {
  bool found = false;
  ProbeTransport::launch(0, nullptr, ranks, Options{}, [&](ProbeTransport& transport) {
    const Case point{.size_bytes = size_bytes, .axes = Options::parse(axes, ',')};
    const auto pattern = entry_of(name).make(transport, point);
    bool right = pattern->verify();
    pattern->run(3);
    try {
      pattern->values();
    } catch (const InputError&) {
      right = false;
    }
    const bool all_right = transport.all(right);
    if (transport.rank() == 0) found = all_right;
  });
  return found;
}

constexpr const char* kernels[] = {"copy", "scale", "add", "triad"};

}  // namespace

TEST_CASE("kernels are there where a rank's computing takes the clock's time") {
  for (const std::string kernel : kernels) {
    CHECK((entry_of("memory-" + kernel).make != nullptr) == Computing<ProbeTransport>);
    const bool has_arrays = Computing<ProbeTransport> && OneSided<ProbeTransport>;
    CHECK((entry_of("array-" + kernel).make != nullptr) == has_arrays);
  }
}

TEST_CASE("STREAM counts every array that is read or written once") {
  for (const std::string room : {"memory-", "array-"}) {
    CHECK(entry_of(room + "copy").info.bytes_factor == 2);
    CHECK(entry_of(room + "scale").info.bytes_factor == 2);
    CHECK(entry_of(room + "add").info.bytes_factor == 3);
    CHECK(entry_of(room + "triad").info.bytes_factor == 3);
  }
}

TEST_CASE("arrays are right before and after timing, with none or one element at some ranks") {
  if constexpr (Computing<ProbeTransport>) {
    for (const std::string kernel : kernels)
      for (const int ranks : {1, 3})
        for (const std::size_t size_bytes : {0UL, 8UL, 16UL, 80000UL}) {
          CAPTURE(kernel);
          CAPTURE(size_bytes);
          CHECK(stays_right("memory-" + kernel, ranks, size_bytes, ""));
          if (has_streaming_stores)
            CHECK(stays_right("memory-" + kernel, ranks, size_bytes, "stores=streaming"));
        }
  }
}

TEST_CASE("shared arrays are right by every access and block") {
  if constexpr (Computing<ProbeTransport> && OneSided<ProbeTransport>) {
    for (const std::string kernel : kernels)
      for (const std::string access : {"for-all", "pointer", "block", "cast"})
        for (const std::string block : {"even", "1", "8", "16", "7", "100000"})
          for (const std::size_t size_bytes : {0UL, 8UL, 1600UL}) {
            CAPTURE(kernel);
            CAPTURE(access);
            CAPTURE(block);
            CHECK(stays_right("array-" + kernel, 3, size_bytes,
                              "access=" + access + ",block=" + block));
          }
  }
}

TEST_CASE("every sampled key is recovered by every access and block") {
  if constexpr (Computing<ProbeTransport> && OneSided<ProbeTransport>) {
    for (const std::string access : {"for-all", "pointer", "block", "cast"})
      for (const std::string block : {"even", "1", "8", "7", "100000"})
        for (const std::string keys : {"1", "50"}) {
          CAPTURE(access);
          CAPTURE(block);
          CHECK(
              stays_right("sdes", 3, 0, "access=" + access + ",block=" + block + ",keys=" + keys));
        }
  }
}

TEST_CASE("keys are recovered by tables that were built in shared arrays") {
  if constexpr (Computing<ProbeTransport> && OneSided<ProbeTransport>) {
    for (const std::string access : {"for-all", "pointer", "block", "cast"})
      for (const int ranks : {1, 3}) {
        CAPTURE(access);
        CHECK(stays_right("sdes", ranks, 0, "access=" + access + ",keys=20,tables=shared"));
      }
  }
}

TEST_CASE("tables of differences are right by every access and block") {
  if constexpr (Computing<ProbeTransport> && OneSided<ProbeTransport>) {
    for (const std::string table : {"sdes-dpt", "sdes-ddt"})
      for (const std::string access : {"for-all", "pointer", "block", "cast", "ordinary"}) {
        CAPTURE(table);
        CAPTURE(access);
        for (const std::string block : {"even", "1", "7", "16", "100000"}) {
          CAPTURE(block);
          CHECK(stays_right(table, 3, 0, "access=" + access + ",block=" + block));
        }
        CHECK(stays_right(table, 2, 0, "of=round,block=8,access=" + access));
      }
  }
}

TEST_CASE("tables have as many entries as differences, and unknown functions are refused") {
  if constexpr (Computing<ProbeTransport> && OneSided<ProbeTransport>) {
    ProbeTransport::launch(0, nullptr, 1, Options{}, [&](ProbeTransport& transport) {
      const auto entries = [&](const std::string& table, const std::string& axes) {
        const Case point{.size_bytes = 0, .axes = Options::parse(axes, ',')};
        const auto pattern = entry_of(table).make(transport, point);
        CHECK(pattern->verify());
        return pattern->values().front().value;
      };
      CHECK(entries("sdes-dpt", "") == 512);
      CHECK(entries("sdes-ddt", "") == 128);
      CHECK(entries("sdes-dpt", "of=round") == 65536);
      CHECK(entries("sdes-ddt", "of=round") == 4096);
      for (const std::string axes : {"of=key", "access=magic", "block=0"})
        CHECK_THROWS_AS(entries("sdes-dpt", axes), InputError);
      CHECK_THROWS_AS(entries("sdes", "tables=none"), InputError);
    });
  }
}

TEST_CASE("shared arrays without a block or with an unknown access are refused") {
  if constexpr (Computing<ProbeTransport> && OneSided<ProbeTransport>) {
    ProbeTransport::launch(0, nullptr, 1, Options{}, [&](ProbeTransport& transport) {
      for (const std::string axes : {"block=0", "block=x", "access=magic"})
        CHECK_THROWS_AS(entry_of("array-copy").make(transport, {8, Options::parse(axes, ','), {}}),
                        InputError);
    });
  }
}

}  // namespace nhalf::test_memory
