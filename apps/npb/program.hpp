// A program that runs kernels: questions in, records out, as probes do.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/npb/kernel.hpp"
#include "apps/npb/kernel_runs.hpp"
#include "contract/options.hpp"
#include "contract/transport.hpp"
#include "probe/record.hpp"
#include "probe/session.hpp"
#include "timing/clock.hpp"
#include "timing/sampler.hpp"
#include "timing/statistics.hpp"
#include "timing/verification.hpp"

namespace nhalf::npb {

inline constexpr std::string_view usage =
    "usage: npb-MODEL [--describe] [--ranks N] [--cpus 0,1,...]\n"
    "Reads points from standard input, one line each: id=1 pattern=npb-cg axis.class=A\n"
    "with slice_s=, precision=, samples_min=, samples_max= where wanted.\n"
    "The line 'end' or the end of the input ends the run.\n";

inline constexpr AxisInfo axes[] = {
    {"threads", "1", "", "threads of each rank"},
    {"class", "A", "", "class of the problem: S, W, A, B, C or D"},
    {"barriers", "none", "none", "none, or grids: all ranks meet after each step on a grid"}};

/// More threads of a rank than any processor has cores are a mistake.
inline constexpr int threads_max = 4096;

/// Whether ranks of a programming model have threads.
template <class World>
inline constexpr bool has_threads = requires(World& world) { world.set_threads(1); };

/// A kernel as records and descriptions have it.
template <class World>
PatternInfo pattern_of(const KernelInfo& info) {
  return {.name = info.name,
          .what = info.what,
          .ranks_min = 1,
          .timing = Timing::slowest_rank,
          .axes = std::span(axes + (has_threads<World> ? 0 : 1),
                            axes + (World::divides_data && info.has_grids ? 3 : 2)),
          .whole_runs = true,
          .sized = false};
}

/// The rule for ranks in a programming model: threads share what they work on.
template <class World>
RankRule rule_in(const KernelInfo& info) {
  return World::divides_data ? info.ranks : RankRule::any;
}

/// The most ranks for a class, 0 where there is no limit.
template <class World>
int ranks_max_in(const KernelInfo& info, char problem_class) {
  return World::divides_data && info.ranks_max ? info.ranks_max(problem_class) : 0;
}

/// What `--describe` prints.
template <Controlled T, class World>
std::string description(const std::vector<KernelEntry<World>>& kernels) {
  std::vector<json::Object> listed;
  for (const auto& [info, make] : kernels) {
    json::Object memory;
    json::Object operations;
    json::Object ranks_max;
    for (const char name : info.classes) {
      memory.add(std::string(1, name), info.memory_bytes(name));
      operations.add(std::string(1, name), info.operations(name));
      const int most = ranks_max_in<World>(info, name);
      if (most > 0) ranks_max.add(std::string(1, name), most);
    }
    listed.push_back(description_of(pattern_of<World>(info), true, {})
                         .add("ranks_rule", name_of(rule_in<World>(info)))
                         .add("ranks_max", ranks_max)
                         .add("memory_bytes", memory)
                         .add("operations", operations));
  }
  return json::Object{}
      .add("schema", schema_version)
      .add("transport", T::info.name)
      .add("what", T::info.what)
      .add("capabilities", std::vector<std::string>{})
      .add("options", std::vector<std::string>{})
      .add("axes", std::vector<std::string>{})
      .add("patterns", listed)
      .text();
}

/// Answers questions with the kernels of one programming model.
template <Controlled T, class World>
class Program {
 public:
  Program(T& control, World& world, const std::vector<KernelEntry<World>>& kernels)
      : control_(control), world_(world), kernels_(kernels) {}

  /// The life of one rank.
  void serve(std::vector<std::string> placement) {
    nhalf::serve(
        control_, [&] { return launch_record(control_, clock_, std::move(placement)); },
        [&](const Options& point, const std::string& id) { return answer(point, id); });
  }

 private:
  std::string answer(const Options& point, const std::string& id) {
    const auto& entry = find(point.text("pattern"));
    const auto name = point.text("axis.class");
    if (name.size() != 1 || entry.info.classes.find(name) == std::string_view::npos)
      throw InputError("there is no class '" + name + "'");
    check_ranks(entry.info, name[0]);
    const auto barriers = point.text("axis.barriers", "none");
    if (barriers != "none" && barriers != "grids")
      throw InputError("barriers are 'none' or 'grids', not '" + barriers + "'");
    if constexpr (World::divides_data) world_.meets_on_grids = barriers == "grids";
    if constexpr (has_threads<World>) {
      const int threads = point.number("axis.threads", 1);
      if (threads < 1 || threads > threads_max)
        throw InputError("a rank has 1 to " + std::to_string(threads_max) + " threads");
      world_.set_threads(threads);
    }
    auto kernel = made_everywhere(
        control_, "there is not enough memory for the arrays of the kernel",
        "another rank could not prepare the kernel", [&] { return entry.make(world_, name[0]); });
    KernelRuns runs(control_, world_, std::move(kernel));
    const auto info = pattern_of<World>(entry.info);
    auto measured = Sampler(control_, clock_, effort_of(point)).measure(runs, info);
    auto samples_s = measured.samples_s;
    if (control_.rank() == 0)
      measured.values.push_back({"mops", entry.info.operations(name[0]) / median(samples_s) / 1e6});
    return point_record(id, info, control_.size(), 0, 0, measured);
  }

  const KernelEntry<World>& find(const std::string& name) {
    for (const auto& entry : kernels_) {
      if (entry.info.name != name) continue;
      const auto rule = rule_in<World>(entry.info);
      if (!allows(rule, control_.size()))
        throw InputError(name + " does not run on " + std::to_string(control_.size()) +
                         " ranks: their number has to be " + std::string(name_of(rule)));
      return entry;
    }
    throw InputError("there is no kernel '" + name + "'");
  }

  void check_ranks(const KernelInfo& info, char problem_class) const {
    const int most = ranks_max_in<World>(info, problem_class);
    if (most > 0 && control_.size() > most)
      throw InputError(std::string("class ") + problem_class + " of " + std::string(info.name) +
                       " runs on " + std::to_string(most) + " ranks at most");
  }

  /// Runs are long: three of them do, or fewer where no more are wanted.
  static Effort effort_of(const Options& point) {
    Effort usual;
    usual.samples_min = std::min(std::size_t{3}, point.number("samples_max", usual.samples_max));
    return nhalf::effort_of(point, usual);
  }

  T& control_;
  World& world_;
  ClockQuality clock_ = calibrate(control_);
  const std::vector<KernelEntry<World>>& kernels_;
};

}  // namespace nhalf::npb
