// FT: what a way to divide the points among ranks has to do.
#pragma once

#include "apps/npb/ft/complex.hpp"

namespace nhalf::npb::ft {

class Division {
 public:
  Division() = default;
  Division(const Division&) = delete;
  Division& operator=(const Division&) = delete;
  virtual ~Division() = default;

  /// The numbers that it begins with, and their transform.
  virtual void start() = 0;
  /// The field at a time.
  virtual void evolve(int time) = 0;
  /// This rank's part of the field's checksum.
  [[nodiscard]] virtual Complex own_checksum() const = 0;
};

}  // namespace nhalf::npb::ft
