// What many simulated ranks cost grows with their messages.
#include <doctest/doctest.h>

#include <cmath>

#include "algorithms/barrier/dissemination.hpp"
#include "algorithms/bcast/trees.hpp"
#include "transports/model.hpp"

namespace nhalf::test_model_scale {

namespace {

struct Counted {
  std::uint64_t messages = 0;
  std::uint64_t turns = 0;
};

/// What it takes that all ranks begin, do something and meet.
template <class Body>
Counted counted(int ranks, Body body) {
  Counted all;
  ModelTransport::launch(0, nullptr, ranks, Options{}, [&](ModelTransport& t) {
    body(t);
    t.barrier();
    if (t.rank() == 0) all = {t.messages_sent(), t.turns()};
  });
  return all;
}

}  // namespace

TEST_CASE("a rank goes on once for a message that it waits for, and once for a barrier") {
  for (const int ranks : {16, 256, 4096}) {
    CAPTURE(ranks);
    const auto p = static_cast<std::uint64_t>(ranks);
    const auto broadcast = counted(ranks, [](ModelTransport& t) {
      std::byte data[8]{};
      algorithms::bcast::binomial(t, 0, Bytes(data));
    });
    CHECK(broadcast.messages == p - 1);
    CHECK(broadcast.turns <= broadcast.messages + 2 * p + 1);
    const auto barrier =
        counted(ranks, [](ModelTransport& t) { algorithms::barrier::dissemination(t); });
    CHECK(barrier.messages == p * static_cast<std::uint64_t>(std::log2(ranks)));
    CHECK(barrier.turns <= barrier.messages + 2 * p + 1);
  }
}

TEST_CASE("ranks wait for what rank 0 says only where it has not said it yet") {
  constexpr std::uint64_t ranks = 1000, sayings = 50;
  const auto said = counted(ranks, [](ModelTransport& t) {
    for (std::uint64_t saying = 0; saying < sayings; ++saying) {
      auto number = saying;
      share(t, number);
      CHECK(number == saying);
      const double mine = t.rank();
      CHECK(collect(t, std::span(&mine, 1)).size() == (t.rank() == 0 ? ranks : 0));
    }
  });
  CHECK(said.messages == 0);
  CHECK(said.turns <= (sayings + 2) * ranks + 1);
}

}  // namespace nhalf::test_model_scale
