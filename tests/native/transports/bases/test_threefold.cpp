// Of three copies, two that agree count at each bit.
#include "transports/bases/threefold.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

using nhalf::copies, nhalf::restore, nhalf::threefold;

TEST_CASE("a bit that is wrong in one copy does no harm, wherever it is") {
  const std::vector<std::byte> data{std::byte{0x00}, std::byte{0xff}, std::byte{0x5a}};
  for (std::size_t bit = 0; bit < copies * data.size() * 8; ++bit) {
    auto sent = threefold(data);
    sent[bit / 8] ^= std::byte{1} << bit % 8;
    std::vector<std::byte> arrived(data.size());
    restore(sent, arrived);
    CHECK(arrived == data);
  }
}

TEST_CASE("different bits may be wrong in different copies, the same bit may not") {
  const std::vector<std::byte> data{std::byte{0}};
  std::vector<std::byte> arrived(1);
  restore(std::vector{std::byte{1}, std::byte{2}, std::byte{4}}, arrived);
  CHECK(arrived == data);
  restore(std::vector{std::byte{1}, std::byte{1}, std::byte{0}}, arrived);
  CHECK(arrived[0] == std::byte{1});
}

TEST_CASE("nothing has three empty copies") {
  const auto sent = threefold({});
  CHECK(sent.empty());
  restore(sent, {});
}
