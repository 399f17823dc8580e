// SPDX-License-Identifier: Apache-2.0
// One-sided access on top of active messages: memory that others put to and get from.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <new>

#include "contract/active_messages.hpp"
#include "contract/buffer.hpp"
#include "contract/transport.hpp"
#include "transports/am/endpoint.hpp"

namespace nhalf::am {

/// A part of the payload region of every rank, at the same place in each.
class Exposed {
 public:
  [[nodiscard]] Bytes local() const { return local_; }

 private:
  friend class Regions;
  Exposed(std::size_t at, Bytes local) : at_(at), local_(local) {}

  std::size_t at_;
  Bytes local_;
};

/// Data moves as the payload of a long message does, but without a header: the owner does nothing.
/// A signal is a short message, which its receiver handles while it waits for one. Parts are taken
/// behind the first half of the region, which is for long messages.
class Regions {
 public:
  explicit Regions(Endpoint& endpoint)
      : endpoint_(endpoint),
        first_(endpoint.layout().region_bytes / 2 / page_bytes * page_bytes),
        on_signal_(endpoint.enrol(&signalled, this)) {}
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  /// Throws std::bad_alloc where the region has no room left.
  Exposed expose(std::size_t size_bytes) {
    const auto at =
        taken_.empty() ? first_ : taken_.rbegin()->first + taken_.rbegin()->second.bytes;
    const auto room_bytes = endpoint_.layout().region_bytes - at;
    if (size_bytes > room_bytes) throw std::bad_alloc();
    const auto local = endpoint_.region(at + size_bytes).subspan(at);
    if (size_bytes > 0) std::memset(local.data(), 0, size_bytes);
    // Parts begin on pages, so that none has the number of another.
    const auto pages = size_bytes / page_bytes + 1;
    taken_[at].bytes = std::min(pages * page_bytes, room_bytes);
    return {at, local};
  }
  void withdraw(const Exposed& part) { taken_.erase(part.at_); }

  void put(const Exposed& part, int peer, std::size_t offset, ConstBytes data) {
    endpoint_.put(peer, endpoint_.layout().region_at() + part.at_ + offset, data);
  }
  void get(const Exposed& part, int peer, std::size_t offset, Bytes data) {
    const auto* from = endpoint_.peers().payload_of(peer) + endpoint_.layout().region_at();
    if (!data.empty()) std::memcpy(data.data(), from + part.at_ + offset, data.size());
  }
  /// Ordered after puts: the header's store releases them.
  void signal(const Exposed& part, int peer, int slot) {
    const active::Word words[] = {part.at_, static_cast<active::Word>(slot)};
    endpoint_.request_short(peer, on_signal_, words);
  }
  void await_signal(const Exposed& part, int slot) {
    auto& count = taken_.at(part.at_).signals.at(static_cast<std::size_t>(slot));
    endpoint_.until([&] { return count > 0; });
    --count;
  }

 private:
  struct Part {
    std::size_t bytes = 0;
    std::array<std::uint64_t, OneSidedLimits::slots> signals{};
  };

  static void signalled(void* self, active::Token&, active::Words words, Bytes) {
    auto& taken = static_cast<Regions*>(self)->taken_;
    const auto found = words.size() == 2 ? taken.find(words[0]) : taken.end();
    if (found == taken.end() || words[1] >= found->second.signals.size())
      throw Malformed("a signal for memory that is not exposed");
    ++found->second.signals[words[1]];
  }

  Endpoint& endpoint_;
  std::size_t first_;
  std::map<std::size_t, Part> taken_;
  active::Number on_signal_;
};

}  // namespace nhalf::am
