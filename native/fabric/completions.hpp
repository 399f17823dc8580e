// What has been completed for a library, or will be: entries in the order of their times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "fabric/message.hpp"
#include "network/picoseconds.hpp"

namespace nhalf::fabric {

enum class Failure : unsigned char { none, truncated, cancelled, no_message, no_memory };

struct Completion {
  Completion(Picoseconds time, void* of_call) : at(time), context(of_call) {}

  Picoseconds at;
  /// What taking it costs the rank's processor.
  Picoseconds cost = 0;
  void* context;
  void* buffer = nullptr;
  std::size_t size_bytes = 0;
  /// Bytes that did not fit.
  std::size_t lost_bytes = 0;
  Envelope envelope;
  Address source;
  bool is_received = false;
  bool is_access = false;
  /// Whether a buffer of many messages goes back to the library.
  bool is_released = false;
  Failure failure = Failure::none;
};

class Completions {
 public:
  void add(const Completion& completion) {
    auto place = entries_.end();
    while (place != entries_.begin() && (place - 1)->at > completion.at) --place;
    entries_.insert(place, completion);
  }
  [[nodiscard]] Picoseconds due() const { return entries_.empty() ? never : entries_.front().at; }
  [[nodiscard]] const Completion& first() const { return entries_.front(); }
  [[nodiscard]] bool has_failed_first() const {
    return !entries_.empty() && entries_.front().failure != Failure::none;
  }
  Completion take() {
    const Completion completion = entries_.front();
    entries_.pop_front();
    return completion;
  }

 private:
  std::deque<Completion> entries_;
};

}  // namespace nhalf::fabric
