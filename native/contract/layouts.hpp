// Data that does not lie together: which of it, and messages of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "contract/transport.hpp"

namespace nhalf {

/// How data lies in memory, by the constructor of MPI that describes it.
enum class LayoutKind { vector, indexed, structure, contiguous };
inline constexpr std::array<std::string_view, 4> layout_kinds{"vector", "indexed", "struct",
                                                              "contiguous"};

/// Equal blocks of bytes with gaps between them. A vector has gaps of a block; indexed blocks have
/// gaps that differ; a structure is two half blocks, a quarter of a block apart, in a row of such.
struct Layout {
  LayoutKind kind = LayoutKind::contiguous;
  std::size_t block_bytes = 1;
  /// Where blocks, or half blocks of structures, begin.
  std::vector<std::size_t> offsets{};
  std::size_t piece_bytes = 1;
  std::size_t extent_bytes = 0;

  /// `size_bytes` is a multiple of the block.
  static Layout of(LayoutKind kind, std::size_t block_bytes, std::size_t size_bytes) {
    Layout described{.kind = kind, .block_bytes = block_bytes, .piece_bytes = block_bytes};
    if (kind == LayoutKind::contiguous) {
      described.piece_bytes = size_bytes;
      if (size_bytes > 0) described.offsets = {0};
      described.extent_bytes = size_bytes;
      return described;
    }
    const auto blocks = size_bytes / block_bytes;
    if (kind == LayoutKind::structure) described.piece_bytes = block_bytes / 2;
    for (std::size_t i = 0; i < blocks; ++i) {
      const auto first = 2 * block_bytes * i;
      const bool moved = kind == LayoutKind::indexed && i % 2 == 1;
      described.offsets.push_back(first + (moved ? block_bytes / 2 : 0));
      if (kind == LayoutKind::structure) described.offsets.push_back(first + block_bytes * 3 / 4);
    }
    described.extent_bytes = 2 * block_bytes * blocks;
    return described;
  }

  [[nodiscard]] std::size_t size_bytes() const { return offsets.size() * piece_bytes; }

  /// Copies the data together, or back to where it lies.
  void pack(ConstBytes from, Bytes to) const {
    for (std::size_t i = 0; i < offsets.size(); ++i)
      std::memcpy(to.data() + i * piece_bytes, from.data() + offsets[i], piece_bytes);
  }
  void unpack(ConstBytes from, Bytes to) const {
    for (std::size_t i = 0; i < offsets.size(); ++i)
      std::memcpy(to.data() + offsets[i], from.data() + i * piece_bytes, piece_bytes);
  }
};

/// Messages of data that does not lie together, described once by a type: of bytes, or of integers
/// of 4 bytes, which `pack_external` turns into those of any machine (big-endian).
template <class T>
concept DataTypes = Transport<T> && requires(T& transport, const Layout& layout, int peer,
                                             ConstBytes out, Bytes in, typename T::DataType& type) {
  { transport.data_type(layout, true) } -> std::same_as<typename T::DataType>;
  transport.send_typed(peer, out, type);
  transport.recv_typed(peer, in, type);
  transport.pack(out, type, in);
  transport.unpack(out, in, type);
  transport.pack_external(out, type, in);
  transport.unpack_external(out, in, type);
  transport.release_type(type);
};

}  // namespace nhalf
