// The memory of other processes of this host, which a rank may read where the system permits it:
// not with Yama's restrictions, nor of a process that made itself undumpable. Where a filter of
// system calls is in force, as in most containers, nobody tries: it may end who makes a call that
// it does not know.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include "host/kernel_files.hpp"
#include "interposer/shared_operations.hpp"

namespace nhalf::coll {

/// Whether system calls of this process are filtered, by what the kernel says in a status file
/// (seccomp(2)); so they are if it says nothing at all.
inline bool are_calls_filtered(std::string_view status) {
  constexpr std::string_view label = "\nSeccomp:\t";
  const auto at = status.find(label);
  if (at == std::string_view::npos) return status.empty();
  return !status.substr(at + label.size()).starts_with('0');
}

/// Where data of a process lie; 0 if it has none to show.
using PeerAddress = std::uint64_t;

inline PeerAddress address_of(const void* data) {
  return static_cast<PeerAddress>(reinterpret_cast<std::uintptr_t>(data));
}

/// The ranks of a node, of which each may read the memory of all others.
class Peers {
 public:
  /// Asks whether every rank can read a word of every other one; collective, equal on all ranks.
  /// Throws Failed.
  static std::optional<Peers> of(SharedMemory& memory) {
    // Differs by process, so that nobody takes another process for this one.
    std::uint64_t word = 0;
    word = address_of(&word) ^ static_cast<std::uint64_t>(getpid()) << 48U;
    Peers peers(memory);
    peers.claims_ = peers.of_all(Claim{getpid(), address_of(&word), word});
    bool may_read = !are_calls_filtered(text_of("/proc/self/status"));
    for (int rank = 0; rank < memory.size() && may_read; ++rank) {
      std::uint64_t copied_word = 0;
      const auto& claim = peers.claims_[static_cast<std::size_t>(rank)];
      may_read =
          peers.read(rank, claim.address, std::as_writable_bytes(std::span(&copied_word, 1))) &&
          copied_word == claim.word;
    }
    // The word is here until all have looked.
    const auto may_all = peers.of_all(static_cast<unsigned char>(may_read ? 1 : 0));
    if (std::ranges::find(may_all, 0) != may_all.end()) return std::nullopt;
    return peers;
  }

  [[nodiscard]] SharedMemory& memory() const { return *memory_; }

  /// Copies data of another rank; false if that was refused or they are not all there.
  [[nodiscard]] bool read(int rank, PeerAddress address, Bytes to) const {
    while (!to.empty()) {
      const iovec own{to.data(), to.size()};
      const iovec remote{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), to.size()};
      const auto process = claims_[static_cast<std::size_t>(rank)].process;
      const auto read_bytes = process_vm_readv(process, &own, 1, &remote, 1, 0);
      if (read_bytes <= 0) return false;
      address += static_cast<PeerAddress>(read_bytes);
      to = to.subspan(static_cast<std::size_t>(read_bytes));
    }
    return true;
  }

 private:
  struct Claim {
    pid_t process;
    PeerAddress address;
    std::uint64_t word;
  };

  explicit Peers(SharedMemory& memory) : memory_(&memory) {}

  template <class Value>
  std::vector<Value> of_all(const Value& own) {
    std::vector<Value> all(static_cast<std::size_t>(memory_->size()));
    shared::allgather(*memory_, std::as_bytes(std::span(&own, 1)),
                      std::as_writable_bytes(std::span(all)));
    return all;
  }

  SharedMemory* memory_;
  std::vector<Claim> claims_;
};

}  // namespace nhalf::coll
