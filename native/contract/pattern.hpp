// What a pattern is, and the list of patterns that a probe knows.
#pragma once

#include "contract/algorithm.hpp"
#include "contract/options.hpp"

namespace nhalf {
/// Sizes are multiples of this many bytes where an axis has a value.
struct SizeMultiple {
  std::string_view value;
  int bytes = 1;
};

/// A further coordinate of a pattern's points, beside bytes and ranks.
///
/// `values` are those measured where nobody says otherwise: items separated by commas, an item is a
/// word, an integer, a range `A:B` or a doubling `A:B:x2`, whose ends may be `ranks`, an axis named
/// before, or one of them with `-K`, `+K` or `/K`. An axis with a `fallback` is left out of a
/// point's identity where it has that value.
struct AxisInfo {
  std::string_view name;
  std::string_view values;
  std::string_view fallback;
  std::string_view what;
  std::span<const SizeMultiple> size_multiples = {};
};

/// Whose clock a sample is read from.
enum class Timing {
  /// A batch on rank 0, for traffic that ends where it began.
  first_rank,
  /// A batch on every rank; the slowest counts.
  slowest_rank,
  /// One operation at a time, started together; from the first start to the last end.
  operation,
  /// What the pattern itself times, call by call; the slowest rank counts.
  inner,
  /// The end of the launch, of which it is the last point; rank 0's counts.
  launch_end
};

inline std::string_view name_of(Timing timing) {
  constexpr std::string_view names[] = {"first-rank", "slowest-rank", "operation", "inner",
                                        "launch-end"};
  return names[static_cast<int>(timing)];
}

/// What `--describe` says about a pattern, whether or not the transport can run it.
struct PatternInfo {
  std::string_view name;
  std::string_view what;
  std::string_view needs = "";
  /// A sample's time is the batch's time divided by rounds and by this.
  int messages_per_round = 1;
  int ranks_min = 2;
  /// Rate = bytes * bytes_factor / time, unless the pattern's moved_bytes says otherwise.
  int bytes_factor = 1;
  /// A batch holds at least this many rounds.
  std::uint64_t rounds_min = 1;
  /// Whether a batch ends with an acknowledgement, which is in no sample: a short batch is taken
  /// off.
  bool acknowledged = false;
  /// Rounds after which there is an acknowledgement as well, each taken off; 0 if only at the end.
  std::uint64_t window = 0;
  Timing timing = Timing::first_rank;
  std::span<const AxisInfo> axes = {};
  /// Whether a batch is one run, which is prepared before and verified after it, both untimed.
  bool whole_runs = false;
  /// Whether messages have a size at all.
  bool sized = true;
  /// Sizes are multiples of this many bytes.
  int size_multiple = 1;
  /// Whether its operations have a root that `root_at` can move.
  bool rooted = false;
  /// An option of the transport without which it cannot run, as NAME=VALUE.
  std::string_view option = "";
  /// Whether ranks read or write what they send themselves while they are timed, or add it up: it
  /// is always memory of the host.
  bool on_host = false;

  /// Rounds of the batch that is taken off. A receiver that acknowledges to many is late for the
  /// messages of a single round behind that, and for no more.
  [[nodiscard]] constexpr std::uint64_t taken_off() const { return window > 8 ? window / 8 : 1; }
};

/// One point's coordinates, as far as a pattern cares. `hosts` holds, by rank, the number of the
/// host on which it runs (0 for the host of rank 0); empty means one host.
struct Case {
  std::size_t size_bytes = 0;
  Options axes{};
  std::span<const int> hosts{};

