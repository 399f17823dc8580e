#include "host/cache.hpp"

#include <doctest/doctest.h>

TEST_CASE("sizes as the kernel writes them") {
  CHECK(nhalf::cache_bytes("32K") == 32768);
  CHECK(nhalf::cache_bytes("36608K") == 36608UL * 1024);
  CHECK(nhalf::cache_bytes("260M") == 260UL << 20);
  CHECK(nhalf::cache_bytes("512") == 512);
  for (const auto* nothing : {"", "K", "12Q", "9999999999K", "-1"}) {
    CAPTURE(nothing);
    CHECK(nhalf::cache_bytes(nothing) == 0);
  }
}

TEST_CASE("there is a last level of cache on every machine") {
  CHECK(nhalf::last_level_cache_bytes() >= 32768);
}

TEST_CASE("a filler fills, again and again") {
  nhalf::CacheFiller filler(1);
  for (int turn = 0; turn < 3; ++turn) filler.fill();
  CHECK(filler.size_bytes() >=
        std::min(2 * nhalf::last_level_cache_bytes(), nhalf::Buffer::largest_bytes()));
}

TEST_CASE("the memory of a host is shared by its own ranks, and is enough or none") {
  constexpr std::size_t MiB = std::size_t{1} << 20;
  CHECK(nhalf::filler_bytes(32 * MiB, 4096 * MiB, 2) == 64 * MiB);
  CHECK(nhalf::filler_bytes(32 * MiB, 4096 * MiB, 100) == 4096 * MiB / 100);
  CHECK(nhalf::filler_bytes(32 * MiB, 4096 * MiB, 128) == 32 * MiB);
  CHECK(nhalf::filler_bytes(32 * MiB, 4096 * MiB, 129) == 0);
  CHECK_THROWS_AS(nhalf::CacheFiller(std::size_t{1} << 40), std::bad_alloc);
}
