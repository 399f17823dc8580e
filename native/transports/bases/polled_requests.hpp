// Which of several requests is complete first, by polls of each in turn.
#pragma once

#include <cstddef>
#include <span>

namespace nhalf {

/// Begins where the last request was found, so that no sender is always served last.
class PolledRequests {
 public:
  /// The place of the first request that `is_done`; their number where none `is_started`.
  /// `until(holds)` waits.
  template <class Request, class Until, class IsStarted, class IsDone>
  std::size_t first_done(std::span<Request> requests, Until until, IsStarted is_started,
                         IsDone is_done) {
    const auto count = requests.size();
    std::size_t completed = count;
    until([&] {
      bool any = false;
      for (std::size_t i = 0; i < count && completed == count; ++i) {
        const auto place = (looked_at_ + i) % count;
        const bool is_pending = is_started(requests[place]);
        any = any || is_pending;
        if (is_pending && is_done(requests[place])) completed = place;
      }
      return completed < count || !any;
    });
    if (completed < count) looked_at_ = completed + 1;
    return completed;
  }

 private:
  std::size_t looked_at_ = 0;
};

}  // namespace nhalf
