// What an operation of some ranks takes while the others load the network.
#pragma once

#include "algorithms/allreduce/allreduce.hpp"
#include "contract/permutation.hpp"
#include "patterns/bases/traffic/congestors.hpp"
#include "timing/statistics.hpp"

namespace nhalf {
inline constexpr AxisInfo victim_axes[] = {
    {"of", "allreduce,ring", "",
     "what the victims do: an allreduce of floats; or each sends to the next one of a random ring "
     "and receives from the one before; ring-window: eight messages of each at a time, whose "
     "samples are the time per message"},
    {"load", "none,alltoall,incast,broadcast", "none",
     "what the others do meanwhile: none, they wait; alltoall; incast, all send to one of them; "
     "broadcast, one sends to all; put-incast and get-broadcast, the same one-sided; congestors, a "
     "group of them for each of alltoall, incast, put-incast and get-broadcast, as far as the "
     "transport has them"},
    {"load_bytes", "4096", "4096", "size of their messages"},
    {"victims", "ranks/2", "", "ranks that are victims; 2 or more, and 2 or more others"},
    {"nodes", "shared", "shared",
     "shared: each node has victims and others; apart: whole nodes are the one or the other"}};

inline constexpr PatternInfo victim{
    .name = "victim",
    .what =
        "an operation of one group of ranks while the others load the network, as in GPCNeT "
        "(S. Chunduri and others, SC19); each operation is a sample, the mean of its ranks",
    .needs = "duplex",
    .ranks_min = 4,
    .rounds_min = 20,
    .timing = Timing::inner,
    .axes = victim_axes,
    .size_multiple = 4};

/// A batch: the others begin and send word to the victims when the network is loaded; these then do
/// their operations, each of them timed. Nobody can be asked without a message whether the victims
/// are done, so the others go on for a time that is agreed before (rank 0 knows what an operation
/// took); operations that ended later than that are no samples, and the next batch is given more
/// time.
template <Duplex T>
class Victim : public Pattern {
 public:
  Victim(T& transport, const Case& point)
      : transport_(transport),
        of_(static_cast<Of>(point.choice("of", operations))),
        ranks_(VictimRanks::of(point, transport.size())),
        victims_(transport, is_ring() ? shuffled(ranks_.victims) : ranks_.victims),
        congestors_(transport, point, ranks_.congestors),
        in_(point.size_bytes * messages()),
        out_(in_.size_bytes()),
        times_s_(rounds_kept) {
    if (of_ == Of::ring_window && !NonBlocking<T>)
      throw InputError(
          "of=ring-window needs messages that are started and waited for later, which "
          "this transport has not");
    if (point.size_bytes % sizeof(float) != 0)
      throw InputError("vectors are of floats: bytes must be a multiple of 4");
    if constexpr (requires { T::check_size(point.size_bytes); }) T::check_size(point.size_bytes);
  }
  ~Victim() override {
    if constexpr (divides)
      if (is_divided_) transport_.unite();
  }

  void run(std::uint64_t rounds) override {
    timed_ = std::min<std::size_t>(rounds, rounds_kept);
    std::ranges::fill(times_s_, -1);
    divide();
    share(transport_, operation_s_);
    const double lasts_s = operation_s_ * static_cast<double>(rounds);
    transport_.barrier();
    if (!victims_.has_me()) {
      congestors_.run(victims_.member(0), lasts_s);
    } else {
      operate(rounds, lasts_s);
    }
  }
  void settle() override {}

  bool verify() override {
    divide();
    bool is_sum_right = true;
    if (victims_.has_me()) is_sum_right = is_right_once();
    return congestors_.verify() && is_sum_right;
  }

  /// Finds for how long the others have to go on: the time of an operation under load, and half as
  /// much again.
  void prepare() override {
    constexpr int trials = 12;
    operation_s_ = 0;
    for (int trial = 0; trial < trials && congestors_.are_any(); ++trial) {
      const double before_s = operation_s_;
      run(victim.rounds_min);
      share(transport_, operation_s_);
      if (operation_s_ <= before_s) break;
    }
  }

  [[nodiscard]] std::optional<double> timed_s() const override { return std::nullopt; }
  [[nodiscard]] std::span<const double> operations_s() const override {
    return std::span(times_s_).first(timed_);
  }

  std::vector<Value> values() override {
    double load_Bps = 0;
    const double mine_Bps = congestors_.rate_Bps();
    for (const double rank_Bps : collect(transport_, std::span(&mine_Bps, 1))) load_Bps += rank_Bps;
    std::vector<Value> columns{{"congestors", static_cast<double>(ranks_.congestors.size())}};
    if (of_ == Of::ring_window) columns.push_back({"window", static_cast<double>(messages())});
    if (congestors_.are_any()) columns.push_back({"load_Bps", load_Bps});
    return columns;
  }

