// SPDX-License-Identifier: Apache-2.0
// What a process says of itself, a line of JSON each: who it is, and its communicators.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probe/json.hpp"
#include "trace/ticks.hpp"

namespace nhalf::trace {

class Notes {
 public:
  static Notes& of_process() {
    static Notes notes;
    return notes;
  }

  bool open_at(const std::string& path) {
    descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    return descriptor_ >= 0;
  }

  /// Whole, or not at all where the disk is full.
  void line(std::string text) {
    if (descriptor_ < 0) return;
    text += '\n';
    if (write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      close(descriptor_);
      descriptor_ = -1;
    }
  }

  void communicator(std::uint32_t number, const std::vector<int>& members,
                    const std::vector<int>* partners) {
    std::string text = "{\"communicator\":" + std::to_string(number) +
                       ",\"made_ns\":" + std::to_string(clock_ns(CLOCK_REALTIME)) +
                       ",\"members\":" + listed(members);
    if (partners != nullptr) text += ",\"others\":" + listed(*partners);
    line(text + "}");
  }

  void communicator_name(std::uint32_t number, const char* name) {
    line("{\"communicator\":" + std::to_string(number) + ",\"name\":" + json::quote(name) + "}");
  }

 private:
  static std::string listed(const std::vector<int>& numbers) {
    std::string text = "[";
    for (const int number : numbers) {
      if (text.size() > 1) text += ",";
      text += std::to_string(number);
    }
    return text + "]";
  }

  int descriptor_ = -1;
};

}  // namespace nhalf::trace
