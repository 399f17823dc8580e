#pragma once

#include "patterns/bases/pairs/prepared_pair.hpp"

namespace nhalf {

inline constexpr PatternInfo bibw_persistent{.name = "bibw-persistent",
                                             .what = "as bibw, with messages that were set up once",
                                             .needs = "persistent",
                                             .bytes_factor = 2,
                                             .rounds_min = 16};

template <Persistent T>
class BibwPersistent : public PreparedPair<T> {
 public:
  BibwPersistent(T& transport, const Case& point)
      : PreparedPair<T>(transport, point, message_window) {}

  void run(std::uint64_t rounds) override {
    if (this->takes_part()) this->stream(rounds, true, true);
  }
};

NHALF_PATTERN(bibw_persistent, BibwPersistent);

}  // namespace nhalf
