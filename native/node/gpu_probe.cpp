// The probe of one GPU: reads one point per line, measures it, writes one line.

#include "node/gpu_peer.hpp"
#include "probe/session.hpp"

namespace {
using nhalf::Case;
using nhalf::InputError;
using nhalf::Options;
using nhalf::Pattern;
using nhalf::PatternInfo;
using nhalf::gpu::HostClock;
using nhalf::gpu::ReadyGpu;

constexpr std::string_view usage =
    "usage: gpu-probe [--describe] [--cpus N]\n"
    "Reads points from standard input, one line each: id=1 pattern=gpu-copy bytes=32768\n"
    "with slice_s=, precision=, samples_min=, samples_max=, axis.NAME= where wanted.\n"
    "The line 'end' or the end of the input ends the run. NHALF_CUDA_LIBRARY names another\n"
    "driver than libcuda.so.1.\n";

/// What lasts from point to point: the GPU, until a point asks for another, or for another way to
/// wait, which a context has from its beginning.
struct Session {
  int count = nhalf::gpu::device_count();
  HostClock clock;
  double overhead_s = clock.is_virtual() ? 0 : nhalf::calibrate(clock).overhead_s;
  std::unique_ptr<ReadyGpu> gpu = std::make_unique<ReadyGpu>(0, 0);
  int number = 0;
  std::size_t wait = 0;

  ReadyGpu& of(const Case& point) {
    const auto wanted = point.axes.number("gpu", 0);
    const auto wanted_wait = point.choice("wait", ReadyGpu::wait_names);
    if (!gpu || wanted != number || wanted_wait != wait) {
      gpu.reset();
      gpu = std::make_unique<ReadyGpu>(wanted, wanted_wait);
      number = wanted;
      wait = wanted_wait;
    }
    gpu->device.require_current();
    return *gpu;
  }
};

struct Entry {
  PatternInfo info;
  std::unique_ptr<Pattern> (*make)(Session& session, ReadyGpu& gpu, const Case& point);
};

const Entry entries[] = {
    {nhalf::gpu::copy_info,
     [](Session& session, ReadyGpu& gpu, const Case& point) -> std::unique_ptr<Pattern> {
       return std::make_unique<nhalf::gpu::Copy>(gpu, session.clock, point);
     }},
    {nhalf::gpu::flag_info,
     [](Session& session, ReadyGpu& gpu, const Case&) -> std::unique_ptr<Pattern> {
       return std::make_unique<nhalf::gpu::Flag>(gpu, session.clock);
     }},
    {nhalf::gpu::peer_info,
     [](Session& session, ReadyGpu& gpu, const Case& point) -> std::unique_ptr<Pattern> {
       return std::make_unique<nhalf::gpu::Peer>(gpu, session.clock, point);
     }},
    {nhalf::gpu::launch_info,
     [](Session& session, ReadyGpu& gpu, const Case& point) -> std::unique_ptr<Pattern> {
       return std::make_unique<nhalf::gpu::Launch>(gpu, session.clock, point);
     }},
    {nhalf::gpu::wait_info,
     [](Session&, ReadyGpu& gpu, const Case& point) -> std::unique_ptr<Pattern> {
       return std::make_unique<nhalf::gpu::Wait>(gpu, point);
     }}};

constexpr nhalf::Effort usual_effort{
    .slice_s = 0.02, .precision = 0.01, .samples_min = 20, .samples_max = 200};

std::string answer(Session& session, const Options& words, const std::string& id) {
  const auto& [info, make] = nhalf::entry_named(entries, words.text("pattern"));
  const Case point{.size_bytes = words.number("bytes", std::size_t{0}),
                   .axes = words.below("axis.")};
  nhalf::check_axes(info, point.axes);
  try {
    auto& gpu = session.of(point);
    const auto pattern = make(session, gpu, point);
    const auto measured = nhalf::gpu::measure(*pattern, info, gpu, session.clock,
                                              session.overhead_s, effort_of(words, usual_effort));
    const auto moved_bytes = pattern->moved_bytes().value_or(info.sized ? point.size_bytes : 0);
    return nhalf::point_record(id, info, 1, point.size_bytes, moved_bytes, measured);
  } catch (const nhalf::gpu::DriverError& error) {
    throw InputError(error.what());
  } catch (const std::bad_alloc&) {
    throw InputError("there is not so much memory");
  }
}

std::string launch(const Session& session) {
  int version = 0;
  nhalf::gpu::driver().check(nhalf::gpu::driver().driver_version(&version), "its version");
  const auto& device = session.gpu->device;
  const auto condition = session.gpu->condition.look();
  nhalf::json::Object gpu;
  gpu.add("name", device.name())
      .add("pci", device.pci_address())
      .add("multiprocessors", device.attribute(nhalf::gpu::DeviceAttribute::multiprocessors))
      .add("gpus", session.count)
      .add("has_mps", nhalf::gpu::has_mps());
  if (condition.is_known)
    gpu.add("is_persistent", condition.is_persistent)
        .add("held_back_by", condition.held_back_by())
        .add("processes", condition.processes);
  return nhalf::json::Object{}
      .add("nhalf", "launch")
      .add("schema", nhalf::schema_version)
      .add("transport", "gpu")
      .add("ranks", 1)
      .add("library", "CUDA driver " + std::to_string(version / 1000) + "." +
                          std::to_string(version % 1000 / 10))
      .add("clock", nhalf::json::Object{}
                        .add("name", session.clock.is_virtual() ? "virtual" : HostClock::name)
                        .add("overhead_s", session.overhead_s))
      .add("placement", std::vector<nhalf::json::Raw>{{nhalf::Placement().of(0)}})
      .add("gpu", gpu)
      .text();
}

std::string description() {
  std::vector<nhalf::json::Object> patterns;
  for (const auto& entry : entries) patterns.push_back(nhalf::description_of(entry.info, true, {}));
  return nhalf::json::Object{}
      .add("schema", nhalf::schema_version)
      .add("transport", "gpu")
      .add("what", "one GPU: launches, copies, and flags in mapped memory")
      .add("options", std::vector<nhalf::json::Object>{})
      .add("patterns", patterns)
      .text();
}

int serve() {
  Session session;
  nhalf::serve(
      [&] { return launch(session); },
      [&](const Options& point, const std::string& id) { return answer(session, point, id); });
  return 0;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--peer") {
    // Errors are said where the pair is measured, which finds the end of this process.
    try {
      nhalf::die_with_parent();
      nhalf::gpu::serve_peer();
      return 0;
    } catch (const std::exception&) {
      return 2;
    }
  }
  return nhalf::run_program(
      "gpu-probe", usage, argc, argv, [](const nhalf::Arguments&) { return description(); },
      [](const nhalf::Arguments&) { return serve(); });
}
