// What patterns between the exposed memory of two ranks have in common.
#pragma once

#include <atomic>
#include <exception>

#include "patterns/bases/pair.hpp"

namespace nhalf {
/// Every rank exposes memory; ranks 0 and 1 use each other's, further ranks take no part.
template <OneSided T>
class RegionPair : public Pattern {
 public:
  /// `region_bytes` of memory, and buffers of the size of the point to put from and get into.
  RegionPair(T& transport, const Case& point, std::size_t region_bytes)
      : transport_(transport),
        buffers_(reserved(transport, point.size_bytes)),
        region_(transport.expose(region_bytes)) {
    buffers_.out.fill(seed_of(transport.rank()));
  }
  RegionPair(T& transport, const Case& point) : RegionPair(transport, point, point.size_bytes) {}
  /// Where a rank ends in disorder, others may not be there to withdraw it together.
  ~RegionPair() override {
    if (std::uncaught_exceptions() == 0) transport_.withdraw(region_);
  }

 protected:
  [[nodiscard]] bool leads() const { return transport_.rank() == 0; }
  [[nodiscard]] bool takes_part() const { return transport_.rank() < 2; }
  [[nodiscard]] int peer() const { return 1 - transport_.rank(); }
  static std::uint32_t seed_of(int rank) { return static_cast<std::uint32_t>(rank + 2); }

  [[nodiscard]] ConstBytes out() { return buffers_.out.bytes(); }
  [[nodiscard]] Bytes in() { return buffers_.in.bytes(); }
  /// The first bytes of this rank's region, as long as a message.
  [[nodiscard]] Bytes here() { return region_.local().first(out().size()); }

  /// Reads what was put into this rank's region, as whoever waited for it does.
  void read_here() { read_lines(here()); }

  /// Fills this rank's region before anybody puts into it.
  void blank(std::uint32_t seed) {
    nhalf::fill(here(), seed);
    transport_.barrier();
  }

  /// Rank 0 serves and awaits the answer of rank 1, again and again; others take no part.
  template <class Serve, class Await>
  void take_turns(std::uint64_t rounds, Serve serve, Await await) {
    if (takes_part()) nhalf::take_turns(rounds, leads(), serve, await);
  }

  /// Whether rank 1 has what rank 0 puts in a round, once both have met again.
  [[nodiscard]] bool put_arrives() {
    blank(seed_of(-1));
    run(1);
    transport_.barrier();
    return transport_.rank() != 1 || nhalf::holds(here(), seed_of(0));
  }
  /// Whether ranks 0 and 1 have what they put and signal to each other in a round.
  [[nodiscard]] bool puts_cross() {
    blank(seed_of(-1));
    run(1);
    return !takes_part() || nhalf::holds(here(), seed_of(peer()));
  }

  T& transport_;

 private:
  struct Buffers {
    Buffer out, in;
  };

  /// Every rank has them, or none has, before memory is exposed by all together.
  static Buffers reserved(T& transport, std::size_t size_bytes) {
    bool mine = false;
    try {
      Buffers buffers{Buffer(size_bytes), Buffer(size_bytes)};
      mine = true;
      if (transport.all(true)) return buffers;
    } catch (const std::bad_alloc&) {
      if (!mine) transport.all(false);
    }
    throw std::bad_alloc();
  }

  Buffers buffers_;

 protected:
  typename T::Region region_;
};

/// A word of memory that another core writes or reads meanwhile.
inline std::atomic_ref<std::uint64_t> shared_word(Bytes memory, std::size_t offset) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory.data() + offset));
}
}  // namespace nhalf