  /// Whole numbers on an axis, such as 3:1. Throws InputError for anything else.
  template <class Number>
  [[nodiscard]] std::vector<Number> numbers(const std::string& name,
                                            const std::string& fallback) const {
    std::vector<Number> numbers;
    const auto text = axes.text(name, fallback);
    for (const char *at = text.data(), *const end = at + text.size(); at <= end; ++at) {
      Number number{};
      const auto [stop, error] = std::from_chars(at, end, number);
      if (error != std::errc{} || (stop != end && *stop != ':'))
        throw InputError("axis " + name + " is a list of whole numbers such as 3:1");
      numbers.push_back(number);
      at = stop;
    }
    return numbers;
  }
  /// A whole number on an axis. Throws InputError when it is missing or outside of [low, high].
  [[nodiscard]] int axis(const std::string& name, int low, int high) const {
    const int value = axes.number(name, low - 1);
    if (value < low || value > high)
      throw InputError("axis " + name + " is from " + std::to_string(low) + " to " +
                       std::to_string(high) + " here");
    return value;
  }

  /// Which of `words` an axis has, by place; the first where it is not given.
  [[nodiscard]] std::size_t choice(const std::string& name,
                                   std::span<const std::string_view> words) const {
    const auto word = axes.text(name, std::string(words.front()));
    const auto position = std::ranges::find(words, word);
    if (position == words.end()) throw InputError("axis " + name + " has no value '" + word + "'");
    return static_cast<std::size_t>(position - words.begin());
  }

  /// How many of all ranks run on the host of one of them, itself included.
  [[nodiscard]] std::size_t ranks_beside(int rank, int ranks) const {
    if (hosts.empty()) return static_cast<std::size_t>(ranks);
    return static_cast<std::size_t>(
        std::ranges::count(hosts, hosts[static_cast<std::size_t>(rank)]));
  }
};

/// A named scalar that goes with the samples of a point.
struct Value {
  std::string name;
  double value = 0;
};

/// A pattern made ready for one point on one rank. The one indirect call is per batch.
class Pattern {
 public:
  Pattern() = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  virtual ~Pattern() = default;

  /// Runs the traffic `rounds` times; timed, so neither allocation nor output.
  virtual void run(std::uint64_t rounds) = 0;

  /// Leaves every rank in the step in which its loop begins; not timed.
  virtual void settle() { run(1); }

  /// Runs one round and checks what arrived at this rank; of whole runs it checks the last one.
  virtual bool verify() = 0;

  /// Whether another call of `verify` looks at other messages: where there is no data it would only
  /// take time.
  [[nodiscard]] virtual bool checks_messages() const { return true; }

  /// Whether what the timed rounds left at this rank is right, as far as that can be told from it;
  /// every rank is asked once, after the last of them.
  [[nodiscard]] virtual bool is_right() { return true; }

  /// Learns what it has to know of this point before it is timed; every rank calls it once, or
  /// before each of its whole runs.
  virtual void prepare() {}

  /// Seconds that this rank timed itself in the last run, for Timing::inner; none where it timed
  /// nothing.
  [[nodiscard]] virtual std::optional<double> timed_s() const { return std::nullopt; }

  /// Seconds of each operation of the last run at this rank, for patterns whose samples are single
  /// operations: as many at all ranks, below 0 where a rank had no part, NaN where it is no
  /// sample.
  [[nodiscard]] virtual std::span<const double> operations_s() const { return {}; }

  /// Bytes that move in the time of one sample, where that is not size times bytes_factor.
  [[nodiscard]] virtual std::optional<std::uint64_t> moved_bytes() const { return std::nullopt; }

  /// Makes another rank the root of the next operations; only operations with a root have one.
  virtual void root_at(int) {}

