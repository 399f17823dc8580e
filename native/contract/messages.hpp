// Messages beyond the plain ones: from anybody, with tags, prepared, in parts, of data that does
// not lie together, of several threads.
#pragma once

#include "contract/transport.hpp"

namespace nhalf {
/// Receives a message from any rank, and tells from which.
template <class T>
concept AnySource = Transport<T> && requires(T& transport, Bytes in) {
  { transport.recv_any(in) } -> std::same_as<int>;
};

/// A receive that takes a message from any rank, or with any tag.
inline constexpr int any_rank = -1;
inline constexpr int any_tag = -1;

/// Tags are whole numbers from 0 on. Of the messages that a receive accepts it takes the one that
/// came first; a message goes to the receive that was started first of those that accept it.
/// Messages without a tag are no part of that.
template <class T>
concept Tagged =
    NonBlocking<T> && requires(T& transport, int peer, int tag, ConstBytes out, Bytes in) {
      { transport.isend_tagged(peer, tag, out) } -> std::same_as<typename T::Request>;
      { transport.irecv_tagged(peer, tag, in) } -> std::same_as<typename T::Request>;
      transport.recv_tagged(peer, tag, in);
    };

/// Several messages of one rank to another, and as many back, all begun before any is waited for. A
/// transport has it whose sends alone end when their data is there.
template <class T>
concept SeveralAtOnce =
    Transport<T> && requires(T& transport, int peer, std::size_t count, ConstBytes out, Bytes in) {
      transport.send_several(peer, count, out);
      transport.recv_several(peer, count, in);
      transport.exchange_several(peer, count, out, in);
    };

/// Sends and receives that are prepared once, started as often as one likes, and released.
///
/// A prepared message is a Request like any other: `wait` ends what `start` began, and it can be
/// started again afterwards. `start_all` starts several in one call.
template <class T>
concept Persistent = NonBlocking<T> && requires(T& transport, int peer, ConstBytes out, Bytes in,
                                                typename T::Request& request,
                                                std::span<typename T::Request> several) {
  { transport.prepare_send(peer, out) } -> std::same_as<typename T::Request>;
  { transport.prepare_recv(peer, in) } -> std::same_as<typename T::Request>;
  transport.start(request);
  transport.start_all(several);
  transport.release(request);
};

/// A prepared message of equal parts: after `start` each part of a send leaves when it is `ready`,
/// in any order; `wait` ends the whole. Sizes are multiples of the number of parts.
template <class T>
concept Partitioned = Persistent<T> && requires(T& transport, int peer, ConstBytes out, Bytes in,
                                                int parts, typename T::Request& request) {
  { transport.prepare_parts_send(peer, out, parts) } -> std::same_as<typename T::Request>;
  { transport.prepare_parts_recv(peer, in, parts) } -> std::same_as<typename T::Request>;
  transport.ready(request, parts);
};

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

/// What one thread sends and receives by: every rank makes the same ones in the same order. Those
/// that are `own` share nothing with other threads' where the transport can keep them apart.
/// `is_thread_multiple` tells whether it was started for several threads at all.
template <class T>
concept ThreadMultiple =
    NonBlocking<T> &&
    requires(T& transport, typename T::ThreadChannel& channel, int peer, ConstBytes out, Bytes in) {
      { transport.is_thread_multiple() } -> std::same_as<bool>;
      { transport.thread_channel(int{}, bool{}) } -> std::same_as<typename T::ThreadChannel>;
      transport.send(channel, peer, out);
      transport.recv(channel, peer, in);
      transport.exchange(channel, peer, out, peer, in);
      { transport.isend(channel, peer, out) } -> std::same_as<typename T::Request>;
      transport.close(channel);
    };

/// Collective operations by a channel of the thread's own, at the same time as other threads' are.
/// Sums are of floats.
template <class T>
concept ThreadCollectives =
    ThreadMultiple<T> &&
    requires(T& transport, typename T::ThreadChannel& channel, int root, ConstBytes in, Bytes out) {
      transport.synchronise(channel);
      transport.bcast(channel, root, out);
      transport.reduce(channel, root, in, out);
      transport.allreduce(channel, in, out);
    };
}  // namespace nhalf
