#include "fabric/times.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

namespace {

using nhalf::fabric::processor_ns;
using nhalf::fabric::ThreadTimes;

constexpr std::uint64_t work_ns = 20'000'000;

/// Computes for a time of the processor; then waits, if it is told until when.
void work(std::atomic<bool>* is_done, const std::atomic<bool>* may_end) {
  while (processor_ns(CLOCK_THREAD_CPUTIME_ID) < work_ns) {
  }
  if (is_done == nullptr) return;
  is_done->store(true);
  may_end->wait(false);
}

TEST_CASE("the longest time is that of a thread that works, not that of all") {
  ThreadTimes times;
  times.read();
  std::atomic<bool> is_done[2]{false, false};
  std::atomic<bool> may_end{false};
  std::thread one(work, &is_done[0], &may_end);
  std::thread other(work, &is_done[1], &may_end);
  while (!is_done[0].load() || !is_done[1].load()) std::this_thread::yield();
  const auto longest_ns = times.longest_ns(0);
  may_end.store(true);
  may_end.notify_all();
  one.join();
  other.join();
  CHECK(longest_ns >= work_ns);
}

TEST_CASE("threads that have ended count as one") {
  ThreadTimes times;
  times.read();
  std::thread(work, nullptr, nullptr).join();
  CHECK(times.longest_ns(50 * work_ns) >= 40 * work_ns);
}

}  // namespace
