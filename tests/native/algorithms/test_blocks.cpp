// Every algorithm that moves blocks from rank to rank: gather, scatter, allgather, alltoall.
#include "algorithm_test.hpp"
#include "algorithms/all_allgather.hpp"
#include "algorithms/all_alltoall.hpp"
#include "algorithms/all_gather.hpp"
#include "algorithms/all_scatter.hpp"

namespace nhalf::test_algorithms_blocks {

using algorithm_test::everywhere;
using algorithm_test::is_painted;
using algorithm_test::paint;
using algorithm_test::ranks_max;
using Model = ModelTransport;

namespace {

std::uint32_t seed(int from, int to = 0) {
  return static_cast<std::uint32_t>(from * ranks_max + to + 1);
}

/// Blocks of one size, one per rank, whose bytes nobody has written yet.
struct Row {
  Row(int ranks, std::size_t size_bytes)
      : block_bytes(size_bytes), all(static_cast<std::size_t>(ranks) * size_bytes) {}
  Bytes operator[](int rank) { return block_of(all.bytes(), rank, block_bytes); }
  Bytes bytes() { return all.bytes(); }

  std::size_t block_bytes;
  Buffer all;
};

/// Whether a rank's part of an operation left it with what it should have.
template <class Run>
bool gathers(Model& t, Scratch& scratch, int root, std::size_t n, bool in_place, Run run) {
  Row own(1, n);
  Row all(t.rank() == root ? t.size() : 0, n);
  const auto in = in_place && t.rank() == root ? all[root] : own[0];
  paint(in, seed(t.rank()));
  run(t, scratch, root, in, all.bytes());
  for (int from = 0; t.rank() == root && from < t.size(); ++from)
    if (!is_painted(all[from], seed(from))) return false;
  return true;
}

template <class Run>
bool scatters(Model& t, Scratch& scratch, int root, std::size_t n, bool in_place, Run run) {
  Row own(1, n);
  Row all(t.rank() == root ? t.size() : 0, n);
  for (int to = 0; t.rank() == root && to < t.size(); ++to) paint(all[to], seed(to));
  const auto out = in_place && t.rank() == root ? all[root] : own[0];
  run(t, scratch, root, all.bytes(), out);
  return is_painted(out, seed(t.rank()));
}

template <class Run>
bool gathers_everywhere(Model& t, Scratch& scratch, int, std::size_t n, bool in_place, Run run) {
  Row own(1, n);
  Row all(t.size(), n);
  const auto in = in_place ? all[t.rank()] : own[0];
  paint(in, seed(t.rank()));
  run(t, scratch, in, all.bytes());
  for (int from = 0; from < t.size(); ++from)
    if (!is_painted(all[from], seed(from))) return false;
  return true;
}

template <class Run>
bool transposes(Model& t, Scratch& scratch, int, std::size_t n, bool in_place, Run run) {
  Row given(t.size(), n);
  Row other(t.size(), n);
  Row& got = in_place ? given : other;
  for (int to = 0; to < t.size(); ++to) paint(given[to], seed(t.rank(), to));
  run(t, scratch, given.bytes(), got.bytes());
  for (int from = 0; from < t.size(); ++from)
    if (!is_painted(got[from], seed(from, t.rank()))) return false;
  return true;
}

/// Checks every algorithm of a list on 1 to 17 ranks, with every root where there is one.
template <class List, class IsRight>
void check_all(const List& list, bool rooted, IsRight is_right) {
  for (int ranks = 1; ranks <= ranks_max; ++ranks)
    for (const auto& algorithm : list)
      for (int root = 0; root < (rooted ? ranks : 1); ++root)
        for (const std::size_t n : {0UL, 1UL, 101UL})
          for (const bool in_place : {false, true}) {
            if (n != 101 && root != 0 && root != ranks - 2) continue;
            CAPTURE(algorithm.info.name);
            CAPTURE(ranks);
            CAPTURE(root);
            CAPTURE(n);
            CAPTURE(in_place);
            CHECK(everywhere(ranks, [&](Model& t, Scratch& scratch) {
              return is_right(t, scratch, root, n, in_place, algorithm.run);
            }));
          }
}

}  // namespace

TEST_CASE("blocks are gathered at any root") {
  const auto& known = algorithms::gather::all<Model>();
  algorithm_test::check_names(known, {"linear", "binomial"});
  check_all(known, true, [](auto&&... given) { return gathers(given...); });
}

TEST_CASE("blocks are scattered from any root") {
  const auto& known = algorithms::scatter::all<Model>();
  algorithm_test::check_names(known, {"linear", "binomial"});
  check_all(known, true, [](auto&&... given) { return scatters(given...); });
}

TEST_CASE("blocks are gathered everywhere") {
  const auto& known = algorithms::allgather::all<Model>();
  algorithm_test::check_names(known, {"linear", "ring", "recursive-doubling", "bruck"});
  check_all(known, false, [](auto&&... given) { return gathers_everywhere(given...); });
}

TEST_CASE("all ranks send blocks to all") {
  const auto& known = algorithms::alltoall::all<Model>();
  algorithm_test::check_names(known, {"linear", "windowed", "pairwise", "bruck"});
  check_all(known, false, [](auto&&... given) { return transposes(given...); });
}

TEST_CASE("an algorithm that leaves something out is found") {
  const auto nothing = [](auto&&...) {};
  const auto found = [&](auto is_right) {
    return !everywhere(3, [&](Model& t, Scratch& scratch) {
      return is_right(t, scratch, 0, std::size_t{9}, false, nothing);
    });
  };
  CHECK(found([](auto&&... given) { return gathers(given...); }));
  CHECK(found([](auto&&... given) { return scatters(given...); }));
  CHECK(found([](auto&&... given) { return gathers_everywhere(given...); }));
  CHECK(found([](auto&&... given) { return transposes(given...); }));
}

TEST_CASE("blocks are moved by the messages and in the time that algorithms state") {
  const std::vector<std::size_t> sizes{0, 1, 9001};
  algorithm_test::check_costs(algorithms::gather::all<Model>(), sizes,
                              [](const auto& a, Model& t, Scratch& scratch, std::size_t n) {
                                Row own(1, n), all(t.size(), n);
                                a.run(t, scratch, 0, own.bytes(), all.bytes());
                              });
  algorithm_test::check_costs(algorithms::scatter::all<Model>(), sizes,
                              [](const auto& a, Model& t, Scratch& scratch, std::size_t n) {
                                Row own(1, n), all(t.size(), n);
                                a.run(t, scratch, 0, all.bytes(), own.bytes());
                              });
  algorithm_test::check_costs(algorithms::allgather::all<Model>(), sizes,
                              [](const auto& a, Model& t, Scratch& scratch, std::size_t n) {
                                Row own(1, n), all(t.size(), n);
                                a.run(t, scratch, own.bytes(), all.bytes());
                              });
  algorithm_test::check_costs(algorithms::alltoall::all<Model>(), sizes,
                              [](const auto& a, Model& t, Scratch& scratch, std::size_t n) {
                                Row given(t.size(), n), got(t.size(), n);
                                a.run(t, scratch, given.bytes(), got.bytes());
                              });
}

}  // namespace nhalf::test_algorithms_blocks
