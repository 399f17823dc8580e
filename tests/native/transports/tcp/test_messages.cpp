#include "transports/tcp/messages.hpp"

#include <doctest/doctest.h>

#include <barrier>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "contract/buffer.hpp"
#include "transports/tcp/mesh.hpp"

using nhalf::Buffer;
using namespace nhalf::tcp;

namespace {

/// Runs a body as every rank, in a thread each, over connections of this host.
void on_ranks(int ranks, const std::function<void(int, Messages&)>& body) {
  const auto token = Token::random();
  std::vector<Listener> listeners;
  std::vector<Place> places;
  for (int rank = 0; rank < ranks; ++rank) {
    listeners.emplace_back("127.0.0.1", ranks);
    places.push_back(Place{"here", listeners.back().port(), {"127.0.0.1"}});
  }
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      const auto& listener = listeners[static_cast<std::size_t>(rank)];
      std::vector<int> processes;
      for (int peer = 0; peer < ranks; ++peer) processes.push_back(4710 + peer);
      Messages messages(rank, Mesh(rank, ranks, token).connect(listener, places), processes, 0);
      body(rank, messages);
    });
}

std::uint32_t seed_of(int from, int to) {
  return static_cast<std::uint32_t>(from * 16 + to);
}

/// Sends a message to every other rank and takes one from each; whether all are right.
bool swaps_with_all(int rank, int ranks, Messages& messages, std::size_t size_bytes) {
  std::vector<Buffer> out, in;
  std::vector<Request> sends, receives;
  for (int peer = 0; peer < ranks; ++peer) {
    out.emplace_back(size_bytes).fill(seed_of(rank, peer));
    in.emplace_back(size_bytes);
  }
  for (int peer = 0; peer < ranks; ++peer) {
    const auto at = static_cast<std::size_t>(peer);
    if (peer == rank) continue;
    sends.push_back(messages.start_send(peer, out[at].bytes()));
    receives.push_back(messages.start_receive(peer, in[at].bytes()));
  }
  std::size_t taken = 0;
  while (messages.finish_any(receives) < receives.size()) ++taken;
  for (auto& request : sends) messages.finish(request);
  bool right = taken == receives.size();
  for (int peer = 0; peer < ranks; ++peer)
    right =
        right && (peer == rank || in[static_cast<std::size_t>(peer)].holds(seed_of(peer, rank)));
  return right;
}

}  // namespace

TEST_CASE("ranks swap messages of all sizes with all others, and in order") {
  for (const int ranks : {2, 3, 5}) {
    std::barrier all_done(ranks);
    on_ranks(ranks, [&](int rank, Messages& messages) {
      for (const std::size_t size : {0UL, 1UL, 5000UL, 3000000UL, 64UL})
        CHECK(swaps_with_all(rank, ranks, messages, size));
      all_done.arrive_and_wait();
    });
  }
}

TEST_CASE("a rank that is gone is named") {
  std::string said;
  // Ranks 0 and 1 stay until both have learnt it: the first to go would be named in its place.
  std::barrier both_know(2);
  on_ranks(3, [&](int rank, Messages& messages) {
    if (rank == 2) return;
    Buffer in(8);
    if (rank == 1) {
      // Waits for rank 0, and learns that rank 2 has ended.
      auto request = messages.start_receive(0, in.bytes());
      try {
        messages.finish(request);
      } catch (const std::runtime_error& error) {
        said = error.what();
      }
    } else {
      auto request = messages.start_receive(1, in.bytes());
      CHECK_THROWS_AS(messages.finish(request), std::runtime_error);
    }
    both_know.arrive_and_wait();
  });
  CHECK(said.ends_with("rank 2 (process 4712) has ended before the others"));
}

TEST_CASE("another size than expected is refused, with the rank") {
  on_ranks(2, [](int rank, Messages& messages) {
    Buffer buffer(100);
    if (rank == 0) {
      auto request = messages.start_send(1, buffer.bytes());
      messages.finish(request);
      auto answer = messages.start_receive(1, buffer.bytes());
      CHECK_THROWS(messages.finish(answer));
    } else {
      auto request = messages.start_receive(0, buffer.bytes().first(99));
      CHECK_THROWS_WITH(messages.finish(request),
                        "rank 0 has sent 100 bytes where 99 were expected");
    }
  });
}
