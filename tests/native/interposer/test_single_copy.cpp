// Ranks are threads here, which read each other's memory as processes do.
#include "interposer/single_copy.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <iterator>
#include <thread>

#include "given.hpp"

namespace {

using nhalf::Buffer;
using nhalf::Bytes;
using nhalf::ConstBytes;
using nhalf::Scratch;
using nhalf::coll::Peers;
using nhalf::coll::SharedMemory;
using nhalf::coll::given::combined;
using nhalf::coll::given::Compose;
using nhalf::coll::given::term;
namespace single_copy = nhalf::coll::single_copy;

/// What happens to the reads of a thread.
struct Reads {
  /// As many succeed before all are refused.
  int allowed = 1 << 30;
  /// Most bytes of a read; less than it asks for where some of the memory is not there.
  std::size_t most_bytes = std::size_t{1} << 40;
  /// Whether another process has the peer's number.
  bool are_of_another = false;
  int made = 0;
};
thread_local Reads reads;
thread_local bool has_memory = true;

}  // namespace

// Found before that of the C library.
extern "C" ssize_t process_vm_readv(pid_t process, const iovec* own, unsigned long own_count,
                                    const iovec* others, unsigned long others_count,
                                    unsigned long flags) noexcept {
  static const auto system =
      reinterpret_cast<decltype(&process_vm_readv)>(dlsym(RTLD_NEXT, "process_vm_readv"));
  if (reads.made++ >= reads.allowed) return errno = EPERM, -1;
  iovec part = *own;
  part.iov_len = std::min(part.iov_len, reads.most_bytes);
  const auto read_bytes = system(process, &part, own_count, others, others_count, flags);
  if (reads.are_of_another) std::memset(part.iov_base, 0x55, part.iov_len);
  return read_bytes;
}

namespace {

using Program = std::function<void(SharedMemory&, Peers*, Scratch&)>;

void run(int ranks, const Program& program) {
  Buffer memory(SharedMemory::size_bytes(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      SharedMemory own(memory.bytes().data(), rank, ranks);
      own.waiting.yield_soon();
      auto peers = Peers::of(own);
      Scratch scratch;
      program(own, peers ? &*peers : nullptr, scratch);
    });
  for (auto& thread : threads) thread.join();
}

/// How many results of operations that move data are wrong.
int wrong_blocks(Peers& peers, Scratch& scratch, int round, std::size_t size_bytes) {
  const int ranks = peers.memory().size();
  const int rank = peers.memory().rank();
  const int root = round % ranks;
  const bool is_root = rank == root;
  const auto all_bytes = size_bytes * static_cast<std::size_t>(ranks);
  const auto in = term(rank, round, all_bytes);
  const auto first = [&](int of) { return term(of, round, size_bytes); };
  std::vector<std::byte> block(size_bytes), out(all_bytes), expected;
  int wrong = 0;
  for (int i = 0; i < ranks; ++i) std::ranges::copy(first(i), std::back_inserter(expected));
  single_copy::allgather(peers, first(rank), out);
  wrong += out != expected ? 1 : 0;
  out.assign(all_bytes, {});
  single_copy::gather(peers, root, first(rank), is_root ? Bytes(out) : Bytes());
  wrong += is_root && out != expected ? 1 : 0;
  block = first(rank);
  single_copy::bcast(peers, root, block);
  wrong += block != first(root) ? 1 : 0;
  const auto of_root = term(root, round, all_bytes);
  single_copy::scatter(peers, root, is_root ? ConstBytes(in) : ConstBytes(), block);
  wrong += nhalf::coll::given::equal(block, nhalf::block_of(ConstBytes(of_root), rank, size_bytes))
               ? 0
               : 1;
  for (int i = 0; i < ranks; ++i) {
    const auto of_rank = term(i, round, all_bytes);
    nhalf::place(nhalf::block_of(ConstBytes(of_rank), rank, size_bytes),
                 nhalf::block_of(Bytes(expected), i, size_bytes));
  }
  single_copy::alltoall(peers, scratch, in, out);
  wrong += out != expected ? 1 : 0;
  out = in;
  single_copy::alltoall(peers, scratch, out, out);
  return wrong + (out != expected ? 1 : 0);
}

/// How many results of reductions are wrong, in place or not.
int wrong_sums(Peers& peers, Scratch& scratch, int round, std::size_t size_bytes) {
  const int ranks = peers.memory().size();
  const int rank = peers.memory().rank();
  const int root = round % ranks;
  const auto in = term(rank, round, size_bytes);
  const auto expected = combined(0, ranks - 1, round, size_bytes);
  const auto block_bytes = size_bytes / static_cast<std::size_t>(ranks) / 2 * 2;
  const auto blocks_bytes = block_bytes * static_cast<std::size_t>(ranks);
  int wrong = 0;
  for (const bool is_in_place : {false, true}) {
    auto out = in;
    const auto from = [&] { return is_in_place ? ConstBytes(out) : ConstBytes(in); };
    single_copy::allreduce(peers, scratch, from(), out, Compose{});
    wrong += out != expected ? 1 : 0;
    out = in;
    single_copy::reduce(peers, scratch, root, from(), rank == root ? Bytes(out) : Bytes(),
                        Compose{});
    wrong += out != (rank == root ? expected : in) ? 1 : 0;
    out = in;
    single_copy::reduce_scatter(peers, scratch, from().first(blocks_bytes),
                                Bytes(out).first(block_bytes), Compose{});
    wrong += nhalf::coll::given::equal(Bytes(out).first(block_bytes),
                                       nhalf::block_of(ConstBytes(expected), rank, block_bytes))
                 ? 0
                 : 1;
  }
  return wrong;
}

bool can_read() {
  std::atomic<bool> can{false};
  run(2, [&](SharedMemory&, Peers* peers, Scratch&) { can = peers != nullptr; });
  if (!can) MESSAGE("this host lets no process read another's memory");
  return can;
}

/// How many results are wrong where `prepare(rank)` has set what happens to a rank's reads.
int wrong_among(int ranks, std::size_t size_bytes, const std::function<void(int)>& prepare) {
  std::atomic<int> wrong{0};
  run(ranks, [&](SharedMemory& memory, Peers* peers, Scratch& scratch) {
    for (int round = 0; round < 3; ++round) {
      reads = {};
      prepare(memory.rank());
      wrong += wrong_blocks(*peers, scratch, round, size_bytes);
      wrong += wrong_sums(*peers, scratch, round, size_bytes);
      has_memory = true;
      std::byte byte{};
      nhalf::coll::shared::bcast(memory, round % ranks, {&byte, 1});
    }
  });
  return wrong;
}

}  // namespace

