// What patterns of collective operations have in common: buffers, a root, in place or not; how a
// transport is asked for each form of the operations of contract/operations.inc, and the axis
// `algorithm`, where the choice is left.
#pragma once

#include "algorithms/bases/parts.hpp"
#include "contract/pattern.hpp"

namespace nhalf {
/// What an operation is called with at one rank; those without counts leave them empty.
struct Operands {
  int root = 0;
  ConstBytes in{};
  Bytes out{};
  PerRank counts{};
  PerRank offsets{};
};

/// Operands of an operation among neighbours.
template <class Neighbourhood>
struct NeighbourOperands {
  const Neighbourhood& among;
  ConstBytes in{};
  Bytes out{};
  PerRank counts{};
  PerRank offsets{};
  WideOffsets wide_offsets{};
};

/// Each operation is a type: `run` does it, `begin` starts it, `prepare` sets it up to be started;
/// `begins` says which transports have its non-blocking form, and `begun_needs` what others lack.
namespace operations {
#define NHALF_FORM(form, call, ...)                                           \
  static auto form(auto& transport, const Operands& operands) {               \
    [[maybe_unused]] const auto& [root, in, out, counts, offsets] = operands; \
    return transport.call(__VA_ARGS__);                                       \
  }
#define NHALF_OPERATION(needed, Needed, operation, ...)     \
  struct operation {                                        \
    static constexpr std::string_view begun_needs = needed; \
    template <class T>                                      \
    static constexpr bool begins = Needed<T>;               \
    NHALF_FORM(run, operation, __VA_ARGS__)                 \
    NHALF_FORM(begin, i##operation, __VA_ARGS__)            \
    NHALF_FORM(prepare, prepare_##operation, __VA_ARGS__)   \
  };
#define NHALF_EQUAL(...) \
  NHALF_OPERATION("non-blocking-collectives", NonBlockingCollectives, __VA_ARGS__)
#define NHALF_VARYING(...) \
  NHALF_OPERATION("non-blocking-varying-collectives", NonBlockingVaryingCollectives, __VA_ARGS__)
#include "contract/operations.inc"
#undef NHALF_OPERATION
#undef NHALF_FORM

#define NHALF_FORM(form, call, ...)                                                          \
  static auto form(auto& transport, const auto& operands) {                                  \
    [[maybe_unused]] const auto& [among, in, out, counts, offsets, wide_offsets] = operands; \
    return transport.call(__VA_ARGS__);                                                      \
  }
#define NHALF_NEIGHBOUR(operation, ...)                               \
  struct operation {                                                  \
    static constexpr std::string_view begun_needs = "neighbourhoods"; \
    template <class T>                                                \
    static constexpr bool begins = Neighbourhoods<T>;                 \
    NHALF_FORM(run, operation, __VA_ARGS__)                           \
    NHALF_FORM(begin, i##operation, __VA_ARGS__)                      \
  };
#include "contract/operations.inc"
#undef NHALF_FORM
}  // namespace operations

/// Several lists of axes as one.
template <std::size_t... Counts>
constexpr auto joined(const std::array<AxisInfo, Counts>&... lists) {
  std::array<AxisInfo, (Counts + ...)> all;
  auto next = all.begin();
  ((next = std::copy(lists.begin(), lists.end(), next)), ...);
  return all;
}

inline constexpr std::array place_axis{
    AxisInfo{"place", "out", "out",
             "in: the result comes where the data was (MPI_IN_PLACE); out: elsewhere"}};

inline constexpr auto in_place_axes = joined(operation_axes, place_axis);

/// One collective operation with its buffers at one rank. A pattern says, in `aim`, which bytes it
/// gives and gets when `root_` is the root, and checks them for real.
template <Collectives T>
class Operation : public Pattern {
 public:
  void root_at(int root) override {
    root_ = root;
    aim();
  }

 protected:
  /// Room for what any rank may have to give and to get, as root or not.
  Operation(T& transport, const Case& point, std::size_t in_bytes = 0, std::size_t out_bytes = 0)
      : transport_(transport),
        size_bytes_(checked(point.size_bytes)),
        in_place_(wants_in_place(point)),
        in_buffer_(in_bytes),
        out_buffer_(out_bytes) {
    Operation::aim();
  }

  /// Points `in_` and `out_` at what this rank gives and gets: all that there is, unless a pattern
  /// knows better and says so once it is made.
  virtual void aim() {
    out_ = out_buffer_.bytes();
    in_ = in_place_ ? out_ : in_buffer_.bytes();
  }

  [[nodiscard]] static bool wants_in_place(const Case& point) {
    constexpr std::string_view places[] = {"out", "in"};
    return point.choice("place", places) == 1;
  }
  [[nodiscard]] Operands operands() const {
    return {.root = root_, .in = in_, .out = out_, .counts = {}, .offsets = {}};
  }
  [[nodiscard]] bool is_root() const { return transport_.rank() == root_; }

  using Pattern::run;
  T& transport_;
  std::size_t size_bytes_;
  bool in_place_;
  int root_ = 0;
  Buffer in_buffer_;
  Buffer out_buffer_;
  Bytes in_;
  Bytes out_;

 private:
  /// A size that one call can name, where the transport has a limit.
  static std::size_t checked(std::size_t size_bytes) {
    if constexpr (requires { T::check_size(size_bytes); }) T::check_size(size_bytes);
    return size_bytes;
  }
};

/// What the transport's own way is called.
inline constexpr std::string_view native_algorithm = "native";

inline constexpr std::array algorithm_axis{
    AxisInfo{"algorithm", native_algorithm, native_algorithm,
             "native: as the library does it; else one of the pattern's algorithms, on the "
             "library's sends and receives"}};

inline constexpr std::array part_axis{
    AxisInfo{"part", "8192", "8192", "bytes of a part, for algorithms that cut messages"}};

inline constexpr auto algorithm_axes = joined(operation_axes, algorithm_axis);
inline constexpr auto in_place_algorithm_axes = joined(in_place_axes, algorithm_axis);

/// What is said of every operation on blocks or vectors that leaves the choice.
constexpr PatternInfo collective_pattern(std::string_view name, std::string_view description,
                                         bool rooted, int size_multiple = 1) {
  return {.name = name,
          .what = description,
          .needs = "collectives",
          .timing = Timing::operation,
          .axes = in_place_algorithm_axes,
          .size_multiple = size_multiple,
          .rooted = rooted};
}

/// The algorithms of a list as `--describe` shows them.
template <class List>
std::vector<AlgorithmEntry> entries_of(const List& list) {
  std::vector<AlgorithmEntry> entries;
  for (const auto& algorithm : list) entries.push_back({algorithm.info, algorithm.run != nullptr});
  return entries;
}

/// The algorithm that a point asks for: one indirect call per operation, with memory that the first
/// operation of a size gets.
template <class T, class Signature>
class ChosenAlgorithm;
template <class T, class... Arguments>
class ChosenAlgorithm<T, void(Arguments...)> {
 public:
  using Known = Algorithm<T, void(Arguments...)>;

  /// Throws InputError for a name that is not in the list, for what the transport cannot run, and
  /// for parts of an algorithm that has none.
  ChosenAlgorithm(const PatternInfo& info, const Case& point, const std::vector<Known>& list,
                  decltype(Known::run) native)
      : run_(native) {
    const auto name = point.axes.text("algorithm", std::string(native_algorithm));
    part_bytes_ = point.axes.number("part", default_part_bytes);
    const bool is_cut = part_bytes_ != default_part_bytes;
    if (part_bytes_ == 0) throw InputError("axis part is 1 or more");
    if (name == native_algorithm && is_cut)
      throw InputError("how the library itself cuts messages is its own: choose an algorithm");
    if (name == native_algorithm) return;
    const auto entry =
        std::ranges::find(list, name, [](const Known& known) { return known.info.name; });
    const auto pattern = std::string(info.name);
    if (entry == list.end())
      throw InputError("pattern " + pattern + " has no algorithm '" + name + "'");
    if (entry->run == nullptr)
      throw InputError("algorithm " + name + " of " + pattern +
                       " is absent: the transport lacks messages of the kind that it sends");
    if (!entry->info.keeps_order && point.axes.text("op", "") == "ordered")
      throw InputError("algorithm " + name + " of " + pattern +
                       " does not keep the order of ranks, which op=ordered needs");
    run_ = entry->run;
    if (is_cut) run_in_parts_ = entry->run_in_parts;
    if (is_cut && run_in_parts_ == nullptr)
      throw InputError("algorithm " + name + " of " + pattern + " does not cut messages");
  }

  void operator()(T& transport, Arguments... arguments) {
    if (run_in_parts_ != nullptr) {
      run_in_parts_(transport, arguments..., part_bytes_);
    } else {
      run_(transport, scratch_, arguments...);
    }
  }

 private:
  decltype(Known::run) run_;
  decltype(Known::run_in_parts) run_in_parts_ = nullptr;
  std::size_t part_bytes_ = default_part_bytes;
  Scratch scratch_;
};

/// An operation, with its buffers and checks from Base, by the algorithm that a point asks for:
/// the transport's own, which Call names, or one of `all`.
template <class Base, auto all, class Call, const PatternInfo& info>
class ChosenOperation;
template <class Base, class T, class Signature,
          const std::vector<Algorithm<T, Signature>>& (*all)(), class Call, const PatternInfo& info>
class ChosenOperation<Base, all, Call, info> : public Base {
 public:
  ChosenOperation(T& transport, const Case& point)
      : Base(transport, point),
        algorithm_(info, point, all(), [](T& on, Scratch&, auto... arguments) {
          Call::run(on, operands_of(arguments...));
        }) {}

  static std::vector<AlgorithmEntry> known() { return entries_of(all()); }

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds) operate(algorithm_);
  }

 private:
  // What algorithms of each signature are called with, as operands and back.
  static Operands operands_of() { return {}; }
  static Operands operands_of(int root, Bytes out) { return {.root = root, .out = out}; }
  static Operands operands_of(int root, ConstBytes in, Bytes out) {
    return {.root = root, .in = in, .out = out};
  }
  static Operands operands_of(ConstBytes in, Bytes out) { return {.in = in, .out = out}; }

  void operate(ChosenAlgorithm<T, void()>& algorithm) { algorithm(this->transport_); }
  void operate(ChosenAlgorithm<T, void(int, Bytes)>& algorithm) {
    algorithm(this->transport_, this->root_, this->out_);
  }
  void operate(ChosenAlgorithm<T, void(int, ConstBytes, Bytes)>& algorithm) {
    algorithm(this->transport_, this->root_, this->in_, this->out_);
  }
  void operate(ChosenAlgorithm<T, void(ConstBytes, Bytes)>& algorithm) {
    algorithm(this->transport_, this->in_, this->out_);
  }

  ChosenAlgorithm<T, Signature> algorithm_;
};
}  // namespace nhalf
