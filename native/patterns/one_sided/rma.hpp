// Windows of MPI: made and freed, puts and gets between two ranks and between many, sums, and
// numbers that are changed in one step.
#pragma once

#include "patterns/bases/beside_work.hpp"
#include "patterns/bases/one_sided/accessing.hpp"

namespace nhalf {
inline constexpr std::array made_window_axis{
    AxisInfo{"window", "allocate", "allocate",
             "where its memory comes from: allocate, create, dynamic or shared"}};
inline constexpr auto made_window_axes = joined(lasting_axes, made_window_axis);

inline constexpr PatternInfo rma_window_info{
    .name = "rma-window",
    .what = "a window is made and freed by all ranks; the size is that of each rank's memory",
    .needs = "windows, collectives",
    .timing = Timing::operation,
    .axes = made_window_axes};

template <class T>
  requires Windows<T> && Collectives<T>
class RmaWindow : public Operation<T> {
 public:
  RmaWindow(T& transport, const Case& point)
      : Operation<T>(transport, point),
        kind_(static_cast<WindowKind>(point.choice("window", window_kinds))) {}

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds) {
      auto window =
          this->transport_.open_window(this->size_bytes_, kind_, WindowAccess::fence, {}, {});
      this->transport_.close_window(window);
    }
  }
  /// Memory that is new holds zeros.
  bool verify() override {
    auto window =
        this->transport_.open_window(this->size_bytes_, kind_, WindowAccess::fence, {}, {});
    const bool good =
        std::ranges::all_of(window.local(), [](std::byte b) { return b == std::byte{0}; });
    this->transport_.close_window(window);
    return good;
  }

 private:
  WindowKind kind_;
};
NHALF_PATTERN(rma_window_info, RmaWindow);

template <Windows T, AccessedBy accessed = accessed_pair>
class RmaPut : public Accessing<T> {
 public:
  RmaPut(T& transport, const Case& point)
      : Accessing<T>(transport, point, accessed(transport.rank(), transport.size(), point)) {}

  void run(std::uint64_t rounds) override {
    this->accesses(rounds, [this](int target) {
      this->transport_.put(this->window_, target, this->own_offset(), this->out(target));
    });
  }

  bool verify() override {
    const int rank = this->transport_.rank();
    for (const int target : this->accessed_.targets)
      fill(this->out(target), this->seed(rank, target));
    for (const int origin : this->accessed_.origins) fill(this->here(origin), 1);
    this->access_once();
    return std::ranges::all_of(this->accessed_.origins, [&](int origin) {
      return holds(this->here(origin), this->seed(origin, rank));
    });
  }
};

inline constexpr std::array target_axis{
    AxisInfo{"target", "apart", "apart",
             "what rank 1 does meanwhile: apart, it is not in the time; waits, in a barrier that "
             "ends each access and is timed with it; computes, as long as that takes, before it "
             "calls the barrier"}};
inline constexpr auto put_axes = joined(access_axes, target_axis);

inline constexpr PatternInfo rma_put_info{
    .name = "rma-put",
    .what = "rank 0 puts into a window of rank 1; time of an access with its puts",
    .needs = "windows",
    .axes = put_axes};

/// Whether puts go on while their target calls nothing of the library shows in the overlap of
/// target=computes: Truly_passive_put of the Intel MPI Benchmarks (IMB-RMA).
template <Windows T>
class RmaPutBesideTarget : public RmaPut<T> {
 public:
  RmaPutBesideTarget(T& transport, const Case& point)
      : RmaPut<T>(transport, point),
        work_(transport, does(point) == computes),
        meets_(does(point) != apart) {
    if (meets_ && (this->is_active(point) || this->accessed_.links > 1))
      throw InputError(
          "with target=waits or computes, one way and with an access in which the "
          "target has no part: flush, flush-local, lock or lock-all");
  }

  bool verify() override {
    work_.leave_out();
    return RmaPut<T>::verify();
  }
  void prepare() override { work_.learn(*this); }
  void run(std::uint64_t rounds) override {
    if (!meets_) return RmaPut<T>::run(rounds);
    for (; rounds > 0; --rounds) {
      if (!this->accessed_.origins.empty()) idle_for(this->transport_, work_.duration_s());
      RmaPut<T>::run(1);
      this->transport_.barrier();
    }
  }
  std::vector<Value> values() override { return work_.values(*this); }

