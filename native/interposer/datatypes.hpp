// nhalf-needs: MPI
// The layout of datatypes, and their data as bytes without gaps.
#pragma once

#include <cstdlib>

#include "contract/buffer.hpp"
#include "interposer/recent.hpp"
#include "preloaded/lasting.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::coll {

// Scratch buffers for algorithms and packed data within a program.

/// The scratch buffers of a thread, for all communicators.
struct ScratchBuffers {
  Scratch work, packed_in, packed_out;

  static ScratchBuffers& of_thread() {
    auto* buffers = preloaded::OfThread<ScratchBuffers>::find();
    if (buffers == nullptr) buffers = create();
    is_used() = true;
    return *buffers;
  }

  /// Frees large buffers after an operation.
  static void tidy() {
    if (!is_used()) return;
    auto& buffers = of_thread();
    for (auto* buffer : {&buffers.work, &buffers.packed_in, &buffers.packed_out})
      buffer->give_back_above(kept_bytes);
    is_used() = false;
  }

 private:
  static constexpr std::size_t kept_bytes = std::size_t{1} << 24;

  static ScratchBuffers* create() {
    auto* buffers = new ScratchBuffers;
    preloaded::OfThread<ScratchBuffers>::keep(buffers, [](ScratchBuffers* ended) { delete ended; });
    return buffers;
  }

  static bool& is_used() {
    static constinit thread_local bool used = false;
    return used;
  }
};

/// Lets buffers take memory like the program's own library, without the limit and the first touch
/// of a benchmark.
inline void take_any_memory() {
  memory_source = {.take =
                       [](std::size_t size_bytes) {
                         return static_cast<std::byte*>(std::aligned_alloc(page_bytes, size_bytes));
                       },
                   .give_back = [](std::byte* memory) { std::free(memory); },
                   .is_limited = false};
}

/// Selects one of the scratch buffers.
using ScratchBuffer = Scratch ScratchBuffers::*;

// Determines whether the bytes of a type are sent in memory order, which size and extent do not
// tell: a transposed matrix has the same ones as the matrix.

/// The construction of a type: a named type is in order, a repetition if the repeated type is.
struct Construction {
  bool is_named = false;
  /// Null unless the type repeats one other type without gaps.
  MPI_Datatype repeated = MPI_DATATYPE_NULL;
};

inline Construction construction_of(MPI_Datatype type) {
  Construction construction;
  int integers = 0, addresses = 0, types = 0, combiner = MPI_UNDEFINED;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
    return construction;
  construction.is_named = combiner == MPI_COMBINER_NAMED;
  if (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) return construction;
  // A type with a count of 64 bits does not fit here, and is tried like any other type.
  if (types != 1 || integers > 1 || addresses != 0) return construction;
  int count = 0;
  if (PMPI_Type_get_contents(type, integers, addresses, types, &count, nullptr,
                             &construction.repeated) != MPI_SUCCESS)
    construction.repeated = MPI_DATATYPE_NULL;
  return construction;
}

/// Largest type that is tried; larger ones count as out of order.
inline constexpr std::size_t tried_bytes_max = 1 << 16;

/// Tests the order by packing numbered bytes, twice, since a byte holds half of a number.
inline bool packs_in_order(MPI_Datatype type, std::size_t size_bytes) {
  if (size_bytes > tried_bytes_max) return false;
  std::vector<unsigned char> data(size_bytes), packed(size_bytes);
  for (const unsigned shift : {0U, 8U}) {
    for (std::size_t i = 0; i < size_bytes; ++i) data[i] = static_cast<unsigned char>(i >> shift);
    int at = 0;
    const auto packed_bytes = static_cast<int>(size_bytes);
    if (PMPI_Pack(data.data(), 1, type, packed.data(), packed_bytes, &at, MPI_COMM_SELF) !=
            MPI_SUCCESS ||
        at != packed_bytes || data != packed)
      return false;
  }
  return true;
}

/// Whether the bytes of a type follow each other from the address on without gaps.
inline bool has_no_gaps(MPI_Datatype type, std::size_t size_bytes) {
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
  return lower == 0 && true_lower == 0 && extent == true_extent &&
         std::cmp_equal(extent, size_bytes);
}

