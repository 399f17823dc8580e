// EP in OpenMP: threads take batches, and add their tallies at the end.
#pragma once

#include <vector>

#include "apps/npb/ep/checks.hpp"
#include "apps/npb/openmp_world.hpp"

namespace nhalf::npb::ep {

class OpenMp : public Kernel {
 public:
  OpenMp(OpenMpWorld& world, char problem_class)
      : world_(world), problem_(problem_of<Problem>(problems, problem_class)) {}

  void prepare() override { tally_ = {}; }

  void run() override {
    const auto batches = std::uint64_t{1} << (problem_.log_pairs - log_batch);
    world_.team([&](int) {
      Tally mine;
#pragma omp for schedule(static) nowait
      for (std::uint64_t batch = 0; batch < batches; ++batch) add_batch(batch, mine);
#pragma omp critical
      tally_.add(mine);
    });
  }

  std::vector<Check> checks() override { return checks_of(problem_, tally_); }

 private:
  OpenMpWorld& world_;
  const Problem& problem_;
  Tally tally_;
};

}  // namespace nhalf::npb::ep
