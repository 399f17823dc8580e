// The two outermost layers of points at a face, and the halo beyond it, as they go into a message.
#pragma once

#include <algorithm>

#include "apps/npb/flow/subdomain.hpp"

namespace nhalf::npb::flow {

struct Layers {
  std::array<Index, 3> from, to;

  /// At the upper or lower face across direction `d`: within the box, or in its halo.
  Layers(const Subdomain& box, std::size_t d, bool up, bool within) : from{0, 0, 0}, to(box.size) {
    from[d] = up ? box.size[d] - (within ? halo : 0) : (within ? 0 : -halo);
    to[d] = from[d] + halo;
  }
  /// Returns the number of values.
  [[nodiscard]] Index numbers() const {
    return 5 * (to[0] - from[0]) * (to[1] - from[1]) * (to[2] - from[2]);
  }
};

template <class Move>
double* move_layers(const Subdomain& box, const Layers& layers, double* message, Move&& move) {
  const Index length = layers.to[0] - layers.from[0];
  for (Index m = 0; m < 5; ++m) {
    for (Index k = layers.from[2]; k < layers.to[2]; ++k) {
      for (Index j = layers.from[1]; j < layers.to[1]; ++j) {
        move(m, box.at(layers.from[0], j, k), message, static_cast<std::size_t>(length));
        message += length;
      }
    }
  }
  return message;
}

/// Both return the address behind the values that they wrote or read.
inline double* pack(const Subdomain& box, const Field& u, const Layers& layers, double* message) {
  return move_layers(box, layers, message,
                     [&u](Index m, Index point, double* to, std::size_t length) {
                       std::copy_n(u[m] + point, length, to);
                     });
}

inline double* unpack(const Subdomain& box, Field& u, const Layers& layers, double* message) {
  return move_layers(box, layers, message,
                     [&u](Index m, Index point, const double* from, std::size_t length) {
                       std::copy_n(from, length, u[m] + point);
                     });
}

}  // namespace nhalf::npb::flow
