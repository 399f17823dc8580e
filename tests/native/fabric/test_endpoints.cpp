// SPDX-License-Identifier: Apache-2.0
#include "fabric/endpoints.hpp"

#include <doctest/doctest.h>

namespace {

using nhalf::fabric::Completion;
using nhalf::fabric::Endpoints;
using nhalf::fabric::Message;
using nhalf::fabric::never;
using nhalf::fabric::Receive;

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
