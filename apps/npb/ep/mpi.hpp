// nhalf-needs: MPI
// EP in message passing: every rank has batches of its own; the tallies are added at the end.
#pragma once

#include <vector>

#include "apps/npb/ep/checks.hpp"
#include "apps/npb/mpi_world.hpp"

namespace nhalf::npb::ep {

class Mpi : public Kernel {
 public:
  Mpi(MpiWorld& world, char problem_class)
      : world_(world), problem_(problem_of<Problem>(problems, problem_class)) {}

  void prepare() override { tally_ = {}; }

  void run() override {
    const auto batches = std::uint64_t{1} << (problem_.log_pairs - log_batch);
    const auto rank = static_cast<std::uint64_t>(world_.rank);
    const auto ranks = static_cast<std::uint64_t>(world_.size);
    add_batches(batches * rank / ranks, batches * (rank + 1) / ranks, tally_);
    double pairs = tally_.pairs();
    world_.communicate([&] {
      total(&tally_.sum_x, 1);
      total(&tally_.sum_y, 1);
      total(&pairs, 1);
      total(tally_.counts.data(), annuli);
    });
  }

  std::vector<Check> checks() override { return checks_of(problem_, tally_); }

 private:
  /// Adds the batches of this rank, from the first up to the end.
  virtual void add_batches(std::uint64_t first, std::uint64_t end, Tally& tally) {
    for (auto batch = first; batch < end; ++batch) add_batch(batch, tally);
  }

  void total(double* numbers, int count) {
    MPI_Allreduce(MPI_IN_PLACE, numbers, count, MPI_DOUBLE, MPI_SUM, world_.all);
  }

  MpiWorld& world_;
  const Problem& problem_;
  Tally tally_;
};

}  // namespace nhalf::npb::ep
