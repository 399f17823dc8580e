// nhalf-needs: MPI
// nhalf-links: -lucp -lucs
// Context, worker and end points of UCX's protocol layer, gone when they are no longer held.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "transports/bases/texts_of_all.hpp"

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

}  // namespace nhalf::ucx
