// SPDX-License-Identifier: Apache-2.0
// nhalf-needs: MPI
// nhalf-links: -lucp -lucs
// Memory that every rank registers with UCX, and the keys by which all others reach it.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "contract/transport.hpp"
#include "transports/bases/texts_of_all.hpp"
#include "transports/ucx/handles.hpp"

namespace nhalf::ucx {

/// Signals first, a cache line each, then the bytes that are exposed.
class Region {
 public:
  Region(Region&& other) noexcept { swap(other); }
  Region& operator=(Region&& other) noexcept {
    swap(other);
    return *this;
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() { close(); }

  /// All ranks call it.
  template <class Control>
  Region(Control& control, const Worker& worker, std::size_t size_bytes)
      : context_(worker.context()), size_bytes_(size_bytes) {
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                        UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
    params.length = signals_bytes + size_bytes;
    // Memory of UCX's own making can be mapped by other processes.
    params.flags = UCP_MEM_MAP_ALLOCATE;
    check(ucp_mem_map(context_, &params, &memory_), "register memory");
    ucp_mem_attr_t attributes{};
    attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    check(ucp_mem_query(memory_, &attributes), "find its memory");
    base_ = static_cast<std::byte*>(attributes.address);
    std::memset(base_, 0, params.length);
    exchange(control, worker);
  }

  [[nodiscard]] Bytes local() const { return {base_ + signals_bytes, size_bytes_}; }
  /// Where a rank's exposed bytes begin, and its signals.
  [[nodiscard]] std::uint64_t bytes_at(int rank, std::size_t offset) const {
    return bases_[static_cast<std::size_t>(rank)] + signals_bytes + offset;
  }
  [[nodiscard]] std::uint64_t signal_at(int rank, int slot) const {
    return bases_[static_cast<std::size_t>(rank)] + line_bytes * static_cast<std::uint64_t>(slot);
  }
  [[nodiscard]] ucp_rkey_h key(int rank) const { return keys_[static_cast<std::size_t>(rank)]; }

  void close() {
    for (auto* key : keys_) ucp_rkey_destroy(key);
    keys_.clear();
    if (memory_ != nullptr) ucp_mem_unmap(context_, memory_);
    memory_ = nullptr;
  }

 private:
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t signals_bytes = line_bytes * OneSidedLimits::slots;

  void swap(Region& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(memory_, other.memory_);
    std::swap(base_, other.base_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(bases_, other.bases_);
    std::swap(keys_, other.keys_);
  }

  template <class Control>
  void exchange(Control& control, const Worker& worker) {
    void* packed = nullptr;
    std::size_t length = 0;
    check(ucp_rkey_pack(context_, memory_, &packed, &length), "pack the key of memory");
    std::string mine(static_cast<const char*>(packed), length);
    ucp_rkey_buffer_release(packed);
    const auto base = reinterpret_cast<std::uint64_t>(base_);
    mine.append(reinterpret_cast<const char*>(&base), sizeof base);
    for (const auto& text : texts_of_all(control, mine)) {
      const auto at = text.size() - sizeof(std::uint64_t);
      std::uint64_t theirs = 0;
      std::memcpy(&theirs, text.data() + at, sizeof theirs);
      bases_.push_back(theirs);
      ucp_rkey_h key = nullptr;
      const int rank = static_cast<int>(keys_.size());
      check(ucp_ep_rkey_unpack(worker.to(rank), text.data(), &key), "take the key of memory");
      keys_.push_back(key);
    }
  }

  ucp_context_h context_ = nullptr;
  ucp_mem_h memory_ = nullptr;
  std::byte* base_ = nullptr;
  std::size_t size_bytes_ = 0;
  std::vector<std::uint64_t> bases_;
  std::vector<ucp_rkey_h> keys_;
};

}  // namespace nhalf::ucx
