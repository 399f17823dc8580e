#include "transports/am/endpoint.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "contract/buffer.hpp"
#include "transports/am/team.hpp"

using namespace nhalf;
using namespace nhalf::am;

namespace {

constexpr int rank_counts[] = {2, 3, 4, 5, 8};
constexpr std::size_t payload_bytes = 1000;

Layout small_layout(int ranks) {
  return {.ranks = static_cast<std::size_t>(ranks),
          .slots = 4,
          .medium_bytes = 1024,
          .chunks = 1,
          .chunk_bytes = 1024,
          .region_bytes = payload_bytes * static_cast<std::size_t>(ranks)};
}

/// Answers each request by a message of the same kind and with the same payload; counts replies,
/// and what was not as it was sent.
class Echo {
 public:
  explicit Echo(Rank& rank)
      : rank_(rank),
        on_request_(rank.enrol(&requested, this)),
        on_reply_(rank.enrol(&replied, this)) {
    out_.fill(seed(rank.rank()));
    region_ = rank.region(rank.layout().region_bytes);
  }

  /// One request of each kind to a rank; its payloads have a place of their own there.
  void ask(int peer, active::Method method) {
    const auto place = static_cast<std::uint64_t>(rank_.rank());
    const active::Word words[] = {place, 7, 8, 9, 10};
    const auto payload = out_.bytes();
    rank_.request_short(peer, on_request_, words);
    rank_.request_medium(peer, on_request_, words, payload, method);
    rank_.request_long(peer, on_request_, words, {payload, place * payload_bytes}, method);
    rank_.settle(peer);
  }
  void expect(int replies) {
    rank_.until(0, [&] { return replies_ == replies; });
  }
  [[nodiscard]] int wrong() const { return wrong_; }

 private:
  static std::uint32_t seed(int rank) { return static_cast<std::uint32_t>(rank + 1); }

  void check(bool right) { wrong_ += right ? 0 : 1; }
  static void requested(void* self, active::Token& token, active::Words words, Bytes payload) {
    auto& echo = *static_cast<Echo*>(self);
    echo.check(words.size() == 5 && words[0] == static_cast<std::uint64_t>(token.source));
    echo.check(payload.empty() ||
               (payload.size() == payload_bytes && holds(payload, seed(token.source))));
    const auto own = echo.out_.bytes();
    const bool is_long = !payload.empty() && payload.data() >= echo.region_.data() &&
                         payload.data() < echo.region_.data() + echo.region_.size();
    const auto offset = static_cast<std::uint64_t>(echo.rank_.rank()) * payload_bytes;
    if (payload.empty()) return echo.rank_.reply_short(token, echo.on_reply_, words);
    if (is_long) return echo.rank_.reply_long(token, echo.on_reply_, words, {own, offset}, {});
    echo.rank_.reply_medium(token, echo.on_reply_, words, own, {});
  }
  static void replied(void* self, active::Token& token, active::Words words, Bytes payload) {
    auto& echo = *static_cast<Echo*>(self);
    echo.check(!token.may_reply && words.size() == 5 && words[4] == 10);
    echo.check(payload.empty() || holds(payload, seed(token.source)));
    ++echo.replies_;
  }

  Rank& rank_;
  active::Number on_request_, on_reply_;
  Buffer out_{payload_bytes};
  Bytes region_;
  int replies_ = 0;
  int wrong_ = 0;
};

/// Every rank asks every rank, itself included; the number of ranks where all was right.
int all_ask(int ranks, const Habits& habits, active::Method method) {
  std::atomic<int> right{0}, finished{0};
  on_team(small_layout(ranks), habits, [&](Rank& rank, const auto& meet) {
    Echo echo(rank);
    meet();
    for (int step = 0; step < ranks; ++step) echo.ask((rank.rank() + step) % ranks, method);
    echo.expect(3 * ranks);
    ++finished;
    rank.until(0, [&] { return finished == ranks; });
    right += echo.wrong() == 0 ? 1 : 0;
  });
  return right;
}

}  // namespace