 private:
  enum Target : std::size_t { apart, waits, computes };
  static std::size_t does(const Case& point) {
    constexpr std::string_view words[] = {"apart", "waits", "computes"};
    return point.choice("target", words);
  }

  BesideWork<T> work_;
  bool meets_;
};
NHALF_PATTERN(rma_put_info, RmaPutBesideTarget);

inline constexpr PatternInfo rma_put_all_info{
    .name = "rma-put-all",
    .what = "many ranks put at once in each other's windows; time of an access of the slowest",
    .needs = "windows",
    .timing = Timing::slowest_rank,
    .axes = group_access_axes};
template <Windows T>
using RmaPutAll = RmaPut<T, accessed_group>;
NHALF_PATTERN(rma_put_all_info, RmaPutAll);

template <Windows T, AccessedBy accessed = accessed_pair>
class RmaGet : public Accessing<T> {
 public:
  RmaGet(T& transport, const Case& point)
      : Accessing<T>(transport, point, accessed(transport.rank(), transport.size(), point)) {}

  void run(std::uint64_t rounds) override {
    this->accesses(rounds, [this](int target) {
      this->transport_.get(this->window_, target, this->own_offset(), this->in(target));
    });
  }

  bool verify() override {
    const int rank = this->transport_.rank();
    for (const int origin : this->accessed_.origins)
      fill(this->here(origin), this->seed(rank, origin));
    for (const int target : this->accessed_.targets) fill(this->in(target), 1);
    this->access_once();
    return std::ranges::all_of(this->accessed_.targets, [&](int target) {
      return holds(this->in(target), this->seed(target, rank));
    });
  }
};

inline constexpr PatternInfo rma_get_info{
    .name = "rma-get",
    .what = "rank 0 gets from a window of rank 1; time of an access with its gets",
    .needs = "windows",
    .axes = access_axes};
NHALF_PATTERN(rma_get_info, RmaGet);

inline constexpr PatternInfo rma_get_all_info{
    .name = "rma-get-all",
    .what = "many ranks get at once in each other's windows; time of an access of the slowest",
    .needs = "windows",
    .timing = Timing::slowest_rank,
    .axes = group_access_axes};
template <Windows T>
using RmaGetAll = RmaGet<T, accessed_group>;
NHALF_PATTERN(rma_get_all_info, RmaGetAll);

inline constexpr PatternInfo rma_accumulate_info{
    .name = "rma-accumulate",
    .what = "rank 0 adds floats to those in a window of rank 1; time of an access",
    .needs = "windows",
    .axes = access_axes,
    .size_multiple = 4};

template <Windows T>
class RmaAccumulate : public Accessing<T> {
 public:
  RmaAccumulate(T& transport, const Case& point)
      : Accessing<T>(transport, point, accessed_pair(transport.rank(), transport.size(), point)) {
    if (point.size_bytes % sizeof(float) != 0)
      throw InputError("sums are of floats: give a multiple of 4 bytes");
  }

  void run(std::uint64_t rounds) override {
    this->accesses(rounds, [this](int target) {
      this->transport_.accumulate(this->window_, target, this->own_offset(), this->out(target));
    });
  }

  bool verify() override {
    const int rank = this->transport_.rank();
    const auto times = static_cast<float>(this->operations_);
    for (const int target : this->accessed_.targets)
      this->fill_floats(this->out(target), this->term(rank, target));
    for (const int origin : this->accessed_.origins) this->fill_floats(this->here(origin), 1);
    this->access_once();
    return std::ranges::all_of(this->accessed_.origins, [&](int origin) {
      return this->holds_floats(this->here(origin), 1 + times * this->term(origin, rank));
    });
  }
};
NHALF_PATTERN(rma_accumulate_info, RmaAccumulate);

inline constexpr PatternInfo rma_get_accumulate_info{
    .name = "rma-get-accumulate",
    .what =
        "rank 0 adds floats to those in a window of rank 1 and gets what was there before; time of "
        "an access",
    .needs = "windows",
    .axes = access_axes,
    .size_multiple = 4};

