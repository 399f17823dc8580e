// What ranks in rings send to both neighbours, by three methods.
#pragma once

#include <climits>

#include "contract/collectives.hpp"
#include "contract/pattern.hpp"
#include "patterns/bases/traffic/ring_layout.hpp"

namespace nhalf {
/// Messages walk through memory of six times the longest length, so that no cache holds them; the
/// first and the last byte of each are written before it leaves and checked when it is there,
/// unless a rank's memory is one that the host should not touch.
template <class T>
  requires Duplex<T> && NonBlocking<T> && Collectives<T>
class Ring : public Pattern {
 public:
  Ring(T& transport, const Case& point)
      : transport_(transport),
        layout_(RingLayout::of(transport.size(),
                               point.axis("ring", 1, RingLayout::regular + RingLayout::random),
                               point.axes.number("seed", std::uint64_t{1}))),
        size_bytes_(point.size_bytes),
        method_(static_cast<Method>(point.choice("method", methods))),
        is_marked_(size_bytes_ > 0 && is_of_host(point)),
        out_(arena(transport.rank(), 0)),
        in_(arena(transport.rank(), 1)),
        out_counts_(static_cast<std::size_t>(transport.size())),
        in_counts_(out_counts_),
        out_offsets_(out_counts_),
        in_offsets_(out_counts_) {
    if constexpr (requires { T::check_size(size_bytes_); }) T::check_size(size_bytes_);
    const auto [next, before] = layout_->neighbours(transport.rank());
    to_ = from_ = {next, before};
    std::swap(from_[0], from_[1]);
    calls_ = next == before ? 1 : 2;
    for (std::size_t i = 0; i < calls_; ++i) {
      count(out_counts_, to_[i]) = static_cast<int>(size_bytes_);
      count(in_counts_, from_[i]) = static_cast<int>(size_bytes_);
    }
    const auto memory_bytes =
        arena_bytes(size_bytes_, point.ranks_beside(transport.rank(), transport.size()));
    out_.use(memory_bytes);
    in_.use(memory_bytes);
    const auto number = point.axes.number("ring", std::size_t{0}) * std::size(methods);
    first_seed_ = 65537 * (size_bytes_ * 128 + number + static_cast<std::size_t>(method_));
  }

  void run(std::uint64_t rounds) override {
    for (auto i = rounds; i > 0; --i) {
      const auto places = next_places();
      mark(places);
      transfer(places);
      check(places);
    }
  }

  bool verify() override {
    const auto places = next_places();
    for (std::size_t i = 0; i < calls_; ++i) fill(places.out[i], seed_of(transport_.rank(), i));
    mark(places);
    transfer(places);
    check(places);
    for (std::size_t i = 0; i < calls_; ++i) {
      const auto seed = seed_of(from_[i], i);
      unmark(places.in[i], seed);
      if (!holds(places.in[i], seed)) wrong_ = true;
    }
    return !wrong_;
  }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override {
    return layout_->messages() * size_bytes_;
  }

  [[nodiscard]] bool is_right() override { return !wrong_; }

  /// Bytes of each of the two arenas of a rank: six times the longest length, which counts as no
  /// shorter than what caches hold, within the share of memory of one of so many ranks on a host.
  static std::size_t arena_bytes(std::size_t size_bytes, std::size_t ranks_here) {
    constexpr std::size_t longest_bytes = 4 << 20;
    const auto cores = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    const auto beyond_caches = longest_bytes * std::min(cores, ranks_here) / ranks_here;
    const auto needed_bytes = 6 * (std::max(size_bytes, beyond_caches) + 16);
    const auto share = std::min<std::size_t>(Buffer::largest_bytes() / ranks_here / 2, INT_MAX);
    // Two messages that follow each other lie apart, wherever the first of them lies.
    const auto needed = 3 * (size_bytes + 8);
    if (needed > share) throw std::bad_alloc();
    if (!memory_source.is_real()) return needed;
    return std::max(needed, std::min(needed_bytes, share));
  }

 private:
  enum class Method { pairwise, collective, started };
  static constexpr std::string_view methods[] = {"sendrecv", "alltoallv", "nonblocking"};

  struct Places {
    std::array<Bytes, 2> out;
    std::array<Bytes, 2> in;
    std::byte mark{};
  };

