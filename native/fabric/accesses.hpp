// The memory of this rank that others may reach, and what this rank has asked of others.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fabric/access.hpp"
#include "fabric/combine.hpp"
#include "fabric/completions.hpp"
#include "fabric/message.hpp"

namespace nhalf::fabric {

/// An access that has not been answered.
struct Asked {
  /// Where the answer's bytes go.
  std::vector<iovec> parts;
  void* context = nullptr;
  bool is_reported = true;
  std::size_t size_bytes = 0;
  /// Counts what is complete; null if nobody does.
  std::uint64_t* counter = nullptr;

  /// Returns what the library hears when an answer is there.
  [[nodiscard]] Completion completion(Message& answer) const {
    Completion completion(answer.arrival, context);
    completion.cost = answer.cost;
    completion.size_bytes = size_bytes;
    completion.is_access = true;
    if (Access::in(answer).has_failed) completion.failure = Failure::no_memory;
    return completion;
  }
};

class Accesses {
 public:
  /// Opens memory to others; false if a key is taken.
  bool open(std::uint64_t key, std::byte* begin, std::size_t size_bytes) {
    return memory_.try_emplace(key, Part{begin, size_bytes}).second;
  }
  void close(std::uint64_t key) { memory_.erase(key); }

  std::uint64_t ask(Asked pending) {
    asked_.emplace(++last_number_, std::move(pending));
    return last_number_;
  }
  /// Takes what an answer is for.
  Asked answered(std::uint64_t number) {
    auto node = asked_.extract(number);
    return node.empty() ? Asked{} : std::move(node.mapped());
  }

  /// Returns how many bytes the answer to an access brings.
  static std::size_t answer_bytes(const Access& access) {
    const bool brings = access.kind == Access::Kind::get || access.wants_old;
    return brings ? static_cast<std::size_t>(access.size_bytes) : 0;
  }

  /// Does what another rank asks, and writes what it gets; false if there is no such memory.
  bool serve(const Access& access, const std::byte* data, std::byte* answer) {
    std::byte* const target = at(access);
    if (target == nullptr) return access.size_bytes == 0;
    const auto bytes = static_cast<std::size_t>(access.size_bytes);
    if (bytes == 0) return true;
    if (answer_bytes(access) > 0) std::memcpy(answer, target, bytes);
    if (access.kind == Access::Kind::put) std::memcpy(target, data, bytes);
    if (access.kind != Access::Kind::combine) return true;
    const bool has_operand = access.operation != Operation::read;
    combine(access.operation, access.type, target, has_operand ? data : nullptr,
            is_conditional(access.operation) ? data + bytes : nullptr, bytes);
    return true;
  }

 private:
  struct Part {
    std::byte* begin;
    std::size_t size_bytes;
  };

  [[nodiscard]] std::byte* at(const Access& access) const {
    const auto registration = memory_.find(access.key);
    if (registration == memory_.end()) return nullptr;
    const auto& part = registration->second;
    const bool fits =
        access.place <= part.size_bytes && access.size_bytes <= part.size_bytes - access.place;
    return fits ? part.begin + access.place : nullptr;
  }

  std::unordered_map<std::uint64_t, Part> memory_;
  std::unordered_map<std::uint64_t, Asked> asked_;
  std::uint64_t last_number_ = 0;
};

}  // namespace nhalf::fabric
