#include "simulator/machine.hpp"

#include <doctest/doctest.h>

#include <unistd.h>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using nhalf::InputError;
using nhalf::simulator::Machine;
using nhalf::simulator::numbers;

/// A file that is gone when the test ends.
class Written {
 public:
  explicit Written(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("nhalf-machine-" + std::to_string(::getpid()) + ".txt")) {
    std::ofstream(path_) << text;
  }
  ~Written() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Machine machine(const std::string& text) {
  return Machine::read(Written(text).path());
}

constexpr const char* two_curves =
    "topology kind=torus dimensions=4,8\n"
    "link bandwidth_Bps=1e9 latency_s=1e-7 duplex=0\n"
    "node count=32 bandwidth_Bps=4e9\n"
    "curve apart=0\n"
    "segment from_bytes=0 latency_s=1e-6 rate_Bps=2e9 send_s=5e-7 recv_s=4e-7\n"
    "curve apart=1\n"
    "segment from_bytes=0 latency_s=2e-6\n"
    "segment from_bytes=64 latency_s=3e-6 rate_Bps=1e9\n"
    "curve apart=8\n"
    "segment from_bytes=0 latency_s=9e-6 rate_Bps=5e8\n";

}  // namespace

TEST_CASE("a description of a machine is read as it was written") {
  const auto found = machine(two_curves);
  CHECK(found.topology.text("kind") == "torus");
  CHECK(numbers<unsigned>(found.topology.text("dimensions")) == std::vector<unsigned>{4, 8});
  CHECK(found.link.number("duplex", 1) == 0);
  CHECK(found.node.number("count", 0) == 32);
  REQUIRE(found.curves.size() == 3);
  const auto& within = found.curves.front().at(100);
  CHECK(within.send_s == 5e-7);
  CHECK(within.recv_s == 4e-7);
  CHECK(within.rate_Bps == 2e9);
}

TEST_CASE("a curve holds from its distance on") {
  const auto found = machine(two_curves);
  CHECK(found.between(0).at(0).latency_s == 1e-6);
  CHECK(found.between(1).at(0).latency_s == 2e-6);
  CHECK(found.between(7).at(0).latency_s == 2e-6);
  CHECK(found.between(8).at(0).latency_s == 9e-6);
  CHECK(found.between(1 << 20).at(0).latency_s == 9e-6);
}

TEST_CASE("a segment holds from its size on; a rate that is not written is infinite") {
  const auto found = machine(two_curves);
  const auto& curve = found.between(1);
  CHECK(curve.at(-16).latency_s == 2e-6);
  CHECK(curve.at(63).latency_s == 2e-6);
  CHECK(std::isinf(curve.at(63).rate_Bps));
  CHECK(curve.at(64).latency_s == 3e-6);
  CHECK(curve.at(1e12).latency_s == 3e-6);
}

TEST_CASE("spacings within nodes and between them are apart, in seconds of a size") {
  using nhalf::simulator::Spacings;
  const auto found = machine(two_curves + std::string("within in 0 7 0 0\n"
                                                      "between out 0 5000000 1000000000 0\n"
                                                      "between out 4096 -52000000 0 0\n"
                                                      "between both 0 40000000 0 0\n"));
  const auto& [within, between] = found.spacings;
  CHECK(within.out.empty());
  CHECK(Spacings::at(within.in, 100) == doctest::Approx(7e-12));
  CHECK(between.in.empty());
  CHECK(Spacings::at(between.out, -16) == doctest::Approx(5e-6));
  CHECK(Spacings::at(between.out, 4095) == doctest::Approx(5e-6 + 4095e-9));
  CHECK(Spacings::at(between.out, 4096) == 0);
  CHECK(Spacings::at(between.both, 1e9) == doctest::Approx(40e-6));
}

TEST_CASE("what is no description is refused") {
  CHECK_THROWS_AS(Machine::read("/no/such/file"), InputError);
  CHECK_THROWS_AS(machine(""), InputError);
  CHECK_THROWS_AS(machine("curve apart=0\n"), InputError);
  CHECK_THROWS_AS(machine("curve apart=0\nsegment from_bytes\n"), InputError);
  CHECK_THROWS_AS(machine("curve apart=0\nsegment from_bytes=0 latency_s=-1\n"), InputError);
  CHECK_THROWS_AS(machine("curve apart=x\nsegment from_bytes=0\n"), InputError);
  CHECK_THROWS_AS(machine(two_curves + std::string("between up 0 1 1 0\n")), InputError);
  CHECK_THROWS_AS(machine(two_curves + std::string("within in 0 1 1\n")), InputError);
  CHECK_THROWS_AS(numbers<unsigned>("4,x"), InputError);
  CHECK(numbers<unsigned>("").empty());
}

TEST_CASE(
    "ways that one rank has for itself are wide, and sends end at once where nothing is said") {
  const auto shared = machine(two_curves);
  CHECK_FALSE(shared.are_ranks_alone);
  CHECK(shared.own_Bps(1e9) == 1e9);
  CHECK(shared.own_Bps(1e9, 2) == 1e9);
  CHECK(shared.own_Bps(1e9, 1) > 1e14);
  CHECK(std::isinf(shared.eager_bytes()));
  const auto alone = machine(std::string(two_curves) + "node count=32 eager_bytes=16384\nalone\n");
  CHECK(alone.own_Bps(1e9, 2) > 1e14);
  CHECK(alone.eager_bytes() == 16384);
}
