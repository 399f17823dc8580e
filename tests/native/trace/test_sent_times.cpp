#include "trace/sent_times.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

using nhalf::trace::SentTimes;
using nhalf::trace::Ticks;

constexpr int tag = 7;
constexpr std::uint64_t size_bytes = 64;

/// Two ranks that map one file.
struct Pair {
  std::string folder = [] {
    std::string name = (std::filesystem::temp_directory_path() / "sent-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    return name;
  }();
  SentTimes sender = SentTimes::opened(folder + "/times", 0, 2);
  SentTimes receiver = SentTimes::opened(folder + "/times", 1, 2);

  Pair() = default;
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() { std::filesystem::remove_all(folder); }

  static constexpr Ticks untold = ~Ticks{0};

  /// Returns when the next message was sent.
  [[nodiscard]] Ticks taken() {
    Ticks at = 0;
    return receiver.take(0, tag, size_bytes, at) ? at : untold;
  }
};

TEST_CASE("messages are taken in their order") {
  Pair pair;
  REQUIRE(pair.receiver.is_open());
  pair.sender.sent(1, {tag, size_bytes, 10});
  pair.sender.sent(1, {tag + 1, size_bytes, 20});
  pair.sender.sent(1, {tag, size_bytes, 30});
  CHECK(pair.taken() == 10);
  CHECK(pair.taken() == 30);
}

TEST_CASE("what is told of a message after it came is not taken for the next one") {
  Pair pair;
  CHECK(pair.taken() == Pair::untold);
  CHECK(pair.taken() == Pair::untold);
  for (Ticks at = 10; at <= 30; at += 10) pair.sender.sent(1, {tag, size_bytes, at});
  CHECK(pair.taken() == 30);
  pair.sender.sent(1, {tag, size_bytes, 40});
  CHECK(pair.taken() == 40);
}

TEST_CASE("messages that were overwritten leave later ones alone") {
  Pair pair;
  constexpr Ticks many = 1500;
  for (Ticks at = 1; at <= many; ++at) pair.sender.sent(1, {tag, size_bytes, at});
  Ticks known = 0;
  for (Ticks number = 1; number <= many; ++number) known += pair.taken() > 0 ? 1 : 0;
  CHECK(known == 1024);
  pair.sender.sent(1, {tag, size_bytes, many + 1});
  CHECK(pair.taken() == many + 1);
}

}  // namespace
