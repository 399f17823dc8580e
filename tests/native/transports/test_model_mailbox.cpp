#include "transports/model/mailbox.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <random>
#include <utility>

namespace nhalf::test_model_mailbox {

namespace {

double next_of(Mailbox& mailbox, int from, int to) {
  double found_s = -1;
  mailbox.take(from, to, [&](const ModelMessage& message) { found_s = message.arrival_s; });
  return found_s;
}

}  // namespace

TEST_CASE("messages of a pair come in their order, whatever else is under way") {
  std::mt19937 random(2);
  for (const int ranks : {1, 2, 7, 300}) {
    CAPTURE(ranks);
    Mailbox mailbox;
    std::map<std::pair<int, int>, std::deque<double>> truth;
    const auto any = [&] { return static_cast<int>(random() % static_cast<unsigned>(ranks)); };
    for (int step = 0; step < 20000; ++step) {
      const int from = any(), to = any();
      auto& queue = truth[{from, to}];
      const auto* first = mailbox.first(from, to);
      REQUIRE((first == nullptr) == queue.empty());
      // More come than go, then the other way round, so that the table grows and empties.
      const bool takes = step % 4 == 0 || step > 10000;
      if (!takes) {
        mailbox.put(from, to, step, {});
        queue.push_back(step);
      } else if (!queue.empty()) {
        REQUIRE(first->arrival_s == queue.front());
        REQUIRE(next_of(mailbox, from, to) == queue.front());
        queue.pop_front();
      }
    }
  }
}

TEST_CASE("a message holds what was given, also where an earlier one was longer") {
  Mailbox mailbox;
  for (const std::size_t size : {100UL, 3UL, 0UL, 50UL}) {
    const std::vector<std::byte> given(size, std::byte{static_cast<unsigned char>(size)});
    mailbox.put(0, 1, 0, given);
    mailbox.take(0, 1, [&](const ModelMessage& message) { CHECK(message.data == given); });
  }
}

}  // namespace nhalf::test_model_mailbox
