#include "patterns/bases/arrays/worker_threads.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <vector>

using nhalf::InputError;
using nhalf::WorkerThreads;

TEST_CASE("each thread is called once, with its number and that of all") {
  const auto cores = nhalf::allowed_cpus().size();
  for (const std::string wanted : {"1", "2", "all"}) {
    const auto count = wanted == "all" ? cores : std::stoul(wanted);
    const bool can = wanted == "1" || (nhalf::has_openmp && count <= cores);
    if (!can && wanted != "all") {
      CHECK_THROWS_AS(WorkerThreads(wanted, 0), InputError);
      continue;
    }
    const WorkerThreads threads(wanted, 0);
    CHECK(threads.count() == (nhalf::has_openmp ? static_cast<int>(count) : 1));
    std::vector<std::atomic<int>> called(static_cast<std::size_t>(threads.count()));
    std::atomic<bool> right{true};
    threads.each([&](int thread, int all) {
      ++called[static_cast<std::size_t>(thread)];
      if (all != threads.count()) right = false;
    });
    for (const auto& times : called) CHECK(times == 1);
    CHECK(right);
  }
}

TEST_CASE("a rank goes back to its own cores") {
  const auto before = nhalf::allowed_cpus();
  if (nhalf::has_openmp && before.size() > 1) {
    const WorkerThreads threads("2", 0);
    CHECK(nhalf::allowed_cpus().size() == 1);
  }
  CHECK(nhalf::allowed_cpus() == before);
}

TEST_CASE("no threads, unknown words and more threads than cores are refused") {
  for (const std::string wanted : {"0", "-1", "some", "100000"})
    CHECK_THROWS_AS(WorkerThreads(wanted, 0), InputError);
}
