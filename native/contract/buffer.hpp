// Message buffers: page-aligned, touched, filled with bytes that can be checked; and blocks of
// them: copied, added up, with room to do it in.
#pragma once

#include <unistd.h>
#include <cstdlib>
#include <new>

#include "contract/transport.hpp"

namespace nhalf {
/// Bytes that differ by seed and by place, as long as they do not repeat.
class FillSequence {
 public:
  /// A prime, so that data shifted by a power of two does not look right.
  static constexpr std::size_t period = 4093;

  /// The first `size_bytes` of it, or all.
  FillSequence(std::uint32_t seed, std::size_t size_bytes) {
    const auto count = static_cast<std::uint32_t>(std::min(size_bytes, period));
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t mixed = (i + 1) * 2654435761U + seed * 40503U;
      bytes_[i] = static_cast<std::byte>((mixed >> 13) ^ mixed);
    }
  }
  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }

 private:
  std::array<std::byte, period> bytes_;
};

/// How the host gets at memory that it should not touch itself, such as that of a GPU: `owns` says
/// whether bytes lie there. A thread calls `enter` before it gives such bytes to a library.
struct DeviceAccess {
  void (*enter)();
  bool (*owns)(const std::byte* memory);
  void (*fill)(Bytes data, std::uint32_t seed);
  bool (*holds)(ConstBytes data, std::uint32_t seed);
  void (*read)(ConstBytes from, std::byte* to_host);
  void (*write)(const std::byte* from_host, Bytes to);
};

/// Where the memory of buffers comes from: whole pages, written once. Buffers of more than
/// `real_bytes` may lie upon each other and hold no data.
struct MemorySource {
  std::byte* (*take)(std::size_t size_bytes);
  void (*give_back)(std::byte* memory);
  std::size_t real_bytes = std::numeric_limits<std::size_t>::max();
  /// Whether a buffer may have at most Buffer::largest_bytes().
  bool is_limited = true;
  const DeviceAccess* device = nullptr;

  [[nodiscard]] bool is_real() const {
    return real_bytes == std::numeric_limits<std::size_t>::max();
  }
};

inline constexpr std::size_t page_bytes = 4096;

/// Memory of this host.
inline constexpr MemorySource host_memory{
    .take = [](std::size_t size_bytes) -> std::byte* {
      auto* memory = static_cast<std::byte*>(std::aligned_alloc(page_bytes, size_bytes));
      if (memory != nullptr) std::memset(memory, 0, size_bytes);
      return memory;
    },
    .give_back = [](std::byte* memory) { std::free(memory); }};

/// The source of every buffer; a transport that simulates ranks brings another one.
inline MemorySource memory_source = host_memory;

/// Whether the host has to leave these bytes to `memory_source.device`.
inline bool is_on_device(ConstBytes data) {
  return memory_source.device != nullptr && memory_source.device->owns(data.data());
}

/// Bytes for the host to read and to write, wherever they lie: those of a device are copied, and
/// go back at the end unless they are ConstBytes.
template <class Span>
class OnHost {
 public:
  explicit OnHost(Span data) : data_(data) {
    if (!is_on_device(data)) return;
    copy_.resize(data.size());
    memory_source.device->read(data, copy_.data());
  }
  OnHost(const OnHost&) = delete;
  OnHost& operator=(const OnHost&) = delete;
  ~OnHost() {
    if constexpr (std::is_same_v<Span, Bytes>) {
      if (!copy_.empty()) memory_source.device->write(copy_.data(), data_);
    }
  }
  [[nodiscard]] Span bytes() { return copy_.empty() ? data_ : Span(copy_); }

 private:
  Span data_;
  std::vector<std::byte> copy_;
};

/// Writes a sequence that differs by seed and by place, where memory holds what is written.
inline void fill(Bytes data, std::uint32_t seed) {
  if (data.size() > memory_source.real_bytes) return;
  if (is_on_device(data)) return memory_source.device->fill(data, seed);
  const FillSequence sequence(seed, data.size());
  for (std::size_t i = 0; i < data.size(); i += FillSequence::period)
    std::memcpy(data.data() + i, sequence.data(), std::min(FillSequence::period, data.size() - i));
}

/// True where every byte is what `fill` with this seed writes.
inline bool holds(ConstBytes data, std::uint32_t seed) {
  if (is_on_device(data)) return memory_source.device->holds(data, seed);
  const FillSequence sequence(seed, data.size());
  for (std::size_t i = 0; i < data.size(); i += FillSequence::period) {
    const auto length = std::min(FillSequence::period, data.size() - i);
    if (std::memcmp(data.data() + i, sequence.data(), length) != 0) return false;
  }
  return true;
}

/// Memory of `size` bytes that starts on a page, as message buffers of real programs often do. None
/// is taken for 0 bytes: a rank has several such buffers, and simulated ranks are many.
class Buffer {
 public:
  explicit Buffer(std::size_t size_bytes, const MemorySource& source = memory_source)
      : size_bytes_(size_bytes), data_(nullptr, source.give_back) {
    if (source.is_limited && size_bytes > largest_bytes()) throw std::bad_alloc();
    if (size_bytes == 0) return;
    data_.reset(source.take((size_bytes / page_bytes + 1) * page_bytes));
    if (!data_) throw std::bad_alloc();
  }

  /// An eighth of the memory of this host: the system grants more and then ends the program.
  static std::size_t largest_bytes() {
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) / 8 *
           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }

  [[nodiscard]] Bytes bytes() { return {data_ ? data_.get() : &nothing, size_bytes_}; }

  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

  void fill(std::uint32_t seed) { nhalf::fill(bytes(), seed); }
  [[nodiscard]] bool holds(std::uint32_t seed) const {
    return nhalf::holds({data_.get(), size_bytes_}, seed);
  }

 private:
  /// Where empty messages begin: libraries may frown at null.
  alignas(page_bytes) static inline std::byte nothing{};

  std::size_t size_bytes_;
  std::unique_ptr<std::byte, void (*)(std::byte* memory)> data_;
};

/// The block of one rank where blocks of `block_bytes` lie in the order of ranks.
template <class Span>
Span block_of(Span blocks, int rank, std::size_t block_bytes) {
  return blocks.subspan(static_cast<std::size_t>(rank) * block_bytes, block_bytes);
}

/// Whether memory of this size holds what is written; that of simulated ranks may not.
inline bool is_kept(std::size_t size_bytes) {
  return size_bytes <= memory_source.real_bytes;
}

/// Turns every bit: what is not written again is wrong.
inline void invert(Bytes data) {
  OnHost reachable(data);
  std::ranges::transform(reachable.bytes(), reachable.bytes().begin(),
                         [](std::byte b) { return ~b; });
}

/// Copies unless the data is in its place already.
inline void place(ConstBytes from, Bytes to) {
  if (from.empty() || from.data() == to.data() || !is_kept(from.size())) return;
  if (is_on_device(from) || is_on_device(to)) {
    OnHost source(from);
    OnHost target(to);
    std::ranges::copy(source.bytes(), target.bytes().begin());
  } else {
    std::memcpy(to.data(), from.data(), from.size());
  }
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
