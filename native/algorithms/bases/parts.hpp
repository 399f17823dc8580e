// Messages in parts, so that parts on different ways overlap, and those that tell others to go on.
#pragma once

#include "contract/collectives.hpp"

namespace nhalf {
/// A part where nobody says otherwise: that of the pipelined broadcasts of the SP2 study.
inline constexpr std::size_t default_part_bytes = 8192;

/// How many parts n bytes have; an empty message is one part.
constexpr std::int64_t parts_of(std::size_t size_bytes,
                                std::size_t part_bytes = default_part_bytes) {
  return static_cast<std::int64_t>(
      std::max<std::size_t>(1, (size_bytes + part_bytes - 1) / part_bytes));
}

/// Calls `action` with one part after the other, the last of which may be shorter.
template <class Action>
void for_each_part(Bytes data, std::size_t part_bytes, Action action) {
  std::size_t at = 0;
  do {
    const auto size_bytes = std::min(part_bytes, data.size() - at);
    action(data.subspan(at, size_bytes));
    at += size_bytes;
  } while (at < data.size());
}

/// By the transport's own broadcast from rank 0. It carries a byte: libraries return at once from a
/// broadcast of nothing, which wakes up nobody.
template <Collectives T>
void wake_by_library(T& transport) {
  std::byte flag{};
  transport.bcast(0, Bytes(&flag, 1));
}

/// Down a tree of two children each, 2 i + 1 and 2 i + 2.
template <Transport T>
void wake_by_twos(T& transport) {
  const int rank = transport.rank();
  if (rank > 0) transport.recv((rank - 1) / 2, Bytes{});
  const int end = std::min(transport.size(), 2 * rank + 3);
  for (int child = 2 * rank + 1; child < end; ++child) transport.send(child, ConstBytes{});
}
}  // namespace nhalf