 private:
  enum class Of { allreduce, ring, ring_window };
  static constexpr std::string_view operations[] = {"allreduce", "ring", "ring-window"};
  /// Messages that are on their way at a time, as many as GPCNeT's.
  static constexpr std::size_t window = 8;
  static constexpr std::size_t rounds_kept = 4096;
  static constexpr double margin = 1.5;
  static constexpr double surplus = 1.25;
  /// Whether the library has operations of a group.
  static constexpr bool divides = requires(T& transport) {
    transport.divide(0);
    transport.unite();
  };

  static std::vector<int> shuffled(const std::vector<int>& ranks) {
    std::vector<int> order;
    for (const int place : permutation(static_cast<int>(ranks.size()), 1, 0))
      order.push_back(ranks[static_cast<std::size_t>(place)]);
    return order;
  }

  [[nodiscard]] bool is_ring() const { return of_ != Of::allreduce; }
  /// Messages of each victim in an operation of a ring.
  [[nodiscard]] std::size_t messages() const { return of_ == Of::ring_window ? window : 1; }

  void divide() {
    if constexpr (divides) {
      if (!is_divided_) transport_.divide(victims_.has_me() ? 0 : 1);
      is_divided_ = true;
    }
  }

  /// The operations of a victim, which learns what they take; rank 0 is one.
  void operate(std::uint64_t rounds, double lasts_s) {
    if (victims_.rank() == 0) congestors_.await();
    victims_.agreed(true);
    operation();
    const double began_s = transport_.now_s();
    double ended_s = began_s;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const double start_s = ended_s;
      operation();
      ended_s = transport_.now_s();
      const bool is_loaded = !congestors_.are_any() || ended_s - began_s <= lasts_s / margin;
      if (round < timed_)
        times_s_[round] = is_loaded ? (ended_s - start_s) / static_cast<double>(messages())
                                    : std::numeric_limits<double>::quiet_NaN();
    }
    const double needed_s = margin * (ended_s - began_s) / static_cast<double>(rounds);
    if (needed_s > operation_s_) operation_s_ = surplus * needed_s;
  }

  void operation() {
    if (of_ == Of::ring_window) {
      if constexpr (NonBlocking<T>) pass_window();
    } else if (of_ == Of::ring) {
      victims_.exchange(victims_.after(1), in_.bytes(), victims_.after(-1), out_.bytes());
    } else if constexpr (divides) {
      transport_.allreduce(in_.bytes(), out_.bytes());
    } else {
      algorithms::allreduce::recursive_doubling(victims_, scratch_, in_.bytes(), out_.bytes());
    }
  }

  /// Starts all messages to the next one and from the one before, and waits for all.
  void pass_window() {
    const auto size_bytes = in_.size_bytes() / window;
    std::array<typename T::Request, 2 * window> requests{};
    const int from = victims_.member(victims_.after(-1));
    const int to = victims_.member(victims_.after(1));
    for (std::size_t i = 0; i < window; ++i) {
      requests[i] = transport_.irecv(from, out_.bytes().subspan(i * size_bytes, size_bytes));
      requests[window + i] = transport_.isend(to, in_.bytes().subspan(i * size_bytes, size_bytes));
    }
    wait_all(transport_, std::span(requests));
  }

  bool is_right_once() {
    const auto floats = in_.size_bytes() / sizeof(float);
    out_.fill(0);
    if (is_ring()) {
      in_.fill(static_cast<std::uint32_t>(victims_.rank()) + 1);
      operation();
      return out_.holds(static_cast<std::uint32_t>(victims_.after(-1)) + 1);
    }
    // Whole numbers that floats can hold, however many victims there are.
    const auto term = static_cast<float>(victims_.rank() % 7);
    float sum = 0;
    for (int number = 0; number < victims_.size(); ++number) sum += static_cast<float>(number % 7);
    write(in_, std::vector<float>(floats, term));
    operation();
    Buffer expected(in_.size_bytes());
    write(expected, std::vector<float>(floats, sum));
    return !is_kept(in_.size_bytes()) || std::ranges::equal(out_.bytes(), expected.bytes());
  }
  static void write(Buffer& buffer, const std::vector<float>& numbers) {
    place(std::as_bytes(std::span(numbers)), buffer.bytes());
  }

  T& transport_;
  Of of_;
  VictimRanks ranks_;
  Group<T> victims_;
  Congestors<T> congestors_;
  Buffer in_;
  Buffer out_;
  Scratch scratch_;
  std::vector<double> times_s_;
  std::size_t timed_ = 0;
  /// Time that the others are given for each operation.
  double operation_s_ = 0;
  bool is_divided_ = false;
};
NHALF_PATTERN(victim, Victim);
}  // namespace nhalf
