// nhalf-needs: MPI
// EP in ranks that have threads: the threads of a rank take its batches.
#pragma once

#include "apps/npb/ep/mpi.hpp"
#include "apps/npb/hybrid_world.hpp"

namespace nhalf::npb::ep {

class Hybrid : public Mpi {
 public:
  Hybrid(HybridWorld& world, char problem_class) : Mpi(world, problem_class), world_(world) {}

 private:
  void add_batches(std::uint64_t first, std::uint64_t end, Tally& tally) override {
    world_.team().team([&](int) {
      Tally mine;
#pragma omp for schedule(static) nowait
      for (std::uint64_t batch = first; batch < end; ++batch) add_batch(batch, mine);
#pragma omp critical
      tally.add(mine);
    });
  }

  HybridWorld& world_;
};

}  // namespace nhalf::npb::ep
