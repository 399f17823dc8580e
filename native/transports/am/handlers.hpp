// The table of handlers: the same at every rank, because all enrol in the same order.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>

#include "contract/active_messages.hpp"

namespace nhalf::am {

class Handlers {
 public:
  /// Puts a handler into the first free place.
  active::Number add(active::Handler handler, void* context) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].handler != nullptr) continue;
      entries_[i] = {handler, context};
      return static_cast<active::Number>(i);
    }
    throw std::length_error("more than 256 handlers of active messages");
  }
  void remove(active::Number number) { entries_[number] = {}; }

  [[nodiscard]] static constexpr std::size_t size() { return 256; }
  [[nodiscard]] bool has(active::Number number) const {
    return entries_[number].handler != nullptr;
  }
  void run(active::Number number, active::Token& token, active::Words words, Bytes payload) const {
    const auto& entry = entries_[number];
    entry.handler(entry.context, token, words, payload);
  }

 private:
  struct Entry {
    active::Handler handler = nullptr;
    void* context = nullptr;
  };
  std::array<Entry, 256> entries_{};
};

}  // namespace nhalf::am
