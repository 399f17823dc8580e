// SPDX-License-Identifier: Apache-2.0
// Metadata of a process in lines of JSON: its rank and library, its communicators, what was
// dropped.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "preloaded/lasting.hpp"
#include "probe/json.hpp"
#include "trace/limits.hpp"
#include "trace/ticks.hpp"

namespace nhalf::trace {

/// Kinds of data that the tracer drops beyond its memory budget.
enum class Dropped : std::uint8_t { communicators, requests, threads };

class Metadata {
 public:
  static Metadata& of_process() { return preloaded::lasting<Metadata>(); }

  bool open_at(const std::string& path) {
    descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    return descriptor_ >= 0;
  }

  /// Writes a complete line, or nothing once the disk is full.
  void line(std::string text) {
    if (descriptor_ < 0) return;
    text += '\n';
    written_bytes_ += text.size();
    if (!may_have_bytes(written_bytes_) ||
        write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      close(descriptor_);
      descriptor_ = -1;
    }
  }

  /// Writes a communicator; false beyond the limit.
  bool communicator(std::uint32_t number, const std::vector<int>& members,
                    const std::vector<int>* partners) {
    std::string text = "{\"communicator\":" + std::to_string(number) +
                       ",\"made_ns\":" + std::to_string(real_ns()) +
                       ",\"made_ticks\":" + std::to_string(now()) +
                       ",\"members\":" + listed(members);
    if (partners != nullptr) text += ",\"others\":" + listed(*partners);
    communicators_bytes_ += text.size();
    if (number > 0 && communicators_bytes_ > communicators_most_bytes) return false;
    line(text + "}");
    return true;
  }

  /// Reports, once, that something is dropped from now on for lack of memory.
  void lost(Dropped kind) {
    if ((lost_.fetch_or(1U << static_cast<unsigned>(kind)) >> static_cast<unsigned>(kind)) & 1U)
      return;
    static constexpr std::array names{"communicators", "requests", "threads"};
    line(std::string("{\"lost\":\"") + names[static_cast<std::size_t>(kind)] + "\"}");
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

  static constexpr std::size_t communicators_most_bytes = std::size_t{16} << 20U;
  int descriptor_ = -1;
  std::size_t written_bytes_ = 0;
  std::size_t communicators_bytes_ = 0;
  std::atomic<unsigned> lost_{0};
};

}  // namespace nhalf::trace
