// What the ranks of a virtual machine share: the description of the machine, who runs, and messages
// on their way. One rank runs at a time, so nothing but the hand-over of the turn is atomic.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>

#include "contract/vocabulary.hpp"
#include "network/state.hpp"

namespace nhalf::fabric {
using namespace network;

/// A rank that is gone has ended its process without MPI_Finalize.
enum class Presence : std::uint32_t { absent, active, finished, left, gone };

inline bool has_left(Presence presence) {
  return presence == Presence::left || presence == Presence::gone;
}

/// What src/nhalf/measure/virtual reads of a rank when all is over.
struct Member {
  std::uint32_t process;
  Presence presence;
  Picoseconds now;
  std::uint64_t messages;
  std::uint64_t bytes;
  /// 1, and 256 times the exit code, once its process has called exit or its main function has
  /// returned.
  std::uint64_t exit;
};

/// Why a run cannot go on; the first rank that knows it writes it.
struct Outcome {
  std::uint32_t is_set;
  std::array<char, 4092> text;
};

/// The call of MPI that a rank is in, to name who waits for whom.
struct Doing {
  static constexpr int none = -2;
  static constexpr int any = -1;

  std::array<char, 32> call;
  std::int32_t peer;
  std::int32_t tag;
  std::uint32_t is_world;

  void wait_for(int awaited_peer, int awaited_tag, bool is_of_world) {
    peer = awaited_peer;
    tag = awaited_tag;
    is_world = is_of_world ? 1 : 0;
  }
};

/// The part of a rank, in cache lines of its own.
struct alignas(128) Slot {
  std::uint32_t turn;
  std::uint32_t is_idle;
  /// The thread that waits for the turn, 0 if it must stay on its cores, and whether it was moved.
  std::int32_t thread;
  std::uint32_t is_moved;
  /// How many of the messages that have come to the rank reach into its memory.
  std::uint32_t accesses;
  /// Whether it polls in a loop that nothing but a message can end.
  std::uint32_t has_polled_long;
  Doing doing;
};

/// The beginning of the region. Python writes the description and reads outcome and members, at
/// these places (src/nhalf/measure/virtual/region.py); memory that was never written is zero.
struct Region {
  std::array<char, 65536> description;
  Outcome outcome;
  std::array<Member, ranks_max> members;
  std::uint32_t joined;
  std::uint32_t owner;
  std::uint64_t messages;
  /// Since when no rank has had anything to do, in real nanoseconds, after how many messages, and
  /// how many turns ranks have had since then.
  std::uint64_t quiet_since_ns;
  std::uint64_t quiet_messages;
  std::uint64_t quiet_turns;
  /// When each rank wants to run, side by side because they are searched at every hand-over.
  std::array<Picoseconds, ranks_max> next;
  std::array<Slot, ranks_max> slots;
  /// Ends the region: messages lie behind it, and places count from here.
  State network;

  template <class Type>
  Type& at(Offset offset) {
    return network.at<Type>(offset);
  }
  Offset offset_of(const void* address) const { return network.offset_of(address); }
};

static_assert(offsetof(Region, outcome) == 65536 && offsetof(Region, members) == 69632);
static_assert(sizeof(Member) == 40);

inline std::optional<int> number_of_launcher() {
  for (const auto* name : {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"})
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return std::nullopt;
}

/// Maps the region that NHALF_FABRIC names; nothing in a process that is no rank.
inline std::span<std::byte> shared_memory() {
  const char* path = std::getenv("NHALF_FABRIC");
  if (path == nullptr) return {};
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return {};
  struct stat status{};
  void* memory = MAP_FAILED;
  std::size_t bytes = 0;
  if (fstat(file, &status) == 0 && static_cast<std::size_t>(status.st_size) > sizeof(Region)) {
    bytes = static_cast<std::size_t>(status.st_size);
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  }
  close(file);
  if (memory == MAP_FAILED) return {};
  return {static_cast<std::byte*>(memory), bytes};
}
}  // namespace nhalf::fabric
