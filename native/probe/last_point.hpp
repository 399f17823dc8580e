// A point whose time is known only when the launch is over.
#pragma once

#include <string>
#include <utility>

#include "contract/communicators.hpp"
#include "contract/pattern.hpp"
#include "probe/record.hpp"

namespace nhalf {

/// What was asked for last, kept by rank 0 until the library has ended.
class LastPoint {
 public:
  void keep(std::string id, const PatternInfo& info, int ranks) {
    id_ = std::move(id);
    info_ = info;
    ranks_ = ranks;
    is_kept_ = true;
  }

  /// Writes the answer of a transport T that has ended, where one is due.
  template <class T>
  void answer() const {
    if constexpr (StartUp<T>) {
      if (!is_kept_) return;
      Measurement measured;
      measured.verified = true;
      measured.samples_s = {T::finalised_s()};
      measured.elapsed_s = T::finalised_s();
      measured.stop = Stop::samples;
      write_line(point_record(id_, info_, ranks_, 0, 0, measured));
    }
  }

 private:
  std::string id_;
  PatternInfo info_;
  int ranks_ = 0;
  bool is_kept_ = false;
};

}  // namespace nhalf
