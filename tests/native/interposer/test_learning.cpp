#include "interposer/learning.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "learning_program.hpp"

using nhalf::coll::Budget;
using nhalf::coll::kept_calls;
using nhalf::coll::Learner;
using nhalf::coll::LessonFile;
using nhalf::coll::Lessons;
using nhalf::coll::Operation;
using nhalf::coll::Spent;
using nhalf::coll::given::call_s;
using nhalf::coll::given::Program;
namespace way = nhalf::coll::way;

namespace {

/// A file of lessons that an earlier run has kept.
class Kept {
 public:
  Kept(Operation operation, std::uint64_t from_bytes, const char* way) {
    std::filesystem::remove(path());
    CHECK(again().keep({{kept_calls(2, operation, from_bytes), {way, 50}}}).empty());
    file = again();
  }
  ~Kept() { std::filesystem::remove(path()); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  [[nodiscard]] static LessonFile again() { return {path().c_str(), "an MPI library"}; }

  LessonFile file{nullptr, ""};

 private:
  static std::string path() {
    return std::filesystem::temp_directory_path() / ("nhalf-kept-" + std::to_string(getpid()));
  }
};

/// What a run may lose.
double allowed_s(const Program& program) {
  return Budget::share * program.own_s + Lessons::communicator_s;
}

}  // namespace

TEST_CASE("a faster way is found within few calls and kept") {
  for (const double ratio : {0.1, 0.5, 0.9, 0.98}) {
    Program program;
    program.call(400, ratio);
    CHECK(program.is_other());
    const double before_s = program.taken_s;
    program.call(10000, ratio);
    CHECK(program.taken_s - before_s < 10000 * call_s * (ratio + 0.02));
  }
}

TEST_CASE("a slower way costs a hundredth and a constant at most, however short the run") {
  for (const double ratio : {1.02, 1.3, 3.0, 100.0}) {
    Program program;
    for (int calls = 0; calls < 20000; calls += 50) {
      program.call(50, ratio);
      CHECK(program.taken_s - program.own_s <= allowed_s(program));
    }
    CHECK_FALSE(program.is_other());
    CHECK(program.others > 0);
  }
}

TEST_CASE("the better of two other ways is found, and found again when the other becomes it") {
  for (const auto operation : {Operation::allreduce, Operation::bcast}) {
    Program program(1, operation);
    program.ratio_single_copy = 0.4;
    program.call(2000, 0.8, 1 << 14);
    CHECK(program.is_other(1 << 14));
    const double before_s = program.taken_s;
    program.call(20000, 0.8, 1 << 14);
    CHECK(program.taken_s - before_s < 1.05 * 20000 * call_s * 0.4);
    program.ratio_single_copy = 0.9;
    program.call(2000, 0.8, 1 << 14);
    const int copies = program.single_copies;
    program.call(5000, 0.8, 1 << 14);
    CHECK(program.single_copies - copies < 200);
    program.ratio_single_copy = 0.5;
    program.call(2000, 3, 1 << 14);
    const double later_s = program.taken_s;
    program.call(5000, 3, 1 << 14);
    CHECK(program.taken_s - later_s < 1.05 * 5000 * call_s * 0.5);
  }
}

TEST_CASE("two ways that are slower cost no more than one") {
  Program program;
  program.ratio_single_copy = 1.3;
  for (int calls = 0; calls < 40000; calls += 50) {
    program.call(50, 3, 1 << 16);
    CHECK(program.taken_s - program.own_s <= allowed_s(program));
  }
  CHECK_FALSE(program.is_other(1 << 16));
  CHECK(program.single_copies > 0);
  CHECK(program.others > program.single_copies);
}

TEST_CASE("the best of three other ways is found, and all that are slower cost no more than one") {
  Program program;
  program.ratio_single_copy = 0.7;
  program.ratio_streaming = 0.4;
  program.call(3000, 0.9, 1 << 20);
  const double before_s = program.taken_s;
  program.call(20000, 0.9, 1 << 20);
  CHECK(program.taken_s - before_s < 1.05 * 20000 * call_s * 0.4);
  program.ratio_streaming = 2;
  program.call(2000, 0.9, 1 << 20);
  const int streamed = program.calls_by_way[way::streaming];
  program.call(5000, 0.9, 1 << 20);
  CHECK(program.calls_by_way[way::streaming] - streamed < 200);
  Program slow;
  slow.ratio_single_copy = slow.ratio_streaming = 1.4;
  for (int calls = 0; calls < 60000; calls += 50) {
    slow.call(50, 1.4, 1 << 20);
    CHECK(slow.taken_s - slow.own_s <= allowed_s(slow));
  }
  CHECK_FALSE(slow.is_other(1 << 20));
  CHECK(slow.calls_by_way[way::streaming] > 0);
}

TEST_CASE("leaders are tried for what fits into a slot, where an operation knows them") {
  for (const auto operation : {Operation::barrier, Operation::bcast, Operation::allgather}) {
    Program program(1, operation);
    program.ratio_hierarchical = 0.5;
    program.call(3000, 0.8, operation == Operation::barrier ? 0 : 4096);
    CHECK((program.calls_by_way[way::hierarchical] > 1000) == (operation != Operation::allgather));
  }
  Program large;
  large.ratio_hierarchical = 0.5;
  large.call(3000, 0.8, 8192);
  CHECK(large.calls_by_way[way::hierarchical] == 0);
  CHECK(large.asked.contains({way::streaming, 8192}));
}

TEST_CASE("what was learned stands beside the floor of as many ranks") {
  nhalf::coll::Floor floor{2, 1e-7, {}};
  for (std::size_t i = 0; i < nhalf::coll::Floor::sizes; ++i)
    floor.copy_s[i] = 1e-7 / 4096 * static_cast<double>(nhalf::coll::Floor::size_bytes(i));
  Program program(1, Operation::alltoall);
  program.call(2000, 0.5, 5000);
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const auto line =
      "alltoall from 4096 bytes learned shared-memory: 0.50 us through shared memory,";
  CHECK(has(Lessons::text(floor), line));
  CHECK(has(Lessons::text(floor), "ms saved; 2.5 times the floor of 0.200 us\n"));
  floor.ranks = 3;
  CHECK(has(Lessons::text(floor), line));
  CHECK_FALSE(has(Lessons::text(floor), "the floor"));
}

TEST_CASE("small calls are not tried as single copies") {
  Program program;
  program.ratio_single_copy = 0.1;
  program.call(5000, 0.5, (1 << 14) - 1);
  CHECK(program.is_other((1 << 14) - 1));
  CHECK(program.single_copies == 0);
}

TEST_CASE("long calls are tried only when the budget allows it") {
  Program program;
  program.call(40, 4, 1 << 20, 0.1);
  CHECK(program.others == 0);
  program.call(4000, 4, 1 << 20, 0.1);
  CHECK(program.others > 0);
  CHECK(program.taken_s - program.own_s <= allowed_s(program) + 0.6);
}

TEST_CASE("equal ways under noise stay the library's own, but for one program in a hundred") {
  int others = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Program program(seed);
    program.noise_share = 0.3;
    program.call(1000, 1);
    others += program.is_other() ? 1 : 0;
  }
  CHECK(others <= 9);
}