TEST_CASE("every rank asks every rank, in each way") {
  using active::Copying, active::Medium, active::Polling;
  for (const int ranks : rank_counts) {
    CAPTURE(ranks);
    for (const auto polling : {Polling::directed, Polling::general, Polling::flag})
      CHECK(all_ask(ranks, {.polling = polling}, {}) == ranks);
    CHECK(all_ask(ranks, {.import_at_start = false}, {}) == ranks);
    CHECK(all_ask(ranks, {.stores_bytes = 100}, {Medium::one_transfer, Copying::threshold}) ==
          ranks);
    for (const auto copying :
         {Copying::stores, Copying::bulk, Copying::bulk_each, Copying::bulk_hybrid})
      CHECK(all_ask(ranks, {}, {Medium::two_transfers, copying}) == ranks);
  }
}

namespace {

/// Two ranks, of which only the first is at work: what comes of its calls is checked in one thread.
struct Alone {
  Layout layout = small_layout(2);
  Habits habits{};
  Patience patience = crowded();
  Rank first{peers(0), habits, patience};

  Peers peers(int rank) const {
    Peers made(layout, rank);
    made.learn({made.exported(), made.exported()});
    return made;
  }
};

void ignore(void*, active::Token&, active::Words, Bytes) {}

/// Numbers that came, in their order.
void note(void* numbers, active::Token&, active::Words words, Bytes) {
  static_cast<std::vector<std::uint64_t>*>(numbers)->push_back(words[0]);
}

}  // namespace

TEST_CASE("requests of one rank to another are handled in their order, however many wait") {
  constexpr std::uint64_t count = 1000;
  std::vector<std::uint64_t> numbers;
  on_team(small_layout(2), {}, [&](Rank& rank, const auto& meet) {
    const auto on_number = rank.enrol(&note, &numbers);
    meet();
    if (rank.rank() == 0) {
      for (std::uint64_t i = 0; i < count; ++i) {
        rank.request_short(1, on_number, {&i, 1});
        if (i % 7 == 0) rank.settle(1);
      }
    } else {
      rank.until(0, [&] { return numbers.size() == count; });
    }
  });
  REQUIRE(numbers.size() == count);
  for (std::uint64_t i = 0; i < count; ++i) CHECK(numbers[i] == i);
}

TEST_CASE("a payload that fits beside the words travels in the line, and any other behind it") {
  Alone alone;
  auto& rank = alone.first;
  struct Seen {
    std::size_t words = 0;
    bool right = false;
  } seen;
  const auto number = rank.enrol(
      [](void* self, active::Token&, active::Words words, Bytes payload) {
        const auto size_bytes = static_cast<std::uint32_t>(payload.size());
        *static_cast<Seen*>(self) = {words.size(), holds(payload, size_bytes)};
      },
      &seen);
  const active::Word words[] = {1, 2, 3, 4, 5, 6};
  for (std::size_t count = 0; count <= 6; ++count)
    for (std::uint32_t size_bytes = 0; size_bytes < 60; ++size_bytes) {
      Buffer out(size_bytes);
      out.fill(size_bytes);
      rank.request_medium(0, number, active::Words(words).first(count), out.bytes(), {});
      rank.settle(0);
      CHECK((seen.words == count && seen.right));
    }
}

TEST_CASE("two ranks that fill each other's slots at once go on") {
  constexpr int count = 200;
  std::atomic<int> finished{0};
  on_team(small_layout(2), {}, [&](Rank& rank, const auto& meet) {
    std::vector<std::uint64_t> numbers;
    const auto on_number = rank.enrol(&note, &numbers);
    meet();
    for (std::uint64_t i = 0; i < count; ++i)
      rank.request_short(1 - rank.rank(), on_number, {&i, 1});
    rank.until(1 - rank.rank(), [&] { return numbers.size() == count; });
    ++finished;
    rank.until(1 - rank.rank(), [&] { return finished == 2; });
  });
  CHECK(finished == 2);
}

