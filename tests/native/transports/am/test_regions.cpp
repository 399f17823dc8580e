#include "transports/am/regions.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>

#include "contract/buffer.hpp"
#include "transports/am/team.hpp"

using namespace nhalf;
using namespace nhalf::am;

namespace {

constexpr std::size_t sizes[] = {0, 8, 100, 4096, 4097, 100'000};
const Layout two_chunks{.slots = 4, .chunks = 2, .chunk_bytes = 8192, .region_bytes = 1 << 20};

/// Rank 0 puts, tells rank 1 by a signal, and gets the same back.
bool put_and_get(Rank& rank, Regions& regions, const Exposed& part, std::size_t size_bytes) {
  constexpr std::size_t offset = 64;
  const auto seed = static_cast<std::uint32_t>(size_bytes + 1);
  if (rank.rank() == 1) {
    regions.await_signal(part, 3);
    return holds(part.local().subspan(offset, size_bytes), seed);
  }
  Buffer out(size_bytes), in(size_bytes);
  out.fill(seed);
  regions.put(part, 1, offset, out.bytes());
  regions.signal(part, 1, 3);
  regions.get(part, 1, offset, in.bytes());
  return in.holds(seed);
}

}  // namespace

TEST_CASE("puts and gets reach what another rank exposes, by copies and by messages") {
  for (const bool by_messages : {false, true}) {
    CAPTURE(by_messages);
    std::array<int, 2> right{};
    on_team(two_chunks, {}, [&](Rank& rank, const auto& meet) {
      Regions regions(rank, by_messages);
      auto part = regions.expose(200'000);
      meet();
      for (const auto size_bytes : sizes) {
        const bool good = put_and_get(rank, regions, part, size_bytes);
        right[static_cast<std::size_t>(rank.rank())] += good ? 1 : 0;
        // Rank 1 looks after what rank 0 asks for, until that has it all.
        const bool gets = rank.rank() == 0;
        if (gets) regions.signal(part, 1, 4);
        if (!gets) regions.await_signal(part, 4);
        meet();
      }
      rank.settle(1 - rank.rank());
    });
    CHECK(right[0] == std::size(sizes));
    CHECK(right[1] == std::size(sizes));
  }
}

TEST_CASE("an access to what is not exposed is refused at the rank that was asked") {
  bool refused = false;
  on_team(two_chunks, {}, [&](Rank& rank, const auto& meet) {
    Regions regions(rank, true);
    auto part = regions.expose(64);
    meet();
    if (rank.rank() == 0) {
      const std::array<std::byte, 8> word{};
      regions.put(part, 1, 1 << 19, word);
    }
    meet();
    if (rank.rank() == 1) {
      try {
        rank.poll();
      } catch (const Malformed&) {
        refused = true;
      }
    }
    meet();
  });
  CHECK(refused);
}
