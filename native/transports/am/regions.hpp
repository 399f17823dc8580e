// One-sided access on top of active messages: memory that others put to and get from.
#pragma once

#include <map>

#include "transports/am/endpoint.hpp"
#include "transports/bases/copies.hpp"

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
/// Or it moves by messages, where the memory of others is not to be touched: the owner's handlers
/// copy it while that polls. A signal is a short message, which its receiver handles while it waits
/// for one. Parts are taken behind the first half of the region, which is for long messages.
class Regions {
 public:
  Regions(Endpoint& endpoint, bool by_messages)
      : endpoint_(endpoint),
        by_messages_(by_messages),
        first_(endpoint.layout().region_bytes / 2 / page_bytes * page_bytes),
        on_signal_(enrol<&Regions::signalled>()),
        on_put_(enrol<&Regions::was_put>()),
        on_get_(enrol<&Regions::asked_for>()),
        on_got_(enrol<&Regions::got>()) {}
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  [[nodiscard]] bool by_messages() const { return by_messages_; }

  /// Exposes memory. Throws std::bad_alloc if the region is full.
  Exposed expose(std::size_t size_bytes) {
    const auto at =
        parts_.empty() ? first_ : parts_.rbegin()->first + parts_.rbegin()->second.bytes;
    const auto room_bytes = endpoint_.layout().region_bytes - at;
    if (size_bytes > room_bytes) throw std::bad_alloc();
    const auto local = endpoint_.region(at + size_bytes).subspan(at);
    if (size_bytes > 0) std::memset(local.data(), 0, size_bytes);
    // Parts begin on pages, so that none has the number of another.
    const auto pages = size_bytes / page_bytes + 1;
    parts_[at].bytes = std::min(pages * page_bytes, room_bytes);
    return {at, local};
  }
  void withdraw(const Exposed& part) { parts_.erase(part.at_); }

  /// A part as it lies in the memory of a peer.
  Bytes mapped(const Exposed& part, int peer) const {
    auto* region = endpoint_.peers().payload_of(peer) + endpoint_.layout().region_at();
    return {region + part.at_, part.local_.size()};
  }

  void put(const Exposed& part, int peer, std::size_t offset, ConstBytes data) {
    if (!by_messages_) return put_watched(part, peer, offset, data);
    in_pieces(data.size(), [&](std::size_t at, std::size_t size_bytes) {
      const active::Word words[] = {part.at_, offset + at};
      endpoint_.request_medium(peer, on_put_, words, data.subspan(at, size_bytes), {});
    });
  }
  void get(const Exposed& part, int peer, std::size_t offset, Bytes data) {
    if (!by_messages_) {
      if (!data.empty()) std::memcpy(data.data(), mapped(part, peer).data() + offset, data.size());
      return;
    }
    getting_ = data;
    missing_bytes_ = data.size();
    in_pieces(data.size(), [&](std::size_t at, std::size_t size_bytes) {
      const active::Word words[] = {part.at_, offset + at, size_bytes, at};
      endpoint_.request_short(peer, on_get_, words);
    });
    endpoint_.until(peer, [&] { return missing_bytes_ == 0; });
    getting_ = {};
  }
  /// After it what was put is there.
  void complete(int peer) {
    std::atomic_thread_fence(std::memory_order_release);
    if (by_messages_) endpoint_.settle(peer);
  }
  /// Ordered after puts: the header's store releases them.
  void signal(const Exposed& part, int peer, int slot) {
    const active::Word words[] = {part.at_, static_cast<active::Word>(slot)};
    endpoint_.request_short(peer, on_signal_, words);
  }
  void await_signal(const Exposed& part, int slot) {
    auto& count = parts_.at(part.at_).signals.at(static_cast<std::size_t>(slot));
    endpoint_.until([&] { return count > 0; });
    --count;
  }

 private:
  struct Part {
    std::size_t bytes = 0;
    std::array<std::uint64_t, OneSidedLimits::slots> signals{};
  };

  template <auto Member>
  active::Number enrol() {
    const auto handler = [](void* self, active::Token& token, active::Words words, Bytes payload) {
      (static_cast<Regions*>(self)->*Member)(token, words, payload);
    };
    return endpoint_.enrol(handler, this);
  }

  /// Copies the last word last, since the receiver may poll it.
  void put_watched(const Exposed& part, int peer, std::size_t offset, ConstBytes data) {
    constexpr auto word_bytes = sizeof(std::uint64_t);
    const auto at = endpoint_.layout().region_at() + part.at_ + offset;
    const auto last = data.size() >= word_bytes ? data.size() - word_bytes : data.size();
    endpoint_.put(peer, at, data.first(last));
    if (last < data.size()) watched_put(mapped(part, peer), offset + last, data.subspan(last));
  }

  /// Calls `each(at, bytes)` for parts that fit a medium message, and once for an empty range.
  template <class Each>
  void in_pieces(std::size_t size_bytes, Each visit) const {
    const auto most = endpoint_.layout().medium_bytes;
    std::size_t at = 0;
    for (; at + most < size_bytes; at += most) visit(at, most);
    visit(at, size_bytes - at);
  }

  void signalled(active::Token&, active::Words words, Bytes) {
    const auto part = words.size() == 2 ? parts_.find(words[0]) : parts_.end();
    if (part == parts_.end() || words[1] >= part->second.signals.size())
      throw Malformed("a signal for memory that is not exposed");
    ++part->second.signals[words[1]];
  }
  void was_put(active::Token&, active::Words words, Bytes payload) {
    if (words.size() != 2) throw Malformed("a put without its place");
    const auto to = exposed(words[0], words[1], payload.size());
    if (!payload.empty()) std::memcpy(to.data(), payload.data(), payload.size());
  }
  void asked_for(active::Token& token, active::Words words, Bytes) {
    if (words.size() != 4 || words[2] > endpoint_.layout().medium_bytes)
      throw Malformed("a get without its place, or of too much");
    const active::Word place[] = {words[3]};
    endpoint_.reply_medium(token, on_got_, place, exposed(words[0], words[1], words[2]), {});
  }
  void got(active::Token&, active::Words words, Bytes payload) {
    if (words.size() != 1 || payload.size() > missing_bytes_ ||
        !lies_in(getting_.size(), words[0], payload.size()))
      throw Malformed("an answer to a get that was not asked for");
    if (!payload.empty()) std::memcpy(&getting_[words[0]], payload.data(), payload.size());
    missing_bytes_ -= payload.size();
  }

  /// This rank's memory in a part that it has exposed.
  [[nodiscard]] Bytes exposed(active::Word part, active::Word offset,
                              std::size_t size_bytes) const {
    const auto entry = parts_.find(part);
    if (entry == parts_.end() || !lies_in(entry->second.bytes, offset, size_bytes))
      throw Malformed("an access to memory that is not exposed");
    const auto at = endpoint_.layout().region_at() + part + offset;
    return {endpoint_.peers().payload() + at, size_bytes};
  }

  Endpoint& endpoint_;
  bool by_messages_;
  std::size_t first_;
  std::map<std::size_t, Part> parts_;
  /// A get in progress, with the bytes that have not arrived.
  Bytes getting_{};
  std::size_t missing_bytes_ = 0;
  active::Number on_signal_, on_put_, on_get_, on_got_;
};
}  // namespace nhalf::am
