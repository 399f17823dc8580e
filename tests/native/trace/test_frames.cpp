#include "trace/frames.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace {

using nhalf::trace::Frame;
using nhalf::trace::frame_of;

/// What is found from the innermost of three functions, and what the middle one knows.
struct Walked {
  Frame frame;
  const void* returns_to = nullptr;
  const void* end = nullptr;
  const void* expected_return = nullptr;
  const void* expected_end = nullptr;
};

[[gnu::noinline]] void innermost(Walked& walked) {
  const void* end = __builtin_dwarf_cfa();
  walked.frame = frame_of(__builtin_return_address(0), end);
  walked.returns_to = walked.frame.returns_to(end);
  walked.end = walked.frame.end(end);
}

[[gnu::noinline]] void middle(Walked& walked, int size) {
  volatile char room[200];
  room[size] = 1;
  walked.expected_return = __builtin_return_address(0);
  walked.expected_end = __builtin_dwarf_cfa();
  innermost(walked);
  room[0] = room[size];
}

}  // namespace

TEST_CASE("a frame is found once, and then followed by its size") {
  Walked first;
  middle(first, 3);
  REQUIRE(first.frame.size_bytes >= 200);
  CHECK(first.returns_to == first.expected_return);
  CHECK(first.end == first.expected_end);
  Walked second;
  middle(second, 5);
  CHECK(second.returns_to != first.returns_to);
  CHECK(second.returns_to == second.expected_return);
  CHECK(second.frame.size_bytes == first.frame.size_bytes);
}

TEST_CASE("an address that is not on the stack has no frame") {
  const int here = 0;
  CHECK(frame_of(&here, __builtin_dwarf_cfa()).size_bytes == 0);
  CHECK(frame_of(nullptr, nullptr).size_bytes == 0);
}