  /// What there is to say beside samples, after the last of them; every rank is asked, rank 0's
  /// answer is kept.
  virtual std::vector<Value> values() { return {}; }
};

/// A pattern as a probe for transport T knows it; `make` is null where T lacks what it needs.
/// `algorithms` are those that its axis of this name chooses from, beside the transport's own.
template <class T>
struct PatternEntry {
  PatternInfo info;
  std::unique_ptr<Pattern> (*make)(T& transport, const Case& point) = nullptr;
  std::vector<AlgorithmEntry> algorithms = {};
};

/// Every pattern compiled into this probe, by name.
template <class T>
std::vector<PatternEntry<T>>& patterns() {
  static std::vector<PatternEntry<T>> all;
  return all;
}

/// Adds a pattern to the list, keeping it sorted by name; with its algorithms where it lets choose.
template <class T>
bool enroll(const PatternInfo& info, std::unique_ptr<Pattern> (*make)(T&, const Case&),
            std::vector<AlgorithmEntry> algorithms) {
  auto& all = patterns<T>();
  const auto at =
      std::ranges::lower_bound(all, info.name, {}, [](const auto& e) { return e.info.name; });
  if (std::ranges::find(info.axes, "algorithm", &AxisInfo::name) == info.axes.end())
    algorithms.clear();
  all.insert(at, PatternEntry<T>{info, make, std::move(algorithms)});
  return true;
}
}  // namespace nhalf

/// Puts a pattern into the probe. Where the transport does not satisfy the template's constraint,
/// or says by `offers` that it leaves the pattern out, it is enrolled as absent: decided by the
/// compiler, shown by `--describe`.
#ifdef NHALF_PROBE
#define NHALF_PATTERN(information, Template)                                                      \
  template <class T>                                                                              \
  auto maker_of_##Template() -> std::unique_ptr<::nhalf::Pattern> (*)(T&, const ::nhalf::Case&) { \
    if constexpr (requires { typename Template<T>; }) {                                           \
      if constexpr (!requires { requires !T::offers(information); })                              \
        return +[](T& transport,                                                                  \
                   const ::nhalf::Case& point) -> std::unique_ptr<::nhalf::Pattern> {             \
          return std::make_unique<Template<T>>(transport, point);                                 \
        };                                                                                        \
    }                                                                                             \
    return nullptr;                                                                               \
  }                                                                                               \
  template <class T>                                                                              \
  std::vector<::nhalf::AlgorithmEntry> algorithms_of_##Template() {                               \
    if constexpr (requires { Template<T>::known(); }) return Template<T>::known();                \
    return {};                                                                                    \
  }                                                                                               \
  inline const bool enrolled_##Template = ::nhalf::enroll<::nhalf::ProbeTransport>(               \
      information, maker_of_##Template<::nhalf::ProbeTransport>(),                                \
      algorithms_of_##Template<::nhalf::ProbeTransport>())
#else
#define NHALF_PATTERN(information, Template) static_assert(true)
#endif

/// Names the transport that this probe is built for; ends every file in transports/.
#ifdef NHALF_PROBE
#define NHALF_TRANSPORT(Class)  \
  namespace nhalf {             \
  using ProbeTransport = Class; \
  }                             \
  static_assert(::nhalf::Transport<Class>)
#else
#define NHALF_TRANSPORT(Class) static_assert(::nhalf::Transport<Class>)
#endif

namespace nhalf {
/// Patterns put these first in their own axes.
inline constexpr std::array operation_axes{
    AxisInfo{"start", "sync", "sync",
             "sync: at an agreed time on synchronised clocks; barrier: as a barrier lets ranks go; "
             "rotating: chains, each operation rooted at the rank that finished the last one"},
    AxisInfo{"buffers", "warm", "warm",
             "cold: before each operation the caches are filled with something else"},
    AxisInfo{"call", "steady", "steady",
             "first: before each operation what the library prepared for them is made anew"},
    AxisInfo{"root", "0", "0", "the rank that is the root, of operations that have one"},
    AxisInfo{"arrival", "together", "together",
             "when ranks come: together; one-late, the last rank after all others; ramp, one after "
             "the other; random, another time in every operation; trace:FOLDER, as they did in a "
             "recording of nhalf trace, which becomes a table of microseconds by rank; timed from "
             "the last start on"},
    AxisInfo{"spread_us", "100", "100", "microseconds from the first of these starts to the last"}};

/// Axes of operations that belong to something made before, whose first call is like any other.
inline constexpr std::array lasting_axes{operation_axes[0], operation_axes[1], operation_axes[4],
                                         operation_axes[5]};
}  // namespace nhalf
