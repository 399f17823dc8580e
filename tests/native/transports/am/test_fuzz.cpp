// Headers of another program: whatever they say, nothing outside of the own memory is touched.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>

#include "transports/am/endpoint.hpp"
#include "transports/am/pieces.hpp"
#include "transports/am/team.hpp"

using namespace nhalf;
using namespace nhalf::am;

namespace {

#ifdef NHALF_FULL_TESTS
constexpr int headers = 1'000'000;
#else
constexpr int headers = 20'000;
#endif
constexpr Layout layout{.ranks = 2,
                        .slots = 4,
                        .medium_bytes = 256,
                        .chunks = 2,
                        .chunk_bytes = 512,
                        .region_bytes = 1000};

/// Rank 0 at work; what rank 1 would write is made up.
class Attacked {
 public:
  Attacked() : Attacked(Peers(layout, 0), Peers(layout, 1)) {}

  /// Writes a line where the next request of rank 1 is looked for, and has it handled.
  void request() {
    attempt(Channel(layout, rank_.peers().command(), 1).line(0), Channel::asked(served_), served_);
  }
  /// Writes a line where a reply to a request of rank 0 is looked for.
  void reply() {
    if (asked_ == settled_) {
      rank_.request_short(1, on_reply_, {});
      ++asked_;
    }
    attempt(Channel(layout, other_.command(), 0).line(0), Channel::answered(settled_), settled_);
  }
  /// Receives some of what came, so that there is room again.
  void receive() {
    Buffer in(random_() % 600);
    Bytes rest = in.bytes();
    bool first = true;
    try {
      pieces_.pull(1, rest, first);
    } catch (const Malformed&) {
      ++refused_;
    }
    received_ += first ? 0 : 1;
  }
  [[nodiscard]] int handled() const { return handled_; }
  [[nodiscard]] int refused() const { return refused_; }
  [[nodiscard]] int received() const { return received_; }
  [[nodiscard]] int outside() const { return outside_; }

 private:
  Attacked(Peers first, Peers other)
      : other_(std::move(other)), rank_(told(std::move(first), other_), Habits{}, patience_) {
    on_reply_ = rank_.enrol(&look, this);
    region_ = rank_.region(layout.region_bytes);
  }
  static Peers told(Peers first, const Peers& other) {
    first.learn({first.exported(), other.exported()});
    return first;
  }

  /// A payload that is not in this rank's memory counts as an escape.
  static void look(void* self, active::Token&, active::Words words, Bytes payload) {
    auto& attacked = *static_cast<Attacked*>(self);
    if (words.size() > active::words_short_max) ++attacked.outside_;
    auto& peers = attacked.rank_.peers();
    const bool inside = lies(payload, {peers.command(), layout.command_bytes()}) ||
                        lies(payload, {peers.command_of(1), layout.command_bytes()}) ||
                        lies(payload, attacked.region_);
    // A short payload is in a copy of its line.
    if (payload.size() > room_beside(words.size()) && !inside) ++attacked.outside_;
    if (!payload.empty()) payload.front() = payload.back();
  }
  static bool lies(Bytes part, Bytes whole) {
    return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
  }

  void attempt(Line& line, std::uint64_t sequence, std::uint64_t& count) {
    line.scribble(sequence << 16 | head(), words());
    try {
      rank_.poll();
      ++count;
      ++handled_;
    } catch (const Malformed&) {
      ++refused_;
    }
  }
  /// Kind, count and handler: any, or such as are in use.
  std::uint64_t head() {
    if (random_() % 4 == 0) return random_() & 0xffff;
    return random_() % 4 << 8 | random_() % 4 << 4 | random_() % 5;
  }
  /// Numbers of every size, those at the limits of what is allowed above all.
  HeaderWords words() {
    constexpr std::uint64_t limits[] = {0, 48, 256, 512, 1000, std::uint64_t{1} << 32, ~0ULL};
    HeaderWords made{};
    for (auto& word : made) {
      const auto near = limits[random_() % std::size(limits)] + random_() % 3 - 1;
      word = random_() % 3 == 0 ? random_() >> random_() % 64 : near;
    }
    return made;
  }

  std::mt19937_64 random_{1};
  Patience patience_ = crowded();
  Peers other_;
  Rank rank_;
  Pieces pieces_{rank_};
  active::Number on_reply_ = 0;
  Bytes region_;
  std::uint64_t served_ = 0, asked_ = 0, settled_ = 0;
  int handled_ = 0, refused_ = 0, received_ = 0, outside_ = 0;
};

}  // namespace

TEST_CASE("random headers are refused or handled, and touch nothing else") {
  Attacked attacked;
  for (int i = 0; i < headers; ++i) {
    if (i % 2 == 0) attacked.request();
    if (i % 2 == 1) attacked.reply();
    if (i % 3 == 0) attacked.receive();
  }
  CHECK(attacked.outside() == 0);
  // Now and then there was room for messages: what came first did not stay for ever.
  CHECK(attacked.received() > headers / 50);
  CHECK(attacked.handled() > headers / 20);
  CHECK(attacked.refused() > headers / 20);
}
