#include "interposer/floor.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

using nhalf::coll::Floor;
using nhalf::coll::least_bytes;
using nhalf::coll::Operation;
using nhalf::coll::SharedMemory;

namespace {

/// Copies 4 bytes a nanosecond to 256 KiB, 1 from then on, and hands over a flag in 100 ns.
Floor given(int ranks) {
  Floor floor{ranks, 100e-9, {}};
  for (std::size_t i = 0; i < Floor::sizes; ++i)
    floor.copy_s[i] = static_cast<double>(Floor::size_bytes(i)) * (i <= 6 ? 0.25e-9 : 1e-9);
  return floor;
}

doctest::Approx about(double value) {
  return doctest::Approx(value).epsilon(1e-12);
}

}  // namespace

TEST_CASE("an operation moves no fewer bytes than its bound by ranks and size") {
  using enum Operation;
  CHECK(least_bytes(barrier, 0, 16) == 0);
  for (const auto rooted : {bcast, gather, scatter}) CHECK(least_bytes(rooted, 1000, 16) == 1000);
  for (const auto whole : {reduce, scan}) CHECK(least_bytes(whole, 1600, 16) == 1500);
  CHECK(least_bytes(allreduce, 1600, 16) == 3000);
  CHECK(least_bytes(allreduce, 1000, 2) == 1000);
  for (const auto blocks : {allgather, alltoall, reduce_scatter})
    CHECK(least_bytes(blocks, 100, 16) == 1500);
}

TEST_CASE("a floor is one flag where all wait for all, and the bytes at the highest rate") {
  const auto floor = given(16);
  CHECK(floor.operation_s(Operation::barrier, 0) == about(100e-9));
  CHECK(floor.operation_s(Operation::bcast, 1000) == about(250e-9));
  CHECK(floor.operation_s(Operation::allreduce, 1600) == about(100e-9 + 750e-9));
  // 15 blocks of 256 KiB are copied at the rate of larger data.
  CHECK(floor.operation_s(Operation::allgather, 1 << 18) == about(100e-9 + 15 * 262144e-9));
  CHECK(floor.copied_s(0) == 0);
  CHECK(floor.copied_s(300000) == about(75e-6));
  CHECK(floor.copied_s(1e12) == about(1e3));
  CHECK(given(2).text() ==
        "nhalf: floor of 2 ranks: a flag takes 0.100 us; all at once each copies 4.00 GB/s of 4 "
        "KiB, 4.00 of 256 KiB, 1.00 of 4 MiB\n");
}

TEST_CASE("a size that was copied slowly by chance raises no floor") {
  auto floor = given(4);
  floor.copy_s[2] *= 50;
  CHECK(floor.copied_s(static_cast<double>(Floor::size_bytes(2))) == about(4096e-9));
}

TEST_CASE("ranks measure the floor together, and go on") {
  constexpr int ranks = 3;
  nhalf::Buffer memory(SharedMemory::size_bytes(ranks));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      SharedMemory own(memory.bytes().data(), rank, ranks);
      own.waiting.yield_soon();
      const auto floor = nhalf::coll::measured_floor(own);
      if (floor.ranks != ranks || !(floor.flag_s > 0)) ++wrong;
      for (const double seconds : floor.copy_s)
        if (!(seconds > 0) || seconds > 1e3) ++wrong;
      std::byte value{static_cast<unsigned char>(rank)};
      nhalf::coll::shared::bcast(own, 2, {&value, 1});
      if (value != std::byte{2}) ++wrong;
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a rank that does not come ends the others' measurement") {
  nhalf::Buffer memory(SharedMemory::size_bytes(2));
  SharedMemory own(memory.bytes().data(), 0, 2);
  own.waiting.yield_soon();
  own.waiting.progress = [](void*) { return 17; };
  CHECK_THROWS_AS(static_cast<void>(nhalf::coll::measured_floor(own)), nhalf::coll::Failed);
}
