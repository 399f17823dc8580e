// Every barrier: nobody leaves before the last has come, with the messages and time that it states.
#include "algorithm_test.hpp"
#include "algorithms/all_barrier.hpp"

namespace nhalf::test_algorithms_barrier {

using algorithm_test::everywhere;

namespace {

const auto& known() {
  return algorithms::barrier::all<ModelTransport>();
}

/// Whether all ranks wait for each in turn, if it is the one that comes late.
template <class Run>
bool waits_for_all(int ranks, Run run) {
  return everywhere(ranks, [&](ModelTransport& t, Scratch& scratch) {
    bool waited = true;
    for (int late = 0; late < ranks; ++late) {
      t.barrier();
      const double comes_s = t.now_s() + 1;
      t.barrier();
      if (t.rank() == late) t.idle_until(comes_s);
      run(t, scratch);
      waited = t.now_s() >= comes_s && waited;
    }
    return waited;
  });
}

/// Whether none of many barriers, each entered by all ranks at other times, lets a rank pass.
template <class Run>
bool waits_in_a_row(int ranks, Run run) {
  constexpr int episodes = 5;
  std::vector<double> last_s(episodes, 0);
  std::vector<double> first_s(episodes, 1e9);
  everywhere(ranks, [&](ModelTransport& t, Scratch& scratch) {
    for (std::size_t episode = 0; episode < episodes; ++episode) {
      t.idle_until(t.now_s() + 1e-5 * (t.rank() * 7 % 5 + 1));
      last_s[episode] = std::max(last_s[episode], t.now_s());
      run(t, scratch);
      first_s[episode] = std::min(first_s[episode], t.now_s());
    }
    return true;
  });
  for (std::size_t episode = 0; episode < episodes; ++episode)
    if (first_s[episode] < last_s[episode]) return false;
  return true;
}

}  // namespace

TEST_CASE("barriers are known by name") {
  algorithm_test::check_names(
      known(), {"dissemination", "dissemination-mcs", "mcs-tree", "mcs-tree-bcast", "central",
                "central-bcast", "central-native-bcast", "total-exchange", "total-exchange-bcast",
                "tournament", "tournament-mcs", "tournament-native-bcast", "tournament-tree",
                "mcs-tree-native-bcast", "total-exchange-native-bcast"});
}

TEST_CASE("nobody leaves a barrier before the last has come") {
  for (int ranks = 1; ranks <= algorithm_test::ranks_max; ++ranks)
    for (const auto& algorithm : known()) {
      CAPTURE(algorithm.info.name);
      CAPTURE(ranks);
      CHECK(waits_for_all(ranks, algorithm.run));
      CHECK(waits_in_a_row(ranks, algorithm.run));
    }
}

TEST_CASE("a barrier that lets ranks pass is found") {
  const auto open = [](ModelTransport& t, Scratch&) {
    if (t.rank() > 0) return t.send(0, ConstBytes{});
    for (int peer = 1; peer < t.size(); ++peer) t.recv(peer, Bytes{});
  };
  CHECK(!waits_for_all(3, open));
  CHECK(!waits_in_a_row(3, open));
}

TEST_CASE("barriers send the messages and take the time that they state") {
  algorithm_test::check_costs(
      known(), {0}, [](const auto& algorithm, ModelTransport& t, Scratch& scratch, std::size_t) {
        algorithm.run(t, scratch);
      });
}

}  // namespace nhalf::test_algorithms_barrier
