// nhalf-needs: MPI
// nhalf-links: -lucp -lucs
// Context, worker and end points of UCX's protocol layer, gone when they are no longer held.
#pragma once

#include <ucp/api/ucp.h>

#include <atomic>
#include <functional>

#include "transports/bases/mpi_control.hpp"

namespace nhalf::ucx {
/// Throws std::runtime_error with UCX's words where a call did not succeed.
inline void check(ucs_status_t status, const std::string& doing) {
  if (status != UCS_OK)
    throw std::runtime_error("UCX cannot " + doing + ": " + ucs_status_string(status));
}

/// A worker with an endpoint for every rank.
class Worker {
 public:
  /// Connects all ranks; collective. `transports` are as in UCX_TLS, "" for UCX's own choice.
  template <class Control>
  Worker(Control& control, const std::string& transports) {
    try {
      open(transports);
      connect(control);
    } catch (...) {
      close();
      throw;
    }
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { close(); }

  [[nodiscard]] ucp_context_h context() const { return context_; }
  [[nodiscard]] ucp_worker_h get() const { return worker_; }
  [[nodiscard]] ucp_ep_h to(int peer) const { return ends_[static_cast<std::size_t>(peer)]; }
  unsigned progress() const { return ucp_worker_progress(worker_); }

 private:
  void open(const std::string& transports) {
    ucp_config_t* config = nullptr;
    check(ucp_config_read(nullptr, nullptr, &config), "read its configuration");
    const std::unique_ptr<ucp_config_t, void (*)(ucp_config_t*)> held(config, ucp_config_release);
    if (!transports.empty())
      check(ucp_config_modify(config, "TLS", transports.c_str()), "use transports " + transports);
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO64;
    check(ucp_init(&params, config, &context_), "start");
    ucp_worker_params_t single{};
    single.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    single.thread_mode = UCS_THREAD_MODE_SINGLE;
    check(ucp_worker_create(context_, &single, &worker_), "make a worker");
  }

  template <class Control>
  void connect(Control& control) {
    ucp_address_t* address = nullptr;
    std::size_t length = 0;
    check(ucp_worker_get_address(worker_, &address, &length), "tell its address");
    const std::string mine(reinterpret_cast<const char*>(address), length);
    ucp_worker_release_address(worker_, address);
    for (const auto& text : texts_of_all(control, mine)) {
      ucp_ep_params_t params{};
      params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
      params.address = reinterpret_cast<const ucp_address_t*>(text.data());
      ucp_ep_h end = nullptr;
      const auto rank = std::to_string(ends_.size());
      check(ucp_ep_create(worker_, &params, &end), "connect to rank " + rank);
      ends_.push_back(end);
    }
  }

  void close() {
    if (worker_ != nullptr) ucp_worker_destroy(worker_);
    if (context_ != nullptr) ucp_cleanup(context_);
  }

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  std::vector<ucp_ep_h> ends_;
};

// Memory that every rank registers with UCX, and the keys by which all others reach it.

/// Memory that UCX allocates and registers, so that other processes can map it.
class Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept { swap(other); }
  Memory& operator=(Memory&& other) noexcept {
    swap(other);
    return *this;
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (handle_ != nullptr) ucp_mem_unmap(context_, handle_);
  }

  /// Allocates zeroed memory.
  Memory(ucp_context_h context, std::size_t size_bytes) : context_(context) {
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                        UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
    params.length = size_bytes;
    params.flags = UCP_MEM_MAP_ALLOCATE;
    check(ucp_mem_map(context_, &params, &handle_), "register memory");
    ucp_mem_attr_t attributes{};
    attributes.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    check(ucp_mem_query(handle_, &attributes), "find its memory");
    data_ = static_cast<std::byte*>(attributes.address);
    std::memset(data_, 0, size_bytes);
  }

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data_); }
  /// Returns the key by which other ranks access the memory.
  [[nodiscard]] std::string key() const {
    void* packed = nullptr;
    std::size_t length = 0;
    check(ucp_rkey_pack(context_, handle_, &packed, &length), "pack the key of memory");
    std::string text(static_cast<const char*>(packed), length);
    ucp_rkey_buffer_release(packed);
    return text;
  }

 private:
  void swap(Memory& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(handle_, other.handle_);
    std::swap(data_, other.data_);
  }

  ucp_context_h context_ = nullptr;
  ucp_mem_h handle_ = nullptr;
  std::byte* data_ = nullptr;
};

/// A key that another rank has packed, as one end point uses it.
inline ucp_rkey_h unpacked(ucp_ep_h end, const char* key) {
  ucp_rkey_h unpacked_key = nullptr;
  check(ucp_ep_rkey_unpack(end, key, &unpacked_key), "take the key of memory");
  return unpacked_key;
}

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
      : memory_(worker.context(), signals_bytes + size_bytes), size_bytes_(size_bytes) {
    exchange(control, worker);
  }

  [[nodiscard]] Bytes local() const { return {memory_.data() + signals_bytes, size_bytes_}; }
  /// Addresses of a rank's exposed bytes and of its signals.
  [[nodiscard]] std::uint64_t bytes_at(int rank, std::size_t offset) const {
    return bases_[static_cast<std::size_t>(rank)] + signals_bytes + offset;
  }
  [[nodiscard]] std::uint64_t signal_at(int rank, int slot) const {
    return bases_[static_cast<std::size_t>(rank)] + line_bytes * static_cast<std::uint64_t>(slot);
  }
  /// Whether a signal has come to this rank that it has not awaited. Peers add to the word through
  /// an adapter, whose atomics are so among themselves only: this rank never writes it, and counts
  /// what it has awaited.
  [[nodiscard]] bool has_signal(int slot) const {
    const auto at = static_cast<std::size_t>(slot);
    auto& word = *reinterpret_cast<std::uint64_t*>(memory_.data() + line_bytes * at);
    return std::atomic_ref(word).load(std::memory_order_acquire) != awaited_[at];
  }
  void signal_awaited(int slot) { ++awaited_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] ucp_rkey_h key(int rank) const { return keys_[static_cast<std::size_t>(rank)]; }

  void close() {
    for (auto* key : keys_) ucp_rkey_destroy(key);
    keys_.clear();
    memory_ = {};
  }

 private:
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t signals_bytes = line_bytes * OneSidedLimits::slots;

  void swap(Region& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(bases_, other.bases_);
    std::swap(keys_, other.keys_);
    std::swap(awaited_, other.awaited_);
  }

  template <class Control>
  void exchange(Control& control, const Worker& worker) {
    std::string mine = memory_.key();
    const auto base = memory_.address();
    mine.append(reinterpret_cast<const char*>(&base), sizeof base);
    for (const auto& text : texts_of_all(control, mine)) {
      const auto at = text.size() - sizeof(std::uint64_t);
      std::uint64_t theirs = 0;
      std::memcpy(&theirs, text.data() + at, sizeof theirs);
      bases_.push_back(theirs);
      keys_.push_back(unpacked(worker.to(static_cast<int>(keys_.size())), text.data()));
    }
  }

  Memory memory_;
  std::size_t size_bytes_ = 0;
  std::vector<std::uint64_t> bases_;
  std::vector<ucp_rkey_h> keys_;
  /// Number of signals of each slot that this rank has awaited.
  std::array<std::uint64_t, OneSidedLimits::slots> awaited_{};
};
}  // namespace nhalf::ucx
