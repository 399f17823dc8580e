// nhalf-needs: MPI
// LU in message passing: ranks divide x and y; a wavefront goes over them, plane by plane.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "apps/npb/flow/faces.hpp"
#include "apps/npb/flow/residual.hpp"
#include "apps/npb/lu/process_grid.hpp"
#include "apps/npb/lu/surface.hpp"
#include "apps/npb/lu/wavefront.hpp"
#include "apps/npb/mpi_world.hpp"

namespace nhalf::npb::lu {

class Mpi : public Kernel {
 public:
  Mpi(MpiWorld& world, char problem_class)
      : world_(world),
        problem_(problem_of<Problem>(problems, problem_class)),
        grid_(world.rank, world.size),
        box_(grid_.box(problem_.n)),
        implicit_(box_, problem_.dt),
        u_(box_, 1.0),
        r_(box_, 0.0),
        forcing_(box_, 0.0),
        residual_(box_),
        front_(box_),
        edges_(box_),
        room_(box_.size[0] + lane_count) {
    if (std::min(box_.size[0], box_.size[1]) < halo)
      throw InputError("a rank would have less than " + std::to_string(halo) + " points of a row");
    for (std::size_t face = 0; face < 4; ++face) {
      const Layers layers(box_, face / 2, false, true);
      for (auto* messages : {&sent_, &received_})
        (*messages)[face].resize(static_cast<std::size_t>(layers.numbers()));
    }
    edge_.resize(static_cast<std::size_t>(5 * problem_.n));
  }

  void prepare() override {
    set_exact(box_, 0, u_);
    exchange_faces();
    set_forcing(box_, u_, forcing_);
    set_initial(box_, u_);
    step();
    set_residual();
    set_initial(box_, u_);
  }

  void run() override {
    for (int i = 0; i < problem_.steps; ++i) step();
    set_residual();
  }

  std::vector<Check> checks() override {
    Vec5 residual{};
    Vec5 error{};
    add_squares(box_, r_, residual);
    add_error_squares(box_, u_, error);
    double surface = surface_integral(box_, u_);
    for (Vec5* sum : {&residual, &error})
      MPI_Allreduce(MPI_IN_PLACE, sum->v.data(), 5, MPI_DOUBLE, MPI_SUM, world_.all);
    MPI_Allreduce(MPI_IN_PLACE, &surface, 1, MPI_DOUBLE, MPI_SUM, world_.all);
    auto checks =
        checks_of(problem_, root_mean_square(residual, box_.n), root_mean_square(error, box_.n));
    checks.push_back({"surface integral", surface, problem_.surface, tolerance});
    return checks;
  }

 private:
  void step() {
    exchange_faces();
    sweep_lower();
    sweep_upper();
  }

  void set_residual() {
    exchange_faces();
    residual_.start(u_, box_.first(2));
    for (Index k = box_.first(2); k < box_.last(2); ++k) residual_.plane(u_, forcing_, 1.0, r_, k);
  }

  void sweep_lower() {
    for (Index batch = 0; batch < front_.batches(); ++batch) front_.start(batch);
    residual_.start(u_, box_.first(2));
    for (Index k = box_.first(2); k < box_.last(2); ++k) {
      residual_.plane(u_, forcing_, 1.0, r_, k);
      take(false);
      for (Index batch = 0; batch < front_.batches(); ++batch)
        lower_sweep(u_, r_, front_.rows(k, batch, edges_), implicit_, room_);
      give(true);
    }
  }

  void sweep_upper() {
    for (Index batch = 0; batch < front_.batches(); ++batch) front_.start(batch);
    for (Index k = box_.last(2) - 1; k >= box_.first(2); --k) {
      take(true);
      for (Index batch = front_.batches() - 1; batch >= 0; --batch)
        upper_sweep(u_, front_.rows(k, batch, edges_), implicit_, room_);
      give(false);
    }
  }

  [[nodiscard]] Index points(std::size_t d) const { return box_.last(d) - box_.first(d); }

  /// Products of this plane from the ranks above or below in x and y; without one, zeros.
  void take(bool above) {
    edges_.clear_x();
    edges_.clear_y();
    const std::array<Edge, 2> edges{edges_.x(0), edges_.y()};
    for (std::size_t d = 0; d < 2; ++d) {
      if (!grid_.continues(d, above)) continue;
      const Index count = points(1 - d);
      world_.communicate([&] {
        MPI_Recv(edge_.data(), static_cast<int>(5 * count), MPI_DOUBLE, grid_.neighbour(d, above),
                 4, world_.all, MPI_STATUS_IGNORE);
      });
      for (Index m = 0; m < 5; ++m)
        std::copy_n(edge_.data() + m * count, count, edges[d].values + m * edges[d].stride);
    }
  }

  void give(bool above) {
    const std::array<Edge, 2> edges{edges_.x(0), edges_.y()};
    for (std::size_t d = 0; d < 2; ++d) {
      if (!grid_.continues(d, above)) continue;
      const Index count = points(1 - d);
      for (Index m = 0; m < 5; ++m)
        std::copy_n(edges[d].values + m * edges[d].stride, count, edge_.data() + m * count);
      world_.communicate([&] {
        MPI_Send(edge_.data(), static_cast<int>(5 * count), MPI_DOUBLE, grid_.neighbour(d, above),
                 4, world_.all);
      });
    }
  }

  /// Two layers of points with each neighbour: face 2d goes down along direction d, 2d + 1 up.
  void exchange_faces() {
    std::array<MPI_Request, 8> requests{};
    int pending = 0;
    for (std::size_t face = 0; face < 4; ++face) {
      const std::size_t d = face / 2;
      const bool up = face % 2 == 1;
      if (!grid_.continues(d, up)) continue;
      pack(box_, u_, Layers(box_, d, up, true), sent_[face].data());
      const auto numbers = static_cast<int>(sent_[face].size());
      world_.communicate([&] {
        MPI_Irecv(received_[face].data(), numbers, MPI_DOUBLE, grid_.neighbour(d, up),
                  static_cast<int>(face ^ 1U), world_.all,
                  &requests[static_cast<unsigned>(pending++)]);
        MPI_Isend(sent_[face].data(), numbers, MPI_DOUBLE, grid_.neighbour(d, up),
                  static_cast<int>(face), world_.all, &requests[static_cast<unsigned>(pending++)]);
      });
    }
    world_.communicate([&] { MPI_Waitall(pending, requests.data(), MPI_STATUSES_IGNORE); });
    for (std::size_t face = 0; face < 4; ++face) {
      const bool up = face % 2 == 1;
      if (grid_.continues(face / 2, up))
        unpack(box_, u_, Layers(box_, face / 2, up, false), received_[face].data());
    }
  }

  MpiWorld& world_;
  const Problem& problem_;
  ProcessGrid grid_;
  Subdomain box_;
  Implicit implicit_;
  Field u_, r_, forcing_;
  Residual residual_;
  Wavefront front_;
  PlaneEdges edges_;
  LineRoom room_;
  std::array<std::vector<double>, 4> sent_, received_;
  std::vector<double> edge_;
};

}  // namespace nhalf::npb::lu
