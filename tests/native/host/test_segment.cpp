#include "host/segment.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

using nhalf::Segment;

namespace {
constexpr std::size_t size_bytes = 3 * 4096;
}

TEST_CASE("another process finds what one made, while its file is open") {
  auto made = Segment::create(size_bytes);
  REQUIRE(made);
  const auto address = made.address();
  CHECK(made.reserve(4096, 4096));
  const auto child = fork();
  if (child == 0) {
    const auto found = Segment::open(address, size_bytes);
    if (found) found.data()[4096] = std::byte{7};
    _exit(found ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(made.data()[4096] == std::byte{7});
  CHECK(made.data()[0] == std::byte{0});
  made.close_file();
  CHECK_FALSE(Segment::open(address, size_bytes));
  CHECK_FALSE(made.reserve(0, 4096));
}

TEST_CASE("what is another file or of another size is not taken") {
  const auto made = Segment::create(size_bytes);
  auto address = made.address();
  CHECK_FALSE(Segment::open(address, size_bytes + 1));
  ++address.inode;
  CHECK_FALSE(Segment::open(address, size_bytes));
  CHECK_FALSE(Segment::open(Segment::Address{}, size_bytes));
}

TEST_CASE("where files may not be as large there is none, and no signal") {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto none = Segment::create(size_bytes);
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK_FALSE(none);
  CHECK(none.address() == Segment::Address{});
  CHECK_FALSE(none.reserve(0, 1));
}

TEST_CASE("a segment that is moved goes once") {
  auto made = Segment::create(size_bytes);
  Segment other;
  other = std::move(made);
  CHECK(other);
  CHECK(other.reserve(0, size_bytes));
}
