// Messages between threads of different ranks that have the same number.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "patterns/bases/collectives/operation.hpp"
#include "patterns/bases/threads/thread_crew.hpp"

namespace nhalf {

inline constexpr std::array communicators_axis{
    AxisInfo{"communicators", "one,each", "",
             "one: threads have tags of one communicator; each: communicators of their own"}};
inline constexpr auto threads_axes = joined(thread_axes, communicators_axis);

/// What comes last to a rank comes from `source`; below 0: this rank takes no part.
template <ThreadMultiple T>
class ThreadMessages : public ThreadCrew<T> {
 public:
  bool verify() override {
    for (int thread = 0; thread < this->threads(); ++thread) {
      fill(this->out(thread), seed_of(this->transport_.rank(), thread));
      fill(this->in(thread), seed_of(-1, thread));
    }
    this->run(1);
    for (int thread = 0; thread < this->threads() && receives(); ++thread)
      if (!holds(this->in(thread), seed_of(source_, thread))) return false;
    return true;
  }

 protected:
  ThreadMessages(T& transport, const Case& point, int source)
      : ThreadCrew<T>(transport, point, source >= 0, has_own_channels(point)), source_(source) {}

  [[nodiscard]] virtual bool receives() const { return this->takes_part(); }

 private:
  static bool has_own_channels(const Case& point) {
    constexpr std::string_view words[] = {"one", "each"};
    return point.choice("communicators", words) == 1;
  }
  static std::uint32_t seed_of(int rank, int thread) {
    return static_cast<std::uint32_t>(67 * (rank + 1) + thread + 1);
  }

  int source_;
};

}  // namespace nhalf
