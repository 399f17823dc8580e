// How an operation is done, where its pattern leaves the choice: the axis `algorithm`.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/bases/parts.hpp"
#include "contract/algorithm.hpp"
#include "contract/options.hpp"
#include "contract/pattern.hpp"
#include "patterns/bases/collectives/operation.hpp"

namespace nhalf {

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

/// What is said of every operation on blocks or floats that leaves the choice.
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

/// An operation, with its buffers and checks from Base, by the algorithm that a point asks for;
/// `all` gives those that there are. A pattern adds how the transport does it itself.
template <class T, template <class> class Base, auto all>
class ChosenOperation;
template <class T, template <class> class Base, class Signature,
          const std::vector<Algorithm<T, Signature>>& (*all)()>
class ChosenOperation<T, Base, all> : public Base<T> {
 public:
  static std::vector<AlgorithmEntry> known() { return entries_of(all()); }

  void run(std::uint64_t rounds) override {
    for (; rounds > 0; --rounds) operate(algorithm_);
  }

 protected:
  /// Room for `in_bytes` and `out_bytes`; the base says what it needs beside them.
  ChosenOperation(const PatternInfo& info, T& transport, const Case& point, std::size_t in_bytes,
                  std::size_t out_bytes, decltype(Algorithm<T, Signature>::run) native)
      : Base<T>(transport, point, in_bytes, out_bytes), algorithm_(info, point, all(), native) {}

 private:
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
