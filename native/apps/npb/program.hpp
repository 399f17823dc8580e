// SPDX-License-Identifier: Apache-2.0
// A program that runs kernels: questions in, records out, as probes do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/npb/kernel.hpp"
#include "contract/options.hpp"
#include "contract/transport.hpp"
#include "probe/record.hpp"
#include "probe/session.hpp"
#include "timing/clock.hpp"
#include "timing/criterion.hpp"
#include "timing/sampler.hpp"
#include "timing/statistics.hpp"

namespace nhalf::npb {

inline constexpr std::string_view usage =
    "usage: npb-MODEL [--describe] [--ranks N] [--cpus 0,1,...]\n"
    "Reads points from standard input, one line each: id=1 pattern=npb-cg axis.class=A\n"
    "with slice_s=, precision=, samples_min=, samples_max= where wanted.\n"
    "The line 'end' or the end of the input ends the run.\n";

inline constexpr AxisInfo class_axis{"class", "A", "", "class of the problem: S, W, A, B, C or D"};

/// A kernel as records and descriptions have it.
inline PatternInfo pattern_of(const KernelInfo& info) {
  return {.name = info.name,
          .what = info.what,
          .ranks_min = 1,
          .timing = Timing::slowest_rank,
          .axes = std::span(&class_axis, 1),
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
    json::Object ranks_max;
    for (const char name : info.classes) {
      memory.add(std::string(1, name), info.memory_bytes(name));
      const int most = ranks_max_in<World>(info, name);
      if (most > 0) ranks_max.add(std::string(1, name), most);
    }
    listed.push_back(description_of(pattern_of(info), true, {})
                         .add("ranks_rule", name_of(rule_in<World>(info)))
                         .add("ranks_max", ranks_max)
                         .add("memory_bytes", memory));
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
        control_,
        [&] { return launch_record(control_, calibrate(control_), std::move(placement)); },
        [&](const Options& point, const std::string& id) { return answer(point, id); });
  }

 private:
  std::string answer(const Options& point, const std::string& id) {
    const auto& entry = find(point.text("pattern"));
    const auto name = point.text("axis.class");
    if (name.size() != 1 || entry.info.classes.find(name) == std::string_view::npos)
      throw InputError("there is no class '" + name + "'");
    check_ranks(entry.info, name[0]);
    const auto kernel = made_everywhere(
        control_, "there is not enough memory for the arrays of the kernel",
        "another rank could not prepare the kernel", [&] { return entry.make(world_, name[0]); });
    const auto measured = measure(*kernel, entry.info.operations(name[0]), effort_of(point));
    return point_record(id, pattern_of(entry.info), control_.size(), 0, 0, measured);
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

  /// Runs a kernel until there are enough samples; a whole run is one sample.
  Measurement measure(Kernel& kernel, double operations, const Effort& effort) {
    Measurement result;
    Criterion criterion(effort);
    std::vector<std::vector<double>> rank_s;
    std::vector<double> shares;
    const double began_s = control_.now_s();
    while (result.stop == Stop::none) {
      const auto times_s = run_once(kernel);
      if (control_.rank() == 0) {
        note(times_s, result, rank_s, shares);
        result.elapsed_s = control_.now_s() - began_s;
        result.verified = judge(kernel, result);
        result.stop = criterion.decide(result.samples_s, result.elapsed_s);
        if (!result.verified) result.stop = Stop::samples;
      } else {
        kernel.checks();
      }
      share(control_, result.stop);
    }
    if (control_.rank() == 0) conclude(operations, rank_s, shares, result);
    return result;
  }

  /// Rank by rank at rank 0, the time of a run and how much of it was communication.
  std::vector<double> run_once(Kernel& kernel) {
    kernel.prepare();
    control_.barrier();
    world_.reset_communication();
    const double began_s = control_.now_s();
    kernel.run();
    const double mine[] = {control_.now_s() - began_s, world_.communication_s()};
    return collect(control_, mine);
  }

  static void note(const std::vector<double>& times_s, Measurement& result,
                   std::vector<std::vector<double>>& rank_s, std::vector<double>& shares) {
    rank_s.resize(times_s.size() / 2);
    double longest_s = 0;
    double total_s = 0;
    double communication_s = 0;
    for (std::size_t rank = 0; rank < rank_s.size(); ++rank) {
      const double time_s = times_s[2 * rank];
      rank_s[rank].push_back(time_s);
      longest_s = std::max(longest_s, time_s);
      total_s += time_s;
      communication_s += times_s[2 * rank + 1];
    }
    result.samples_s.push_back(longest_s);
    shares.push_back(communication_s / total_s);
  }

  /// Whether a run is verified; of the worst of its checks both numbers are kept.
  static bool judge(Kernel& kernel, Measurement& result) {
    const auto checks = kernel.checks();
    const auto badness = [](const Check& check) {
      return std::pair(!check.verified(), check.deviation());
    };
    const auto worst = std::ranges::max_element(checks, {}, badness);
    result.values = {{"computed", worst->computed},
                     {"official", worst->official},
                     {"deviation", worst->deviation()}};
    return std::ranges::all_of(checks, &Check::verified);
  }

  static void conclude(double operations, std::vector<std::vector<double>>& rank_s,
                       std::vector<double>& shares, Measurement& result) {
    for (auto& times_s : rank_s) result.rank_s.push_back(median(times_s));
    if (rank_s.size() == 1) result.rank_s.clear();
    const auto samples_s = result.samples_s;
    auto scratch_s = samples_s;
    result.values.push_back({"mops", operations / median(scratch_s) / 1e6});
    const double share = median(shares);
    if (!std::isnan(share)) result.values.push_back({"communication_share", share});
  }

  T& control_;
  World& world_;
  const std::vector<KernelEntry<World>>& kernels_;
};

}  // namespace nhalf::npb
