#include "trace/layout.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace {

using nhalf::trace::Kind;
using nhalf::trace::Layout;
using nhalf::trace::Span;
using nhalf::trace::SpanTable;
using nhalf::trace::Ticks;

constexpr Ticks table_begin = 1000;
constexpr std::uint32_t shift = 4;

struct Made {
  /// Without the cells, which nobody touches here.
  std::unique_ptr<std::byte[]> room = std::make_unique<std::byte[]>(offsetof(Layout, cells) + 4096);
  Layout& layout = *reinterpret_cast<Layout*>(
      (reinterpret_cast<std::uintptr_t>(room.get()) + 4095) & ~std::uintptr_t{4095});
  SpanTable table{layout, table_begin, shift};

  [[nodiscard]] const Span& span(std::size_t number, Kind kind) const {
    return layout.time[layout.head.spans_active][number][static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] Span sum(Kind kind) const {
    Span all{};
    for (std::size_t number = 0; number < nhalf::trace::spans; ++number) {
      const Span& one = span(number, kind);
      all = {all.count + one.count, all.bytes + one.bytes, all.time + one.time};
    }
    return all;
  }
};

}  // namespace

TEST_CASE("what happens is in the span of its beginning") {
  Made made;
  CHECK(made.table.add(Kind::sent, 10, table_begin + 15, 3, 1));
  CHECK_FALSE(made.table.add(Kind::sent, 20, table_begin + 1, 4, 1));
  CHECK(made.table.add(Kind::received, 5, table_begin + 16, 2, 0));
  CHECK(made.span(0, Kind::sent).count == 2);
  CHECK(made.span(0, Kind::sent).bytes == 30);
  CHECK(made.span(0, Kind::sent).time == 7);
  CHECK(made.span(0, Kind::waiting).time == 2);
  CHECK(made.span(1, Kind::received).count == 1);
}

TEST_CASE("spans double when time runs past the last, and lose nothing") {
  Made made;
  const Ticks last = Ticks{nhalf::trace::spans} << shift;
  for (Ticks at = 0; at < last; ++at) made.table.add(Kind::sent, 2, table_begin + at, 1, 1);
  CHECK(made.layout.head.spans_shift[made.layout.head.spans_active] == shift);
  made.table.add(Kind::sent, 2, table_begin + last, 1, 1);
  CHECK(made.layout.head.spans_shift[made.layout.head.spans_active] == shift + 1);
  CHECK(made.span(0, Kind::sent).count == 32);
  CHECK(made.span(nhalf::trace::spans / 2, Kind::sent).count == 1);
  CHECK(made.sum(Kind::sent).count == last + 1);
  CHECK(made.sum(Kind::sent).bytes == 2 * (last + 1));
  CHECK(made.sum(Kind::waiting).time == last + 1);
}

TEST_CASE("a long silence doubles them as often as it takes") {
  Made made;
  made.table.add(Kind::sent, 1, table_begin, 1, 0);
  made.table.add(Kind::sent, 1, table_begin + (Ticks{1} << 40U), 1, 0);
  CHECK(made.sum(Kind::sent).count == 2);
  CHECK(made.layout.head.spans_shift[made.layout.head.spans_active] == 33);
}

TEST_CASE("a clock that goes back is no harm") {
  Made made;
  made.table.add(Kind::sent, 1, table_begin - 500, 1, 0);
  CHECK(made.span(0, Kind::sent).count == 1);
}
