// nhalf-needs: MPI
// FT in message passing: in slabs as long as every rank has a plane, in pencils where there are
// more ranks (slabs.hpp, pencils.hpp). Checksums are added at rank 0.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apps/npb/ft/pencils.hpp"
#include "apps/npb/ft/slabs.hpp"
#include "apps/npb/mpi_world.hpp"

namespace nhalf::npb::ft {

class Mpi : public Kernel {
 public:
  Mpi(MpiWorld& world, char problem_class)
      : world_(world),
        problem_(problem_of<Problem>(problems, problem_class)),
        division_(divided(world, problem_)),
        sums_(problem_.steps) {}

  void prepare() override { division_->start(); }

  void run() override {
    division_->start();
    for (std::size_t step = 0; step < sums_.size(); ++step) {
      division_->evolve(static_cast<int>(step) + 1);
      const auto mine = division_->own_checksum();
      world_.communicate(
          [&] { MPI_Reduce(&mine, &sums_[step], 2, MPI_DOUBLE, MPI_SUM, 0, world_.all); });
    }
  }

  std::vector<Check> checks() override { return checks_of(problem_, sums_); }

 private:
  static std::unique_ptr<Division> divided(MpiWorld& world, const Problem& problem) {
    if (world.size <= problem.nz) return std::make_unique<Slabs>(world, problem);
    return std::make_unique<Pencils>(world, problem);
  }

  MpiWorld& world_;
  const Problem& problem_;
  std::unique_ptr<Division> division_;
  std::vector<Complex> sums_;
};

}  // namespace nhalf::npb::ft
