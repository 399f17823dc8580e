// What patterns between two ranks have in common: two buffers and how they are checked, windows of
// messages, and what a receiver does with what came where nobody else reads it.
#pragma once

#include "contract/pattern.hpp"

namespace nhalf {
/// Reads a byte of each cache line: data that nobody reads never leaves the cache of its sender.
inline void read_lines(ConstBytes data) {
  constexpr std::size_t line_bytes = 64;
  for (std::size_t at = 0; at < data.size(); at += line_bytes) {
    volatile std::byte read = data[at];
    static_cast<void>(read);
  }
}

/// Messages under way at a time, as in the OSU benchmarks.
inline constexpr std::size_t message_window = 64;

/// Calls `some` with how many messages go together, until all have gone.
template <class Some>
void windows(std::uint64_t messages, std::size_t window, Some some) {
  for (; messages > 0; messages -= std::min<std::uint64_t>(messages, window))
    some(static_cast<std::size_t>(std::min<std::uint64_t>(messages, window)));
}

/// The first of two ranks serves and awaits the answer of the other one, again and again. Both are
/// compiled into the loop.
template <class Serve, class Await>
void take_turns(std::uint64_t rounds, bool is_first, Serve serve, Await await) {
  for (auto i = is_first ? rounds : 0; i > 0; --i) {
    serve();
    await();
  }
  for (auto i = is_first ? 0 : rounds; i > 0; --i) {
    await();
    serve();
  }
}

/// Two ranks that talk to each other; below 0: nobody.
struct Partners {
  int first = 0;
  int second = 1;
};

/// Two ranks are each other's peer, 0 and 1 if nothing else is said; further ranks take no part.
template <Transport T>
class Pair : public Pattern {
 public:
  Pair(T& transport, const Case& point, Partners partners = {})
      : transport_(transport),
        out_(checked(point.size_bytes)),
        in_(point.size_bytes),
        leads_(transport.rank() == partners.first),
        peer_(leads_                                ? partners.second
              : transport.rank() == partners.second ? partners.first
                                                    : -1) {
    out_.fill(seed_of(transport.rank()));
  }

  bool verify() override {
    in_.fill(seed_of(-1));
    run(1);
    return !receives() || in_.holds(seed_of(peer()));
  }

 protected:
  /// Whether this rank gets messages in this pattern.
  [[nodiscard]] virtual bool receives() const { return takes_part(); }
  [[nodiscard]] bool takes_part() const { return peer_ >= 0; }
  /// Whether this is the first of the two.
  [[nodiscard]] bool leads() const { return leads_; }
  [[nodiscard]] int peer() const { return peer_; }
  static std::uint32_t seed_of(int rank) { return static_cast<std::uint32_t>(rank + 2); }

  using Pattern::run;
  T& transport_;
  Buffer out_;
  Buffer in_;

 private:
  static std::size_t checked(std::size_t size_bytes) {
    if constexpr (requires { T::check_size(size_bytes); }) T::check_size(size_bytes);
    return size_bytes;
  }

  bool leads_;
  int peer_;
};
}  // namespace nhalf
