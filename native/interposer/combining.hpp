// nhalf-needs: MPI
// Combines two vectors of a reduction: any operation on any type whose elements need no packing.
#pragma once

#include <climits>
#include <functional>

#include "interposer/datatypes.hpp"
#include "preloaded/library.hpp"

namespace nhalf::coll {

/// A predefined operation and the kinds of types that it takes, as bits; all of them commute.
struct KnownOperation {
  MPI_Op operation;
  unsigned kinds;
};

constexpr unsigned bit(Kind kind) {
  return 1U << static_cast<unsigned>(kind);
}

inline std::span<const KnownOperation> known_operations() {
  using enum Kind;
  static constexpr unsigned ordered = bit(integer) | bit(floating_point) | bit(address);
  static constexpr unsigned truth = bit(integer) | bit(logical);
  static constexpr unsigned bits = bit(integer) | bit(byte) | bit(address);
  static const KnownOperation operations[]{{MPI_SUM, ordered | bit(complex)},
                                           {MPI_MAX, ordered},
                                           {MPI_MIN, ordered},
                                           {MPI_PROD, ordered | bit(complex)},
                                           {MPI_LAND, truth},
                                           {MPI_LOR, truth},
                                           {MPI_LXOR, truth},
                                           {MPI_BAND, bits},
                                           {MPI_BOR, bits},
                                           {MPI_BXOR, bits},
                                           {MPI_MINLOC, bit(pair)},
                                           {MPI_MAXLOC, bit(pair)},
                                           {MPI_REPLACE, 0},
                                           {MPI_NO_OP, 0}};
  return operations;
}

/// An operation with a type. Elements are sent as they lie in memory, with their padding.
class Combining {
 public:
  Combining() = default;
  /// Examines operation and type. `is_valid` is equal on all ranks, since these have to pass the
  /// same operation and type.
  Combining(MPI_Op operation, MPI_Datatype type) : operation_(operation), type_(type) {
    if (operation == MPI_OP_NULL) return;
    const Layout& layout = layout_of(type);
    is_fixed_ = layout.is_predefined;
    if (!layout.is_valid || layout.extent_bytes <= 0) return;
    element_bytes_ = static_cast<std::size_t>(layout.extent_bytes);
    is_valid_ = takes(layout);
    if (is_valid_) quick_ = quick_for(operation, type);
  }

  [[nodiscard]] bool is_valid() const { return is_valid_; }
  [[nodiscard]] bool commutes() const { return commutes_; }
  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }
  /// Whether no result depends on the order in which the terms of `ranks` ranks are combined.
  [[nodiscard]] bool is_exact(int ranks) const { return ranks <= exact_ranks_; }
  /// Whether operation and type are predefined, so that their handles never change their meaning.
  [[nodiscard]] bool is_fixed() const { return is_fixed_; }
  [[nodiscard]] bool is(MPI_Op operation, MPI_Datatype type) const {
    return is_fixed_ && operation == operation_ && type == type_;
  }

  /// Sets `to` to `from` combined with `to`, in this order.
  void operator()(ConstBytes from, Bytes to) const {
    const auto elements = from.size() / element_bytes_;
    if (quick_ != nullptr) return quick_(from.data(), to.data(), elements);
    PMPI_Reduce_local(from.data(), to.data(), static_cast<int>(elements), type_, operation_);
  }

 private:
  using Quick = void (*)(const void* from, void* to, std::size_t elements);

  bool takes(const Layout& layout) {
    for (const auto& entry : known_operations()) {
      if (entry.operation != operation_) continue;
      if (!layout.is_predefined || (entry.kinds & bit(layout.kind)) == 0) return false;
      exact_ranks_ = exact_ranks(layout.kind);
      return true;
    }
    is_fixed_ = false;
    int commutes = 0;
    if (PMPI_Op_commutative(operation_, &commutes) != MPI_SUCCESS) return false;
    commutes_ = commutes != 0;
    return layout.is_dense || layout.is_predefined;
  }

  /// Returns the largest number of ranks whose terms may be combined in any order: rounding depends
  /// on it, but for one sum or product; so does which zero or NaN is the maximum, and a tie.
  [[nodiscard]] int exact_ranks(Kind kind) const {
    using enum Kind;
    // Open MPI's sums of short integers saturate in vector registers, and wrap around elsewhere.
    const bool is_short = kind == integer && element_bytes_ < sizeof(int);
    if (is_short && operation_ == MPI_SUM && preloaded::library_is("Open MPI")) return 0;
    if (kind == integer || kind == logical || kind == byte || kind == address) return INT_MAX;
    const bool is_sum = operation_ == MPI_SUM && (kind == floating_point || kind == complex);
    return is_sum || (operation_ == MPI_PROD && kind == floating_point) ? 2 : 0;
  }

  template <class Value, class Function>
  static void combine_elements(const void* from, void* to, std::size_t elements) {
    const auto* term = static_cast<const Value*>(from);
    auto* sum = static_cast<Value*>(to);
    for (std::size_t i = 0; i < elements; ++i) sum[i] = Function{}(term[i], sum[i]);
  }
  /// Returns a loop for sums of the most common types, where the overhead of a library call
  /// matters.
  static Quick quick_for(MPI_Op operation, MPI_Datatype type) {
    if (operation != MPI_SUM) return nullptr;
    if (type == MPI_DOUBLE) return combine_elements<double, std::plus<>>;
    if (type == MPI_FLOAT) return combine_elements<float, std::plus<>>;
    if (type == MPI_INT) return combine_elements<unsigned, std::plus<>>;
    if (type == MPI_LONG) return combine_elements<unsigned long, std::plus<>>;
    return nullptr;
  }

  MPI_Op operation_ = MPI_OP_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  Quick quick_ = nullptr;
  std::size_t element_bytes_ = 1;
  bool is_valid_ = false;
  bool is_fixed_ = false;
  bool commutes_ = true;
  int exact_ranks_ = 0;
};

inline Combining& last_combining() {
  static thread_local Combining last;
  return last;
}

/// Returns the combination of an operation and a type; caches the last predefined one.
inline const Combining& combining_of(MPI_Op operation, MPI_Datatype type) {
  Combining& last = last_combining();
  if (!last.is(operation, type)) last = Combining(operation, type);
  return last;
}

/// Returns the combination if it is cached; null otherwise.
inline const Combining* known_combining(MPI_Op operation, MPI_Datatype type) {
  const Combining& last = last_combining();
  return last.is(operation, type) ? &last : nullptr;
}

}  // namespace nhalf::coll
