// SPDX-License-Identifier: Apache-2.0
// Times of messages on a machine by size, from which the times of algorithms are composed.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "contract/options.hpp"

namespace nhalf {

/// A piece of a curve over sizes: from `first_bytes` on, start_s + n per_byte_s + sqrt(n)
/// per_root_byte_s.
struct PartPiece {
  double first_bytes;
  double start_s;
  double per_byte_s;
  double per_root_byte_s;
};

/// A curve of time over sizes in pieces, in ascending order; 0 without pieces.
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

/// The time of a message from the call of its send to the end of its receive, with the overheads
/// o_s and o_r of sender and receiver; and the gaps between messages that a rank sends, or
/// receives.
struct MessageParts {
  double o_s = 0;
  double o_r = 0;
  PartCurve message;
  PartCurve sends_apart;
  PartCurve receives_apart;

  /// Returns the curve of a name. Throws InputError for an unknown name.
  PartCurve& curve(const std::string& name) {
    if (name == "message") return message;
    if (name == "sends_apart") return sends_apart;
    if (name == "receives_apart") return receives_apart;
    throw InputError("no part is called '" + name + "'");
  }
};

}  // namespace nhalf
