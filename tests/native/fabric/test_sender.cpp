#include "fabric/sender.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "fabric/network_of_test.hpp"

namespace {

using nhalf::fabric::Access;
using nhalf::fabric::Address;
using nhalf::fabric::Completions;
using nhalf::fabric::Message;
using nhalf::fabric::never;
using nhalf::fabric::RankOfTest;
using nhalf::fabric::Sender;
using Network = nhalf::fabric::NetworkOfTest;

TEST_CASE("a message keeps its sender's processor busy and arrives in the time of its curve") {
  Network network;
  RankOfTest rank(network, 0);
  network.member(0).now = 1000;
  rank.sender.send(rank.sender.message(0, {1, 0}, 100), nullptr, nullptr);
  CHECK(network.member(0).now == 1000 + Network::send);
  CHECK(network.member(0).messages == 1);
  CHECK(network.member(0).bytes == 100);
  CHECK(network.region.messages == 1);
  const auto& message = network.delivered(1);
  CHECK(message.arrival == 1000 + Network::send + Network::transit + 100 * Network::per_byte);
  CHECK(message.cost == Network::receive);
}

TEST_CASE("a delay is added to either end and to the way") {
  Network network;
  RankOfTest rank(network, 0);
  rank.delay = {100'000, 3000, 5.0};
  rank.sender.send(rank.sender.message(0, {1, 0}, 100), nullptr, nullptr);
  CHECK(network.member(0).now == Network::send + 3000);
  const auto& message = network.delivered(1);
  CHECK(message.arrival ==
        network.member(0).now + Network::transit + 100'000 + 100 * (Network::per_byte + 5));
  CHECK(message.cost == Network::receive + 3000);
}

TEST_CASE("messages come in as close as they were seen to, and a delay of bytes keeps them apart") {
  using nhalf::fabric::Delay;
  Message message;
  message.size_bytes = 100;
  message.flow.work = 700;
  message.busy_in = 500;
  message.busy_out = 900;
  Delay{}.add_to(message);
  CHECK(message.busy_in == 500);
  CHECK(message.busy_out == 900);
  Delay{0, 0, 5.0}.add_to(message);
  CHECK(message.busy_in == 500 + 500);
  CHECK(message.busy_out == 700 + 500);
}

TEST_CASE("a rank's message to itself is there at once") {
  Network network;
  RankOfTest rank(network, 0);
  network.member(0).now = 1000;
  rank.sender.send(rank.sender.access(0, {0, 0}, Access{}, 1 << 20), nullptr, nullptr);
  CHECK(network.member(0).now == 1000);
  CHECK(network.member(0).messages == 0);
  CHECK(network.region.slots[0].accesses == 1);
  CHECK(network.delivered(0).arrival == 1000);
}

TEST_CASE("a message that may leave at a time takes no processor") {
  Network network;
  RankOfTest rank(network, 0);
  rank.sender.send_at(rank.sender.message(0, {1, 0}, 0), 7000);
  CHECK(network.member(0).now == 0);
  CHECK(network.delivered(1).arrival == 7000 + Network::transit);
}

TEST_CASE("a short message is complete when it is sent") {
  Network network;
  RankOfTest rank(network, 0);
  Completions queue;
  int context = 0;
  rank.sender.send(rank.sender.message(0, {1, 0}, network.wires.eager_bytes), &queue, &context);
  CHECK_FALSE(rank.sender.has_departing());
  CHECK(queue.due() == Network::send);
  CHECK(queue.first().context == &context);
  CHECK(queue.first().size_bytes == network.wires.eager_bytes);
}

TEST_CASE("long messages are complete when they have left, one after the other") {
  Network network;
  RankOfTest rank(network, 0);
  Completions queue;
  const auto bytes = network.wires.eager_bytes + 1;
  for (int count = 0; count < 2; ++count)
    rank.sender.send(rank.sender.message(0, {1, 0}, bytes), &queue, nullptr);
  CHECK(rank.sender.has_departing());
  CHECK(rank.sender.departure() == never);
  network.delivered(1);
  const auto first = Network::send + bytes * Network::per_byte;
  CHECK(rank.sender.departure() == first);
  rank.sender.report_until(first - 1);
  CHECK(queue.due() == never);
  rank.sender.report_until(first);
  CHECK(queue.take().at == first);
  CHECK(rank.sender.departure() == first + bytes * Network::per_byte);
  rank.sender.report_until(never - 1);
  CHECK(queue.take().at == first + bytes * Network::per_byte);
  CHECK_FALSE(rank.sender.has_departing());
}

TEST_CASE("long messages that nobody waits for, or that do not leave, have no departure") {
  Network network;
  RankOfTest rank(network, 0);
  Completions queue;
  auto& unreported = rank.sender.message(0, {1, 0}, 1 << 16);
  rank.sender.send(unreported, nullptr, nullptr);
  CHECK(unreported.departure == 0);
  rank.sender.send(rank.sender.message(0, {0, 0}, 1 << 16), &queue, nullptr);
  CHECK_FALSE(rank.sender.has_departing());
  CHECK(queue.due() == Network::send);
}

TEST_CASE("a rank runs ahead by some messages, or by some bytes") {
  Network network;
  RankOfTest rank(network, 0);
  auto& sender = rank.sender;
  for (int turn = 0; turn < 2; ++turn) {
    for (std::size_t count = 0; count < Sender::ahead_messages_max; ++count)
      CHECK_FALSE(sender.is_far_ahead(8));
    CHECK(sender.is_far_ahead(8));
    sender.note_turn();
    CHECK_FALSE(sender.is_far_ahead(Sender::ahead_bytes_max));
    CHECK(sender.is_far_ahead(1));
    sender.note_turn();
  }
}

TEST_CASE("a message names both ends") {
  Network network;
  RankOfTest rank(network, 2);
  const auto& message = rank.sender.message(1, {1, 3}, 100);
  CHECK(message.source == Address{2, 1});
  CHECK(message.target == 1);
  CHECK(message.endpoint == 3);
  CHECK(message.size_bytes == 100);
  CHECK(message.room() == sizeof(Message) + 100);
  CHECK_FALSE(message.is_access);
}

TEST_CASE("an access stands before the bytes, which alone are its size") {
  Network network;
  RankOfTest rank(network, 0);
  Access access;
  access.key = 77;
  auto& message = rank.sender.access(0, {1, 0}, access, 8);
  CHECK(message.is_access);
  CHECK(Access::in(message).key == 77);
  CHECK(message.size_bytes == 8);
  CHECK(message.room() == sizeof(Message) + sizeof(Access) + 8);
}

TEST_CASE("memory that is released is used again, and that of departures is") {
  Network network;
  RankOfTest rank(network, 0);
  Completions queue;
  const auto use = [&] {
    rank.sender.send(rank.sender.message(0, {1, 0}, 1 << 16), &queue, nullptr);
    rank.sender.release(network.delivered(1));
    rank.sender.report_until(never - 1);
  };
  use();
  const auto top = network.region.network.heap.top;
  for (int round = 0; round < 10; ++round) use();
  CHECK(network.region.network.heap.top == top);
}

TEST_CASE("a message for which there is no memory ends the run, and says who sends it in what") {
  Network network;
  const auto child = fork();
  if (child == 0) {
    std::strcpy(network.region.slots[2].doing.call.data(), "MPI_Send");
    RankOfTest(network, 2).sender.message(0, {1, 0}, 1 << 25);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  const std::string_view text = network.region.outcome.text.data();
  CHECK(text.starts_with("memory:rank 2 sends in MPI_Send, and "));
  const auto bytes = network.region.network.heap.end + offsetof(nhalf::fabric::Region, network);
  CHECK(text.ends_with("(" + std::to_string(bytes >> 20) + " MiB)"));
}

}  // namespace
