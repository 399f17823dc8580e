#include "transports/bases/peer_watch.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

namespace {

/// A process that does nothing until it is killed.
pid_t idle_process() {
  const auto child = fork();
  if (child == 0)
    for (;;) pause();
  return child;
}

/// What a rank that waits for the impossible is told when this process is watched as rank 3.
std::string told(pid_t process) {
  nhalf::PeerWatch watch;
  watch.add(3, process);
  const nhalf::Patience patience(std::move(watch), true);
  try {
    patience.until([] { return false; });
  } catch (const nhalf::PeerEnded& ended) {
    return ended.what();
  }
  return "";
}

}  // namespace

TEST_CASE("whoever waits for a process that was killed is told which rank it was") {
  const auto child = idle_process();
  kill(child, SIGKILL);
  CHECK(told(child) ==
        "rank 3 (process " + std::to_string(child) + ") has ended before the others");
  waitpid(child, nullptr, 0);
}

TEST_CASE("while all are there a wait ends when what it waits for comes") {
  const auto child = idle_process();
  nhalf::PeerWatch watch;
  watch.add(1, child);
  watch.check();
  int looks = 0;
  nhalf::Patience(std::move(watch), true).until([&] { return ++looks > 2000; });
  CHECK(looks == 2001);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}
