#include "timing/interruptions.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>

namespace nhalf {
namespace {

/// A clock that takes 1/16 us to read. At multiples of each period, but 0, somebody keeps the
/// processor for the length that belongs to it.
struct Disturbed {
  static constexpr double reading_s = 0x1p-24;
  std::map<std::uint64_t, double> lengths_s;
  std::uint64_t readings = 0;
  double clock_s = 0;

  double now_s() {
    clock_s += reading_s;
    ++readings;
    for (const auto& [period, length_s] : lengths_s)
      if (readings % period == 0) clock_s += length_s;
    return clock_s;
  }
};

std::map<std::string, double> values_of(Disturbed clock, std::uint64_t readings) {
  Interruptions<Disturbed> found(clock);
  found.watch(7);
  found.reset();
  clock.readings = 0;
  clock.clock_s = 0;
  found.watch(readings);
  std::map<std::string, double> values;
  for (const auto& value : found.values()) values[value.name] = value.value;
  return values;
}

}  // namespace

TEST_CASE("a processor of one's own is never interrupted") {
  const auto values = values_of({}, 1000);
  CHECK(values.size() == 1);
  CHECK(values.at("watched_s") == 1000 * Disturbed::reading_s);
  CHECK(values_of({}, 0).at("watched_s") == 0);
}

TEST_CASE("interruptions are told by their length, and each kind by how often it comes") {
  // 8 us every 65536 readings, 2 ms every 2^20.
  const auto values = values_of({{{65536, 0x1p-17}, {1 << 20, 0x1p-9}}}, 1 << 22);
  CHECK(values.at("count_1us") == 60);
  CHECK(values.at("length_1us_s") == 0x1p-17);
  CHECK(values.at("lost_1us_s") == 60 * 0x1p-17);
  CHECK(values.at("count_1ms") == 4);
  CHECK(values.at("length_1ms_s") == 0x1p-9 + 0x1p-17);
  CHECK(values.at("lost_1ms_s") == 4 * (0x1p-9 + 0x1p-17));
  CHECK(values.count("count_10us") == 0);
}

TEST_CASE("what is short is no interruption") {
  const auto values = values_of({{{900, 0x1p-17}, {300, 0x1p-21}}}, 1000);
  CHECK(values.at("count_1us") == 1);
  CHECK(values.at("lost_1us_s") == 0x1p-17 + 0x1p-21);
}

TEST_CASE("what comes after the last that is kept counts for nothing") {
  const auto most = Interruptions<Disturbed>::kept_most;
  const auto values = values_of({{{4, 0x1p-17}}}, 5 * most);
  CHECK(values.at("count_1us") == most);
  CHECK(values.at("watched_s") ==
        most * (4 * Disturbed::reading_s + 0x1p-17) - Disturbed::reading_s);
}

}  // namespace nhalf
