// Multicasts on a simulated machine, in the protocol of probe/probe.cpp: it reads one point a line,
// simulates it, and writes one line.
#include "multicast/all_multicasts.hpp"
#include "multicast/bases/multicast_case.hpp"
#include "multicast/bases/run.hpp"
#include "probe/session.hpp"

namespace {
using namespace nhalf;
using namespace nhalf::multicast;

constexpr std::string_view usage =
    "usage: multicast [--describe] [--ranks N] [--options key=value,...]\n"
    "Reads points from standard input, one line each:\n"
    "id=1 pattern=multicast bytes=1024 axis.algorithm=u-torus axis.forwarding=nic axis.group=7\n"
    "The line 'end' or the end of the input ends the run.\n";

constexpr std::string_view forwardings[] = {"host", "nic-assisted", "nic"};
constexpr int parts_usual = 3;
constexpr double bytes_max = 1e15;

/// The machine, and how many of its nodes have a rank: one each, from node 0 on.
struct Setting {
  Topology topology;
  Costs costs;
  int ranks = 0;

  explicit Setting(const Arguments& arguments)
      : topology(multicast_topology(arguments.options)),
        costs(multicast_costs(arguments.options)),
        ranks(arguments.ranks > 0 ? arguments.ranks : topology.nodes()) {
    for (const auto& [name, value] : arguments.options.values()) multicast_option(name);
    if (ranks < 2) throw InputError("--ranks must be 2 or more");
    if (!arguments.cpus.empty()) throw InputError("--cpus is for ranks of this machine");
    if (ranks > topology.nodes())
      throw InputError("there are " + std::to_string(topology.nodes()) + " nodes and not " +
                       std::to_string(ranks));
  }
};

bool fits(const Topology& topology, const MulticastInfo& info) {
  return !info.needs_torus || topology.is_torus();
}

/// The names of the ways to multicast on a topology, separated by commas.
std::string algorithm_names(const Topology& topology) {
  std::string names;
  for (const auto& info : multicasts()) {
    if (!fits(topology, info)) continue;
    // Some need more than a torus: they say so when they are asked for a schedule.
    try {
      info.make({.topology = topology, .source = 0, .destinations = {}, .parts = 1});
      names += (names.empty() ? "" : ",") + std::string(info.name);
    } catch (const InputError&) {
      continue;
    }
  }
  return names;
}

/// What `--describe` says of the one pattern; `algorithms` outlives it.
PatternInfo pattern_info(std::span<const AxisInfo> axes) {
  return {.name = "multicast",
          .what = "one node's message to several others, from the first send to the last arrival",
          .needs = "",
          .timing = Timing::operation,
          .axes = axes};
}

std::vector<AxisInfo> axes_with(std::string_view algorithms) {
  return {{"algorithm", algorithms, "", "who forwards to whom"},
          {"forwarding", "host,nic-assisted,nic", "", "who makes the copies of a message"},
          multicast_group_axis,
          {"parts", "3", "3", "into how many parts beside its own mu-torus cuts a list"},
          multicast_piece_axis,
          multicast_draw_axis};
}

std::string description(const Setting& setting) {
  const auto algorithms = algorithm_names(setting.topology);
  const auto axes = axes_with(algorithms);
  std::vector<json::Object> options;
  for (const auto& option : multicast_options)
    options.push_back(json::Object{}
                          .add("name", option.name)
                          .add("default", option.fallback)
                          .add("unit", option.unit)
                          .add("what", option.what));
  const std::vector<json::Object> coordinates{
      json::Object{}.add("name", "bytes").add("unit", "B").add("what", "size of the message"),
      json::Object{}.add("name", "ranks").add("unit", "").add("what", "nodes, the source's too")};
  return json::Object{}
      .add("schema", schema_version)
      .add("transport", "simulated")
      .add("what", "multicasts on simulated hosts, adapters and links")
      .add("capabilities", std::vector<std::string>{})
      .add("options", options)
      .add("axes", coordinates)
      .add("patterns", std::vector{description_of(pattern_info(axes), true, {})})
      .text();
}

std::string introduction(const Setting& setting) {
  std::vector<json::Object> placement;
  for (int rank = 0; rank < setting.ranks; ++rank)
    placement.push_back(json::Object{}
                            .add("rank", rank)
                            .add("host", "node-" + std::to_string(rank))
                            .add("allowed_cpus", std::vector<int>{}));
  return json::Object{}
      .add("nhalf", "launch")
      .add("schema", schema_version)
      .add("transport", "simulated")
      .add("ranks", setting.ranks)
      .add("library", "simulated hosts and adapters")
      .add("clock",
           json::Object{}.add("name", "virtual").add("resolution_s", 0.0).add("overhead_s", 0.0))
      .add("placement", placement)
      .text();
}

const MulticastInfo& find_algorithm(const Topology& topology, const std::string& name) {
  for (const auto& info : multicasts()) {
    if (info.name != name) continue;
    if (!fits(topology, info)) throw InputError("multicast " + name + " is for a torus");
    return info;
  }
  throw InputError("axis algorithm has no value '" + name + "'");
}

/// Node 0 and destinations drawn from the other ranks.
Multicast drawn(const Setting& setting, const Case& point) {
  auto multicast = drawn_multicast(setting.topology, setting.ranks, point);
  multicast.parts = point.axes.number("parts", parts_usual);
  if (multicast.parts < 1) throw InputError("axis parts is 1 or more");
  return multicast;
}

double mean(double sum, std::size_t count) {
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

/// The scalars of a point. Link concentration is the most visits of one link over their mean, over
/// the links that were visited: 1 where all of them carry as much.
std::vector<Value> values_of(const Multicast& multicast, const Schedule& schedule,
                             const Outcome& outcome) {
  double visits = 0;
  double most = 0;
  const auto by_link = link_visits(multicast.topology, schedule);
  for (const auto& [link, times] : by_link) {
    visits += times;
    most = std::max(most, static_cast<double>(times));
  }
  const auto& cpu_s = outcome.host_cpu_s;
  const double all_s = std::accumulate(cpu_s.begin(), cpu_s.end(), 0.0);
  const double per_link = mean(visits, by_link.size());
  return {{"host_cpu_s", mean(all_s, multicast.destinations.size() + 1)},
          {"host_cpu_max_s", *std::ranges::max_element(cpu_s)},
          {"host_cpu_source_s", cpu_s[static_cast<std::size_t>(multicast.source)]},
          {"link_concentration", per_link > 0 ? most / per_link : 0},
          {"link_visits", visits},
          {"link_visits_max", most},
          {"links_used", static_cast<double>(by_link.size())},
          {"steps", static_cast<double>(std::ranges::max(steps_of(schedule, multicast.source)))}};
}

std::string simulated(const Setting& setting, const Options& point, const std::string& id) {
  const auto pattern = point.text("pattern");
  if (pattern != "multicast") throw InputError("unknown pattern '" + pattern + "'");
  const Case where{.size_bytes = point.number("bytes", std::size_t{0}),
                   .axes = point.below("axis.")};
  check_axes(pattern_info(axes_with("")), where.axes);
  if (static_cast<double>(where.size_bytes) > bytes_max)
    throw InputError("bytes are 10^15 at most");
  const auto& info = find_algorithm(setting.topology, where.axes.text("algorithm", "separate"));
  const auto forwarding = static_cast<Forwarding>(where.choice("forwarding", forwardings));
  const auto multicast = drawn(setting, where);
  const auto schedule = info.make(multicast);
  auto outcome =
      Run(setting.topology, schedule, multicast.source, setting.costs, forwarding, pieces_of(where))
          .run();
  outcome.done_s.resize(static_cast<std::size_t>(setting.ranks));
  Measurement measured{.verified = true,
                       .samples_s = {outcome.completion_s},
                       .rank_s = outcome.done_s,
                       .values = values_of(multicast, schedule, outcome),
                       .stop = Stop::precision,
                       .elapsed_s = outcome.completion_s,
                       .advice = {}};
  const auto moved_bytes = where.size_bytes * multicast.destinations.size();
  return point_record(id, pattern_info({}), setting.ranks, where.size_bytes, moved_bytes, measured);
}

int run(const Arguments& arguments) {
  const Setting setting(arguments);
  serve([&] { return introduction(setting); },
        [&](const Options& point, const std::string& id) { return simulated(setting, point, id); });
  return 0;
}
}  // namespace

int main(int argc, char** argv) {
  const auto describe = [](const Arguments& arguments) { return description(Setting(arguments)); };
  return run_program("multicast", usage, argc, argv, describe, run);
}
