#include "fabric/polling_policy.hpp"

#include <doctest/doctest.h>

namespace {

using nhalf::fabric::PollingPolicy;
using nhalf::fabric::VainPoll;

/// Counts the polls until one comes to something else.
int polls_while(PollingPolicy& polling, VainPoll expected, bool is_nonblocking,
                bool has_completion_elsewhere = false) {
  int polls = 0;
  while (polls < 10'000 && polling.decide(is_nonblocking, has_completion_elsewhere) == expected)
    ++polls;
  return polls;
}

TEST_CASE("the first poll of a call that does not wait takes time, the next ones are the same") {
  PollingPolicy polling;
  for (int call = 0; call < 3; ++call) {
    polling.begin_call("MPI_Test");
    CHECK(polling.decide(true, false) == VainPoll::takes_time);
    CHECK(polls_while(polling, VainPoll::is_free, true) == PollingPolicy::polls_at_once - 1);
    CHECK(polls_while(polling, VainPoll::takes_time, true) == 10'000);
  }
}

TEST_CASE("a completion makes the next poll of a call a first one") {
  PollingPolicy polling;
  polling.begin_call("MPI_Test");
  polling.decide(true, false);
  CHECK(polling.decide(true, false) == VainPoll::is_free);
  polling.note_completion();
  CHECK(polling.decide(true, false) == VainPoll::takes_time);
}

TEST_CASE("a call that waits polls for nothing while another queue has something") {
  PollingPolicy polling;
  polling.begin_call("MPI_Wait");
  CHECK(polls_while(polling, VainPoll::is_free, false, true) == PollingPolicy::polls_at_once);
  CHECK(polling.decide(false, true) == VainPoll::takes_time);
}

TEST_CASE("a call that waits polls some times after an event before it waits for the next") {
  PollingPolicy polling;
  int polls = 8;
  SUBCASE("of messages") {
    polling.begin_call("MPI_Recv");
  }
  SUBCASE("of windows") {
    polling.begin_call("MPI_Win_lock");
    polls = 256;
  }
  for (int event = 0; event < 4; ++event) {
    CHECK(polls_while(polling, VainPoll::is_free, false) == polls);
    CHECK(polling.decide(false, false) == VainPoll::waits_for_event);
    if (event == 0) polling.note_wake_up();
    if (event == 1) polling.note_completion();
    if (event == 2) polling.note_event();
  }
}

TEST_CASE("polls after a probe that has found a message are free, in that call alone") {
  PollingPolicy polling;
  polling.begin_call("MPI_Iprobe");
  polling.note_probe(true);
  for (int poll = 0; poll < PollingPolicy::polls_after_probe; ++poll)
    CHECK(polling.decide(true, false) == VainPoll::is_free);
  CHECK(polling.decide(true, false) == VainPoll::takes_time);
  polling.note_completion();
  polling.note_probe(true);
  SUBCASE("until one in vain") {
    polling.note_probe(false);
  }
  SUBCASE("until the next call") {
    polling.begin_call("MPI_Iprobe");
  }
  CHECK(polling.decide(true, false) == VainPoll::takes_time);
}

TEST_CASE("the others poll again after 1024 polls in vain, and then ever more rarely") {
  PollingPolicy polling;
  int times = 0;
  int early = 0;
  for (unsigned poll = 1; poll <= PollingPolicy::vain_polls_max; ++poll) {
    if (polling.may_be_endless()) ++early;
    polling.note_vain_poll();
    if (!polling.needs_others()) continue;
    REQUIRE(poll == 1024u << times);
    ++times;
  }
  CHECK(times == 10);
  CHECK(early == 0);
  CHECK(polling.may_be_endless());
  SUBCASE("an event") {
    polling.note_event();
  }
  SUBCASE("a message on its way") {
    polling.forget_vain_polls();
  }
  CHECK_FALSE(polling.may_be_endless());
}

TEST_CASE("a library reads the clock for nothing unless it does nothing else") {
  PollingPolicy polling;
  for (int read = 0; read < PollingPolicy::free_rounds; ++read)
    CHECK_FALSE(polling.counts_clock_read());
  CHECK(polling.counts_clock_read());
  CHECK(polling.counts_clock_read());
  polling.forget_clock_reads();
  CHECK_FALSE(polling.counts_clock_read());
}

TEST_CASE("a rank calls and reads the clock often before the others have to have their turn") {
  PollingPolicy polling;
  const auto free_rounds = [&] {
    int rounds = 0;
    while (!polling.counts_round()) ++rounds;
    return rounds;
  };
  CHECK(free_rounds() == PollingPolicy::free_rounds);
  CHECK(polling.counts_round());
  polling.note_turn_in_loop();
  CHECK(free_rounds() == 0);
  polling.note_turn();
  CHECK(free_rounds() == PollingPolicy::free_rounds);
}

TEST_CASE("of the accesses of a call every thousandth is a reason to check") {
  PollingPolicy polling;
  polling.counts_access();
  polling.begin_call("MPI_Win_lock");
  for (int access = 1; access <= 2 * PollingPolicy::accesses_between_checks; ++access)
    CHECK(polling.counts_access() == (access % PollingPolicy::accesses_between_checks == 0));
}

}  // namespace
