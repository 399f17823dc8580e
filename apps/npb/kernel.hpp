// The interface of a kernel of the NAS Parallel Benchmarks to the programs that run it.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/npb/rank_rule.hpp"
#include "contract/options.hpp"

namespace nhalf::npb {

/// A number by which a run is verified.
struct Check {
  std::string_view name;
  double computed = 0;
  double official = 0;
  /// Largest deviation that is right, relative where the official value is not 0.
  double tolerance = 0;

  [[nodiscard]] double deviation() const {
    const double difference = std::abs(computed - official);
    return official == 0 ? difference : difference / std::abs(official);
  }
  /// Not a number is not verified.
  [[nodiscard]] bool verified() const { return deviation() <= tolerance; }
};

/// A kernel made ready for one class on one rank, or in one process with threads.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  /// Sets up the problem anew and runs what the specification leaves out of the time.
  virtual void prepare() = 0;

  /// Runs the part that the specification times: neither allocation nor output.
  virtual void run() = 0;

  /// Returns the results of the last run with the official values; complete at rank 0.
  virtual std::vector<Check> checks() = 0;
};

/// The description of a kernel for `--describe`. `operations` are those of the timed part as the
/// reference counts them, `memory_bytes` what all ranks need together, `ranks_max` among how many
/// ranks the data can be divided, where there is a limit; all by class.
struct KernelInfo {
  std::string_view name;
  std::string_view what;
  RankRule ranks = RankRule::any;
  std::string_view classes;
  double (*operations)(char problem_class);
  double (*memory_bytes)(char problem_class);
  int (*ranks_max)(char problem_class) = nullptr;
  /// Whether ranks may meet in a barrier after each step on one of its grids.
  bool has_grids = false;
};

/// A kernel as a program of one programming model knows it.
template <class World>
struct KernelEntry {
  KernelInfo info;
  std::unique_ptr<Kernel> (*make)(World& world, char problem_class);
};

/// Makes a kernel of class K; what the generated list of kernels holds.
template <class K, class World>
std::unique_ptr<Kernel> make_kernel(World& world, char problem_class) {
  return std::make_unique<K>(world, problem_class);
}

/// The problem of a class among those of a kernel. Throws InputError for one that it does not have.
template <class Problem>
const Problem& problem_of(std::span<const Problem> problems, char problem_class) {
  for (const auto& problem : problems)
    if (problem.name == problem_class) return problem;
  throw InputError(std::string("there is no class ") + problem_class);
}

}  // namespace nhalf::npb
