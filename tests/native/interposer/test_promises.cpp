// What the learner promises to programs, whatever they call: exact times, no machine.
#include <doctest/doctest.h>

#include <numeric>

#include "learning_program.hpp"

using nhalf::coll::Lessons;
using nhalf::coll::Operation;
using nhalf::coll::operation_names;
using nhalf::coll::given::call_s;
using nhalf::coll::given::Program;

namespace {

constexpr int sizes = 10000;

/// What a call by the library's own takes.
double own_call_s(std::uint64_t size_bytes) {
  return 1e-6 + 1e-10 * static_cast<double>(size_bytes);
}

/// Calls once with each of the sizes, which are multiples of `step_bytes`, in an order drawn.
void call_each_once(Program& program, double ratio, std::uint64_t step_bytes) {
  std::array<std::uint64_t, sizes> order{};
  std::iota(order.begin(), order.end(), 1);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  for (const auto place : order)
    program.call(1, ratio, place * step_bytes, own_call_s(place * step_bytes));
}

}  // namespace

TEST_CASE(
    "calls of 10,000 sizes each, once with each, take 1.01 times as long and a constant more") {
  for (const double ratio : {1.02, 1.3, 2.0, 10.0}) {
    for (const std::uint64_t step_bytes : {1, 200}) {
      INFO("at ", ratio, " in steps of ", step_bytes);
      Program program;
      program.ratio_single_copy = program.ratio_streaming = program.ratio_hierarchical = ratio;
      for (std::size_t i = 0; i < operation_names.size(); ++i) {
        program.operation = static_cast<Operation>(i);
        call_each_once(program, ratio, step_bytes);
      }
      CHECK(program.others > 0);
      // Next to calls of many sizes up to 2 MB the constant is nothing.
      const double constant_s = step_bytes == 1 ? Lessons::communicator_s : 0;
      CHECK(program.taken_s <= 1.01 * program.own_s + constant_s);
    }
  }
}

TEST_CASE("a program whose best way changes is within 5 % of the better one after 2000 calls") {
  for (std::size_t i = 0; i < operation_names.size(); ++i) {
    for (const int calls_before : {100, 1000, 5000, 30000}) {
      for (const double ratio : {0.5, 0.9, 1.2, 3.0}) {
        INFO(operation_names[i], " from ", ratio, " after ", calls_before);
        Program program(1, static_cast<Operation>(i));
        program.call(calls_before, ratio);
        program.call(2000, 1 / ratio);
        const double before_s = program.taken_s;
        program.call(2000, 1 / ratio);
        CHECK(program.taken_s - before_s < 1.05 * 2000 * call_s * std::min(1.0, 1 / ratio));
      }
    }
  }
}
