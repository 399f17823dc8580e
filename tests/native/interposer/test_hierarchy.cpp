// Ranks are threads here, on caches that the tests plant.
#include "interposer/hierarchy.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "given.hpp"

namespace {

using nhalf::Buffer;
using nhalf::CoreCaches;
using nhalf::coll::CommonCaches;
using nhalf::coll::Hierarchy;
using nhalf::coll::SharedMemory;
using nhalf::coll::given::combined;
using nhalf::coll::given::Compose;
using nhalf::coll::given::term;
namespace hierarchical = nhalf::coll::hierarchical;

using Caches = std::vector<std::uint64_t>;

void run(const Caches& caches,
         const std::function<void(SharedMemory&, const Hierarchy&)>& program) {
  const int ranks = static_cast<int>(caches.size());
  Buffer memory(SharedMemory::size_bytes(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      SharedMemory own(memory.bytes().data(), rank, ranks);
      own.waiting.yield_soon();
      const auto common =
          CommonCaches::of(own, {std::uint64_t{1000} + static_cast<std::uint64_t>(rank),
                                 caches[static_cast<std::size_t>(rank)]});
      program(own, common.hierarchy);
    });
  for (auto& thread : threads) thread.join();
}

const Caches planted[]{{1, 1},         {1, 2},          {3, 3, 3},
                       {1, 1, 2, 2},   {2, 1, 2, 1, 7}, {1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9, 5},
                       {4, 4, 0, 5, 5}};

}  // namespace

TEST_CASE("ranks of one cache are a group, led by the first; all are one if a cache is unknown") {
  const Hierarchy two(Caches{7, 3, 7, 3, 3});
  CHECK(two.has_groups());
  CHECK(two.has_members());
  CHECK(std::ranges::equal(two.leaders(), std::vector{0, 1}));
  CHECK(std::ranges::equal(two.group(1), std::vector{1, 3, 4}));
  CHECK(two.leader_of(4) == 1);
  CHECK(two.place_in_group(4) == 2);
  CHECK(two.part_bytes(8) == 1360);
  CHECK(two.part_bytes(1400) == 0);
  const Hierarchy unknown(Caches{7, 3, 0});
  CHECK_FALSE(unknown.has_groups());
  CHECK(unknown.group(0).size() == 3);
  CHECK(unknown.part_bytes(8) == 4096);
  CHECK_FALSE(Hierarchy(Caches{1, 2, 3}).has_members());
}

TEST_CASE("nobody leaves a barrier with leaders before all have come, also beside other barriers") {
  for (const auto& caches : planted) {
    const int ranks = static_cast<int>(caches.size());
    std::atomic<int> came{0}, early{0};
    run(caches, [&](SharedMemory& memory, const Hierarchy& hierarchy) {
      for (int round = 1; round <= 50; ++round) {
        ++came;
        if (round % 3 == 0)
          memory.barrier();
        else
          hierarchical::barrier(memory, hierarchy);
        if (came < ranks * round) ++early;
      }
    });
    CHECK(early == 0);
  }
}

TEST_CASE("leaders pass on what a root gives, and combine terms in the order of ranks") {
  static constexpr std::size_t sizes[]{2, 46, 48, 1000, 4096, 9002};
  for (const auto& caches : planted) {
    const int ranks = static_cast<int>(caches.size());
    std::atomic<int> wrong{0};
    run(caches, [&](SharedMemory& memory, const Hierarchy& hierarchy) {
      const int rank = memory.rank();
      for (int round = 0; round < 36; ++round) {
        const int root = round / 5 % ranks;
        const auto of_root = term(root, round, sizes[round % 6]);
        auto data = rank == root ? of_root : std::vector<std::byte>(of_root.size());
        hierarchical::bcast(memory, hierarchy, root, data);
        if (data != of_root) ++wrong;
        const auto in = term(rank, round, of_root.size());
        auto out = in;
        hierarchical::allreduce(memory, hierarchy, round % 2 == 0 ? nhalf::ConstBytes(out) : in,
                                out, Compose{});
        if (out != combined(0, ranks - 1, round, in.size())) ++wrong;
      }
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("the smallest inner cache of all ranks counts, and none that is unknown") {
  std::atomic<int> wrong{0};
  for (const std::uint64_t first_bytes : {4096, 0}) {
    Buffer memory(SharedMemory::size_bytes(2));
    const auto program = [&](int rank) {
      SharedMemory own(memory.bytes().data(), rank, 2);
      own.waiting.yield_soon();
      const auto common = CommonCaches::of(own, {rank == 0 ? first_bytes : 8192, 1});
      if (common.inner_bytes != first_bytes) ++wrong;
    };
    std::thread other(program, 1);
    program(0);
    other.join();
  }
  CHECK(wrong == 0);
}