TEST_CASE("a program of 10,000 sizes, each called once, loses no more") {
  Program program;
  for (std::uint64_t size_bytes = 1; size_bytes <= 10000; ++size_bytes)
    program.call(1, 2, size_bytes, 1e-6 + 1e-10 * static_cast<double>(size_bytes));
  CHECK(program.taken_s - program.own_s <= allowed_s(program));
}

TEST_CASE("what becomes the better way is found within 2000 calls") {
  for (const double ratio : {0.5, 0.9, 1.2, 3.0}) {
    Program program;
    program.call(30000, ratio);
    CHECK(program.is_other() == (ratio < 1));
    program.call(2000, 1 / ratio);
    CHECK(program.is_other() == (ratio > 1));
    const double before_s = program.taken_s;
    program.call(2000, 1 / ratio);
    CHECK(program.taken_s - before_s < 1.05 * 2000 * call_s * std::min(1.0, 1 / ratio));
  }
}

TEST_CASE("noise and interruptions delay the faster way, and do not prevent it") {
  int found = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Program program(seed);
    program.noise_share = 0.3;
    program.interrupted_share = 0.002;
    program.call(2000, 0.7);
    found += program.is_other() ? 1 : 0;
  }
  CHECK(found >= 95);
}

TEST_CASE("a class beside one that has learned begins earlier") {
  Program alone;
  alone.call(64, 0.5, 2048);
  CHECK_FALSE(alone.is_other(2048));
  Program beside;
  beside.call(400, 0.5, 1024);
  beside.call(40, 0.5, 2048);
  CHECK(beside.is_other(2048));
  beside.call(2000, 1.5, 4096);
  CHECK_FALSE(beside.is_other(4096));
}

