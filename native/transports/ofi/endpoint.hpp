// nhalf-needs: MPI
// nhalf-links: -lfabric
// A libfabric end point of one provider, and the addresses of all ranks.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "contract/buffer.hpp"
#include "transports/bases/mpi_control.hpp"

namespace nhalf::ofi {
/// Throws std::runtime_error with libfabric's words where a call did not succeed.
inline void check(ssize_t status, const std::string& doing) {
  if (status < 0)
    throw std::runtime_error("libfabric cannot " + doing + ": " +
                             fi_strerror(static_cast<int>(-status)));
}

/// An object of libfabric, which the destructor closes.
template <class Object>
struct Closing {
  void operator()(Object* object) const { fi_close(&object->fid); }
};
template <class Object>
using Held = std::unique_ptr<Object, Closing<Object>>;

/// The context in which libfabric reports an operation; must not move until it completes.
struct Operation {
  fi_context2 context{};
  bool done = false;
};

/// A reliable datagram end point with tagged messages. Members close in the reverse order.
class Endpoint {
 public:
  /// Opens the endpoint; collective. `provider` is libfabric's name, such as shm or tcp.
  template <class Control>
  Endpoint(Control& control, const std::string& provider) : info_(found(provider), fi_freeinfo) {
    fid_fabric* fabric = nullptr;
    check(fi_fabric(info_->fabric_attr, &fabric, nullptr), "open provider " + provider);
    fabric_.reset(fabric);
    fid_domain* domain = nullptr;
    check(fi_domain(fabric, info_.get(), &domain, nullptr), "open provider " + provider);
    domain_.reset(domain);
    open_queues();
    connect(control);
  }

  [[nodiscard]] fid_ep* get() const { return endpoint_.get(); }
  [[nodiscard]] fid_domain* domain() const { return domain_.get(); }
  /// Whether this provider reaches the memory of other ranks.
  [[nodiscard]] bool has_remote_memory() const { return (info_->caps & FI_RMA) != 0; }
  /// Returns how memory has to be registered, as bits of FI_MR_*.
  [[nodiscard]] int registration() const { return info_->domain_attr->mr_mode; }
  [[nodiscard]] fi_addr_t to(int peer) const { return peers_[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] std::string provider() const { return info_->fabric_attr->prov_name; }
  [[nodiscard]] std::size_t inject_bytes() const { return info_->tx_attr->inject_size; }

  /// Marks the operations that are done. Throws std::runtime_error where one failed.
  void progress() {
    std::array<fi_cq_entry, 16> entries;
    const auto count = fi_cq_read(completions_.get(), entries.data(), entries.size());
    if (count == -FI_EAGAIN) return;
    if (count < 0) failed();
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      if (auto* operation = static_cast<Operation*>(entries[i].op_context)) operation->done = true;
  }

 private:
  /// Requests remote memory access if the provider has it.
  static fi_info* found(const std::string& provider) {
    fi_info* info = nullptr;
    if (ask(provider, FI_RMA, info) < 0)
      check(ask(provider, 0, info),
            "find provider '" + provider + "' here (fi_info lists those that there are)");
    return info;
  }
  static int ask(const std::string& provider, std::uint64_t more, fi_info*& info) {
    const std::unique_ptr<fi_info, void (*)(fi_info*)> hints(fi_allocinfo(), fi_freeinfo);
    hints->caps = FI_TAGGED | FI_DIRECTED_RECV | more;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    if (more != 0)
      hints->domain_attr->mr_mode =
          FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_ENDPOINT;
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->fabric_attr->prov_name = strdup(provider.c_str());
    return fi_getinfo(FI_VERSION(1, 9), nullptr, nullptr, 0, hints.get(), &info);
  }

  void open_queues() {
    fid_cq* completions = nullptr;
    fi_cq_attr queue{};
    queue.format = FI_CQ_FORMAT_CONTEXT;
    check(fi_cq_open(domain_.get(), &queue, &completions, nullptr), "make a completion queue");
    completions_.reset(completions);
    fid_av* addresses = nullptr;
    fi_av_attr vector{};
    check(fi_av_open(domain_.get(), &vector, &addresses, nullptr), "make an address vector");
    addresses_.reset(addresses);
    fid_ep* endpoint = nullptr;
    check(fi_endpoint(domain_.get(), info_.get(), &endpoint, nullptr), "make an end point");
    endpoint_.reset(endpoint);
    check(fi_ep_bind(endpoint, &addresses->fid, 0), "bind an end point");
    check(fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV), "bind an end point");
    check(fi_enable(endpoint), "enable an end point");
  }

  template <class Control>
  void connect(Control& control) {
    std::array<char, 512> name{};
    std::size_t length = name.size();
    check(fi_getname(&endpoint_->fid, name.data(), &length), "tell its address");
    for (const auto& text : texts_of_all(control, {name.data(), length})) {
      fi_addr_t address = FI_ADDR_UNSPEC;
      const auto rank = std::to_string(peers_.size());
      if (fi_av_insert(addresses_.get(), text.data(), 1, &address, 0, nullptr) != 1)
        throw std::runtime_error("libfabric does not take the address of rank " + rank);
      peers_.push_back(address);
    }
  }

  [[noreturn]] void failed() {
    fi_cq_err_entry error{};
    fi_cq_readerr(completions_.get(), &error, 0);
    throw std::runtime_error("libfabric cannot move data: " + std::string(fi_strerror(error.err)));
  }

  std::unique_ptr<fi_info, void (*)(fi_info*)> info_;
  Held<fid_fabric> fabric_;
  Held<fid_domain> domain_;
  Held<fid_cq> completions_;
  Held<fid_av> addresses_;
  Held<fid_ep> endpoint_;
  std::vector<fi_addr_t> peers_;
};

// Memory that is registered with libfabric, and how other ranks reach it.

/// The address of a rank's memory for other ranks, and its key.
struct Place {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
};

/// Memory of this rank while it is registered.
class Registered {
 public:
  Registered() = default;
  Registered(const Endpoint& endpoint, Bytes memory) {
    constexpr auto remote_rights = FI_REMOTE_READ | FI_REMOTE_WRITE;
    static std::uint64_t wanted_key = 0;
    fid_mr* region = nullptr;
    check(fi_mr_reg(endpoint.domain(), memory.data(), memory.size(), remote_rights, 0, ++wanted_key,
                    0, &region, nullptr),
          "register memory");
    region_.reset(region);
    if ((endpoint.registration() & FI_MR_ENDPOINT) != 0) {
      check(fi_mr_bind(region, &endpoint.get()->fid, 0), "bind memory");
      check(fi_mr_enable(region), "enable memory");
    }
    place_.key = fi_mr_key(region);
    if ((endpoint.registration() & FI_MR_VIRT_ADDR) != 0)
      place_.address = reinterpret_cast<std::uint64_t>(memory.data());
  }

  [[nodiscard]] const Place& place() const { return place_; }

 private:
  Held<fid_mr> region_;
  Place place_;
};

/// A rank's part of a region, and the addresses of all other parts. `number` tells its signals from
/// those of other regions.
struct Region {
  std::size_t size_bytes = 0;
  Buffer memory;
  Registered registered{};
  std::vector<Place> places{};
  std::uint64_t number = 0;

  [[nodiscard]] Bytes local() { return memory.bytes().first(size_bytes); }
};
}  // namespace nhalf::ofi
