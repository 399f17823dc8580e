// Times of messages, told and taken by several threads of two ranks, and where there is no space.
#include "trace/sent_times.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace {

using nhalf::trace::SentTimes;
using nhalf::trace::Ticks;

/// A file that is removed at the end.
struct File {
  std::string path = (std::filesystem::temp_directory_path() / "sent-times-XXXXXX").string();

  File() { close(mkstemp(path.data())); }
  ~File() { std::filesystem::remove(path); }
};

/// Lets files grow to so many bytes, and threads collide, until it goes out of scope.
struct Limits {
  rlimit before{};

  explicit Limits(rlim_t bytes = RLIM_INFINITY) {
    nhalf::trace::threads_may_collide = true;
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit lower{std::min(bytes, before.rlim_max), before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &lower);
  }
  ~Limits() {
    setrlimit(RLIMIT_FSIZE, &before);
    nhalf::trace::threads_may_collide = false;
  }
};

/// Runs a function of its number in each of four threads.
template <class Function>
void in_threads(Function function) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) threads.emplace_back(function, number);
  for (auto& thread : threads) thread.join();
}

TEST_CASE("what threads tell at a time is taken whole") {
  const Limits limits;
  const File file;
  auto sender = SentTimes::opened(file.path, 0, 2);
  auto receiver = SentTimes::opened(file.path, 1, 2);
  REQUIRE(sender.is_open());
  REQUIRE(receiver.is_open());
  constexpr int messages = 200;
  for (int round = 0; round < 50; ++round) {
    in_threads([&](int tag) {
      for (Ticks at = 1; at <= messages; ++at) sender.sent(1, {tag, 8, at});
    });
    std::array<int, 4> wrong{};
    in_threads([&](int tag) {
      for (Ticks expected = 1; expected <= messages; ++expected) {
        Ticks at = 0;
        const bool is_told = receiver.take(0, tag, 8, at);
        wrong.at(static_cast<std::size_t>(tag)) += is_told && at == expected ? 0 : 1;
      }
    });
    for (const int count : wrong) REQUIRE(count == 0);
  }
}

TEST_CASE("telling and taking at a time, of several partners") {
  const Limits limits;
  const File file;
  std::vector<SentTimes> ranks;
  for (int rank = 0; rank < 3; ++rank) ranks.push_back(SentTimes::opened(file.path, rank, 3));
  in_threads([&](int number) {
    for (std::int32_t tag = 0; tag < 3000; ++tag) {
      Ticks at = 0;
      ranks[0].sent(1 + number % 2, {tag, 8, 1});
      ranks[1].take(0, tag, 8, at);
      ranks[2].take(0, tag, 8, at);
    }
  });
  for (const auto& times : ranks) CHECK(times.is_open());
}

TEST_CASE("a file may not grow beyond the limit") {
  const File file;
  const auto bytes = SentTimes::bytes_of(4);
  {
    const Limits limits(bytes - 1);
    CHECK_FALSE(SentTimes::opened(file.path, 0, 4).is_open());
    CHECK_FALSE(SentTimes::is_made(file.path, 4));
  }
  const Limits limits(bytes);
  CHECK(SentTimes::opened(file.path, 0, 4).is_open());
  CHECK(SentTimes::is_made(file.path, 4));
}

TEST_CASE("a message without space for it is one of long ago") {
  const File file;
  auto sender = SentTimes::opened(file.path, 0, 2);
  auto receiver = SentTimes::opened(file.path, 1, 2);
  REQUIRE(receiver.is_open());
  Ticks at = 7;
  CHECK_FALSE(receiver.take(0, 1, 8, at));
  {
    const Limits limits(4096);
    CHECK_FALSE(sender.sent(1, {1, 8, 5}));
  }
  CHECK_FALSE(sender.sent(1, {1, 8, 5}));
  CHECK(receiver.take(0, 1, 8, at));
  CHECK(at == 0);
  // The other direction has a ring of its own.
  CHECK(receiver.sent(0, {1, 8, 9}));
  CHECK(sender.take(1, 1, 8, at));
  CHECK(at == 9);
}

TEST_CASE("space is taken by pairs that have messages") {
  const File file;
  auto sender = SentTimes::opened(file.path, 0, SentTimes::ranks_max);
  REQUIRE(sender.is_open());
  struct stat status{};
  const auto taken = [&] {
    stat(file.path.c_str(), &status);
    return static_cast<std::size_t>(status.st_blocks) * 512;
  };
  const auto before = taken();
  CHECK(before < SentTimes::bytes_of(2) + (1 << 20));
  CHECK(sender.sent(100, {1, 8, 5}));
  CHECK(taken() >= before + 1024 * sizeof(SentTimes::Sent));
  CHECK(taken() < before + (1 << 20));
}

TEST_CASE("too many ranks, and ranks that are none, have no times") {
  const File file;
  CHECK_FALSE(SentTimes::opened(file.path, 0, SentTimes::ranks_max + 1).is_open());
  CHECK_FALSE(SentTimes::opened("/nowhere/sent-times", 0, 2).is_open());
  auto times = SentTimes::opened(file.path, 0, 2);
  Ticks at = 0;
  CHECK(times.sent(2, {1, 8, 5}));
  CHECK(times.sent(-2, {1, 8, 5}));
  CHECK_FALSE(times.take(5, 1, 8, at));
  CHECK_FALSE(times.take(-1, 1, 8, at));
}

}  // namespace
