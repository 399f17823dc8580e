// LU in OpenMP: threads have rows of every plane, and follow each other from plane to plane.
#pragma once

#include <sched.h>

#include <atomic>
#include <vector>

#include "apps/npb/flow/residual.hpp"
#include "apps/npb/lu/surface.hpp"
#include "apps/npb/lu/wavefront.hpp"
#include "apps/npb/openmp_world.hpp"

namespace nhalf::npb::lu {

class OpenMp : public Kernel {
 public:
  OpenMp(OpenMpWorld& world, char problem_class)
      : world_(world),
        problem_(problem_of<Problem>(problems, problem_class)),
        box_(problem_.n, {0, 0, 0}, {problem_.n, problem_.n, problem_.n}),
        implicit_(box_, problem_.dt),
        u_(box_, 1.0),
        r_(box_, 0.0),
        forcing_(box_, 0.0),
        front_(box_),
        progress_(static_cast<std::size_t>(world.threads)) {
    for (Index thread = 0; thread < world.threads; ++thread)
      crew_.emplace_back(box_, first_batch(thread), first_batch(thread + 1));
    set_exact(box_, 0, u_);
    set_forcing(box_, u_, forcing_);
  }

  void prepare() override {
    set_initial(box_, u_);
    step();
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
    auto checks =
        checks_of(problem_, root_mean_square(residual, box_.n), root_mean_square(error, box_.n));
    checks.push_back({"surface integral", surface_integral(box_, u_), problem_.surface, tolerance});
    return checks;
  }

 private:
  /// A thread's rows and what it needs for itself.
  struct Member {
    Member(const Subdomain& box, Index from, Index to)
        : first(from),
          last(to),
          residual(box, box.first(1) + from * lane_count,
                   std::min(box.last(1), box.first(1) + to * lane_count)),
          room(box.n + lane_count),
          edges(box),
          handed(static_cast<std::size_t>(box.n), edges.all_y()) {}
    Index first, last;  // batches of rows
    Residual residual;
    LineRoom room;
    PlaneEdges edges;
    std::vector<std::vector<double>> handed;  // products for the next thread, by plane
  };

  /// Progress of a thread, aligned to a line to prevent false sharing.
  struct alignas(64) Progress {
    std::atomic<Index> planes{0};
  };

  [[nodiscard]] Index first_batch(Index thread) const {
    return front_.batches() * thread / world_.threads;
  }

  void step() {
    for (auto& progress : progress_) progress.planes = 0;
    world_.team([this](Index thread) {
      lower(thread);
      world_.wait();
      progress_[static_cast<std::size_t>(thread)].planes = 0;
      world_.wait();
      upper(thread);
    });
  }

  Member& member(Index thread) { return crew_[static_cast<std::size_t>(thread)]; }

  void lower(Index thread) {
    Member& me = member(thread);
    for (Index batch = me.first; batch < me.last; ++batch) front_.start(batch);
    me.residual.start(u_, box_.first(2));
    for (Index k = box_.first(2); k < box_.last(2); ++k) {
      me.residual.plane(u_, forcing_, 1.0, r_, k);
      take(thread, thread - 1, k, k - box_.first(2));
      for (Index batch = me.first; batch < me.last; ++batch)
        lower_sweep(u_, r_, front_.rows(k, batch, me.edges), implicit_, me.room);
      give(thread, k);
    }
  }

  void upper(Index thread) {
    Member& me = member(thread);
    for (Index batch = me.first; batch < me.last; ++batch) front_.start(batch);
    for (Index k = box_.last(2) - 1; k >= box_.first(2); --k) {
      take(thread, thread + 1, k, box_.last(2) - 1 - k);
      for (Index batch = me.last - 1; batch >= me.first; --batch)
        upper_sweep(u_, front_.rows(k, batch, me.edges), implicit_, me.room);
      give(thread, k);
    }
  }

  /// Waits until another thread has gone beyond so many planes, for its products.
  void take(Index thread, Index other, Index k, Index planes) {
    PlaneEdges& edges = member(thread).edges;
    edges.clear_x();
    if (other < 0 || other >= world_.threads) {
      edges.clear_y();
      return;
    }
    const auto& progress = progress_[static_cast<std::size_t>(other)].planes;
    const auto behind = [&] { return progress.load(std::memory_order_acquire) <= planes; };
    if (behind())
      world_.wait([&] {
        while (behind()) sched_yield();
      });
    edges.all_y() = member(other).handed[static_cast<std::size_t>(k)];
  }

  void give(Index thread, Index k) {
    Member& me = member(thread);
    me.handed[static_cast<std::size_t>(k)] = me.edges.all_y();
    progress_[static_cast<std::size_t>(thread)].planes.fetch_add(1, std::memory_order_release);
  }

  void set_residual() {
    world_.team([this](Index thread) {
      Member& me = member(thread);
      me.residual.start(u_, box_.first(2));
      for (Index k = box_.first(2); k < box_.last(2); ++k)
        me.residual.plane(u_, forcing_, 1.0, r_, k);
    });
  }

  OpenMpWorld& world_;
  const Problem& problem_;
  Subdomain box_;
  Implicit implicit_;
  Field u_, r_, forcing_;
  Wavefront front_;
  std::vector<Member> crew_;
  std::vector<Progress> progress_;
};

}  // namespace nhalf::npb::lu
