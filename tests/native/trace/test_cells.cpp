#include "trace/cells.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>

#include "trace/table.hpp"

namespace {

using nhalf::trace::Cells;
using nhalf::trace::cells_most;
using nhalf::trace::Kind;
using nhalf::trace::Subject;
using nhalf::trace::Table;

constexpr std::uint64_t mebi = 1U << 20U;

Subject message(std::int32_t partner, std::uint64_t size_bytes) {
  return {3, Kind::sent, 1, partner, size_bytes};
}

/// As many bytes as a file may have, until the end of the block.
class Limit {
 public:
  explicit Limit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit less{bytes, before_.rlim_max};
    handler_ = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &less);
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  ~Limit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

}  // namespace

TEST_CASE("every subject has a cell of its own, however many there are") {
  Table table;
  REQUIRE(table.has_head);
  for (int round = 0; round < 2; ++round)
    for (std::int32_t partner = 0; partner < 300; ++partner)
      for (std::uint64_t size = 0; size < 50; ++size) table.count(message(partner, size));
  CHECK(table.layout.head.cells == 300 * 50);
  CHECK(table.counted() == 2 * 300 * 50);
  CHECK(table.cells.of(message(17, 49)).count == 2);
  CHECK(table.layout.head.lost == 0);
}

TEST_CASE("call, kind, communicator and partner tell subjects apart") {
  Table table;
  const Subject one = message(5, 8);
  for (Subject other : {one, one, one, one, one}) {
    static int which = 0;
    if (which == 1) other.call = 4;
    if (which == 2) other.kind = Kind::received;
    if (which == 3) other.communicator = 2;
    if (which == 4) other.partner = nhalf::trace::no_process;
    ++which;
    table.count(other);
  }
  CHECK(table.layout.head.cells == 5);
  CHECK(Cells::packed(one) != Cells::packed(message(-5, 8)));
}

TEST_CASE("sizes without end are rounded down, and the file stays small") {
  Table table;
  for (std::uint64_t size = 0; size < 2 * cells_most; ++size) table.count(message(1, size));
  CHECK(table.counted() == 2 * cells_most);
  CHECK(table.layout.head.cells <= cells_most);
  CHECK((table.layout.head.lost & nhalf::trace::sizes_rounded) != 0);
  CHECK((table.layout.head.lost & nhalf::trace::partners_joined) == 0);
  // Of the last ones only the power of two below them is known.
  CHECK(table.cells.of(message(1, 2 * cells_most - 1)).size_bytes == 524288);
  CHECK(offsetof(nhalf::trace::Layout, cells) + cells_most * sizeof(nhalf::trace::Cell) <
        32 * mebi);
}

TEST_CASE("where others have taken the memory, cells have fewer details") {
  Table table;
  nhalf::trace::memory_remaining_bytes = nhalf::trace::memory_reserve_bytes;
  for (std::int32_t partner = 0; partner < 200; ++partner)
    for (std::uint64_t size = 0; size < 1000; ++size) table.count(message(partner, size));
  CHECK(table.counted() == 200 * 1000);
  CHECK(table.layout.head.cells < 60'000);
  CHECK((table.layout.head.lost & nhalf::trace::sizes_rounded) != 0);
}

TEST_CASE("partners without end are joined at last") {
  Table table;
  std::uint64_t calls = 0;
  for (std::int32_t partner = 0; partner < 500'000; ++partner, ++calls)
    table.count(message(partner, 8));
  CHECK(table.counted() == calls);
  CHECK(table.layout.head.cells <= cells_most);
  CHECK((table.layout.head.lost & nhalf::trace::partners_joined) != 0);
  const auto& joined = table.cells.of(message(499'999, 8));
  CHECK(joined.which == Cells::packed({3, Kind::sent, nhalf::trace::communicators_max,
                                       nhalf::trace::elsewhere, 0}));
}

TEST_CASE("on a full disk what is known already is counted on") {
  Table table;
  table.count(message(1, 7));
  const Limit limit(offsetof(nhalf::trace::Layout, cells) + 1024 * sizeof(nhalf::trace::Cell));
  for (std::int32_t partner = 0; partner < 3000; ++partner) table.count(message(partner, 7));
  CHECK(table.cells.of(message(1, 7)).count == 2);
  CHECK(table.layout.head.cells == 1024);
  CHECK((table.layout.head.lost & nhalf::trace::disk_full) != 0);
}