/// Whether elements follow each other from the address on, without gaps or overlaps, and in order.
inline bool is_in_order(MPI_Datatype type) {
  MPI_Count size = 0;
  if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return false;
  const auto size_bytes = static_cast<std::size_t>(size);
  if (!has_no_gaps(type, size_bytes)) return false;
  auto [is_named, repeated] = construction_of(type);
  if (is_named) return true;
  if (repeated == MPI_DATATYPE_NULL) return packs_in_order(type, size_bytes);
  const bool is_repeated_in_order = is_in_order(repeated);
  if (!construction_of(repeated).is_named) PMPI_Type_free(&repeated);
  return is_repeated_in_order;
}

/// Kinds of predefined types by the operations that they take (MPI 4.1, section 6.9.2).
enum class Kind : unsigned char {
  other,
  integer,
  floating_point,
  complex,
  logical,
  byte,
  address,
  pair
};

/// A predefined type and its kind.
struct Predefined {
  MPI_Datatype type;
  Kind kind;
};

// clang-format off
inline std::span<const Predefined> predefined_types() {
  using enum Kind;
  static const Predefined types[]{
      {MPI_BYTE, byte}, {MPI_INT, integer},
      {MPI_DOUBLE, floating_point}, {MPI_FLOAT, floating_point},
      {MPI_CHAR, other}, {MPI_WCHAR, other}, {MPI_PACKED, other},
      {MPI_SIGNED_CHAR, integer}, {MPI_UNSIGNED_CHAR, integer},
      {MPI_SHORT, integer}, {MPI_UNSIGNED_SHORT, integer}, {MPI_UNSIGNED, integer},
      {MPI_LONG, integer}, {MPI_UNSIGNED_LONG, integer},
      {MPI_LONG_LONG, integer}, {MPI_UNSIGNED_LONG_LONG, integer},
      {MPI_INT8_T, integer}, {MPI_INT16_T, integer}, {MPI_INT32_T, integer},
      {MPI_INT64_T, integer}, {MPI_UINT8_T, integer}, {MPI_UINT16_T, integer},
      {MPI_UINT32_T, integer}, {MPI_UINT64_T, integer},
      {MPI_AINT, address}, {MPI_OFFSET, address}, {MPI_COUNT, address},
      {MPI_LONG_DOUBLE, floating_point}, {MPI_C_BOOL, logical},
      {MPI_C_FLOAT_COMPLEX, complex}, {MPI_C_DOUBLE_COMPLEX, complex},
      {MPI_C_LONG_DOUBLE_COMPLEX, complex},
      {MPI_FLOAT_INT, pair}, {MPI_DOUBLE_INT, pair}, {MPI_LONG_INT, pair}, {MPI_2INT, pair},
      {MPI_SHORT_INT, pair}, {MPI_LONG_DOUBLE_INT, pair},
      {MPI_INTEGER, integer},
      {MPI_REAL, floating_point}, {MPI_DOUBLE_PRECISION, floating_point},
      {MPI_LOGICAL, logical}, {MPI_COMPLEX, complex}, {MPI_DOUBLE_COMPLEX, complex},
      {MPI_CHARACTER, other}, {MPI_2INTEGER, pair}, {MPI_2REAL, pair},
      {MPI_2DOUBLE_PRECISION, pair},
  };
  return types;
}
// clang-format on

/// Size, extent and order of the elements of a type in memory.
struct Layout {
  std::int64_t size_bytes = 0;
  std::int64_t extent_bytes = 0;
  /// Whether elements follow each other from the address on, without gaps or overlaps.
  bool is_dense = false;
  bool is_predefined = false;
  Kind kind = Kind::other;
  /// False if the size is unknown or the handle is null.
  bool is_valid = false;
};

inline Layout examined(MPI_Datatype type) {
  Layout layout;
  if (type == MPI_DATATYPE_NULL) return layout;
  MPI_Count size = 0;
  if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size == MPI_UNDEFINED) return layout;
  MPI_Aint lower = 0, extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  layout.size_bytes = static_cast<std::int64_t>(size);
  layout.extent_bytes = static_cast<std::int64_t>(extent);
  layout.is_dense = is_in_order(type);
  layout.is_valid = true;
  for (const auto& entry : predefined_types()) {
    if (entry.type != type) continue;
    layout.is_predefined = true;
    layout.kind = entry.kind;
    break;
  }
  return layout;
}