TEST_CASE("ranks copy data out of each other's memory") {
  if (!can_read()) return;
  for (const int ranks : {2, 3, 5})
    for (const std::size_t size_bytes : {2, 30, 4098, 70002})
      CHECK(wrong_among(ranks, size_bytes, [](int) {}) == 0);
}

TEST_CASE("data that can be copied take no slots but to tell where they lie") {
  if (!can_read()) return;
  std::atomic<int> wrong{0};
  run(3, [&](SharedMemory& memory, Peers* peers, Scratch& scratch) {
    const auto in = term(memory.rank(), 1, 300000);
    auto out = in;
    const auto operations = [&](const auto& operation) {
      const auto before = memory.begin();
      operation();
      return memory.begin() - before - 1;
    };
    const Bytes third = Bytes(out).first(100000);
    wrong += operations([&] { single_copy::allreduce(*peers, scratch, in, out, Compose{}); }) != 3;
    wrong += operations([&] { single_copy::allgather(*peers, third, out); }) != 2;
    wrong += operations([&] { single_copy::gather(*peers, 0, third, out); }) != 2;
    wrong += operations([&] { single_copy::alltoall(*peers, scratch, in, out); }) != 2;
    wrong += operations([&] { single_copy::reduce(*peers, scratch, 0, in, out, Compose{}); }) != 3;
  });
  CHECK(wrong == 0);
}

TEST_CASE("a copy goes on where the system stopped in the middle") {
  if (!can_read()) return;
  CHECK(wrong_among(3, 9000, [](int) { reads.most_bytes = 1000; }) == 0);
}

TEST_CASE("whichever copy of a rank is refused, all data are right") {
  if (!can_read()) return;
  for (const int refused : {0, 2})
    for (int allowed = 0; allowed < 28; ++allowed)
      CHECK(wrong_among(3, 1500, [=](int rank) {
              if (rank == refused) reads.allowed = allowed;
            }) == 0);
}

TEST_CASE("a rank without memory for a copy leaves data to the slots") {
  if (!can_read()) return;
  const auto source = nhalf::memory_source;
  nhalf::memory_source.take = [](std::size_t size_bytes) {
    return has_memory ? nhalf::host_memory.take(size_bytes) : nullptr;
  };
  CHECK(wrong_among(3, 5000, [](int rank) { has_memory = rank != 1; }) == 0);
  nhalf::memory_source = source;
}

TEST_CASE("nobody takes what a rank may have overwritten that an error ended") {
  if (!can_read()) return;
  std::atomic<int> failed{0};
  run(2, [&](SharedMemory& memory, Peers* peers, Scratch&) {
    std::vector<std::byte> data(5000);
    memory.waiting.progress = [](void*) { return 17; };
    // The root waits in vain before the other rank reads.
    if (memory.rank() == 1)
      while (failed == 0) std::this_thread::yield();
    try {
      single_copy::bcast(*peers, 0, data);
    } catch (const nhalf::coll::Failed&) {
      ++failed;
    }
  });
  CHECK(failed == 2);
}

TEST_CASE("whether system calls are filtered is what the kernel says") {
  CHECK(nhalf::coll::are_calls_filtered("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"));
  CHECK(nhalf::coll::are_calls_filtered("Name:\tx\nSeccomp:\t1\n"));
  CHECK_FALSE(nhalf::coll::are_calls_filtered("Name:\tx\nSeccomp:\t0\nSeccomp_filters:\t0\n"));
  // A kernel that knows no filters has no such line.
  CHECK_FALSE(nhalf::coll::are_calls_filtered("Name:\tSeccomp:\t2\nPid:\t1\n"));
  CHECK(nhalf::coll::are_calls_filtered(""));
}

TEST_CASE("ranks of which one may not read, or reads another process, all know") {
  for (const bool is_refused : {true, false}) {
    Buffer memory(SharedMemory::size_bytes(3));
    std::atomic<int> readers{0};
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 3; ++rank)
      threads.emplace_back([&, rank] {
        SharedMemory own(memory.bytes().data(), rank, 3);
        own.waiting.yield_soon();
        if (rank == 1) reads = {is_refused ? 1 : 9, 1000, !is_refused};
        readers += Peers::of(own) ? 1 : 0;
      });
    for (auto& thread : threads) thread.join();
    CHECK(readers == 0);
  }
}
