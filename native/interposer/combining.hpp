// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// What a reduction does with two vectors: any operation on any type whose elements need no packing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "contract/transport.hpp"
#include "interposer/datatypes.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::coll {

/// A predefined operation, all of which commute, and the kinds of types that it takes, as bits.
struct KnownOperation {
  MPI_Op operation;
  unsigned kinds;
};

constexpr unsigned bit(Kind kind) {
  return 1U << static_cast<unsigned>(kind);
}

inline std::span<const KnownOperation> known_operations() {
  using enum Kind;
  static constexpr unsigned ordered = bit(integer) | bit(real) | bit(address);
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

/// A pair of an operation and a type. Elements are sent as they lie in memory, with their padding.
class Combining {
 public:
  Combining() = default;
  /// `is_valid` tells whether this can be had; the answer is one on all ranks, for they must give
  /// the same operation and type.
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
  /// True where operation and type are MPI's own, so that their handles never mean another thing.
  [[nodiscard]] bool is_fixed() const { return is_fixed_; }
  [[nodiscard]] bool is(MPI_Op operation, MPI_Datatype type) const {
    return is_fixed_ && operation == operation_ && type == type_;
  }

  /// Makes `to` of `from` before `to`.
  void operator()(ConstBytes from, Bytes to) const {
    const auto elements = from.size() / element_bytes_;
    if (quick_ != nullptr) return quick_(from.data(), to.data(), elements);
    PMPI_Reduce_local(from.data(), to.data(), static_cast<int>(elements), type_, operation_);
  }

 private:
  using Quick = void (*)(const void* from, void* to, std::size_t elements);

  bool takes(const Layout& layout) {
    for (const auto& known : known_operations()) {
      if (known.operation != operation_) continue;
      return layout.is_predefined && (known.kinds & bit(layout.kind)) != 0;
    }
    is_fixed_ = false;
    int commutes = 0;
    if (PMPI_Op_commutative(operation_, &commutes) != MPI_SUCCESS) return false;
    commutes_ = commutes != 0;
    return layout.is_dense || layout.is_predefined;
  }

  template <class Value, class Function>
  static void each(const void* from, void* to, std::size_t elements) {
    const auto* term = static_cast<const Value*>(from);
    auto* sum = static_cast<Value*>(to);
    for (std::size_t i = 0; i < elements; ++i) sum[i] = Function{}(term[i], sum[i]);
  }
  /// Sums of the most common types, which a call of the library would take longer to begin.
  static Quick quick_for(MPI_Op operation, MPI_Datatype type) {
    if (operation != MPI_SUM) return nullptr;
    if (type == MPI_DOUBLE) return each<double, std::plus<>>;
    if (type == MPI_FLOAT) return each<float, std::plus<>>;
    if (type == MPI_INT) return each<unsigned, std::plus<>>;
    if (type == MPI_LONG) return each<unsigned long, std::plus<>>;
    return nullptr;
  }

  MPI_Op operation_ = MPI_OP_NULL;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  Quick quick_ = nullptr;
  std::size_t element_bytes_ = 1;
  bool is_valid_ = false;
  bool is_fixed_ = false;
  bool commutes_ = true;
};

/// The last pair of MPI's own is remembered.
inline const Combining& combining_of(MPI_Op operation, MPI_Datatype type) {
  static thread_local Combining last;
  if (!last.is(operation, type)) last = Combining(operation, type);
  return last;
}

}  // namespace nhalf::coll
