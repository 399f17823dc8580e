// Ranks are threads here; what they share is the same.
#include "interposer/shared_memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "contract/buffer.hpp"
#include "interposer/shared_operations.hpp"

namespace {

using nhalf::Buffer;
using nhalf::Bytes;
using nhalf::ConstBytes;
using nhalf::coll::SharedMemory;
using nhalf::coll::Slot;
namespace shared = nhalf::coll::shared;

/// Pairs (a, b) of bytes for x -> a x + b, whose composition does not commute.
struct Compose {
  static std::size_t element_bytes() { return 2; }
  void operator()(ConstBytes from, Bytes to) const {
    for (std::size_t i = 0; i + 1 < from.size(); i += 2) {
      const auto a = std::to_integer<unsigned>(from[i]);
      const auto b = std::to_integer<unsigned>(from[i + 1]);
      const auto c = std::to_integer<unsigned>(to[i]);
      const auto d = std::to_integer<unsigned>(to[i + 1]);
      to[i] = static_cast<std::byte>(a * c);
      to[i + 1] = static_cast<std::byte>(a * d + b);
    }
  }
};

void run(int ranks, const std::function<void(SharedMemory&)>& program) {
  Buffer memory(SharedMemory::size_bytes(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      SharedMemory own(memory.bytes().data(), rank, ranks);
      own.waiting.yield_soon();
      program(own);
    });
  for (auto& thread : threads) thread.join();
}

/// What rank `rank` gives in round `round`.
std::vector<std::byte> given(int rank, int round, std::size_t size_bytes) {
  std::mt19937 random(static_cast<unsigned>(rank * 1000 + round));
  std::vector<std::byte> data(size_bytes);
  for (auto& one : data) one = static_cast<std::byte>(random());
  return data;
}

std::vector<std::byte> combined(int first, int last, int round, std::size_t size_bytes) {
  auto all = given(last, round, size_bytes);
  for (int rank = last - 1; rank >= first; --rank) Compose{}(given(rank, round, size_bytes), all);
  return all;
}

bool equal(ConstBytes a, ConstBytes b) {
  return std::ranges::equal(a, b);
}

std::size_t size_of(int round) {
  static constexpr std::size_t sizes[]{2, 40, 48, 50, 1000, Slot::size_bytes, 3 * 8192 + 18};
  return sizes[round % 7];
}

}  // namespace

TEST_CASE("nobody leaves a barrier before all have come") {
  for (const int ranks : {2, 3, 5, 8, 9, 17}) {
    CAPTURE(ranks);
    std::atomic<int> came{0};
    std::atomic<int> early{0};
    run(ranks, [&](SharedMemory& memory) {
      for (int round = 1; round <= 50; ++round) {
        ++came;
        memory.barrier();
        if (came < ranks * round) ++early;
      }
    });
    CHECK(early == 0);
  }
}

TEST_CASE("roots may run ahead of ranks that are slow") {
  for (const int ranks : {2, 3, 6}) {
    std::atomic<int> wrong{0};
    run(ranks, [&](SharedMemory& memory) {
      for (int round = 0; round < 70; ++round) {
        const int root = round / 20 % ranks;
        const auto expected = given(root, round, size_of(round));
        std::vector<std::byte> data(expected.size());
        if (memory.rank() == root) data = expected;
        if (memory.rank() == 1 && round % 10 == 0) std::this_thread::yield();
        shared::bcast(memory, root, data);
        if (data != expected) ++wrong;
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("terms are combined in the order of ranks, in place or not") {
  for (const int ranks : {2, 3, 5}) {
    std::atomic<int> wrong{0};
    run(ranks, [&](SharedMemory& memory) {
      const int rank = memory.rank();
      for (int round = 0; round < 70; ++round) {
        const auto in = given(rank, round, size_of(round));
        auto out = in;
        shared::allreduce(memory, out, out, Compose{});
        if (out != combined(0, ranks - 1, round, in.size())) ++wrong;
        shared::scan(memory, in, out, Compose{});
        if (out != combined(0, rank, round, in.size())) ++wrong;
        const int root = round % ranks;
        shared::reduce(memory, root, in, rank == root ? Bytes(out) : Bytes(), Compose{});
        if (rank == root && out != combined(0, ranks - 1, round, in.size())) ++wrong;
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("blocks come to where they belong, in parts where slots are too small") {
  for (const int ranks : {2, 3, 5}) {
    std::atomic<int> wrong{0};
    run(ranks, [&](SharedMemory& memory) {
      const int rank = memory.rank();
      const auto block_at = [](ConstBytes all, int number, std::size_t size) {
        return all.subspan(static_cast<std::size_t>(number) * size, size);
      };
      for (int round = 0; round < 14; ++round) {
        const auto size = size_of(round);
        const auto all_size = size * static_cast<std::size_t>(ranks);
        const int root = round % ranks;
        std::vector<std::byte> out(all_size);
        shared::allgather(memory, given(rank, round, size), out);
        for (int i = 0; i < ranks; ++i)
          if (!equal(block_at(out, i, size), given(i, round, size))) ++wrong;
        std::vector<std::byte> gathered(all_size);
        shared::gather(memory, root, given(rank, round, size),
                       rank == root ? Bytes(gathered) : Bytes());
        if (rank == root && gathered != out) ++wrong;
        const auto mine = given(rank, round, all_size);
        shared::alltoall(memory, mine, out);
        for (int i = 0; i < ranks; ++i)
          if (!equal(block_at(out, i, size), block_at(given(i, round, all_size), rank, size)))
            ++wrong;
        std::vector<std::byte> block(size);
        shared::scatter(memory, root, mine, block);
        if (!equal(block, block_at(given(root, round, all_size), rank, size))) ++wrong;
        shared::reduce_scatter(memory, mine, block, Compose{});
        if (!equal(block, block_at(combined(0, ranks - 1, round, all_size), rank, size))) ++wrong;
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("whoever waits lets the library go on") {
  static std::atomic<bool> helped{false};
  Buffer memory(SharedMemory::size_bytes(2));
  SharedMemory waits(memory.bytes().data(), 0, 2);
  SharedMemory comes(memory.bytes().data(), 1, 2);
  waits.waiting.progress = [](void*) {
    helped = true;
    return 0;
  };
  // The other one comes only when the first has made progress.
  std::thread other([&] {
    while (!helped) std::this_thread::yield();
    comes.barrier();
  });
  waits.barrier();
  other.join();
  CHECK(helped);
}

TEST_CASE("an error of the library ends a wait") {
  Buffer memory(SharedMemory::size_bytes(2));
  SharedMemory waits(memory.bytes().data(), 0, 2);
  waits.waiting.progress = [](void*) { return 17; };
  CHECK_THROWS_AS(waits.barrier(), nhalf::coll::Failed);
}

TEST_CASE("an element larger than a slot has no part") {
  CHECK(shared::part_bytes(Slot::size_bytes + 1, 1) == 0);
  CHECK(shared::part_bytes(16, 1000) == 0);
  CHECK(shared::part_bytes(12, 2) == Slot::size_bytes / 2 / 12 * 12);
}
