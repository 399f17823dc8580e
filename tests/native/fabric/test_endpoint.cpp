#include "fabric/endpoint.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace {

using namespace nhalf::fabric;
using nhalf::fabric::Message;  // NOLINT(google-build-using-namespace)

/// A message with its bytes behind it, as in the region.
class Sent {
 public:
  Sent(const std::string& text, std::uint64_t tag, Address source, bool is_tagged = true)
      : memory_(sizeof(Message) + text.size()), message(*new (memory_.data()) Message) {
    message.size_bytes = text.size();
    message.envelope = {tag, 0, is_tagged, false};
    message.source = source;
    message.cost = 7;
    std::memcpy(message.body(), text.data(), text.size());
  }

 private:
  std::vector<std::byte> memory_;

 public:
  Message& message;
};

class Place {
 public:
  explicit Place(std::size_t bytes) : text(bytes, '.') {}
  Receive receive(const Selection& selection, void* context = nullptr) {
    return {selection, {{text.data(), text.size()}}, context};
  }
  std::string text;
};

constexpr auto nothing = [](Message&) {};

struct Setup {
  Completions queue;
  Endpoint endpoint{0};
  Setup() { endpoint.of_receives = &queue; }
};

TEST_CASE("a message meets the first receive that takes it") {
  Setup setup;
  Place wrong(8);
  Place second(8);
  setup.endpoint.post(wrong.receive({5, 0, {}}), true, 0, nothing);
  setup.endpoint.post(second.receive({4, 1, Address{2, 0}}), true, 0, nothing);
  const Sent other("other", 5, {3, 0});
  const Sent fitting("four", 5, {2, 0});
  CHECK(setup.endpoint.arrive(other.message, 100));
  CHECK(setup.endpoint.arrive(fitting.message, 200));
  CHECK(wrong.text == "other...");
  CHECK(second.text == "four....");
  const auto first = setup.queue.take();
  CHECK(first.at == 100);
  CHECK(first.size_bytes == 5);
  CHECK(first.cost == 7);
  CHECK(first.source == Address{3, 0});
}

TEST_CASE("messages that nobody expects are received in their order") {
  Setup setup;
  const Sent one("one", 1, {1, 0});
  const Sent two("two", 1, {1, 0});
  CHECK_FALSE(setup.endpoint.arrive(one.message, 10));
  CHECK_FALSE(setup.endpoint.arrive(two.message, 20));
  CHECK(setup.endpoint.tagged().message_for({1, 0, {}}) == &one.message);
  Place place(3);
  int released = 0;
  setup.endpoint.post(place.receive({1, 0, {}}), true, 50, [&](Message&) { ++released; });
  CHECK(place.text == "one");
  CHECK(released == 1);
  CHECK(setup.queue.due() == 50);
}

TEST_CASE("a claimed message is kept for its claimer") {
  Setup setup;
  const Sent sent("mine", 1, {1, 0});
  setup.endpoint.arrive(sent.message, 10);
  sent.message.is_claimed = true;
  CHECK(setup.endpoint.tagged().message_for({1, 0, {}}) == nullptr);
  Place place(4);
  CHECK(setup.endpoint.receive_claimed(place.receive({}), sent.message, 20));
  CHECK(place.text == "mine");
  CHECK_FALSE(setup.endpoint.receive_claimed(place.receive({}), sent.message, 20));
}

TEST_CASE("a message that is too long is cut, with an error") {
  Setup setup;
  Place place(2);
  setup.endpoint.post(place.receive({1, 0, {}}), true, 0, nothing);
  const Sent sent("long", 1, {1, 0});
  setup.endpoint.arrive(sent.message, 0);
  CHECK(place.text == "lo");
  CHECK(setup.queue.has_failed_first());
  const auto done = setup.queue.take();
  CHECK(done.failure == Failure::truncated);
  CHECK(done.lost_bytes == 2);
}

TEST_CASE("a buffer of many messages fills until it has too little room") {
  Setup setup;
  setup.endpoint.least_room = 4;
  Place place(9);
  Receive receive = place.receive({});
  receive.takes_many = true;
  setup.endpoint.post(std::move(receive), false, 0, nothing);
  const Sent one("abc", 0, {1, 0}, false);
  const Sent two("def", 0, {1, 0}, false);
  CHECK(setup.endpoint.arrive(one.message, 0));
  CHECK(setup.endpoint.arrive(two.message, 0));
  CHECK(place.text == "abcdef...");
  CHECK_FALSE(setup.queue.take().is_released);
  const auto last = setup.queue.take();
  CHECK(last.is_released);
  CHECK(last.buffer == place.text.data() + 3);
  const Sent late("ghi", 0, {1, 0}, false);
  CHECK_FALSE(setup.endpoint.arrive(late.message, 0));
}

TEST_CASE("a receive is cancelled once") {
  Setup setup;
  Place place(1);
  int context = 0;
  setup.endpoint.post(place.receive({1, 0, {}}, &context), true, 0, nothing);
  CHECK(setup.endpoint.cancel(&context, 30));
  CHECK_FALSE(setup.endpoint.cancel(&context, 30));
  CHECK(setup.queue.take().failure == Failure::cancelled);
}

TEST_CASE("what is complete comes in the order of its times") {
  Completions queue;
  for (const Picoseconds at : {30, 10, 20, 10}) queue.add(Completion(at, nullptr));
  for (const Picoseconds at : {10, 10, 20, 30}) CHECK(queue.take().at == at);
  CHECK(queue.due() == never);
}

TEST_CASE("what is due first is due, in whichever queue") {
  Endpoints endpoints;
  CHECK(endpoints.due() == never);
  auto& first = endpoints.add_queue();
  auto& second = endpoints.add_queue();
  CHECK(endpoints.due() == never);
  second.add(Completion(300, nullptr));
  first.add(Completion(500, nullptr));
  CHECK(endpoints.due() == 300);
  second.take();
  CHECK(endpoints.due() == 500);
}

TEST_CASE("endpoints count from 0, and each has its messages and its queue") {
  Endpoints endpoints;
  CHECK(endpoints.is_empty());
  endpoints.add();
  auto& endpoint = endpoints.add();
  CHECK(endpoint.number == 1);
  endpoint.of_sends = endpoint.of_receives = &endpoints.add_queue();
  CHECK(endpoints.queue_of_sends(0) == nullptr);
  CHECK(endpoints.queue_of_sends(1) == endpoint.of_sends);
  endpoint.post(Receive{{}, {}, nullptr}, true, 0, [](Message&) {});
  CHECK(endpoints.has_receives());
  Message message;
  message.envelope.is_tagged = true;
  CHECK_FALSE(endpoints.arrive(message, 100));
  Message expected;
  expected.envelope.is_tagged = true;
  expected.endpoint = 1;
  CHECK(endpoints.arrive(expected, 100));
  CHECK(endpoints.due() == 100);
  CHECK_FALSE(endpoints.has_receives());
}

TEST_CASE("a message for an endpoint that is not there is used up") {
  Endpoints endpoints;
  Message message;
  CHECK(endpoints.arrive(message, 0));
}

}  // namespace
