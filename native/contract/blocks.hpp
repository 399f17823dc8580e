// What algorithms on blocks of memory need beside messages: copying, adding, and room to do it in.
#pragma once

#include <cstddef>
#include <cstring>

#include "contract/buffer.hpp"
#include "contract/transport.hpp"

namespace nhalf {

/// The block of one rank where blocks of `block_bytes` lie in the order of ranks.
template <class Span>
Span block_of(Span blocks, int rank, std::size_t block_bytes) {
  return blocks.subspan(static_cast<std::size_t>(rank) * block_bytes, block_bytes);
}

/// Whether memory of this size holds what is written; that of simulated ranks may not.
inline bool is_kept(std::size_t size_bytes) {
  return size_bytes <= memory_source.real_bytes;
}

/// Copies unless the data is in its place already.
inline void place(ConstBytes from, Bytes to) {
  if (!from.empty() && from.data() != to.data() && is_kept(from.size()))
    std::memcpy(to.data(), from.data(), from.size());
}

/// Adds floats to floats, element by element.
inline void add_floats(ConstBytes from, Bytes to) {
  if (!is_kept(from.size())) return;
  for (std::size_t at = 0; at + sizeof(float) <= from.size(); at += sizeof(float)) {
    float term = 0;
    float sum = 0;
    std::memcpy(&term, from.data() + at, sizeof term);
    std::memcpy(&sum, to.data() + at, sizeof sum);
    sum += term;
    std::memcpy(to.data() + at, &sum, sizeof sum);
  }
}

/// What reductions do with what a rank received: adds floats, unless the transport was told of
/// another operation. `from` stands before `to` where the order of ranks matters.
template <class T>
void combine(T& transport, ConstBytes from, Bytes to) {
  if constexpr (requires { transport.combine(from, to); }) {
    transport.combine(from, to);
  } else {
    add_floats(from, to);
  }
}

/// The bytes of one element of a vector that is reduced; a vector is cut between elements only.
template <class T>
std::size_t element_bytes(const T& transport) {
  if constexpr (requires { transport.element_bytes(); }) {
    return transport.element_bytes();
  } else {
    return sizeof(float);
  }
}

/// Room that grows when it is too small, that is, in the first operation of a size.
class Scratch {
 public:
  Bytes bytes(std::size_t size_bytes) {
    if (size_bytes > buffer_.bytes().size()) buffer_ = Buffer(size_bytes);
    return buffer_.bytes().first(size_bytes);
  }
  /// Keeps no room that is larger.
  void give_back_above(std::size_t size_bytes) {
    if (buffer_.bytes().size() > size_bytes) buffer_ = Buffer(0);
  }

 private:
  Buffer buffer_{0};
};

/// Returns `in`, copied to scratch memory if it is in the same place as `out`.
inline ConstBytes apart(Scratch& scratch, ConstBytes in, Bytes out) {
  if (in.data() != out.data()) return in;
  const auto copy = scratch.bytes(in.size());
  place(in, copy);
  return copy;
}

}  // namespace nhalf
