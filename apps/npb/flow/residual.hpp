// The right-hand side: fluxes, viscous terms, fourth-difference dissipation, and the forcing term.
#pragma once

#include <algorithm>

#include "apps/npb/clones.hpp"
#include "apps/npb/flow/equations.hpp"
#include "apps/npb/flow/fourth_difference.hpp"
#include "apps/npb/flow/subdomain.hpp"

namespace nhalf::npb::flow {

/// Addresses of the quantities of a point and of derived values.
struct Site {
  const double* u;
  const double* w;  // velocity x, y, z, kinetic and total energy, per mass
};

class Residual {
 public:
  explicit Residual(const Subdomain& box) : Residual(box, box.first(1), box.last(1)) {}

  /// Computes rows [from, to) only.
  Residual(const Subdomain& box, Index from, Index to)
      : box_(box),
        from_(from),
        to_(to),
        grid_(box.n),
        plane_(5 * box.stride[2]),
        planes_(static_cast<std::size_t>(3 * plane_ + 2 * lane_count), 0.0) {
    for (std::size_t d = 0; d < 3; ++d) smooth_.emplace_back(box.n, box.low[d], box.size[d]);
  }

  /// Prepares a sequence of consecutive planes.
  void start(const Field& u, Index k) {
    derive_plane(u, k - 1);
    derive_plane(u, k);
  }

  /// r = scale (forcing + R(u)) in plane k of the points that are computed.
  void plane(const Field& u, const Field& forcing, double scale, Field& r, Index k) {
    derive_plane(u, k + 1);
    sum_plane(u, forcing, scale, r, k);
  }

 private:
  [[nodiscard]] double* derived(Index j, Index k) {
    return planes_.data() + (k + 3) % 3 * plane_ + lane_count + (j + halo) * box_.stride[1];
  }

  NHALF_CLONES void derive_plane(const Field& u, Index k) {
    const Index low = box_.first(0) - 1;
    const Index high = box_.last(0) + 1;
    for (Index j = from_ - 1; j <= to_; ++j) {
      const double* from = u[0] + box_.at(0, j, k);
      double* to = derived(j, k);
      for (Index i = low; i < high; i += lane_count) {
        derive_lanes(from + i, u.stride(), to + i, std::min(lane_count, high - i));
      }
    }
  }

  NHALF_INLINE void derive_lanes(const double* u, Index stride, double* w, Index count) const {
    const Lanes inverse = 1.0 / load(u);
    Lanes kinetic{};
    for (Index m = 1; m < 4; ++m) {
      const Lanes velocity = load(u + m * stride) * inverse;
      kinetic += velocity * velocity;
      store(w + (m - 1) * box_.stride[2], velocity, count);
    }
    store(w + 3 * box_.stride[2], 0.5 * kinetic, count);
    store(w + 4 * box_.stride[2], load(u + 4 * stride) * inverse, count);
  }

  NHALF_CLONES void sum_plane(const Field& u, const Field& forcing, double scale, Field& r,
                              Index k) {
    for (Index j = from_; j < to_; ++j) row(u, forcing, scale, r, j, k);
  }

  NHALF_INLINE void row(const Field& u, const Field& forcing, double scale, Field& r, Index j,
                        Index k) {
    const Index end = box_.last(0);
    for (Index i = box_.first(0); i < end; i += lane_count) {
      const Index point = box_.at(i, j, k);
      Lanes sum[5];
      for (Index m = 0; m < 5; ++m) sum[m] = load(forcing[m] + point);
      const double* here = u[0] + point;
      const Site centre{here, derived(j, k) + i};
      flux<0>(sum, {here - 1, centre.w - 1}, centre, {here + 1, centre.w + 1}, u.stride());
      const Index y = box_.stride[1];
      flux<1>(sum, {here - y, centre.w - y}, centre, {here + y, centre.w + y}, u.stride());
      const Index z = box_.stride[2];
      flux<2>(sum, {here - z, derived(j, k - 1) + i}, centre, {here + z, derived(j, k + 1) + i},
              u.stride());
      for (Index m = 0; m < 5; ++m) {
        smooth(sum[m], u[m] + point, i, j, k);
        store(r[m] + point, scale * sum[m], std::min(lane_count, end - i));
      }
    }
  }

  /// Adds what the fluxes along direction `D` bring into the points.
  template <int D>
  NHALF_INLINE void flux(Lanes (&sum)[5], const Site& minus, const Site& centre, const Site& plus,
                         Index stride) const {
    Fluxes before, here, after;
    load_fluxes<D>(minus, stride, before);
    load_fluxes<D>(centre, stride, here);
    load_fluxes<D>(plus, stride, after);
    for (int m = 0; m < 5; ++m) {
      sum[m] += grid_.second * (after.viscous[m] - 2.0 * here.viscous[m] + before.viscous[m]);
      sum[m] -= grid_.central * (after.convective[m] - before.convective[m]);
    }
  }

  /// The viscous flux is the slope of its potential.
  struct Fluxes {
    Lanes convective[5];
    Lanes viscous[5];
  };

  template <int D>
  NHALF_INLINE void load_fluxes(const Site& site, Index stride, Fluxes& f) const {
    Lanes u[5];
    Lanes w[5];
    for (Index m = 0; m < 5; ++m) {
      u[m] = load(site.u + m * stride);
      w[m] = load(site.w + m * box_.stride[2]);
    }
    const Lanes pressure = k2 * (u[4] - w[3] * u[0]);
    for (int m = 1; m < 4; ++m) {
      f.convective[m] = u[m] * w[D];
      f.viscous[m] = viscosity_of<D>(m) * w[m - 1] + diffusion[D] * u[m];
    }
    f.convective[0] = u[D + 1];
    f.convective[D + 1] += pressure;
    f.convective[4] = (u[4] + pressure) * w[D];
    f.viscous[0] = diffusion[D] * u[0];
    f.viscous[4] = (viscosity - conduction) * w[3] + viscosity / 6.0 * (w[D] * w[D]) +
                   conduction * w[4] + diffusion[D] * u[4];
  }

  NHALF_INLINE void smooth(Lanes& sum, const double* u, Index i, Index j, Index k) const {
    for (Index o = -2; o <= 2; ++o) {
      sum -= load(smooth_[0].at(i, o)) * load(u + o);
      sum -= *smooth_[1].at(j, o) * load(u + o * box_.stride[1]);
      sum -= *smooth_[2].at(k, o) * load(u + o * box_.stride[2]);
    }
  }

  Subdomain box_;
  Index from_, to_;
  Spacing grid_;
  Index plane_;
  std::vector<double> planes_;
  std::vector<FourthDifference> smooth_;
};

/// The term that makes the exact solution steady: forcing = -R(exact); `u` must hold that.
inline void set_forcing(const Subdomain& box, const Field& exact, Field& forcing) {
  const Field nothing(box, 0.0);
  Residual residual(box);
  residual.start(exact, box.first(2));
  for (Index k = box.first(2); k < box.last(2); ++k) {
    residual.plane(exact, nothing, -1.0, forcing, k);
  }
}

}  // namespace nhalf::npb::flow
