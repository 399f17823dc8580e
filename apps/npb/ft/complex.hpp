// FT: complex numbers without what the standard's do about infinities.
#pragma once

namespace nhalf::npb::ft {

struct Complex {
  double real = 0;
  double imaginary = 0;
};

}  // namespace nhalf::npb::ft
