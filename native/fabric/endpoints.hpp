// SPDX-License-Identifier: Apache-2.0
// The endpoints of a rank and its completion queues; libraries open several of either.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/completions.hpp"
#include "fabric/endpoint.hpp"
#include "fabric/message.hpp"
#include "fabric/picoseconds.hpp"

namespace nhalf::fabric {

class Endpoints {
 public:
  Endpoint& add() {
    const auto number = static_cast<std::uint32_t>(endpoints_.size());
    return *endpoints_.emplace_back(std::make_unique<Endpoint>(number));
  }
  Completions& add_queue() { return *queues_.emplace_back(std::make_unique<Completions>()); }

  [[nodiscard]] bool is_empty() const { return endpoints_.empty(); }
  [[nodiscard]] bool has_receives() const {
    return std::any_of(endpoints_.begin(), endpoints_.end(),
                       [](auto& endpoint) { return endpoint->tagged().has_receives(); });
  }
  /// Returns when the first completion of any queue is due.
  [[nodiscard]] Picoseconds due() const {
    auto first = never;
    for (const auto& queue : queues_) first = std::min(first, queue->due());
    return first;
  }
  /// Gives a message to its endpoint; whether it is used up, and its memory free again.
  bool arrive(Message& message, Picoseconds now) {
    return message.endpoint >= endpoints_.size() ||
           endpoints_[message.endpoint]->arrive(message, now);
  }
  /// Returns where an endpoint reports its sends; null if nowhere.
  [[nodiscard]] Completions* queue_of_sends(std::uint32_t number) const {
    return endpoints_[number]->of_sends;
  }

 private:
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::vector<std::unique_ptr<Completions>> queues_;
};

}  // namespace nhalf::fabric
