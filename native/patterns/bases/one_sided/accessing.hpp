// Windows that are accessed again and again: by whom, in which way, and how often at a time.
#pragma once

#include "contract/exposed_memory.hpp"
#include "patterns/bases/collectives/operation.hpp"
#include "patterns/bases/links.hpp"

namespace nhalf {
inline constexpr std::array window_axes{
    AxisInfo{
        "window", "allocate", "allocate",
        "where its memory comes from: allocate, create, dynamic or shared, as the calls of MPI "
        "have it"},
    AxisInfo{"access", "flush", "flush",
             "what ends an access, and begins it where it has to be begun: flush, flush-local, "
             "lock, lock-all, fence or pscw (post, start, complete, wait)"},
    AxisInfo{"operations", "1", "1", "how many there are in one access"}};
inline constexpr std::array ways_axis{
    AxisInfo{"ways", "one", "one", "both: rank 1 accesses the memory of rank 0 at the same time"}};
inline constexpr std::array who_axis{
    AxisInfo{"who", "all-to-all", "",
             "one-to-all: rank 0 accesses all others; all-to-all; neighbours: those on either side "
             "in a ring"}};
inline constexpr auto access_axes = joined(window_axes, ways_axis);
inline constexpr auto group_access_axes = joined(window_axes, who_axis);

/// Whose memory a rank accesses, who accesses its own, and how many there are of these in all.
struct Accessed {
  std::vector<int> targets{};
  std::vector<int> origins{};
  int links = 0;
};

/// Rank 0 accesses rank 1, and perhaps the other way as well.
inline Accessed accessed_pair(int rank, int /*ranks*/, const Case& point) {
  constexpr std::string_view ways[] = {"one", "both"};
  const bool is_both_ways = point.choice("ways", ways) == 1;
  Accessed accessed_ranks{.links = is_both_ways ? 2 : 1};
  if (rank == 0 || (is_both_ways && rank == 1)) accessed_ranks.targets = {1 - rank};
  if (rank == 1 || (is_both_ways && rank == 0)) accessed_ranks.origins = {1 - rank};
  return accessed_ranks;
}

/// Many ranks at once.
inline Accessed accessed_group(int rank, int ranks, const Case& point) {
  constexpr std::string_view words[] = {"all-to-all", "one-to-all", "neighbours"};
  const auto partners = all_but(rank, ranks);
  const auto who = point.choice("who", words);
  if (who == 0) return {partners, partners, ranks * (ranks - 1)};
  if (who == 1)
    return {rank == 0 ? partners : std::vector<int>{},
            rank == 0 ? std::vector<int>{} : std::vector{0}, ranks - 1};
  std::vector<int> beside{(rank + 1) % ranks};
  if (ranks > 2) beside.push_back((rank + ranks - 1) % ranks);
  const int links = ranks * static_cast<int>(beside.size());
  return {beside, std::move(beside), links};
}

/// Who accesses whom, as a pattern chooses.
using AccessedBy = Accessed (*)(int rank, int ranks, const Case& point);

/// A round is one access with some operations. In each rank's window lies a block for each rank,
/// which that rank alone uses; its own data lies in blocks by target.
template <Windows T>
class Accessing : public Pattern {
 public:
  ~Accessing() override { transport_.close_window(window_); }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override {
    return static_cast<std::uint64_t>(accessed_.links) * static_cast<std::uint64_t>(operations_) *
           size_bytes_;
  }

 protected:
  Accessing(T& transport, const Case& point, Accessed accessed)
      : Accessing(transport, point, std::move(accessed), point.size_bytes) {}
  Accessing(T& transport, const Case& point, Accessed accessed, std::size_t size_bytes)
      : transport_(transport),
        size_bytes_(size_bytes),
        operations_(point.axes.number("operations", 1)),
        accessed_(std::move(accessed)),
        out_(blocks_bytes(transport, size_bytes)),
        in_(blocks_bytes(transport, size_bytes)),
        window_(transport.open_window(blocks_bytes(transport, size_bytes),
                                      static_cast<WindowKind>(point.choice("window", window_kinds)),
                                      access_of(point), accessed_.targets, accessed_.origins)),
        takes_part_(!accessed_.targets.empty() || access_of(point) == WindowAccess::fence ||
                    (access_of(point) == WindowAccess::pscw && !accessed_.origins.empty())) {}

  /// Whether the targets of a point's accesses take part in them.
  static bool is_active(const Case& point) { return access_of(point) >= WindowAccess::fence; }

  /// Accesses, each with its operations on every target: `operate(target)` is compiled into this.
  template <class Operate>
  void accesses(std::uint64_t rounds, Operate operate) {
    if (!takes_part_) return;
    for (auto i = rounds; i > 0; --i) {
      transport_.begin(window_);
      for (const int target : accessed_.targets)
        for (int k = operations_; k > 0; --k) operate(target);
      transport_.end(window_);
    }
  }

  /// One access after which everything is where it belongs, at every rank.
  void access_once() {
    transport_.barrier();
    this->run(1);
    transport_.complete(window_);
    transport_.barrier();
  }

  [[nodiscard]] std::size_t offset_of(int rank) const {
    return static_cast<std::size_t>(rank) * size_bytes_;
  }
  [[nodiscard]] std::size_t own_offset() const { return offset_of(transport_.rank()); }
  [[nodiscard]] Bytes out(int target) { return block_of(out_.bytes(), target, size_bytes_); }
  [[nodiscard]] Bytes in(int target) { return block_of(in_.bytes(), target, size_bytes_); }
  [[nodiscard]] Bytes here(int origin) { return block_of(window_.local(), origin, size_bytes_); }
  [[nodiscard]] std::uint32_t seed(int from, int to) const {
    return static_cast<std::uint32_t>(from * transport_.size() + to + 2);
  }
  /// What a rank gives another one where that is added up: exact in floats.
  [[nodiscard]] float term(int from, int to) const {
    return static_cast<float>(seed(from, to) % 1000);
  }
  static void fill_floats(Bytes floats, float value) {
    OnHost reachable(floats);
    const auto data = reachable.bytes();
    for (std::size_t at = 0; at + sizeof value <= data.size(); at += sizeof value)
      std::memcpy(data.data() + at, &value, sizeof value);
  }
  static bool holds_floats(ConstBytes floats, float value) {
    OnHost reachable(floats);
    const auto data = reachable.bytes();
    for (std::size_t at = 0; at + sizeof value <= data.size(); at += sizeof value)
      if (std::memcmp(data.data() + at, &value, sizeof value) != 0) return false;
    return true;
  }

  using Pattern::run;
  T& transport_;
  std::size_t size_bytes_;
  int operations_;
  Accessed accessed_;

 private:
  static WindowAccess access_of(const Case& point) {
    return static_cast<WindowAccess>(point.choice("access", window_accesses));
  }
  static std::size_t blocks_bytes(const T& transport, std::size_t size_bytes) {
    const auto ranks = static_cast<std::size_t>(transport.size());
    T::check_size(size_bytes);
    return size_bytes * ranks;
  }

  Buffer out_;
  Buffer in_;

 protected:
  typename T::Window window_;

 private:
  bool takes_part_;
};
}  // namespace nhalf