namespace {

/// Calls that a handler tried and was refused.
struct Refused {
  Rank& rank;
  active::Number number = 0;
  int count = 0;

  template <class Call>
  void attempt(Call call) {
    try {
      call();
    } catch (const std::logic_error&) {
      ++count;
    }
  }
};

}  // namespace

TEST_CASE("a handler replies once, to requests only, and sends nothing else") {
  Alone alone;
  Refused refused{alone.first};
  const auto handler = [](void* self, active::Token& token, active::Words words, Bytes) {
    auto& tried = *static_cast<Refused*>(self);
    auto& rank = tried.rank;
    const auto number = tried.number;
    tried.attempt([&] { rank.request_short(0, number, words); });
    const bool is_request = token.may_reply;
    if (is_request) rank.reply_short(token, number, words);
    tried.attempt([&] { rank.reply_short(token, number, words); });
  };
  refused.number = alone.first.enrol(handler, &refused);
  alone.first.request_short(0, refused.number, {});
  alone.first.settle(0);
  CHECK(refused.count == 4);
}

TEST_CASE("what does not fit is refused before it is sent") {
  Alone alone;
  auto& rank = alone.first;
  const auto number = rank.enrol(&ignore, nullptr);
  const std::vector<active::Word> words(8);
  const std::vector<std::byte> payload(3000);
  const auto all = active::Words(words);
  CHECK_THROWS_AS(rank.request_short(0, number, all), std::length_error);
  CHECK_THROWS_AS(rank.request_medium(0, number, all.first(7), {}, {}), std::length_error);
  CHECK_THROWS_AS(rank.request_medium(0, number, {}, payload, {}), std::length_error);
  CHECK_THROWS_AS(rank.request_long(0, number, {}, {payload, 0}, {}), std::length_error);
  CHECK_THROWS_AS(rank.request_long(0, number, {}, {{}, 2001}, {}), std::length_error);
  CHECK_THROWS_AS(rank.region(2001), std::bad_alloc);
}

TEST_CASE("who waits for a rank that was killed is told which") {
  const Layout layout = small_layout(2);
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  const auto child = fork();
  if (child == 0) {
    Peers peers(layout, 1);
    const auto exported = peers.exported();
    if (write(pipes[1], &exported, sizeof exported) < 0) _exit(1);
    for (;;) pause();
  }
  Peers peers(layout, 0);
  Exported other;
  REQUIRE(read(pipes[0], &other, sizeof other) == sizeof other);
  peers.learn({peers.exported(), other});
  PeerWatch watch;
  watch.add(1, child);
  const Patience patience(std::move(watch), true);
  Rank rank(std::move(peers), {}, patience);
  rank.request_short(1, rank.enrol(&ignore, nullptr), {});
  kill(child, SIGKILL);
  CHECK_THROWS_WITH_AS(rank.settle(1), doctest::Contains("rank 1 "), PeerEnded);
  waitpid(child, nullptr, 0);
  for (const int file : pipes) close(file);
}

TEST_CASE("a peer that was forgotten is imported again when it is needed") {
  std::vector<std::uint64_t> numbers;
  on_team(small_layout(2), {.import_at_start = false}, [&](Rank& rank, const auto& meet) {
    const auto on_number = rank.enrol(&note, &numbers);
    meet();
    for (std::uint64_t i = 0; i < 3 && rank.rank() == 0; ++i) {
      rank.request_short(1, on_number, {&i, 1});
      rank.forget(1);
    }
    if (rank.rank() == 1) rank.until(0, [&] { return numbers.size() == 3; });
  });
  CHECK(numbers == std::vector<std::uint64_t>{0, 1, 2});
}