TEST_CASE("a class that has learned in an earlier run begins earlier, and loses no more") {
  for (const auto operation : {Operation::allreduce, Operation::bcast}) {
    const Kept kept(operation, 1024, "shared-memory");
    Program alike(1, operation, &kept.file), without(1, operation);
    alike.call(12, 0.5);
    CHECK(alike.others == 0);
    alike.call(4, 0.5);
    CHECK(alike.others == 2);
    without.call(32, 0.5);
    CHECK(without.others == 0);
    alike.call(500, 0.5);
    CHECK(alike.is_other());
    Program changed(1, operation, &kept.file);
    for (int calls = 0; calls < 20000; calls += 50) {
      changed.call(50, 3);
      CHECK(changed.taken_s - changed.own_s <= allowed_s(changed));
    }
    CHECK_FALSE(changed.is_other());
    Program of_other_size(1, operation, &kept.file);
    of_other_size.call(32, 0.5, 4096);
    CHECK(of_other_size.others == 0);
  }
}

TEST_CASE(
    "long calls that have learned in an earlier run are tried only when the budget allows it") {
  const Kept kept(Operation::allreduce, 1 << 20, "shared-memory");
  Program program(1, Operation::allreduce, &kept.file);
  program.call(200, 4, 1 << 20, 0.1);
  CHECK(program.others == 0);
}

TEST_CASE(
    "single copies that were faster in an earlier run are tried first, where there are such") {
  for (const auto operation : {Operation::allreduce, Operation::bcast}) {
    const Kept kept(operation, 1 << 14, "single-copy");
    Program program(1, operation, &kept.file);
    program.ratio_single_copy = 0.4;
    program.call(30, 0.8, 1 << 14);
    CHECK(program.others > 0);
    CHECK(program.single_copies == program.others);
    program.call(2000, 0.8, 1 << 14);
    CHECK(program.is_other(1 << 14));
    CHECK(program.others > program.single_copies);
    Program without(1, operation, &kept.file);
    without.call(600, 0.5, 1 << 14);
    CHECK(without.single_copies == 0);
    CHECK(without.is_other(1 << 14));
    const int others = without.others;
    without.call(100, 0.5, 1 << 14);
    CHECK(without.others > others);
  }
}

TEST_CASE("what was learned is kept once a trial has ended") {
  const Kept kept(Operation::scan, 1, "shared-memory");
  const auto calls = kept_calls(2, Operation::scan, 1);
  {
    Program program(1, Operation::scan, &kept.file);
    program.call(20, 2, 1);
    CHECK(program.others > 0);
    CHECK(Lessons::keep(kept.file, false).empty());
    CHECK(Kept::again().faster_way(calls) == "shared-memory");
    program.call(1000, 2, 1);
  }
  CHECK(Lessons::keep(kept.file, true).find("classes begin sooner") != std::string::npos);
  CHECK(Kept::again().faster_way(calls).empty());
  CHECK(Kept::again().text().lessons.size() >= 1);
}

