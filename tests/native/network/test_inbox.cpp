#include "network/flows.hpp"

#include <doctest/doctest.h>

#include <new>
#include <vector>

#include "network/heap.hpp"
#include "network/memory.hpp"

namespace {

using nhalf::network::Heap;
using nhalf::network::Inbox;
using nhalf::network::Memory;
using nhalf::network::Message;
using nhalf::network::never;
using nhalf::network::Picoseconds;

class Arrivals {
 public:
  void put(Picoseconds arrival, Picoseconds busy, std::uint32_t tag) {
    auto& message = *new (&memory_.state().at<std::byte>(heap_.take(sizeof(Message)))) Message;
    message.arrival = arrival;
    message.busy_in = busy;
    message.source.rank = tag;
    inbox.expect(arrival - busy, busy);
    inbox.put(message);
  }
  std::vector<std::pair<std::uint32_t, Picoseconds>> all() {
    std::vector<std::pair<std::uint32_t, Picoseconds>> taken;
    while (inbox.due() != never) {
      const auto& message = inbox.take();
      taken.emplace_back(message.source.rank, message.arrival);
    }
    return taken;
  }

 private:
  Memory memory_{1 << 16};
  Heap heap_{memory_.state(), memory_.bytes()};

 public:
  Inbox inbox{memory_.state(), 3};
};

using Taken = std::vector<std::pair<std::uint32_t, Picoseconds>>;

TEST_CASE("messages are taken as they arrive, and as they were sent at one time") {
  Arrivals arrivals;
  CHECK(arrivals.inbox.due() == never);
  arrivals.put(300, 0, 1);
  arrivals.put(100, 0, 2);
  arrivals.put(200, 0, 3);
  arrivals.put(100, 0, 4);
  CHECK(arrivals.inbox.due() == 100);
  CHECK(arrivals.all() == Taken{{2, 100}, {4, 100}, {3, 200}, {1, 300}});
}

TEST_CASE("what comes in at one time comes in one after the other") {
  Arrivals arrivals;
  arrivals.put(1000, 400, 1);
  arrivals.put(1100, 400, 2);
  arrivals.put(5000, 400, 3);
  CHECK(arrivals.all() == Taken{{1, 1000}, {2, 1400}, {3, 5000}});
}

}  // namespace
