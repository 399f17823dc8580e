#include "transports/shmq/messages.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "contract/buffer.hpp"
#include "contract/options.hpp"
#include "transports/shmq/layout.hpp"

namespace {

using nhalf::Buffer;
using nhalf::Bytes;
using nhalf::Options;
using nhalf::Patience;
using nhalf::shmq::Mailboxes;
using nhalf::shmq::Messages;
using nhalf::shmq::Settings;
using nhalf::shmq::SingleCopy;

/// False under emulators that know no call for it.
bool kernel_copies() {
  const int known = 1;
  int read = 0;
  const auto address = reinterpret_cast<std::uint64_t>(&known);
  return SingleCopy(getpid()).reads(reinterpret_cast<std::byte*>(&read), address, sizeof read);
}

/// A thread for each rank, in one process: the kernel copies there, too, where it can.
void with_ranks(int ranks, const std::string& options,
                const std::function<void(Messages&, int rank)>& body) {
  Settings settings(Options::parse(options, ','));
  settings.pulls = settings.pulls && kernel_copies();
  const Mailboxes mailboxes(settings, ranks);
  std::vector<Buffer> memory;
  std::vector<std::byte*> starts;
  for (int rank = 0; rank < ranks; ++rank)
    starts.push_back(memory.emplace_back(mailboxes.size_bytes()).bytes().data());
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      Patience patience(nhalf::PeerWatch(), true);
      Messages messages(settings, patience, ranks);
      for (int peer = 0; peer < ranks; ++peer)
        messages.add_line(mailboxes.lane(starts, rank, peer), mailboxes.lane(starts, peer, rank),
                          getpid());
      body(messages, rank);
    });
}

std::uint32_t seed(int rank, std::size_t size) {
  return static_cast<std::uint32_t>(static_cast<std::size_t>(rank) + size * 7);
}

const std::string ways[] = {"", "turns=0",
                            "copies=2,buffer_bytes=64,buffers=4,stripes=4,postboxes=4",
                            "short_bytes=4000,postboxes=8,rendezvous_bytes=1",
                            "short_bytes=0,polling=general,rendezvous_bytes=100000,stripes=2"};
const std::size_t sizes[] = {0,    1,    48,   56,   57,    64,     200,
                             1024, 1025, 3912, 5000, 16384, 300000, 700000};

}  // namespace

TEST_CASE("messages of every size arrive by every way, there and back and around") {
  for (const auto& way : ways) {
    CAPTURE(way);
    with_ranks(3, way, [&](Messages& messages, int rank) {
      for (const auto size : sizes) {
        Buffer out(size);
        Buffer in(size);
        out.fill(seed(rank, size));
        const int before = (rank + 2) % 3;
        for (int round = 0; round < 3; ++round) {
          in.fill(0);
          messages.exchange((rank + 1) % 3, out.bytes(), before, in.bytes());
          CHECK(in.holds(seed(before, size)));
        }
        if (rank == 0) messages.send(1, out.bytes());
        if (rank == 1) messages.recv(0, in.bytes());
        if (rank == 1) messages.send(0, out.bytes(), true);
        if (rank == 0) messages.recv(1, in.bytes());
        if (rank < 2) CHECK(in.holds(seed(1 - rank, size)));
      }
    });
  }
}

TEST_CASE("started messages keep their order, whoever is waited for first") {
  for (const auto& way : ways) {
    CAPTURE(way);
    with_ranks(2, way, [&](Messages& messages, int rank) {
      std::vector<Buffer> out;
      std::vector<Buffer> in;
      std::vector<Messages::Request> requests;
      for (const auto size : sizes) {
        out.emplace_back(size).fill(seed(rank, size));
        in.emplace_back(size);
        requests.push_back(messages.isend(1 - rank, out.back().bytes()));
        requests.push_back(messages.irecv(1 - rank, in.back().bytes()));
      }
      std::size_t met = 0;
      while (messages.wait_any(requests) < requests.size()) ++met;
      CHECK(met == 2 * std::size(sizes));
      for (std::size_t i = 0; i < std::size(sizes); ++i)
        CHECK(in[i].holds(seed(1 - rank, sizes[i])));
    });
  }
}

TEST_CASE("a receive takes no more than its buffer holds") {
  for (const auto& way : ways)
    with_ranks(2, way, [&](Messages& messages, int rank) {
      for (const auto size : sizes) {
        Buffer out(size);
        std::vector<std::byte> in(size / 2);
        if (rank == 0) messages.send(1, out.bytes());
        if (rank == 1) messages.recv(0, in);
      }
    });
}

TEST_CASE("settings that cannot be are refused") {
  for (const char* text : {"postboxes=3", "postboxes=0", "buffer_bytes=10", "stripes=0",
                           "buffers=3,stripes=2", "polling=often", "copies=3", "buffers=0"})
    CHECK_THROWS_AS(Settings(Options::parse(text, ',')), nhalf::InputError);
}