/// Returns the keyval under which the layout of a type is attached to it; a cache by handle would
/// go stale when handles are reused.
inline int key_of_layouts() {
  static const int key = [] {
    int keyval = MPI_KEYVAL_INVALID;
    const auto forget = [](MPI_Datatype, int, void* value, void*) -> int {
      delete static_cast<Layout*>(value);
      return MPI_SUCCESS;
    };
    const auto copy_nothing = [](MPI_Datatype, int, void*, void*, void*, int* is_copied) -> int {
      *is_copied = 0;
      return MPI_SUCCESS;
    };
    PMPI_Type_create_keyval(copy_nothing, forget, &keyval, nullptr);
    return keyval;
  }();
  return key;
}

inline Layout attached_or_examined(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return {};
  void* attached = nullptr;
  int is_attached = 0;
  if (PMPI_Type_get_attr(type, key_of_layouts(), static_cast<void*>(&attached), &is_attached) ==
          MPI_SUCCESS &&
      is_attached != 0)
    return *static_cast<const Layout*>(attached);
  const auto layout = examined(type);
  if (layout.is_predefined || !layout.is_valid) return layout;
  auto copy = std::make_unique<Layout>(layout);
  if (PMPI_Type_set_attr(type, key_of_layouts(), copy.get()) == MPI_SUCCESS)
    static_cast<void>(copy.release());
  return layout;
}

/// The layout of a predefined type, whose handle never changes its meaning.
struct KnownLayout {
  MPI_Datatype type{};
  Layout layout;
};
inline KnownLayout& place_of_layout(MPI_Datatype type) {
  static constinit thread_local Recent<KnownLayout> layouts;
  return layouts.place_of(type);
}

/// Returns the cached layout of a predefined type; null if it is not cached.
inline const Layout* known_layout(MPI_Datatype type) {
  const KnownLayout& place = place_of_layout(type);
  return place.type == type && place.layout.is_predefined ? &place.layout : nullptr;
}

/// Returns the layout of a type, valid until the next call in this thread.
inline const Layout& layout_of(MPI_Datatype type) {
  if (const Layout* cached = known_layout(type)) return *cached;
  static thread_local Layout layout;
  layout = attached_or_examined(type);
  if (layout.is_predefined) place_of_layout(type) = {type, layout};
  return layout;
}

/// Returns a rank's data as bytes without gaps: its own memory, or a packed copy.
inline ConstBytes packed(ScratchBuffer scratch, const void* data, std::int64_t count,
                         MPI_Datatype type, const Layout& layout, MPI_Comm comm) {
  const auto size_bytes = static_cast<std::size_t>(count * layout.size_bytes);
  if (layout.is_dense) return {static_cast<const std::byte*>(data), size_bytes};
  const auto copy = (ScratchBuffers::of_thread().*scratch).bytes(size_bytes);
  int at = 0;
  PMPI_Pack(data, static_cast<int>(count), type, copy.data(), static_cast<int>(size_bytes), &at,
            comm);
  return copy;
}

/// Receives bytes without gaps: in the rank's own memory, or in scratch that `unpack` unpacks.
class Unpacked {
 public:
  Unpacked(ScratchBuffer scratch, void* data, std::int64_t count, MPI_Datatype type,
           const Layout& layout, MPI_Comm comm)
      : data_(data), count_(count), type_(type), comm_(comm), is_dense_(layout.is_dense) {
    const auto size_bytes = static_cast<std::size_t>(count * layout.size_bytes);
    bytes_ = is_dense_ ? Bytes(static_cast<std::byte*>(data), size_bytes)
                       : (ScratchBuffers::of_thread().*scratch).bytes(size_bytes);
  }
  [[nodiscard]] Bytes bytes() const { return bytes_; }

  void unpack() const {
    if (is_dense_) return;
    int at = 0;
    PMPI_Unpack(bytes_.data(), static_cast<int>(bytes_.size()), &at, data_,
                static_cast<int>(count_), type_, comm_);
  }

 private:
  void* data_;
  std::int64_t count_;
  MPI_Datatype type_;
  MPI_Comm comm_;
  bool is_dense_;
  Bytes bytes_;
};

}  // namespace nhalf::coll
