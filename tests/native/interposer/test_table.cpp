#include "interposer/table.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using nhalf::InputError;
using nhalf::coll::Operation;
using nhalf::coll::parse_table;
using nhalf::coll::Ranges;

const std::string first = "# nhalf decision table 1\n";

int numbered(const std::string& name) {
  return name == "native" ? 0 : name.back() - '0';
}

int decided(const std::string& lines, Operation operation, std::uint64_t ranks,
            std::uint64_t size_bytes) {
  return Ranges(parse_table(first + lines), operation, ranks, numbered).at(size_bytes);
}

}  // namespace

TEST_CASE("a table without rules leaves everything to the library") {
  CHECK(decided("", Operation::bcast, 4, 100) == 0);
}

TEST_CASE("both ends belong to a rule") {
  const std::string rule = "bcast 2 8 16 64 a1\n";
  for (const std::uint64_t ranks : {2UL, 5UL, 8UL}) {
    CHECK(decided(rule, Operation::bcast, ranks, 15) == 0);
    CHECK(decided(rule, Operation::bcast, ranks, 16) == 1);
    CHECK(decided(rule, Operation::bcast, ranks, 64) == 1);
    CHECK(decided(rule, Operation::bcast, ranks, 65) == 0);
  }
  CHECK(decided(rule, Operation::bcast, 1, 16) == 0);
  CHECK(decided(rule, Operation::bcast, 9, 16) == 0);
  CHECK(decided(rule, Operation::reduce, 4, 16) == 0);
}

TEST_CASE("the first rule that matches counts") {
  const std::string rules =
      "# a comment\n\nscan 2 inf 100 200 a1\nscan 2 4 0 inf a2\nscan 2 inf 150 inf a3\n";
  CHECK(decided(rules, Operation::scan, 4, 99) == 2);
  CHECK(decided(rules, Operation::scan, 4, 100) == 1);
  CHECK(decided(rules, Operation::scan, 4, 175) == 1);
  CHECK(decided(rules, Operation::scan, 4, 201) == 2);
  CHECK(decided(rules, Operation::scan, 5, 99) == 0);
  CHECK(decided(rules, Operation::scan, 5, 201) == 3);
  CHECK(decided(rules, Operation::scan, 5, ~0ULL) == 3);
}

TEST_CASE("a rule may say native before another one") {
  const std::string rules = "gather 2 inf 8 8 native\ngather 2 inf 0 inf a1\n";
  CHECK(decided(rules, Operation::gather, 2, 7) == 1);
  CHECK(decided(rules, Operation::gather, 2, 8) == 0);
  CHECK(decided(rules, Operation::gather, 2, 9) == 1);
}

TEST_CASE("a rule may say into which parts messages are cut") {
  const std::string rules =
      "bcast 2 8 0 99 a1\nbcast 2 8 100 199 a1 16384\nbcast 2 8 200 inf a1 7\n";
  for (const std::string version : {"1", "2"}) {
    const Ranges ranges(parse_table("# nhalf decision table " + version + "\n" + rules),
                        Operation::bcast, 4, numbered);
    CHECK(ranges.at(50) == 1);
    CHECK(ranges.part_bytes_at(99) == nhalf::default_part_bytes);
    CHECK(ranges.part_bytes_at(100) == 16384);
    CHECK(ranges.part_bytes_at(199) == 16384);
    CHECK(ranges.part_bytes_at(~0ULL) == 7);
    CHECK(ranges.at(~0ULL) == 1);
  }
}

TEST_CASE("what is wrong with a table is said with its line") {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      parse_table(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(complaint("") == "line 1: not '# nhalf decision table 1' or 2");
  CHECK(complaint("bcast 2 8 16 64 a1\n") == "line 1: not '# nhalf decision table 1' or 2");
  CHECK(complaint(first + "bcast 2 8 16 64\n") ==
        "line 2: a rule has six or seven words: operation, ranks and bytes from and to, algorithm, "
        "part");
  CHECK(complaint(first + "bcast 2 8 16 64 a1 8 a2\n") ==
        "line 2: a rule has six or seven words: operation, ranks and bytes from and to, algorithm, "
        "part");
  CHECK(complaint(first + "bcast 2 8 16 64 a1 a2\n") == "line 2: 'a2' is not a whole number");
  CHECK(complaint(first + "bcast 2 8 16 64 a1 0\n") == "line 2: a part has 1 byte or more");
  CHECK(complaint(first + "\nsort 2 8 16 64 a1\n") == "line 3: there is no operation 'sort'");
  CHECK(complaint(first + "bcast 2 -8 16 64 a1\n") == "line 2: '-8' is not a whole number or inf");
  CHECK(complaint(first + "bcast inf 8 16 64 a1\n") == "line 2: 'inf' is not a whole number");
  CHECK(complaint(first + "bcast 2 8 1e3 64 a1\n") == "line 2: '1e3' is not a whole number");
  CHECK(complaint(first + "bcast 9 8 16 64 a1\n") == "line 2: a range ends before it begins");
  CHECK(complaint(first + "bcast 2 8 16 64 a1\r\n").empty());
}

TEST_CASE("the span holds every size that a rule is about") {
  using nhalf::coll::Span;
  const auto span = [](const std::string& lines) {
    return Ranges(parse_table(first + lines), Operation::gather, 4, numbered).span();
  };
  for (const std::uint64_t size_bytes : {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{1}}) {
    CHECK(Span().holds(size_bytes));
    CHECK_FALSE(span("").holds(size_bytes));
    CHECK_FALSE(span("gather 2 inf 0 inf native\n").holds(size_bytes));
    CHECK(span("gather 2 inf 0 inf a1\n").holds(size_bytes));
  }
  const auto two = span("gather 2 4 16 31 a1\ngather 2 4 64 127 a2\n");
  CHECK_FALSE(two.holds(15));
  CHECK(two.holds(16));
  CHECK(two.holds(40));
  CHECK(two.holds(127));
  CHECK_FALSE(two.holds(128));
}

TEST_CASE("a way on one node has a name for the operations that can go it, and no others") {
  namespace way = nhalf::coll::way;
  using nhalf::coll::named_way;
  CHECK(named_way(Operation::scan, "native") == way::native);
  CHECK(named_way(Operation::scan, "shared-memory") == way::shared_memory);
  CHECK(named_way(Operation::reduce_scatter, "single-copy") == way::single_copy);
  CHECK(named_way(Operation::gather, "shared-memory-streaming") == way::streaming);
  CHECK(named_way(Operation::barrier, "shared-memory-hierarchical") == way::hierarchical);
  CHECK(named_way(Operation::barrier, "single-copy") == -1);
  CHECK(named_way(Operation::reduce_scatter, "shared-memory-streaming") == -1);
  CHECK(named_way(Operation::gather, "shared-memory-hierarchical") == -1);
  CHECK(named_way(Operation::bcast, "binomial") == -1);
}