template <Windows T>
class RmaGetAccumulate : public RmaAccumulate<T> {
 public:
  RmaGetAccumulate(T& transport, const Case& point) : RmaAccumulate<T>(transport, point) {}

  void run(std::uint64_t rounds) override {
    this->accesses(rounds, [this](int target) {
      this->transport_.get_accumulate(this->window_, target, this->own_offset(), this->out(target),
                                      this->in(target));
    });
  }

  /// What comes back is checked where there is one operation: of more, the last may overtake.
  bool verify() override {
    const bool added = RmaAccumulate<T>::verify();
    return added && (this->operations_ > 1 ||
                     std::ranges::all_of(this->accessed_.targets, [this](int target) {
                       return this->holds_floats(this->in(target), 1);
                     }));
  }
};
NHALF_PATTERN(rma_get_accumulate_info, RmaGetAccumulate);

/// Rank 0 changes a 64-bit number of rank 1's in one step: puts another one in its place, or adds
/// to it. A pattern's size has no meaning. The numbers that rank 0 gives and gets lie in a buffer.
template <Windows T, bool swaps>
class RmaNumber : public Accessing<T> {
 public:
  RmaNumber(T& transport, const Case& point)
      : Accessing<T>(transport, point, accessed_pair(transport.rank(), transport.size(), point),
                     sizeof(std::int64_t)) {
    write(first, bytes_of(first_));
    write(given, bytes_of(given_));
  }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override { return 0; }

  void run(std::uint64_t rounds) override {
    this->accesses(rounds, [this](int target) {
      if constexpr (swaps) {
        this->transport_.compare_and_swap(this->window_, target, this->own_offset(), first_, given_,
                                          before_);
      } else {
        this->transport_.fetch_and_add(this->window_, target, this->own_offset(), given_, before_);
      }
    });
  }

  /// `before_` is what the operation told of the number.
  bool verify() override {
    for (const int origin : this->accessed_.origins) write(first, this->here(origin));
    write(-1, bytes_of(before_));
    this->access_once();
    const auto expected = swaps ? given : first + this->operations_ * given;
    bool good = true;
    for (const int origin : this->accessed_.origins)
      good = good && read(this->here(origin)) == expected;
    if (!this->accessed_.targets.empty() && this->operations_ == 1)
      good = good && read(bytes_of(before_)) == first;
    return good;
  }

 private:
  static constexpr std::int64_t first = 7;
  static constexpr std::int64_t given = swaps ? 11 : 3;

  /// A number where buffers lie, which the host may not be able to read.
  std::int64_t& number(std::size_t index) {
    return reinterpret_cast<std::int64_t*>(numbers_.bytes().data())[index];
  }
  static Bytes bytes_of(std::int64_t& number) {
    return std::as_writable_bytes(std::span(&number, 1));
  }
  static void write(std::int64_t value, Bytes to) { place(bytes_of(value), to); }
  static std::int64_t read(ConstBytes from) {
    std::int64_t value = 0;
    place(from, bytes_of(value));
    return value;
  }

  Buffer numbers_{3 * sizeof(std::int64_t)};
  std::int64_t &first_ = number(0), &given_ = number(1), &before_ = number(2);
};

inline constexpr PatternInfo rma_fetch_and_op_info{
    .name = "rma-fetch-and-op",
    .what = "rank 0 adds to a number in a window of rank 1 and gets what it was; time of an access",
    .needs = "windows",
    .axes = access_axes,
    .sized = false};
template <Windows T>
using RmaFetchAndOp = RmaNumber<T, false>;
NHALF_PATTERN(rma_fetch_and_op_info, RmaFetchAndOp);

inline constexpr PatternInfo rma_compare_and_swap_info{
    .name = "rma-compare-and-swap",
    .what =
        "rank 0 replaces a number in a window of rank 1 if it is what it should be, and gets what "
        "it was; time of an access",
    .needs = "windows",
    .axes = access_axes,
    .sized = false};
template <Windows T>
using RmaCompareAndSwap = RmaNumber<T, true>;
NHALF_PATTERN(rma_compare_and_swap_info, RmaCompareAndSwap);
}  // namespace nhalf
