// SPDX-License-Identifier: Apache-2.0
// What messages take on a machine, by size: what the times of algorithms are composed of.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "contract/options.hpp"

namespace nhalf {

/// A time over sizes: from `first_bytes` on start_s + n per_byte_s + sqrt(n) per_root_byte_s.
struct PartPiece {
  double first_bytes;
  double start_s;
  double per_byte_s;
  double per_root_byte_s;
};

/// A time in pieces, in the order of their sizes; 0 where there are none.
class PartCurve {
 public:
  void add(const PartPiece& piece) {
    if (!pieces_.empty() && piece.first_bytes <= pieces_.back().first_bytes)
      throw InputError("the pieces of a curve have to come in the order of their sizes");
    pieces_.push_back(piece);
  }
  [[nodiscard]] double at_s(double size_bytes) const {
    if (pieces_.empty()) return 0;
    auto last = pieces_.begin();
    while (last + 1 != pieces_.end() && (last + 1)->first_bytes <= size_bytes) ++last;
    return last->start_s + size_bytes * last->per_byte_s +
           std::sqrt(size_bytes) * last->per_root_byte_s;
  }

 private:
  std::vector<PartPiece> pieces_;
};

/// One message, from the call of its send to the end of its receive, of which the sender spends o_s
/// and the receiver o_r; and how far apart messages are that one rank sends, or receives.
struct MessageParts {
  double o_s = 0;
  double o_r = 0;
  PartCurve message;
  PartCurve sends_apart;
  PartCurve receives_apart;

  /// The curve of a name; throws InputError for one that is none.
  PartCurve& curve(const std::string& name) {
    if (name == "message") return message;
    if (name == "sends_apart") return sends_apart;
    if (name == "receives_apart") return receives_apart;
    throw InputError("no part is called '" + name + "'");
  }
};

}  // namespace nhalf
