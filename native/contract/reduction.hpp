// What reductions combine where a transport leaves the choice: elements of a type, by an operation.
#pragma once

#include <functional>

#include "contract/collectives.hpp"
#include "contract/pattern.hpp"

namespace nhalf {
/// Types of elements: the numbers of C, complex ones of two doubles, pairs of two ints, of which
/// the second one is a place, and four ints as one derived type.
enum class ElementType { float_, char_, int_, long_, double_, complex, pairs, derived };
inline constexpr std::array<std::string_view, 8> element_types{
    "float", "char", "int", "long", "double", "complex", "pairs", "derived"};

/// Operations: those of MPI, and two functions of the program's own. `user` adds numbers. `ordered`
/// does not commute: it composes maps x -> a x + b of whole numbers modulo 2^32, each an (a, b), of
/// which that of the lower rank comes first.
enum class ReductionOperation { sum, min, max, minloc, maxloc, user, ordered };
inline constexpr std::array<std::string_view, 7> reduction_operations{
    "sum", "min", "max", "minloc", "maxloc", "user", "ordered"};

struct Reduction {
  ElementType type = ElementType::float_;
  ReductionOperation operation = ReductionOperation::sum;

  bool operator==(const Reduction&) const = default;

  [[nodiscard]] constexpr std::size_t element_bytes() const {
    constexpr std::size_t sizes[] = {4, 1, 4, sizeof(long), 8, 16, 8, 16};
    return sizes[static_cast<int>(type)];
  }
  [[nodiscard]] constexpr bool commutes() const { return operation != ReductionOperation::ordered; }
  /// Whether MPI has the operation for the type, or a function of ours can.
  [[nodiscard]] constexpr bool is_defined() const {
    using enum ReductionOperation;
    switch (type) {
      case ElementType::complex:
        return operation == sum || operation == user;
      case ElementType::pairs:
        return operation >= minloc;
      case ElementType::derived:
        return operation >= user;
      default:
        return operation <= max || operation == user;
    }
  }

  /// What the axes of a point say. Throws InputError.
  static Reduction of(const Case& point) {
    const Reduction reduction{
        static_cast<ElementType>(point.choice("type", element_types)),
        static_cast<ReductionOperation>(point.choice("op", reduction_operations))};
    const auto type = std::string(element_types[static_cast<std::size_t>(reduction.type)]);
    if (!reduction.is_defined())
      throw InputError(
          "op=" + std::string(reduction_operations[static_cast<std::size_t>(reduction.operation)]) +
          " does not combine type=" + type);
    if (point.size_bytes % reduction.element_bytes() != 0)
      throw InputError("an element of type=" + type + " has " +
                       std::to_string(reduction.element_bytes()) + " bytes: give a multiple");
    return reduction;
  }
};

namespace reductions {
/// Calls `combine(from, to)` for each number of type N, and puts what it returns into `to`.
template <class N, class Combine>
void each(ConstBytes from, Bytes to, Combine combine) {
  for (std::size_t at = 0; at + sizeof(N) <= from.size(); at += sizeof(N)) {
    N term, result;
    std::memcpy(&term, from.data() + at, sizeof term);
    std::memcpy(&result, to.data() + at, sizeof result);
    result = combine(term, result);
    std::memcpy(to.data() + at, &result, sizeof result);
  }
}

/// Sums are those of unsigned numbers, which do not overflow where a timed batch adds them up.
template <class N, class Sum = N>
void numbers(ReductionOperation operation, ConstBytes from, Bytes to) {
  using enum ReductionOperation;
  if (operation == min) return each<N>(from, to, [](N a, N b) { return std::min(a, b); });
  if (operation == max) return each<N>(from, to, [](N a, N b) { return std::max(a, b); });
  each<Sum>(from, to, [](Sum a, Sum b) { return static_cast<Sum>(a + b); });
}

using Pair = std::array<int, 2>;

inline void pairs(ReductionOperation operation, ConstBytes from, Bytes to) {
  using enum ReductionOperation;
  const auto located = [&](auto is_before) {
    each<Pair>(from, to, [=](const Pair& a, const Pair& b) {
      if (a[0] == b[0]) return Pair{a[0], std::min(a[1], b[1])};
      return is_before(a[0], b[0]) ? a : b;
    });
  };
  if (operation == minloc) return located(std::less());
  if (operation == maxloc) return located(std::greater());
  if (operation == user) return numbers<int, unsigned>(sum, from, to);
  using Map = std::array<std::uint32_t, 2>;
  each<Map>(from, to, [](const Map& first, const Map& then) {
    return Map{then[0] * first[0], then[0] * first[1] + then[1]};
  });
}
}  // namespace reductions

/// Sets `to`, element by element, to `from` combined with it, as MPI_Reduce_local does.
inline void combine_elements(const Reduction& reduction, ConstBytes from, Bytes to) {
  if (!is_kept(from.size())) return;
  using namespace reductions;
  switch (reduction.type) {
    case ElementType::char_:
      return numbers<unsigned char>(reduction.operation, from, to);
    case ElementType::int_:
      return numbers<int, unsigned>(reduction.operation, from, to);
    case ElementType::long_:
      return numbers<long, unsigned long>(reduction.operation, from, to);
    case ElementType::double_:
    case ElementType::complex:
      return numbers<double>(reduction.operation, from, to);
    case ElementType::pairs:
    case ElementType::derived:
      return pairs(reduction.operation, from, to);
    default:
      return numbers<float>(reduction.operation, from, to);
  }
}

/// Reductions that follow a call of `reduce_by` combine what it names, on every rank.
template <class T>
concept Reductions = Collectives<T> && requires(T& transport, const Reduction& reduction) {
  transport.reduce_by(reduction);
};

inline constexpr std::array element_multiples{SizeMultiple{"double", 8}, SizeMultiple{"long", 8},
                                              SizeMultiple{"pairs", 8}, SizeMultiple{"complex", 16},
                                              SizeMultiple{"derived", 16}};
inline constexpr std::array reduction_axes{
    AxisInfo{"type", "float", "float",
             "of the elements: float, char, int, long, double, complex, pairs of ints (value and "
             "place), or derived, four ints",
             element_multiples},
    AxisInfo{"op", "sum", "sum",
             "what combines them: sum, min, max; minloc, maxloc of pairs; user, a function of the "
             "program's own that adds; ordered, one that does not commute, on pairs or derived"}};
}  // namespace nhalf
