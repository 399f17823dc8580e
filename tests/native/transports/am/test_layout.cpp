#include "transports/am/layout.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

using namespace nhalf::am;

namespace {

constexpr Limits limits{.medium_bytes = 64, .region_bytes = 1000};

Header header(Kind kind, std::uint8_t count = 0) {
  return {.kind = static_cast<std::uint8_t>(kind), .count = count};
}
Header placed(std::uint64_t offset, std::uint64_t length_bytes) {
  auto made = header(Kind::long_message);
  made.words[offset_at] = offset;
  made.words[length_at] = length_bytes;
  return made;
}

}  // namespace

TEST_CASE("headers that can be used have no fault") {
  CHECK(fault(header(Kind::done), limits, false).empty());
  CHECK(fault(header(Kind::short_message, 7), limits, true).empty());
  CHECK(fault(header(Kind::medium_message, 6), limits, true).empty());
  CHECK(fault(header(Kind::long_message, 5), limits, true).empty());
  CHECK(fault(placed(0, 1000), limits, true).empty());
  CHECK(fault(placed(1000, 0), limits, true).empty());
}

TEST_CASE("each part of a header that cannot be right is a fault") {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  CHECK(fault(Header{.kind = kinds}, limits, true) == "a kind of message that does not exist");
  CHECK(fault(header(Kind::short_message), limits, false) == "a handler that does not exist");
  for (const auto kind :
       {Kind::done, Kind::short_message, Kind::medium_message, Kind::long_message})
    CHECK(fault(header(kind, static_cast<std::uint8_t>(words_of(kind) + 1)), limits, true) ==
          "more words than fit");
  auto medium = header(Kind::medium_message);
  medium.words[length_at] = 65;
  CHECK(fault(medium, limits, true) == "a payload longer than its slot");
  for (const auto& outside : {placed(0, 1001), placed(1001, 0), placed(1000, 1), placed(most, 2),
                              placed(2, most), placed(most, most)})
    CHECK(fault(outside, limits, true) == "a payload outside of the region");
}
