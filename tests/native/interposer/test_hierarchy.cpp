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
using nhalf::coll::Hierarchy;
using nhalf::coll::Operation;
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
      program(own, Hierarchy::of(own, {4096, caches[static_cast<std::size_t>(rank)]}));
    });
  for (auto& thread : threads) thread.join();
}

const Caches planted[]{{1, 1},         {1, 2},          {3, 3, 3},
                       {1, 1, 2, 2},   {2, 1, 2, 1, 7}, {1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9, 5},
                       {4, 4, 0, 5, 5}};

}  // namespace

TEST_CASE("ranks of one cache are a group, led by the first; all are one if a cache is unknown") {
  const Hierarchy two(std::vector<CoreCaches>{{8, 7}, {9, 3}, {4, 7}, {5, 3}, {6, 3}});
  CHECK(two.has_groups());
  CHECK(two.may_help(Operation::bcast));
  CHECK(two.leaders() == std::vector{0, 1});
  CHECK(two.group(1) == std::vector{1, 3, 4});
  CHECK(two.leader_of(4) == 1);
  CHECK(two.ranks_before(4) == 2);
  CHECK(two.part_bytes(8) == 1360);
  CHECK(two.part_bytes(1400) == 0);
  const Hierarchy unknown(std::vector<CoreCaches>{{8, 7}, {9, 3}, {0, 0}});
  CHECK_FALSE(unknown.has_groups());
  CHECK_FALSE(unknown.may_help(Operation::barrier));
  CHECK(unknown.group(0).size() == 3);
  CHECK(unknown.part_bytes(8) == 4096);
  CHECK_FALSE(Hierarchy(std::vector<CoreCaches>{{8, 1}, {8, 2}}).may_help(Operation::barrier));
  const Hierarchy many(std::vector<CoreCaches>(9, {8, 1}));
  CHECK(many.may_help(Operation::barrier));
  CHECK_FALSE(many.may_help(Operation::bcast));
}

TEST_CASE("what passes the caches by is more than the smallest inner one holds") {
  const Hierarchy two(std::vector<CoreCaches>{{8192, 1}, {4096, 1}});
  const Hierarchy four(std::vector<CoreCaches>(4, {4096, 1}));
  for (const auto whole : {Operation::bcast, Operation::scatter}) {
    CHECK(two.exceeds_caches(whole, 4096));
    CHECK_FALSE(two.exceeds_caches(whole, 4095));
  }
  for (const auto combined : {Operation::reduce, Operation::allreduce}) {
    CHECK_FALSE(two.exceeds_caches(combined, 1 << 20));
    CHECK(four.exceeds_caches(combined, 4096));
    CHECK_FALSE(four.exceeds_caches(combined, 4095));
  }
  for (const auto blocks : {Operation::allgather, Operation::alltoall, Operation::gather}) {
    CHECK(four.exceeds_caches(blocks, 1024));
    CHECK_FALSE(four.exceeds_caches(blocks, 1023));
  }
  const Hierarchy unknown(std::vector<CoreCaches>{{8192, 1}, {0, 1}});
  CHECK_FALSE(unknown.exceeds_caches(Operation::bcast, 1 << 20));
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
