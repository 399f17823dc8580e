// Queues and first messages on the simulated machine, whose truth is known.
#include "transports/model.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "patterns/launch/first_startup_finalize.hpp"
#include "patterns/traffic/drain.hpp"

namespace nhalf::test_model_queues {

namespace {

/// A machine on which only the receiver takes time, but for the way.
constexpr auto machine = "o_s=0,g=0,L=1e-6,G=0,o_r=1e-6,match_s=1e-8,connect_s=1e-4";

/// What a pattern says of itself at rank 0 after some rounds; it has to verify before.
template <template <class> class Template>
std::optional<double> timed_s(int ranks, const std::string& axes, bool verifies = true) {
  std::optional<double> time_s;
  const auto body = [&](ModelTransport& transport) {
    Template<ModelTransport> pattern(transport,
                                     {.size_bytes = 8, .axes = Options::parse(axes, ',')});
    if (verifies) CHECK(pattern.verify());
    transport.barrier();
    pattern.run(2);
    if (transport.rank() == 0) time_s = *pattern.timed_s() / 2;
  };
  ModelTransport::launch(0, nullptr, ranks, Options::parse(machine, ','), body);
  return time_s;
}

double drained_s(int ranks, const std::string& axes) {
  return *timed_s<Drain>(ranks, axes);
}

}  // namespace

TEST_CASE("a receive that finds its message first takes what a receive takes, at any depth") {
  for (const auto* depth : {"1", "7", "1000"})
    for (const auto* order : {"in-order", "any"})
      CHECK(drained_s(2, std::string("queue=unexpected,order=") + order + ",depth=" + depth) ==
            doctest::Approx(1e-6).epsilon(1e-9));
}

TEST_CASE("in reverse order a receive passes half of the queue on average") {
  for (const int depth : {1, 2, 7, 1000})
    for (const int ranks : {2, 3, 6})
      CHECK(drained_s(ranks, "queue=unexpected,order=reverse,depth=" + std::to_string(depth)) ==
            doctest::Approx(1e-6 + 1e-8 * (depth - 1) / 2).epsilon(1e-9));
}

TEST_CASE("a message passes the receives that were posted before its own") {
  // The go-ahead and the first message travel before.
  for (const int depth : {1, 2, 7, 1000}) {
    const auto axes = ",depth=" + std::to_string(depth);
    const double way_s = (1e-6 + 1e-6 + 1e-6) / depth;
    CHECK(drained_s(2, "queue=posted,order=in-order" + axes) ==
          doctest::Approx(1e-6 + way_s).epsilon(1e-9));
    CHECK(drained_s(2, "queue=posted,order=any" + axes) ==
          doctest::Approx(1e-6 + way_s).epsilon(1e-9));
    CHECK(drained_s(2, "queue=posted,order=reverse" + axes) ==
          doctest::Approx(1e-6 + 1e-8 * (depth - 1) / 2 + way_s).epsilon(1e-9));
  }
}

TEST_CASE("a queue without messages, or of more than there may be, is refused") {
  for (const auto* depth : {"0", "16385"})
    CHECK_THROWS_AS(drained_s(2, std::string("depth=") + depth), InputError);
}

TEST_CASE("the first message to each rank connects, there and back, the second does not") {
  for (const auto* partner : {"1", "3"}) {
    const auto axes = std::string("partner=") + partner;
    const double trip_s = 2 * (1e-6 + 1e-6);
    CHECK(*timed_s<FirstMessage>(4, axes + ",message=first", false) ==
          doctest::Approx(trip_s + 2e-4).epsilon(1e-9));
    CHECK(*timed_s<FirstMessage>(4, axes + ",message=second", false) ==
          doctest::Approx(trip_s).epsilon(1e-9));
  }
  CHECK_THROWS_AS(timed_s<FirstMessage>(4, "partner=4", false), InputError);
}

TEST_CASE("tagged messages of a pair may overtake each other, and untagged ones do not see them") {
  int right = 0;
  ModelTransport::launch(0, nullptr, 2, Options{}, [&](ModelTransport& transport) {
    std::byte data[3] = {std::byte{1}, std::byte{2}, std::byte{3}};
    if (transport.rank() == 1) {
      auto first = transport.isend_tagged(0, 5, std::span(data, 1));
      auto second = transport.isend_tagged(0, 6, std::span(data + 1, 1));
      transport.send(0, std::span(data + 2, 1));
      transport.wait(first);
      transport.wait(second);
      return;
    }
    std::byte got{};
    transport.recv(1, std::span(&got, 1));
    right += got == std::byte{3} ? 1 : 0;
    transport.recv_tagged(any_rank, 6, std::span(&got, 1));
    right += got == std::byte{2} ? 1 : 0;
    transport.recv_tagged(1, any_tag, std::span(&got, 1));
    right += got == std::byte{1} ? 1 : 0;
  });
  CHECK(right == 3);
}

}  // namespace nhalf::test_model_queues
