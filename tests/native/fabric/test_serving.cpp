#include "fabric/sender.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <utility>

#include "fabric/network_of_test.hpp"

namespace {

using nhalf::fabric::Access;
using nhalf::fabric::Asked;
using nhalf::fabric::Completion;
using nhalf::fabric::Completions;
using nhalf::fabric::Failure;
using nhalf::fabric::never;
using nhalf::fabric::RankOfTest;
using Network = nhalf::fabric::NetworkOfTest;

/// Rank 0 reaches into eight bytes of rank 1 under the key 5.
struct TwoRanks {
  TwoRanks() {
    origin.endpoints.add().of_sends = &queue;
    target.accesses.open(5, reinterpret_cast<std::byte*>(&memory), sizeof memory);
  }
  /// Asks, lets rank 1 serve it, and rank 0 take the answer.
  void access(const Access& access, Asked asked) {
    nhalf::fabric::Endpoint from(0);
    const iovec operand{&sent, access.kind == Access::Kind::put ? sizeof sent : 0};
    origin.serving.ask(from, {1, 0}, access, {&operand, 1}, std::move(asked));
    target.serving.serve(network.delivered(1));
    CHECK(queue.due() == never);
    origin.serving.serve(network.delivered(0));
  }
  static Access of(Access::Kind kind) {
    Access access;
    access.kind = kind;
    access.key = 5;
    access.size_bytes = sizeof(std::uint64_t);
    return access;
  }

  Network network;
  RankOfTest origin{network, 0};
  RankOfTest target{network, 1};
  Completions queue;
  std::uint64_t memory = 11;
  std::uint64_t sent = 22;
  std::uint64_t received = 0;
};

TEST_CASE("a get brings what is there after a round trip, without the target's processor") {
  TwoRanks ranks;
  Asked asked;
  asked.parts = {{&ranks.received, sizeof ranks.received}};
  asked.context = &asked;
  asked.size_bytes = sizeof ranks.received;
  ranks.access(TwoRanks::of(Access::Kind::get), asked);
  CHECK(ranks.received == 11);
  const auto completion = ranks.queue.take();
  CHECK(completion.at == Network::send + 2 * Network::transit + 8 * Network::per_byte);
  CHECK(completion.cost == Network::receive);
  CHECK(completion.context == &asked);
  CHECK(completion.is_access);
  CHECK(completion.size_bytes == 8);
  CHECK(ranks.network.member(1).now == 0);
  CHECK(ranks.network.region.messages == 2);
}

TEST_CASE("a put changes what is there and is counted") {
  TwoRanks ranks;
  std::uint64_t puts = 0;
  Asked asked;
  asked.counter = &puts;
  asked.is_reported = false;
  ranks.access(TwoRanks::of(Access::Kind::put), asked);
  CHECK(ranks.memory == 22);
  CHECK(puts == 1);
  CHECK(ranks.queue.due() == never);
}

TEST_CASE("an access to memory that is not there fails aloud") {
  TwoRanks ranks;
  auto access = TwoRanks::of(Access::Kind::get);
  access.key = 6;
  Asked asked;
  asked.is_reported = false;
  ranks.access(access, asked);
  CHECK(ranks.queue.take().failure == Failure::no_memory);
}

TEST_CASE("what has been served gives its memory back") {
  TwoRanks ranks;
  ranks.access(TwoRanks::of(Access::Kind::put), {});
  ranks.queue.take();
  const auto top = ranks.network.region.network.heap.top;
  for (int round = 0; round < 100; ++round) {
    ranks.access(TwoRanks::of(Access::Kind::put), {});
    ranks.queue.take();
  }
  CHECK(ranks.network.region.network.heap.top == top);
}

}  // namespace
