// The probe of one core: reads one point per line, measures it, writes one line.

#include "node/conflicts.hpp"
#include "node/node_sampler.hpp"
#include "node/unit_loop.hpp"
#include "probe/session.hpp"

namespace {
using nhalf::Case;
using nhalf::InputError;
using nhalf::Options;
using nhalf::Pattern;
using nhalf::PatternInfo;
using nhalf::Region;

constexpr std::string_view usage =
    "usage: node-probe [--describe] [--cpus N]\n"
    "Reads points from standard input, one line each: id=1 pattern=node-chase bytes=32768\n"
    "with slice_s=, precision=, samples_min=, samples_max=, axis.NAME= where wanted.\n"
    "The line 'end' or the end of the input ends the run.\n";

/// Memory that lasts from point to point: only a larger array or other pages make it anew.
class Memory {
 public:
  Region& of(std::size_t size_bytes, bool huge) {
    auto& region = regions_[huge ? 1 : 0];
    const bool wasteful = region && region->size_bytes() > 64 * Region::huge_page_bytes &&
                          size_bytes < region->size_bytes() / 64;
    if (!region || wasteful || region->size_bytes() < size_bytes) {
      region.reset();
      region = std::make_unique<Region>(size_bytes, huge);
    }
    return *region;
  }

 private:
  std::unique_ptr<Region> regions_[2];
};

/// Memory with the pages that a point asks for, or its kind of point usually has.
Region& region_of(Memory& memory, const Case& point, std::size_t size_bytes,
                  const std::string& usual = "yes") {
  const auto huge = point.axes.text("huge", usual);
  if (huge != "yes" && huge != "no") throw InputError("axis huge is yes or no");
  return memory.of(size_bytes, huge == "yes");
}

/// What lasts from point to point.
struct Session {
  nhalf::SteadyClock clock{};
  nhalf::ClockQuality quality = nhalf::calibrate(clock);
  nhalf::CoreWitness<nhalf::SteadyClock> core{clock, quality.overhead_s};
  Memory memory{};
};

/// One kind of point: what it is, and how it is made ready.
struct Entry {
  PatternInfo info;
  std::unique_ptr<Pattern> (*make)(Session& session, const Case& point);
};

const Entry entries[] = {
    {nhalf::node_chase,
     [](Session& session, const Case& point) -> std::unique_ptr<Pattern> {
       auto& region = region_of(session.memory, point, nhalf::chase_places(point).span_bytes());
       return std::make_unique<nhalf::NodeChase>(point, region);
     }},
    {nhalf::node_load,
     [](Session& session, const Case& point) -> std::unique_ptr<Pattern> {
       auto& region = region_of(session.memory, point, point.size_bytes);
       return std::make_unique<nhalf::NodeSweep<false>>(point, region);
     }},
    {nhalf::node_store,
     [](Session& session, const Case& point) -> std::unique_ptr<Pattern> {
       auto& region = region_of(session.memory, point, point.size_bytes);
       return std::make_unique<nhalf::NodeSweep<true>>(point, region);
     }},
    {nhalf::node_conflicts,
     [](Session& session, const Case& point) -> std::unique_ptr<Pattern> {
       if (point.size_bytes < 4 * nhalf::LapTime::before * nhalf::LapTime::page_size_bytes)
         throw InputError("conflicts are looked for in 3M or more");
       auto& region = region_of(session.memory, point, point.size_bytes, "no");
       return std::make_unique<nhalf::NodeConflicts>(point, region, session.clock,
                                                     session.quality.overhead_s, session.core);
     }},
    {nhalf::node_unit, [](Session&, const Case& point) -> std::unique_ptr<Pattern> {
       return std::make_unique<nhalf::UnitLoop>(point);
     }}};

constexpr nhalf::Effort usual_effort{
    .slice_s = 0.004, .precision = 0.005, .samples_min = 20, .samples_max = 80};

std::string answer(Session& session, const Options& words, const std::string& id) {
  const auto& [info, make] = nhalf::entry_named(entries, words.text("pattern"));
  const Case point{.size_bytes = words.number("bytes", std::size_t{0}),
                   .axes = words.below("axis.")};
  nhalf::check_axes(info, point.axes);
  const auto effort = nhalf::effort_of(words, usual_effort);
  try {
    const auto pattern = make(session, point);
    const auto measured =
        nhalf::NodeSampler(session.clock, session.quality, session.core, effort).measure(*pattern);
    return nhalf::point_record(id, info, 1, point.size_bytes, 0, measured);
  } catch (const std::bad_alloc&) {
    throw InputError("there is not so much memory");
  }
}

std::string launch(const nhalf::ClockQuality& quality) {
  return nhalf::json::Object{}
      .add("nhalf", "launch")
      .add("schema", nhalf::schema_version)
      .add("transport", "node")
      .add("ranks", 1)
      .add("library", "")
      .add("clock", nhalf::json::Object{}
                        .add("name", nhalf::SteadyClock::name)
                        .add("resolution_s", quality.resolution_s)
                        .add("overhead_s", quality.overhead_s))
      .add("placement", std::vector<nhalf::json::Raw>{{nhalf::Placement().of(0)}})
      .text();
}

std::string description() {
  std::vector<nhalf::json::Object> patterns;
  for (const auto& entry : entries) patterns.push_back(nhalf::description_of(entry.info, true, {}));
  std::vector<nhalf::json::Object> kernels;
  for (const auto& kernel : nhalf::unit_kernels())
    kernels.push_back(nhalf::json::Object{}
                          .add("operation", kernel.operation)
                          .add("bits", kernel.bits)
                          .add("chains", kernel.chains));
  return nhalf::json::Object{}
      .add("schema", nhalf::schema_version)
      .add("transport", "node")
      .add("what", "one core: its memory hierarchy and its units")
      .add("options", std::vector<nhalf::json::Object>{})
      .add("patterns", patterns)
      .add("kernels", kernels)
      .text();
}

int serve() {
  Session session;
  nhalf::serve(
      [&] { return launch(session.quality); },
      [&](const Options& point, const std::string& id) { return answer(session, point, id); });
  return 0;
}
}  // namespace

int main(int argc, char** argv) {
  return nhalf::run_program(
      "node-probe", usage, argc, argv, [](const nhalf::Arguments&) { return description(); },
      [](const nhalf::Arguments&) { return serve(); });
}
