#include "network/flows.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <string>

#include "network/memory.hpp"
#include "network/wires.hpp"

namespace {

using nhalf::network::Flows;
using nhalf::network::Heap;
using nhalf::network::Inbox;
using nhalf::network::Memory;
using nhalf::network::Message;
using nhalf::network::never;
using nhalf::network::Offset;
using nhalf::network::Picoseconds;
using nhalf::network::set_times;
using nhalf::network::Wires;

/// Two leaf switches of four nodes with one cable; a byte takes 1000 ps on each link.
constexpr const char* of_tree =
    "nodes 0 1 2 3 4 5 6 7\n"
    "wire 0 10 10 0\n"
    "part 0 500 1000000000 0\n"
    "link 1000000000 1\n"
    "topology tree node 2 4 2 1 1 1 1\n";
/// Two nodes of two ranks, whose link is as wide as one message.
constexpr const char* nodes =
    "nodes 0 0 1 1\n"
    "wire 0 10 10 0\n"
    "part 0 500 1000000000 0\n"
    "link 1000000000 1\n"
    "topology star 2\n";
/// Nodes between which an exchange of 500 bytes or more takes longer than a message.
constexpr const char* duplex =
    "nodes 0 1 2\n"
    "wire 0 10 10 0\n"
    "part 0 500 1000000000 0\n"
    "both 0 500 500000000 0\n"
    "both 500 0 1500000000 0\n";

using Departures = std::map<const Message*, Picoseconds>;

struct Ranks {
  Departures& departures;

  void departed(const Message& message, Picoseconds time) { departures[&message] = time; }
  void arrived(const Message&, Picoseconds) {}
  [[noreturn]] void run_out_of_memory() { throw std::bad_alloc(); }
};

class Network {
 public:
  explicit Network(const char* machine) : wires_(*Wires::read(machine)) {
    flows_.emplace(memory_.state(), heap_, wires_.routes, wires_.ranks(), Ranks{departures_});
    flows_->begin();
  }

  /// Sends at a time, which does not go back.
  Message& send(Picoseconds time, int from, int to, std::uint64_t bytes) {
    while (flows_->due() <= time) flows_->step();
    const auto place = heap_.take(sizeof(Message));
    auto& message = *new (&memory_.state().at<std::byte>(place)) Message;
    const auto& wire = wires_.between(from, to);
    message.size_bytes = bytes;
    message.source.rank = static_cast<std::uint32_t>(from);
    message.target = static_cast<std::uint32_t>(to);
    set_times(message, wire, time + wire.send);
    flows_->add(message);
    return message;
  }
  /// Returns when the next message of a rank is there.
  Picoseconds arrival(int rank) {
    while (flows_->due() != never) flows_->step();
    Inbox inbox(memory_.state(), rank);
    return inbox.due() == never ? never : inbox.take().arrival;
  }
  Picoseconds departure_of(Message& message) {
    while (flows_->due() != never) flows_->step();
    return departures_.at(&message);
  }

