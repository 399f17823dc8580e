#include "probe/memory_choice.hpp"

#include <doctest/doctest.h>

#include "../host/gpu_child.hpp"
#include "timing/clock.hpp"

namespace {
using nhalf::gpu::in_child;

constexpr nhalf::AxisInfo chosen_axes[] = {{"algorithm", "native", "native", ""}};
constexpr nhalf::PatternInfo chosen{.name = "chosen", .what = "", .axes = chosen_axes};

/// What a rank of four is given: whether its buffers lie on a device, and its GPU; or the error.
std::string given(const std::string& axes, int rank,
                  const std::map<std::string, std::string>& variables = {}) {
  return in_child(variables, [&] {
    try {
      const nhalf::Case point{.size_bytes = 8, .axes = nhalf::Options::parse(axes, ' ')};
      const nhalf::MemoryChoice memory(chosen, point, point.axes.text("memory", "host"), rank, 4);
      nhalf::Buffer buffer(8);
      return (nhalf::is_on_device(buffer.bytes()) ? "device " : "host ") + memory.gpu();
    } catch (const nhalf::InputError& error) {
      return std::string(error.what());
    }
  });
}
}  // namespace

TEST_CASE("the ranks of the first half have the first kind of memory of a pair") {
  CHECK(given("memory=device", 3) == "device 0000:a0:00.0");
  CHECK(given("memory=managed", 0) == "device 0000:a0:00.0");
  CHECK(given("memory=pinned", 0) == "host 0000:a0:00.0");
  CHECK(given("memory=host", 0) == "host ");
  CHECK(given("memory=device-host", 1) == "device 0000:a0:00.0");
  CHECK(given("memory=device-host", 2) == "host ");
  CHECK(given("memory=host-device", 1) == "host ");
  CHECK(given("memory=device", 1, {{"NHALF_STAND_IN_DEVICES", "2"}}) == "device 0000:a1:00.0");
}

namespace {
/// Whether a wait just after a kernel of 20 ms, and the wait after that, are as long.
std::string long_waits(const std::string& memory) {
  const nhalf::Case point{.size_bytes = 8};
  const nhalf::MemoryChoice choice(chosen, point, memory, 0, 1);
  nhalf::SteadyClock clock;
  const auto kernels = nhalf::gpu::module(nhalf::gpu::kernels().c_str());
  const auto times = nhalf::gpu::device_memory(32);
  const auto values = choice.waits(clock, [&] {
    nhalf::gpu::launch(nhalf::gpu::function(kernels, "nhalf_clock"), 1, 1, nhalf::gpu::Stream{},
                       times.get(), std::uint64_t{20'000'000});
  });
  std::string text;
  for (const auto& [name, value] : values) text += name + (value >= 0.02 ? " long " : " short ");
  return text;
}
}  // namespace

TEST_CASE("what a call left to the GPU is measured apart from the wait itself") {
  const auto waits = [](const char* text) {
    return in_child({{"NHALF_STAND_IN_WAITS", text}}, [] { return long_waits("device"); });
  };
  CHECK(waits("1").starts_with("gpu_left_s long gpu_synchronise_s "));
  CHECK(waits("0").starts_with("gpu_left_s short gpu_synchronise_s "));
}

TEST_CASE("others on a GPU, and a clock that is held down, are advice") {
  using Words = std::vector<std::string>;
  const auto advice = [](const Words& gpus, std::vector<int> hosts, const Words& held_back,
                         const Words& processes) {
    return nhalf::advice_on(gpus, hosts, held_back, processes);
  };
  CHECK(advice({"a", "b"}, {}, {"", ""}, {"1", "0"}).empty());
  CHECK(advice({}, {}, {}, {}).empty());
  CHECK(advice({"", ""}, {}, {"", ""}, {"", ""}).empty());
  CHECK(advice({"a", "a"}, {}, {"", ""}, {"2", "2"}) == Words{"shared-gpu"});
  CHECK(advice({"a", "a"}, {0, 1}, {"", ""}, {"1", "2"}) == Words{"busy-gpu"});
  CHECK(advice({"a", "a"}, {}, {"", "temperature"}, {"3", "3"}) ==
        Words{"shared-gpu", "slow-gpu", "busy-gpu"});
}

TEST_CASE("what cannot be is refused in one line, without a GPU too") {
  for (const char* axes : {"memory=gpu", "memory=device-", "memory=device-host-host"})
    CHECK(given(axes, 0).starts_with("axis memory is host, pinned, managed or device"));
  CHECK(given("memory=device algorithm=ring", 0).starts_with("algorithms of nhalf's own"));
  CHECK(given("memory=pinned algorithm=ring", 0) == "host 0000:a0:00.0");
  CHECK(given("memory=device", 0, {{"NHALF_STAND_IN_FAULT", "no-device"}})
            .starts_with("the driver finds no GPU"));
  CHECK(given("memory=host", 0, {{"NHALF_STAND_IN_FAULT", "no-device"}}) == "host ");
  // To choose one GPU takes nothing of the others.
  CHECK(given("memory=device", 0,
              {{"NHALF_STAND_IN_DEVICES", "4"}, {"NHALF_STAND_IN_FAULT", "others-busy"}}) ==
        "device 0000:a0:00.0");
}

TEST_CASE("a GPU is shared by ranks of one host alone") {
  const std::vector<std::string> gpus{"a0", "a1", "a0", ""};
  CHECK(nhalf::is_shared(gpus, {}));
  const std::array apart{0, 0, 1, 1};
  CHECK_FALSE(nhalf::is_shared(gpus, apart));
  const std::vector<std::string> none{"", "", ""};
  CHECK_FALSE(nhalf::is_shared(none, {}));
  CHECK_FALSE(nhalf::is_shared({}, {}));
}

TEST_CASE("memory is the host's again after the point") {
  CHECK(in_child({}, [] {
          const nhalf::Case point{.size_bytes = 8,
                                  .axes = nhalf::Options::parse("memory=device", ' ')};
          {
            const nhalf::MemoryChoice memory(chosen, point, point.axes.text("memory", "host"), 0,
                                             2);
          }
          nhalf::Buffer buffer(8);
          return std::string(nhalf::is_on_device(buffer.bytes()) ? "device" : "host");
        }) == "host");
}
