#include "host/streaming_stores.hpp"

#include <doctest/doctest.h>

TEST_CASE("a copy past the caches writes all its bytes and no others, wherever they begin") {
  std::vector<std::byte> from(200), expected(200), to(200);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i + 1);
  for (std::size_t start = 0; start < 33; ++start)
    for (const std::size_t size_bytes : {0, 1, 7, 15, 16, 17, 31, 64, 150}) {
      to.assign(to.size(), {});
      expected = to;
      std::copy_n(from.begin(), size_bytes, expected.begin() + static_cast<std::ptrdiff_t>(start));
      nhalf::copy_past_caches(to.data() + start, from.data(), size_bytes);
      nhalf::end_streaming_stores();
      CHECK(to == expected);
    }
}