 private:
  Memory memory_{1 << 20};
  Heap heap_{memory_.state(), memory_.bytes()};
  Wires wires_;
  Departures departures_;
  std::optional<Flows<Ranks>> flows_;
};

/// What a message takes besides its bytes, until its receiver takes it.
constexpr Picoseconds besides = 490;

TEST_CASE("a message alone takes the time of the curve") {
  Network network(of_tree);
  network.send(0, 0, 5, 1000);
  CHECK(network.arrival(5) == besides + 1'000'000);
}

TEST_CASE("two and three messages on one cable take two and three times as long") {
  for (const int count : {2, 3}) {
    Network network(of_tree);
    for (int rank = 0; rank < count; ++rank) network.send(0, rank, 4 + rank, 3000);
    for (int rank = 0; rank < count; ++rank) {
      const auto late = network.arrival(4 + rank) - besides;
      CHECK(late >= 3'000'000u * static_cast<unsigned>(count));
      CHECK(late <= 3'000'000u * static_cast<unsigned>(count) + 1);
    }
  }
}

TEST_CASE("a message that begins later slows the first one for as long as both go on") {
  Network network(of_tree);
  network.send(0, 0, 4, 1000);
  network.send(400'000, 1, 5, 1000);
  // Alone for 0.4, beside each other for 1.2, then the second has 0.4 left.
  CHECK(network.arrival(4) == besides + 1'600'000);
  CHECK(network.arrival(5) == besides + 2'000'000);
}

TEST_CASE("messages of one leaf switch, and in opposite directions, do not share") {
  Network network(of_tree);
  network.send(0, 0, 4, 1000);
  network.send(0, 5, 1, 1000);
  network.send(0, 2, 3, 1000);
  for (const int rank : {4, 1, 3}) CHECK(network.arrival(rank) == besides + 1'000'000);
}

TEST_CASE("two ranks of a node share its link") {
  Network network(nodes);
  network.send(0, 0, 2, 1000);
  network.send(0, 1, 3, 1000);
  CHECK(network.arrival(2) == besides + 2'000'000);
  CHECK(network.arrival(3) == besides + 2'000'000);
}

TEST_CASE("what came in beside others at a shared rate does not come in again") {
  Network network(nodes);
  network.send(0, 0, 2, 1000);
  network.send(0, 1, 2, 1000);
  CHECK(network.arrival(2) == besides + 2'000'000);
  CHECK(network.arrival(2) == besides + 2'000'000);
}

TEST_CASE("messages from several ranks come in one after the other") {
  Network network(of_tree);
  for (const int rank : {1, 2, 3}) network.send(0, rank, 0, 1000);
  for (const unsigned number : {1u, 2u, 3u})
    CHECK(network.arrival(0) == besides + number * 1'000'000);
}

TEST_CASE("a long message waits no longer than a short one beside it takes") {
  Network network(of_tree);
  network.send(0, 1, 0, 1000);
  network.send(500'000, 2, 0, 10);
  CHECK(network.arrival(0) == besides + 510'000);
  CHECK(network.arrival(0) == besides + 1'010'000);
}

TEST_CASE("messages of a rank leave one after the other, and have left when links let them") {
  Network network(of_tree);
  network.send(0, 0, 4, 1000);
  auto& second = network.send(0, 0, 1, 1000);
  network.send(0, 1, 5, 1000);
  CHECK(network.departure_of(second) == 10 + 3'000'000);
  CHECK(network.arrival(1) == besides + 3'000'000);
}

TEST_CASE("messages in opposite directions take what an exchange does, not less than alone") {
  for (const std::uint64_t bytes : {2000u, 1000u, 100u}) {
    Network network(duplex);
    network.send(0, 0, 1, bytes);
    network.send(0, 1, 0, bytes);
    const auto alone = besides + 1000 * bytes;
    const auto wanted = bytes < 500 ? alone : 1500 * bytes - 10;
    for (const int rank : {0, 1}) {
      const auto late = network.arrival(rank);
      CHECK(late >= wanted);
      CHECK(late <= wanted + wanted / 1'000'000 + 2);
    }
  }
}

TEST_CASE("a message is slowed for as long as something passes the other way at either end") {
  Network network(duplex);
  network.send(0, 0, 1, 1000);
  network.send(500'000, 1, 2, 1000);
  // Alone for the first half; the second takes 1'499'500 of 1'000'000 times as long.
  const double slowed = 500'000 + 749'750;
  CHECK(network.arrival(1) == doctest::Approx(besides + slowed).epsilon(1e-5));
  // Of the other as much is left, and alone again.
  CHECK(network.arrival(2) == doctest::Approx(besides + slowed + 500'000).epsilon(1e-5));
}

TEST_CASE("messages leave as far apart as was seen, sooner or later than their bytes take alone") {
  for (const unsigned apart : {400'000u, 3'000'000u}) {
    Network network(("nodes 0 1 2\nwire 0 10 10 0\npart 0 500 1000000000 0\nout 0 " +
                     std::to_string(apart) + " 0 0\n")
                        .c_str());
    auto& first = network.send(0, 0, 1, 1000);
    network.send(0, 0, 2, 1000);
    CHECK(network.arrival(1) == besides + 1'000'000);
    CHECK(network.arrival(2) == besides + 1'000'000 + apart);
    // It has left when its bytes have, though the next one waits.
    CHECK(network.departure_of(first) == 10 + std::min(apart, 1'000'000u));
  }
}

TEST_CASE("messages of one direction do not mind what an exchange takes") {
  Network network(duplex);
  network.send(0, 1, 0, 1000);
  network.send(0, 2, 0, 1000);
  for (const unsigned number : {1u, 2u}) CHECK(network.arrival(0) == besides + number * 1'000'000);
}

}  // namespace
