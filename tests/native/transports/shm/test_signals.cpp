#include "transports/shm/signals.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace nhalf {

namespace {

/// Ranks in one thread, each with the beginning of its memory and a place for what is put there.
class Ranks {
 public:
  explicit Ranks(int count) : data_(static_cast<std::size_t>(count)) {
    for (int rank = 0; rank < count; ++rank) {
      auto& own = memory_.emplace_back(Signals::room_bytes(count) / sizeof(CarriedLine));
      starts_.push_back(reinterpret_cast<std::byte*>(own.data()));
    }
    for (int rank = 0; rank < count; ++rank) signals_.emplace_back(starts_, rank);
  }

  Signals& at(int rank) { return signals_[static_cast<std::size_t>(rank)]; }
  std::uint64_t& data(int rank) { return data_[static_cast<std::size_t>(rank)]; }

  /// As a transport does it; whether the put was carried.
  bool put_and_signal(int from, int to, std::uint64_t value, int slot = 0) {
    if (at(from).raise_with_put(to, std::as_bytes(std::span(&value, 1)), 0, slot)) return true;
    data(to) = value;
    at(from).raise_in_turn(to, slot);
    return false;
  }
  bool take(int rank, int slot = 0) {
    return at(rank).take(slot, std::as_writable_bytes(std::span(&data(rank), 1)));
  }

 private:
  std::vector<std::vector<CarriedLine>> memory_;
  std::vector<std::byte*> starts_;
  std::vector<Signals> signals_;
  std::vector<std::uint64_t> data_;
};

}  // namespace

TEST_CASE("each signal is taken once, with its put, whoever sends and however it travels") {
  Ranks ranks(3);
  CHECK_FALSE(ranks.take(1));
  CHECK(ranks.put_and_signal(0, 1, 7));
  CHECK(ranks.take(1));
  CHECK(ranks.data(1) == 7);
  CHECK_FALSE(ranks.take(1));
  ranks.at(2).raise(1, 0);
  CHECK(ranks.take(1));
  CHECK_FALSE(ranks.take(1));
}

TEST_CASE("without an answer puts go their way one by one, and a line is used again after one") {
  Ranks ranks(2);
  CHECK(ranks.put_and_signal(0, 1, 1));
  CHECK_FALSE(ranks.put_and_signal(0, 1, 2));
  CHECK_FALSE(ranks.put_and_signal(1, 0, 3));
  CHECK(ranks.take(0));
  CHECK(ranks.data(0) == 3);
  CHECK(ranks.take(1));
  CHECK(ranks.take(1));
  CHECK_FALSE(ranks.take(1));
  CHECK(ranks.put_and_signal(1, 0, 4));
  CHECK(ranks.take(0));
  CHECK(ranks.put_and_signal(0, 1, 5));
}

TEST_CASE("a put of another signal than the one awaited is there when its own is") {
  Ranks ranks(2);
  CHECK(ranks.put_and_signal(0, 1, 9, 4));
  CHECK_FALSE(ranks.take(1, 3));
  CHECK(ranks.take(1, 4));
  CHECK(ranks.data(1) == 9);
}

TEST_CASE("a rank sends nothing to itself by a line") {
  Ranks ranks(2);
  CHECK_FALSE(ranks.put_and_signal(1, 1, 9));
  CHECK(ranks.take(1));
}

TEST_CASE("no signal is lost or taken twice, in any order of ranks and of turns") {
  std::mt19937 random(1);
  constexpr int count = 4;
  Ranks ranks(count);
  std::array<std::array<int, count>, count> sent{}, seen{};
  for (int step = 0; step < 20'000; ++step) {
    const int from = static_cast<int>(random() % count);
    const int to = static_cast<int>(random() % count);
    if (random() % 2 == 0) {
      // Each pair has a slot, so that signals tell who sent them.
      ranks.put_and_signal(from, to, 0, from * count + to);
      ++sent.at(static_cast<std::size_t>(from)).at(static_cast<std::size_t>(to));
    } else if (ranks.take(to, from * count + to)) {
      ++seen.at(static_cast<std::size_t>(from)).at(static_cast<std::size_t>(to));
    }
  }
  for (int from = 0; from < count; ++from)
    for (int to = 0; to < count; ++to) {
      auto& taken = seen.at(static_cast<std::size_t>(from)).at(static_cast<std::size_t>(to));
      while (ranks.take(to, from * count + to)) ++taken;
    }
  CHECK(seen == sent);
}

}  // namespace nhalf
