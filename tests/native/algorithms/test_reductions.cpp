// Every algorithm that adds: reduce, allreduce, reduce-scatter, scan.
#include <algorithm>
#include <cstring>

#include "algorithm_test.hpp"
#include "algorithms/all_allreduce.hpp"
#include "algorithms/all_reduce.hpp"
#include "algorithms/all_reduce_scatter.hpp"
#include "algorithms/all_scan.hpp"

namespace nhalf::test_algorithms_reductions {

using algorithm_test::everywhere;
using algorithm_test::ranks_max;
using Model = ModelTransport;
using Floats = std::vector<float>;

namespace {

/// Whole numbers that differ by rank and by place, so that sums are exact in any order.
Floats numbers_of(int rank, std::size_t count) {
  Floats numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<float>((static_cast<std::size_t>(rank) * 7 + i * 3) % 16 + 1);
  return numbers;
}

/// The sum over the first ranks, computed plainly.
Floats sum_of(int ranks, std::size_t count) {
  Floats sum(count, 0);
  for (int rank = 0; rank < ranks; ++rank)
    std::ranges::transform(sum, numbers_of(rank, count), sum.begin(), std::plus{});
  return sum;
}

Bytes bytes(Floats& floats) {
  return std::as_writable_bytes(std::span(floats));
}

/// Whether a rank's part of an operation left it with what it should have; `count` floats are in
/// the vector or, for reduce-scatter, in a block.
template <class Run>
bool reduces(Model& t, Scratch& scratch, int root, std::size_t count, bool in_place, Run run) {
  auto in = numbers_of(t.rank(), count);
  Floats other(count, -1);
  auto& out = in_place && t.rank() == root ? in : other;
  run(t, scratch, root, bytes(in), bytes(out));
  return t.rank() != root || out == sum_of(t.size(), count);
}

template <class Run>
bool reduces_everywhere(Model& t, Scratch& scratch, int, std::size_t count, bool in_place,
                        Run run) {
  auto in = numbers_of(t.rank(), count);
  Floats other(count, -1);
  auto& out = in_place ? in : other;
  run(t, scratch, bytes(in), bytes(out));
  return out == sum_of(t.size(), count);
}

template <class Run>
bool reduces_and_scatters(Model& t, Scratch& scratch, int, std::size_t count, bool in_place,
                          Run run) {
  const auto ranks = static_cast<std::size_t>(t.size());
  auto in = numbers_of(t.rank(), ranks * count);
  Floats other(count, -1);
  const auto out = in_place ? bytes(in).first(count * sizeof(float)) : bytes(other);
  run(t, scratch, bytes(in), out);
  auto sum = sum_of(t.size(), ranks * count);
  return std::ranges::equal(out, block_of(bytes(sum), t.rank(), out.size()));
}

template <class Run>
bool scans(Model& t, Scratch& scratch, int, std::size_t count, bool in_place, Run run) {
  auto in = numbers_of(t.rank(), count);
  Floats other(count, -1);
  auto& out = in_place ? in : other;
  run(t, scratch, bytes(in), bytes(out));
  return out == sum_of(t.rank() + 1, count);
}

/// Checks every algorithm of a list on 1 to 17 ranks, with every root where there is one.
template <class List, class IsRight>
void check_all(const List& list, bool rooted, IsRight is_right) {
  for (int ranks = 1; ranks <= ranks_max; ++ranks)
    for (const auto& algorithm : list)
      for (int root = 0; root < (rooted ? ranks : 1); ++root)
        for (const std::size_t count : {0UL, 1UL, 101UL})
          for (const bool in_place : {false, true}) {
            if (count != 101 && root != 0 && root != ranks - 2) continue;
            CAPTURE(algorithm.info.name);
            CAPTURE(ranks);
            CAPTURE(root);
            CAPTURE(count);
            CAPTURE(in_place);
            CHECK(everywhere(ranks, [&](Model& t, Scratch& scratch) {
              return is_right(t, scratch, root, count, in_place, algorithm.run);
            }));
          }
}

}  // namespace

TEST_CASE("vectors are added at any root") {
  const auto& known = algorithms::reduce::all<Model>();
  algorithm_test::check_names(known, {"linear", "binomial", "rabenseifner"});
  check_all(known, true, [](auto&&... given) { return reduces(given...); });
}

TEST_CASE("vectors are added for all ranks") {
  const auto& known = algorithms::allreduce::all<Model>();
  algorithm_test::check_names(known,
                              {"reduce-bcast", "recursive-doubling", "ring", "rabenseifner"});
  check_all(known, false, [](auto&&... given) { return reduces_everywhere(given...); });
}

TEST_CASE("vectors are added, and each rank has a block of the sum") {
  const auto& known = algorithms::reduce_scatter::all<Model>();
  algorithm_test::check_names(known, {"pairwise", "recursive-halving", "ring"});
  check_all(known, false, [](auto&&... given) { return reduces_and_scatters(given...); });
}

TEST_CASE("vectors are added from the first rank to each") {
  const auto& known = algorithms::scan::all<Model>();
  algorithm_test::check_names(known, {"linear"});
  check_all(known, false, [](auto&&... given) { return scans(given...); });
}

TEST_CASE("an algorithm that leaves something out is found") {
  const auto nothing = [](auto&&...) {};
  const auto found = [&](auto is_right) {
    return !everywhere(3, [&](Model& t, Scratch& scratch) {
      return is_right(t, scratch, 0, std::size_t{9}, false, nothing);
    });
  };
  CHECK(found([](auto&&... given) { return reduces(given...); }));
  CHECK(found([](auto&&... given) { return reduces_everywhere(given...); }));
  CHECK(found([](auto&&... given) { return reduces_and_scatters(given...); }));
  CHECK(found([](auto&&... given) { return scans(given...); }));
}

TEST_CASE("reductions send the messages and take the time that they state") {
  const std::vector<std::size_t> sizes{0, 4, 320};
  algorithm_test::check_costs(algorithms::reduce::all<Model>(), sizes,
                              [](const auto& a, Model& t, Scratch& scratch, std::size_t n) {
                                Buffer in(n), out(n);
                                a.run(t, scratch, 0, in.bytes(), out.bytes());
                              });
  const auto vectors = [](const auto& a, Model& t, Scratch& scratch, std::size_t n) {
    Buffer in(n), out(n);
    a.run(t, scratch, in.bytes(), out.bytes());
  };
  algorithm_test::check_costs(algorithms::allreduce::all<Model>(), sizes, vectors);
  algorithm_test::check_costs(algorithms::scan::all<Model>(), sizes, vectors);
  algorithm_test::check_costs(algorithms::reduce_scatter::all<Model>(), sizes,
                              [](const auto& a, Model& t, Scratch& scratch, std::size_t n) {
                                Buffer in(n * static_cast<std::size_t>(t.size())), out(n);
                                a.run(t, scratch, in.bytes(), out.bytes());
                              });
}

}  // namespace nhalf::test_algorithms_reductions
