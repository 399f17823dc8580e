// What patterns between many ranks have in common: a message of its own to each of some ranks and
// from each of some.
#pragma once

#include "contract/pattern.hpp"

namespace nhalf {
/// One end of a message: who is at the other, and where the data lies here.
struct Link {
  int peer = 0;
  Bytes data;
};

/// Every rank but one.
inline std::vector<int> all_but(int rank, int ranks) {
  std::vector<int> partners;
  for (int step = 1; step < ranks; ++step) partners.push_back((rank + step) % ranks);
  return partners;
}

/// The messages `out_` that this rank sends and `in_` that it gets in a round, each in memory of
/// its own and with bytes that differ by sender and receiver.
template <Transport T>
class Links : public Pattern {
 public:
  Links(T& transport, const Case& point, const std::vector<int>& to, const std::vector<int>& from)
      : transport_(transport),
        out_memory_(room_bytes(transport, point, to.size())),
        in_memory_(room_bytes(transport, point, from.size())),
        out_(links(out_memory_, to, point.size_bytes)),
        in_(links(in_memory_, from, point.size_bytes)) {
    for (const auto& link : out_) fill(link.data, seed_of(transport.rank(), link.peer));
  }

  bool verify() override {
    for (const auto& link : in_) {
      fill(link.data, seed_of(link.peer, transport_.rank()));
      invert(link.data);
    }
    run(1);
    return std::ranges::all_of(in_, [this](const Link& link) {
      return holds(link.data, seed_of(link.peer, transport_.rank()));
    });
  }

 protected:
  using Pattern::run;
  T& transport_;

 private:
  [[nodiscard]] std::uint32_t seed_of(int from, int to) const {
    return static_cast<std::uint32_t>(from * transport_.size() + to + 2);
  }

  /// Bytes for so many messages. All ranks of a host together take half of its memory at most: the
  /// system grants more and then ends the program.
  static std::size_t room_bytes(const T& transport, const Case& point, std::size_t messages) {
    if constexpr (requires { T::check_size(std::size_t{}); }) T::check_size(point.size_bytes);
    const auto ranks_here = point.ranks_beside(transport.rank(), transport.size());
    const auto share_bytes = 2 * Buffer::largest_bytes() / ranks_here;
    const bool is_limited = memory_source.is_limited && messages > 0;
    if (is_limited && point.size_bytes > share_bytes / messages) throw std::bad_alloc();
    return messages * point.size_bytes;
  }

  static std::vector<Link> links(Buffer& memory, const std::vector<int>& peers,
                                 std::size_t size_bytes) {
    std::vector<Link> made_links;
    for (const int peer : peers)
      made_links.push_back(
          {peer, block_of(memory.bytes(), static_cast<int>(made_links.size()), size_bytes)});
    return made_links;
  }

  Buffer out_memory_;
  Buffer in_memory_;

 protected:
  std::vector<Link> out_;
  std::vector<Link> in_;
};
}  // namespace nhalf
