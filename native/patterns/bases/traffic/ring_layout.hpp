// The communication patterns of the effective bandwidth benchmark: who is whose neighbour, and
// memory for messages that shall not lie in a cache because the message before lay there.
#pragma once

#include <map>
#include <mutex>
#include <tuple>

#include "contract/buffer.hpp"
#include "contract/permutation.hpp"

namespace nhalf {
/// Memory that is used from front to end, one message after the other, and then again.
///
/// It stays from point to point, so that pages are made once per process and a point costs no more
/// than its messages.
class Arena {
 public:
  /// The arena `number` of a rank; ranks may share a process.
  static Arena& of(int rank, int number) {
    static std::mutex mutex;
    static std::map<std::pair<int, int>, Arena> all;
    const std::lock_guard lock(mutex);
    return all[{rank, number}];
  }

  /// From now on the first `size_bytes` are used, which grow as needed. Throws std::bad_alloc.
  void use(std::size_t size_bytes) {
    // What is too small goes first: both together might not fit.
    if (size_bytes > buffer_.bytes().size()) {
      buffer_ = Buffer(0);
      buffer_ = Buffer(size_bytes);
    }
    used_ = buffer_.bytes().first(size_bytes);
  }

  /// The place of the next message, on a multiple of 8 bytes; never larger than what is in use.
  Bytes next(std::size_t size_bytes) {
    if (at_ + size_bytes > used_.size()) at_ = 0;
    const auto place = used_.subspan(at_, size_bytes);
    at_ += (size_bytes + 7) / 8 * 8;
    return place;
  }

  /// All that is in use.
  [[nodiscard]] Bytes bytes() const { return used_; }

 private:
  Buffer buffer_{0};
  Bytes used_;
  std::size_t at_ = 0;
};

/// Rings that together hold every rank once. Each member of a ring sends one message to the next
/// and one to the one before; in a ring of two both are the same rank, and there is one message.
///
/// R. Rabenseifner, A. Koniges: Effective Communication and File-I/O Bandwidth Benchmarks, Euro
/// PVM/MPI 2001; sizes and order of the rings as in the program b_eff 3.6.
class RingLayout {
 public:
  static constexpr int regular = 6;
  static constexpr int random = 30;

  struct Neighbours {
    int next = 0;
    int before = 0;
  };

  /// Pattern 1 to 6 has rings of consecutive ranks, about as long as `target_size` says; 7 to 36
  /// one ring over a random order of all ranks.
  RingLayout(int ranks, int number, std::uint64_t seed) {
    if (number > regular) {
      rings_.push_back(permutation(ranks, seed, number));
    } else {
      cut(ranks, target_size(ranks, number));
    }
  }

  /// A layout made once for all ranks of a thread: hundreds of simulated ranks share one.
  static std::shared_ptr<const RingLayout> of(int ranks, int number, std::uint64_t seed) {
    thread_local std::tuple<int, int, std::uint64_t> latest;
    thread_local std::shared_ptr<const RingLayout> layout;
    if (const std::tuple request(ranks, number, seed); !layout || latest != request) {
      layout = std::make_shared<const RingLayout>(ranks, number, seed);
      latest = request;
    }
    return layout;
  }

  /// The length that the rings of a pattern should have.
  static int target_size(int ranks, int number) {
    const int sizes[regular] = {2, 4, 8, std::max(16, ranks / 4), std::max(32, ranks / 2), ranks};
    return std::min(sizes[number - 1], ranks);
  }

  [[nodiscard]] const std::vector<std::vector<int>>& rings() const { return rings_; }

  [[nodiscard]] Neighbours neighbours(int rank) const {
    for (const auto& ring : rings_) {
      const auto position = static_cast<std::size_t>(std::ranges::find(ring, rank) - ring.begin());
      const auto size = ring.size();
      if (position < size) return {ring[(position + 1) % size], ring[(position + size - 1) % size]};
    }
    return {rank, rank};
  }

  /// Messages of all ranks together.
  [[nodiscard]] std::size_t messages() const {
    std::size_t count = 0;
    for (const auto& ring : rings_) count += ring.size() * (ring.size() > 2 ? 2 : 1);
    return count;
  }

 private:
  /// Cuts consecutive ranks into rings of two lengths that differ by one; where the shorter one is
  /// odd, the longer rings come first.
  void cut(int ranks, int target) {
    const int ring_count = static_cast<int>(static_cast<double>(ranks) / target + 0.4);
    const int count = std::max(1, std::min(ring_count, ranks / 2));
    const int base = ranks / count;
    const int longer = ranks - base * count;
    const bool longer_first = base % 2 == 1;
    for (int ring = 0, first = 0; ring < count; ++ring) {
      const bool is_longer = longer_first ? ring < longer : ring >= count - longer;
      const int size = base + (is_longer ? 1 : 0);
      auto& members = rings_.emplace_back();
      for (int i = 0; i < size; ++i) members.push_back(first + i);
      first += size;
    }
  }

  std::vector<std::vector<int>> rings_;
};
}  // namespace nhalf
