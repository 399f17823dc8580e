#include "transports/am/pieces.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include "contract/buffer.hpp"
#include "transports/am/team.hpp"

using namespace nhalf;
using namespace nhalf::am;

namespace {

constexpr std::size_t piece_sizes[] = {0, 1, 48, 49, 1000, 4096, 4097, 100'000, 7};
constexpr int rounds = 20;

/// A message of each size from rank 0 to 1, and back; the receiver starts later where it is told.
class Talk {
 public:
  Talk(Rank& rank) : rank_(rank), pieces_(rank) {}

  void send(std::size_t size_bytes) {
    Buffer out(size_bytes);
    out.fill(static_cast<std::uint32_t>(size_bytes));
    ConstBytes rest = out.bytes();
    bool first = true;
    patience_.until([&] { return pieces_.push(peer(), rest, first); });
  }
  bool receive(std::size_t size_bytes) {
    Buffer in(size_bytes);
    Bytes rest = in.bytes();
    bool first = true;
    patience_.until([&] { return pieces_.pull(peer(), rest, first); });
    return in.holds(static_cast<std::uint32_t>(size_bytes));
  }
  void finish() {
    rank_.until(peer(), [&] { return pieces_.all_pulled(peer()); });
  }

 private:
  [[nodiscard]] int peer() const { return 1 - rank_.rank(); }

  Rank& rank_;
  Pieces pieces_;
  Patience patience_ = crowded();
};

}  // namespace

TEST_CASE("messages of every size arrive in their order, wanted or not when they come") {
  const Layout layout{.slots = 4, .chunks = 2, .chunk_bytes = 8192, .region_bytes = 0};
  int right = 0;
  on_team(layout, {}, [&](Rank& rank, const auto& meet) {
    Talk talk(rank);
    meet();
    for (int round = 0; round < rounds; ++round)
      for (const auto size_bytes : piece_sizes) {
        // Without a wait for the receiver several messages lie there unwanted.
        if (rank.rank() == 0) talk.send(size_bytes);
        if (rank.rank() == 1 && talk.receive(size_bytes)) ++right;
      }
    if (rank.rank() == 0) talk.finish();
  });
  CHECK(right == rounds * static_cast<int>(std::size(piece_sizes)));
}

TEST_CASE("messages cross each other") {
  const Layout layout{.slots = 4, .chunks = 2, .chunk_bytes = 8192, .region_bytes = 0};
  std::atomic<int> right{0};
  on_team(layout, {}, [&](Rank& rank, const auto& meet) {
    Talk talk(rank);
    meet();
    for (const auto size_bytes : {100UL, 5000UL}) {
      talk.send(size_bytes);
      if (talk.receive(size_bytes)) ++right;
    }
    talk.finish();
    meet();
  });
  CHECK(right == 4);
}
