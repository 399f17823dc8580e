// What is added to the messages of a rank while the tracer asks for that, as on a machine that is
// slower by just so much: always, or within operations (trace/inject.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fabric/message.hpp"
#include "network/picoseconds.hpp"

namespace nhalf::fabric {

struct Delay {
  Picoseconds latency = 0;
  /// What the processor at either end is busy for.
  Picoseconds overhead = 0;
  double per_byte = 0.0;

  /// Adds to a message that has its times, but for what its sender is busy.
  void add_to(Message& message) const {
    const auto streams =
        static_cast<Picoseconds>(std::llround(per_byte * static_cast<double>(message.size_bytes)));
    message.flow.latency += latency;
    message.flow.work += streams;
    message.busy_out = std::max(message.busy_out, message.flow.work);
    message.busy_in = std::max(message.busy_in, message.flow.work);
    message.cost += overhead;
  }
};

}  // namespace nhalf::fabric
