// SPDX-License-Identifier: Apache-2.0
// A program that runs kernels: questions in, records out, as probes do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/npb/kernel.hpp"
#include "contract/options.hpp"
#include "contract/transport.hpp"
#include "probe/record.hpp"
#include "timing/clock.hpp"
#include "timing/criterion.hpp"
#include "timing/sampler.hpp"
#include "timing/statistics.hpp"

namespace nhalf::npb {

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

  /// Introduces itself, then answers lines until there are no more.
  void serve(std::vector<std::string> placement) {
    const bool writes = control_.rank() == 0;
    if (writes) write_line(launch_record(control_, calibrate(control_), std::move(placement)));
    for (;;) {
      std::string line;
      bool more = false;
      if (writes) more = std::getline(std::cin, line) && line != "end";
      share(control_, more);
      if (!more) break;
      share(control_, line);
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      auto record = answer(line);
      if (writes) write_line(std::move(record));
    }
    if (writes) write_line(json::Object{}.add("nhalf", "end").text());
  }

 private:
  std::string answer(const std::string& line) {
    std::string id;
    try {
      const auto point = Options::parse(line, ' ');
      id = point.text("id");
      const auto& entry = find(point.text("pattern"));
      const auto name = point.text("axis.class");
      if (name.size() != 1 || entry.info.classes.find(name) == std::string_view::npos)
        throw InputError("there is no class '" + name + "'");
      check_ranks(entry.info, name[0]);
      const auto kernel = make_everywhere(entry, name[0]);
      const auto measured = measure(*kernel, entry.info.operations(name[0]), effort_of(point));
      return point_record(id, pattern_of(entry.info), control_.size(), 0, 0, measured);
    } catch (const InputError& error) {
      return error_record(id, error.what());
    }
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

  /// Makes a kernel on every rank, or on none.
  std::unique_ptr<Kernel> make_everywhere(const KernelEntry<World>& entry, char problem_class) {
    std::unique_ptr<Kernel> kernel;
    std::string failure = "another rank could not prepare the kernel";
    try {
      kernel = entry.make(world_, problem_class);
    } catch (const std::bad_alloc&) {
      failure = "there is not enough memory for the arrays of the kernel";
    } catch (const InputError& error) {
      failure = error.what();
    }
    if (!control_.all(kernel != nullptr)) throw InputError(failure);
    return kernel;
  }

  static Effort effort_of(const Options& point) {
    Effort effort;
    effort.slice_s = point.number("slice_s", effort.slice_s);
    effort.precision = point.number("precision", effort.precision);
    effort.samples_min = point.number("samples_min", std::size_t{3});
    effort.samples_max = point.number("samples_max", effort.samples_max);
    return effort;
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
