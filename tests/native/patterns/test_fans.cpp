// One to many, many to one, many to many.
#include <doctest/doctest.h>

#include <algorithm>

#include "rank_counts.hpp"
#include "recording.hpp"

#include "patterns/traffic/many.hpp"

namespace nhalf::test_fans {

TEST_CASE("every rank hears from those it should, once in a round, and answers once in a window") {
  for (const int ranks : rank_counts)
    for (const std::uint64_t rounds : {1UL, 31UL, 32UL, 33UL}) {
      CAPTURE(ranks);
      CAPTURE(rounds);
      const int each = static_cast<int>(rounds);
      const int windows = rounds > 32 ? 2 : 1;
      Traffic out;
      record<OneToMany>(out, ranks, 100, "", rounds);
      Traffic in;
      record<ManyToOne>(in, ranks, 100, "", rounds);
      for (auto* traffic : {&out, &in}) {
        CHECK(traffic->verified);
        CHECK(traffic->messages() == each * (ranks - 1));
        CHECK(traffic->moved_bytes == static_cast<std::uint64_t>(ranks - 1) * 100);
      }
      for (int rank = 1; rank < ranks; ++rank) {
        CHECK(out.data[{0, rank}] == each);
        CHECK(out.empty[{rank, 0}] == windows);
        CHECK(in.data[{rank, 0}] == each);
        CHECK(in.empty[{0, rank}] == windows);
      }
    }
}

TEST_CASE("all send to all others, once in a round") {
  for (const int ranks : rank_counts)
    for (const std::size_t size : {0UL, 1UL, 1024UL, 5000UL}) {
      CAPTURE(ranks);
      CAPTURE(size);
      Traffic traffic;
      record<ManyToMany>(traffic, ranks, size, "", 3);
      CHECK(traffic.verified);
      CHECK(traffic.moved_bytes == static_cast<std::uint64_t>(ranks * (ranks - 1)) * size);
      auto& messages = size == 0 ? traffic.empty : traffic.data;
      CHECK(messages.size() == static_cast<std::size_t>(ranks * (ranks - 1)));
      for (const auto& [who, count] : messages) {
        CHECK(who.first != who.second);
        CHECK(count == 3);
      }
    }
}

TEST_CASE("a wrong byte from any rank is found") {
  Traffic out;
  record<OneToMany>(out, 5, 100, "", 1, true);
  CHECK(!out.verified);
  Traffic in;
  record<ManyToOne>(in, 5, 100, "", 1, true);
  CHECK(!in.verified);
}

TEST_CASE("messages that do not fit into memory are refused, however they are counted") {
  ProbeTransport::launch(0, nullptr, 2, Options{}, [](ProbeTransport& t) {
    for (const std::size_t size : {std::size_t{1} << 44, std::size_t{1} << 62, ~std::size_t{0}})
      CHECK_THROWS_AS(ManyToMany<ProbeTransport>(t, case_of(size, "")), std::bad_alloc);
  });
}

namespace {

/// What the pattern says of rank 0's own time, seconds per round.
double root_s(const std::string& name, int ranks, std::size_t size_bytes) {
  double found_s = -1;
  const auto options = Options::parse(machine, ',');
  ProbeTransport::launch(0, nullptr, ranks, options, [&](ProbeTransport& t) {
    for (const auto& entry : patterns<ProbeTransport>()) {
      if (entry.info.name != name) continue;
      const auto pattern = entry.make(t, case_of(size_bytes, ""));
      pattern->run(64);
      const auto values = pattern->values();
      if (t.rank() == 0) found_s = values.front().value;
    }
  });
  return found_s;
}

}  // namespace

TEST_CASE("messages of a fan leave, or come in, a gap apart; answers are in no sample" *
          doctest::skip(!exact_times)) {
  for (const int ranks : {2, 3, 8, 17})
    for (const std::size_t n : {0UL, 1000UL, 100000UL}) {
      CAPTURE(ranks);
      CAPTURE(n);
      // Messages leave rank 0, or come to it, a gap apart.
      const int messages = 32 * (ranks - 1);
      const double apart_s = g + static_cast<double>(n) * G;
      const double round_s = (ranks - 1) * apart_s;
      CHECK(root_s("one-to-many", ranks, n) ==
            doctest::Approx(((messages - 1) * apart_s + o_s) / 32).epsilon(1e-9));
      CHECK(time_of("many-to-one", ranks, n, "") == doctest::Approx(round_s).epsilon(1e-9));
      CHECK(time_of("one-to-many", ranks, n, "") == doctest::Approx(round_s).epsilon(1e-9));
    }
}

TEST_CASE("all to all takes p - 1 sends a gap apart, then the last message, or all receives" *
          doctest::skip(!exact_times)) {
  for (const int ranks : {2, 3, 8, 17})
    for (const std::size_t n : {0UL, 1000UL, 100000UL}) {
      CAPTURE(ranks);
      CAPTURE(n);
      const double bytes_s = static_cast<double>(n) * G;
      const double sent_s = (ranks - 2) * (g + bytes_s) + o_s;
      const double expected_s = sent_s + std::max((ranks - 2) * o_r, bytes_s + L) + o_r;
      CHECK(time_of("many-to-many", ranks, n, "") == doctest::Approx(expected_s).epsilon(1e-9));
    }
}

}  // namespace nhalf::test_fans
