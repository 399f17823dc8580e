// SPDX-License-Identifier: Apache-2.0
#include "fabric/message_pool.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "fabric/region_of_test.hpp"

namespace {

using nhalf::fabric::Access;
using nhalf::fabric::Address;
using nhalf::fabric::Departure;
using nhalf::fabric::Heap;
using nhalf::fabric::Message;
using nhalf::fabric::MessagePool;
using nhalf::fabric::never;
using nhalf::fabric::RegionOfTest;

TEST_CASE("a message names both ends") {
  RegionOfTest memory(1 << 16);
  Heap heap(*memory.region, memory.bytes);
  MessagePool pool(*memory.region, heap, 3);
  const auto& message = pool.message(1, {5, 2}, 100);
  CHECK(message.source == Address{3, 1});
  CHECK(message.target == 5);
  CHECK(message.endpoint == 2);
  CHECK(message.size_bytes == 100);
  CHECK(message.room() == sizeof(Message) + 100);
  CHECK_FALSE(message.is_access);
}

TEST_CASE("an access stands before the bytes, which alone are its size") {
  RegionOfTest memory(1 << 16);
  Heap heap(*memory.region, memory.bytes);
  MessagePool pool(*memory.region, heap, 0);
  Access access;
  access.key = 77;
  auto& message = pool.access(0, {1, 0}, access, 8);
  CHECK(message.is_access);
  CHECK(Access::in(message).key == 77);
  CHECK(message.size_bytes == 8);
  CHECK(message.room() == sizeof(Message) + sizeof(Access) + 8);
}

TEST_CASE("memory that is released is used again") {
  RegionOfTest memory(1 << 20);
  Heap heap(*memory.region, memory.bytes);
  MessagePool pool(*memory.region, heap, 0);
  const auto use = [&] {
    auto& message = pool.message(0, {1, 0}, 4096);
    const auto departure = pool.departure();
    CHECK(memory.region->at<Departure>(departure).at == never);
    memory.region->at<Departure>(departure).at = 0;
    pool.release(message);
    pool.release_departure(departure);
  };
  use();
  const auto top = memory.region->heap.top;
  for (int round = 0; round < 10; ++round) use();
  CHECK(memory.region->heap.top == top);
}

TEST_CASE("a message for which there is no memory ends the run, and says who sends it in what") {
  RegionOfTest memory(1 << 20);
  const auto child = fork();
  if (child == 0) {
    Heap heap(*memory.region, memory.bytes);
    std::strcpy(memory.region->slots[3].doing.call.data(), "MPI_Send");
    MessagePool(*memory.region, heap, 3).message(0, {1, 0}, 1 << 21);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  const std::string_view text = memory.region->outcome.text.data();
  CHECK(text.starts_with("memory:rank 3 sends in MPI_Send, and "));
  CHECK(text.ends_with("(" + std::to_string(memory.bytes >> 20) + " MiB)"));
}

}  // namespace
