// What reductions make of elements of every type.
#include "contract/reduction.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "patterns/bases/collectives/reduced.hpp"

namespace nhalf::test_reduction {

namespace {

Case point(std::size_t size_bytes, const std::string& axes) {
  return {size_bytes, Options::parse(axes, ','), {}};
}

/// What an operation makes of two elements, the first of which is that of the lower rank.
template <class N>
std::vector<N> combined(const std::string& axes, std::vector<N> lower, std::vector<N> upper) {
  const auto bytes = std::as_bytes(std::span(lower));
  combine_elements(Reduction::of(point(bytes.size(), axes)), bytes,
                   std::as_writable_bytes(std::span(upper)));
  return upper;
}

}  // namespace

TEST_CASE("numbers are added and compared, and unsigned where they overflow") {
  CHECK(combined<int>("type=int", {1, -2}, {10, 20}) == std::vector<int>{11, 18});
  CHECK(combined<int>("type=int,op=min", {1, -2}, {10, -20}) == std::vector<int>{1, -20});
  CHECK(combined<long>("type=long,op=max", {1L << 40}, {7}) == std::vector<long>{1L << 40});
  CHECK(combined<double>("type=double,op=user", {0.5}, {0.25}) == std::vector<double>{0.75});
  CHECK(combined<float>("", {2, 3}, {1, 1}) == std::vector<float>{3, 4});
  CHECK(combined<unsigned char>("type=char", {200}, {100}) == std::vector<unsigned char>{44});
  CHECK(combined<int>("type=int", {2147483647}, {1}) == std::vector<int>{-2147483647 - 1});
  CHECK(combined<double>("type=complex", {1, 2}, {3, 4}) == std::vector<double>{4, 6});
}

TEST_CASE("of equal values the first place is found") {
  CHECK(combined<int>("type=pairs,op=maxloc", {5, 0, 5, 3}, {4, 1, 5, 2}) ==
        std::vector<int>{5, 0, 5, 2});
  CHECK(combined<int>("type=pairs,op=minloc", {5, 0, 5, 3}, {4, 1, 5, 2}) ==
        std::vector<int>{4, 1, 5, 2});
}

TEST_CASE("maps are composed, that of the lower rank first") {
  // x -> 2 x + 1, then x -> 3 x + 5.
  CHECK(combined<int>("type=pairs,op=ordered", {2, 1}, {3, 5}) == std::vector<int>{6, 8});
  CHECK(combined<int>("type=pairs,op=ordered", {3, 5}, {2, 1}) == std::vector<int>{6, 11});
  CHECK(combined<int>("type=derived,op=ordered", {2, 1, 1, 0}, {3, 5, 1, 0}) ==
        std::vector<int>{6, 8, 1, 0});
}

TEST_CASE("what does not go together is refused") {
  for (const auto* axes : {"type=pairs", "type=complex,op=min", "type=int,op=maxloc",
                           "type=derived,op=sum", "type=float,op=ordered", "type=short", "op=and"})
    CHECK_THROWS_AS(Reduction::of(point(16, axes)), InputError);
  CHECK_THROWS_AS(Reduction::of(point(8, "type=derived,op=user")), InputError);
  CHECK_THROWS_AS(Reduction::of(point(4, "type=double")), InputError);
}

TEST_CASE("vectors show a rank that is left out, counted twice or out of order") {
  for (const auto* axes :
       {"", "type=char", "type=long,op=user", "type=complex", "type=pairs,op=maxloc",
        "type=pairs,op=ordered", "type=derived,op=user"}) {
    CAPTURE(axes);
    constexpr std::size_t size_bytes = 8192 + 48;
    const auto reduction = Reduction::of(point(size_bytes, axes));
    const ReducedVectors vectors(reduction);
    std::vector<std::byte> result(size_bytes), term(size_bytes);
    const auto combine = [&](std::initializer_list<int> ranks) {
      vectors.give(*ranks.begin(), 3, result);
      for (const int rank : std::vector(ranks.begin() + 1, ranks.end())) {
        vectors.give(rank, 3, term);
        combine_elements(reduction, term, result);
      }
    };
    combine({2, 1, 0});
    CHECK(vectors.holds(3, 3, result));
    CHECK_FALSE(vectors.holds(3, 4, result));
    combine({2, 0});
    CHECK_FALSE(vectors.holds(3, 3, result));
    combine({1, 2, 0});
    CHECK(vectors.holds(3, 3, result) == reduction.commutes());
  }
}

}  // namespace nhalf::test_reduction
