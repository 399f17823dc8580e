// Memory of another process, copied by the kernel: one copy instead of two.
#pragma once

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "transports/shmq/postbox.hpp"

namespace nhalf::shmq {

/// Copies from and to the memory of one process, where the kernel lets it.
class SingleCopy {
 public:
  SingleCopy() = default;
  explicit SingleCopy(pid_t process) : process_(process) {}

  /// Lets the processes that have this one's parent, the launcher, read this one's memory, where
  /// Linux would let none (the security module Yama).
  static void permit() {
#ifdef PR_SET_PTRACER
    prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);
#endif
  }

  /// Throws BadMessage where it is not there to be read.
  void operator()(std::byte* to, std::uint64_t address, std::size_t bytes) const {
    if (!reads(to, address, bytes))
      throw BadMessage("the memory that a message was announced in cannot be read");
  }

  [[nodiscard]] bool reads(std::byte* to, std::uint64_t address, std::size_t bytes) const {
    return moves(process_vm_readv, to, address, bytes);
  }
  [[nodiscard]] bool writes(std::byte* from, std::uint64_t address, std::size_t bytes) const {
    return moves(process_vm_writev, from, address, bytes);
  }

 private:
  template <class Move>
  bool moves(Move move, std::byte* local, std::uint64_t place, std::size_t bytes) const {
    while (bytes > 0) {
      const iovec own{local, bytes};
      const iovec remote{reinterpret_cast<void*>(place), bytes};
      const auto moved = move(process_, &own, 1, &remote, 1, 0);
      if (moved <= 0) return false;
      local += moved;
      place += static_cast<std::uint64_t>(moved);
      bytes -= static_cast<std::size_t>(moved);
    }
    return true;
  }

  pid_t process_ = 0;
};

}  // namespace nhalf::shmq
