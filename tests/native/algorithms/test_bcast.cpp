// Every broadcast: all ranks have what the root had, with the messages and time that it states.
#include "algorithm_test.hpp"
#include "algorithms/all_bcast.hpp"

namespace nhalf::test_algorithms_bcast {

namespace {

const auto& known() {
  return algorithms::bcast::all<ModelTransport>();
}

/// Whether all ranks have the bytes of the root after it, and had others before.
template <class Run>
bool is_right(int ranks, int root, std::size_t size_bytes, Run run) {
  return algorithm_test::everywhere(ranks, [&](ModelTransport& t, Scratch& scratch) {
    Buffer data(size_bytes);
    if (t.rank() == root) algorithm_test::paint(data.bytes(), 5);
    run(t, scratch, root, data.bytes());
    return algorithm_test::is_painted(data.bytes(), 5);
  });
}

}  // namespace

TEST_CASE("broadcasts are known by name") {
  algorithm_test::check_names(
      known(), {"linear", "binomial", "binomial-pipelined", "binary", "binary-pipelined", "chain",
                "scatter-allgather", "split-binary", "k-nomial"});
}

TEST_CASE("a broadcast brings the bytes of any root to all ranks") {
  for (int ranks = 1; ranks <= algorithm_test::ranks_max; ++ranks)
    for (const auto& algorithm : known())
      for (int root = 0; root < ranks; ++root) {
        CAPTURE(algorithm.info.name);
        CAPTURE(ranks);
        CAPTURE(root);
        CHECK(is_right(ranks, root, 1001, algorithm.run));
        if (root != 0 && root != ranks - 2) continue;
        for (const std::size_t size_bytes : {0UL, 1UL, 8192UL, 8193UL, 20001UL}) {
          CAPTURE(size_bytes);
          CHECK(is_right(ranks, root, size_bytes, algorithm.run));
        }
      }
}

TEST_CASE("a broadcast that leaves out a rank or a byte is found") {
  const auto unfinished = [](ModelTransport& t, Scratch&, int root, Bytes data) {
    algorithms::bcast::linear(t, root, data.first(data.size() - 1));
  };
  CHECK(!is_right(3, 0, 9, unfinished));
  CHECK(!is_right(3, 0, 9, [](auto&&...) {}));
}

TEST_CASE("broadcasts send the messages and take the time that they state") {
  algorithm_test::check_costs(
      known(), {0, 1001, 2 * 8192, 20001},
      [](const auto& algorithm, ModelTransport& t, Scratch& scratch, std::size_t n) {
        Buffer data(n);
        algorithm.run(t, scratch, 0, data.bytes());
      });
}

}  // namespace nhalf::test_algorithms_bcast