TEST_CASE("a way that is faster only while ranks run ahead of others is not taken") {
  for (const auto operation : {Operation::bcast, Operation::gather}) {
    Program program(1, operation);
    program.ahead = 16;
    program.ratio_ahead = 0.5;
    program.call(20000, 1.5);
    CHECK_FALSE(program.is_other());
    CHECK(program.others > 0);
    CHECK(program.taken_s - program.own_s <= allowed_s(program));
  }
  Program program(1, Operation::bcast);
  program.call(500, 0.6);
  CHECK(program.is_other());
}

TEST_CASE("a way that beats the library's own only in blocks of few calls is not taken") {
  for (const auto operation : {Operation::bcast, Operation::scatter}) {
    Program program(1, operation);
    program.settling = 60;
    program.ratio_settling = 3;
    program.call(20000, 1.5);
    CHECK_FALSE(program.is_other());
    CHECK(program.others > 0);
    // And what the first long pair costs more than expected.
    CHECK(program.taken_s - program.own_s <= allowed_s(program) + 100 * call_s);
  }
}

TEST_CASE("a library that still touches its buffers first is not judged by that") {
  for (const auto operation : {Operation::allreduce, Operation::bcast}) {
    for (const bool tells_touches : {true, false}) {
      Program program(1, operation);
      program.warming = 320;
      program.ratio_warming = 3;
      program.tells_touches = tells_touches;
      program.call(2500, 1.8);
      CHECK(program.is_other() != tells_touches);
    }
  }
}

TEST_CASE("a program that touches pages all the time learns later, and not never") {
  Program program;
  program.warming = 100000;
  program.call(1500, 0.5);
  CHECK(program.others == 0);
  program.call(1500, 0.5);
  CHECK(program.is_other());
}

TEST_CASE("ways that are about equal are not tried on and on") {
  Program program(3);
  program.noise_share = 0.1;
  program.call(40000, 1);
  CHECK_FALSE(program.is_other());
  CHECK(program.others < 4000);
}

TEST_CASE("a slower program still comes back to the library's own where ranks run ahead") {
  Program program(1, Operation::bcast);
  program.call(2000, 0.5);
  CHECK(program.is_other());
  program.call(20000, 0.5, 1024, 100 * call_s);
  CHECK(program.is_other());
  program.call(2000, 1.3, 1024, 100 * call_s);
  CHECK_FALSE(program.is_other());
}

TEST_CASE("ranks that are given the same times decide alike") {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> times(0.5, 1.5);
  std::array<Learner, 3> ranks;
  std::array<Budget, 3> budgets{Budget(1e-3), Budget(1e-3), Budget(1e-3)};
  for (int call = 0; call < 5000; ++call) {
    for (auto& rank : ranks) rank.add(times(random) * 1e-6);
    std::array<bool, 3> ends{};
    for (std::size_t i = 0; i < ranks.size(); ++i) ends[i] = ranks[i].count();
    REQUIRE((ends[0] == ends[1] && ends[1] == ends[2]));
    if (!ends[0]) continue;
    REQUIRE(ranks[0].needs_times() == ranks[2].needs_times());
    const Spent mean = ranks[0].spent();
    for (std::size_t i = 0; i < ranks.size(); ++i)
      ranks[i].advance(mean, budgets[i], {true, call % 2 == 0, nullptr, nullptr});
    REQUIRE(ranks[0].is_other() == ranks[1].is_other());
    REQUIRE(ranks[1].is_other() == ranks[2].is_other());
  }
  CHECK(ranks[0].has_tried());
}