  /// Whether the host may touch the messages of all ranks.
  static bool is_of_host(const Case& point) {
    const auto memory = point.axes.text("memory", "host");
    return memory.find("device") == std::string::npos &&
           memory.find("managed") == std::string::npos;
  }
  /// One that is kept for other points, or for memory that is not the host's one of its own.
  Arena& arena(int rank, std::size_t number) {
    return memory_source.device == nullptr ? Arena::of(rank, static_cast<int>(number))
                                           : own_[number];
  }

  /// Another one at every point: what an earlier point left behind must not look right.
  [[nodiscard]] std::uint32_t seed_of(int rank, std::size_t call) const {
    return static_cast<std::uint32_t>(first_seed_ + static_cast<std::size_t>(rank) * 2 + call);
  }
  static int& count(std::vector<int>& numbers, int rank) {
    return numbers[static_cast<std::size_t>(rank)];
  }

  Places next_places() {
    Places places;
    for (std::size_t i = 0; i < calls_; ++i) {
      places.out[i] = out_.next(size_bytes_);
      places.in[i] = in_.next(size_bytes_);
    }
    places.mark = static_cast<std::byte>(++rounds_);
    return places;
  }

  /// All members of a ring have done as many rounds, so that they write and expect the same mark.
  void mark(const Places& places) {
    for (std::size_t i = 0; i < calls_ && is_marked_; ++i)
      places.out[i].front() = places.out[i].back() = places.mark;
  }
  /// The marked bytes as they were filled.
  void unmark(Bytes data, std::uint32_t seed) const {
    if (!is_marked_) return;
    const FillSequence sequence(seed, data.size());
    data.front() = sequence.data()[0];
    data.back() = sequence.data()[(data.size() - 1) % FillSequence::period];
  }
  void check(const Places& places) {
    for (std::size_t i = 0; i < calls_ && is_marked_; ++i)
      if (places.in[i].front() != places.mark || places.in[i].back() != places.mark) wrong_ = true;
  }

  /// One round by the method of the point.
  void transfer(const Places& places) {
    switch (method_) {
      case Method::pairwise:
        for (std::size_t i = 0; i < calls_; ++i)
          transport_.exchange(to_[i], places.out[i], from_[i], places.in[i]);
        break;
      case Method::collective:
        for (std::size_t i = 0; i < calls_; ++i) {
          count(out_offsets_, to_[i]) =
              static_cast<int>(places.out[i].data() - out_.bytes().data());
          count(in_offsets_, from_[i]) = static_cast<int>(places.in[i].data() - in_.bytes().data());
        }
        transport_.alltoallv(out_.bytes(), out_counts_, out_offsets_, in_.bytes(), in_counts_,
                             in_offsets_);
        break;
      case Method::started:
        for (std::size_t i = 0; i < calls_; ++i) {
          requests_[2 * i] = transport_.irecv(from_[i], places.in[i]);
          requests_[2 * i + 1] = transport_.isend(to_[i], places.out[i]);
        }
        wait_all(transport_, std::span(requests_).first(2 * calls_));
        break;
    }
  }

  T& transport_;
  std::shared_ptr<const RingLayout> layout_;
  std::size_t size_bytes_;
  Method method_;
  bool is_marked_;
  std::array<Arena, 2> own_;
  Arena& out_;
  Arena& in_;
  std::vector<int> out_counts_, in_counts_, out_offsets_, in_offsets_;
  std::array<int, 2> to_{};
  std::array<int, 2> from_{};
  std::size_t calls_ = 2;
  std::size_t first_seed_ = 0;
  std::array<typename T::Request, 4> requests_{};
  unsigned rounds_ = 0;
  bool wrong_ = false;
};

inline constexpr AxisInfo ring_axes[] = {
    {"ring", "1:36", "", "1 to 6: rings of growing length; 7 to 36: one ring in random order"},
    {"method", "sendrecv,alltoallv,nonblocking", "", "how a rank exchanges with both neighbours"},
    {"seed", "1", "1", "of the random orders"}};

inline constexpr PatternInfo ring_pattern{
    .name = "ring",
    .what = "every rank sends to both neighbours in a ring: a part of the effective bandwidth",
    .needs = "duplex, non-blocking, collectives",
    .timing = Timing::slowest_rank,
    .axes = ring_axes};
NHALF_PATTERN(ring_pattern, Ring);
}  // namespace nhalf
