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
#include "given.hpp"
#include "interposer/shared_reductions.hpp"

namespace {

using nhalf::Buffer;
using nhalf::Bytes;
using nhalf::ConstBytes;
using nhalf::coll::SharedMemory;
using nhalf::coll::Slot;
using nhalf::coll::given::combined;
using nhalf::coll::given::Compose;
using nhalf::coll::given::equal;
using nhalf::coll::given::term;
namespace shared = nhalf::coll::shared;

void run(int ranks, const std::function<void(SharedMemory&)>& program, bool is_streaming = false) {
  Buffer memory(SharedMemory::size_bytes(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      SharedMemory own(memory.bytes().data(), rank, ranks);
      own.waiting.yield_soon();
      const shared::Streaming streaming(is_streaming ? &own : nullptr);
      program(own);
    });
  for (auto& thread : threads) thread.join();
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
    for (const bool is_streaming : {false, true}) {
      std::atomic<int> wrong{0};
      run(
          ranks,
          [&](SharedMemory& memory) {
            for (int round = 0; round < 70; ++round) {
              const int root = round / 20 % ranks;
              const auto expected = term(root, round, size_of(round));
              std::vector<std::byte> data(expected.size());
              if (memory.rank() == root) data = expected;
              if (memory.rank() == 1 && round % 10 == 0) std::this_thread::yield();
              shared::bcast(memory, root, data);
              if (data != expected) ++wrong;
            }
          },
          is_streaming);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("terms are combined in the order of ranks, in place or not") {
  for (const int ranks : {2, 3, 5}) {
    std::atomic<int> wrong{0};
    run(ranks, [&](SharedMemory& memory) {
      const int rank = memory.rank();
      for (int round = 0; round < 70; ++round) {
        const auto in = term(rank, round, size_of(round));
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

TEST_CASE("long vectors are combined in shares, with the bits of short ones") {
  static constexpr std::size_t sizes[]{4098, 32768, 32770, 70002};
  for (const int ranks : {3, 4, 7}) {
    for (const bool is_streaming : {false, true}) {
      std::atomic<int> wrong{0};
      run(
          ranks,
          [&](SharedMemory& memory) {
            const int rank = memory.rank();
            for (int round = 0; round < 8; ++round) {
              const auto in = term(rank, round, sizes[round % 4]);
              const auto expected = combined(0, ranks - 1, round, in.size());
              // Broadcasts let the ranks' counts of free slots differ.
              const int root = round % ranks;
              for (int i = 0; i < round; ++i) {
                std::byte byte{static_cast<unsigned char>(i)};
                shared::bcast(memory, root, {&byte, 1});
              }
              auto out = in;
              shared::allreduce(memory, round % 2 == 0 ? ConstBytes(out) : in, out, Compose{});
              if (out != expected) ++wrong;
              out = in;
              shared::reduce(memory, root, round % 2 == 0 ? ConstBytes(out) : in,
                             rank == root ? Bytes(out) : Bytes(), Compose{});
              if (out != (rank == root ? expected : in)) ++wrong;
            }
          },
          is_streaming);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("shares of all ranks make the vector, also where ranks are more than elements") {
  for (const std::size_t elements : {0, 1, 5, 8, 1000}) {
    const nhalf::coll::Shares shares(12 * elements, 12, 7);
    std::size_t end = 0;
    for (int rank = 0; rank < 7; ++rank) {
      CHECK(shares.start_bytes(rank) == end);
      CHECK(shares.size_bytes(rank) % 12 == 0);
      CHECK(shares.size_bytes(rank) <= shares.largest_bytes());
      end += shares.size_bytes(rank);
    }
    CHECK(end == 12 * elements);
  }
}

TEST_CASE("blocks come to where they belong, in parts where slots are too small") {
  for (const int ranks : {2, 3, 5}) {
    for (const bool is_streaming : {false, true}) {
      std::atomic<int> wrong{0};
      run(
          ranks,
          [&](SharedMemory& memory) {
            const int rank = memory.rank();
            const auto block_at = [](ConstBytes all, int number, std::size_t size) {
              return all.subspan(static_cast<std::size_t>(number) * size, size);
            };
            for (int round = 0; round < 14; ++round) {
              const auto size = size_of(round);
              const auto all_size = size * static_cast<std::size_t>(ranks);
              const int root = round % ranks;
              std::vector<std::byte> out(all_size);
              shared::allgather(memory, term(rank, round, size), out);
              for (int i = 0; i < ranks; ++i)
                if (!equal(block_at(out, i, size), term(i, round, size))) ++wrong;
              std::vector<std::byte> gathered(all_size);
              shared::gather(memory, root, term(rank, round, size),
                             rank == root ? Bytes(gathered) : Bytes());
              if (rank == root && gathered != out) ++wrong;
              const auto mine = term(rank, round, all_size);
              shared::alltoall(memory, mine, out);
              for (int i = 0; i < ranks; ++i)
                if (!equal(block_at(out, i, size), block_at(term(i, round, all_size), rank, size)))
                  ++wrong;
              std::vector<std::byte> block(size);
              shared::scatter(memory, root, mine, block);
              if (!equal(block, block_at(term(root, round, all_size), rank, size))) ++wrong;
              shared::reduce_scatter(memory, mine, block, Compose{});
              if (!equal(block, block_at(combined(0, ranks - 1, round, all_size), rank, size)))
                ++wrong;
            }
          },
          is_streaming);
      CHECK(wrong == 0);
    }
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
