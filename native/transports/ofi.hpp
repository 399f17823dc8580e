// nhalf-needs: MPI
// nhalf-links: -lfabric
// nhalf-package: libfabric-dev
// Tagged messages and remote memory of libfabric (the Open Fabrics Interfaces), without MPI above.
#pragma once

#include <sys/uio.h>

#include "contract/exposed_memory.hpp"
#include "contract/pattern.hpp"
#include "transports/bases/message_collectives.hpp"
#include "transports/bases/progressing_control.hpp"
#include "transports/ofi/endpoint.hpp"

namespace nhalf {
/// libfabric as a library under MPI uses it: what MPI adds to these calls is its own.
class OfiTransport : public ProgressingControl<OfiTransport>,
                     public MessageCollectives<OfiTransport> {
 public:
  using MessageCollectives::gather;
  using MessageCollectives::wait;
  using ProgressingControl::gather;
  static constexpr OptionInfo described[] = {
      {"provider", "", "", "libfabric's provider; shm on one host and tcp on several by itself"},
      ClockError::described[0],
      ClockError::described[1]};
  static constexpr TransportInfo info{"ofi", "tagged messages and remote memory of libfabric",
                                      described};

  /// A started operation; none where there is nothing to wait for.
  struct Request {
    ofi::Operation* operation = nullptr;
  };

  explicit OfiTransport(const Options& options)
      : ProgressingControl(options),
        endpoint_(static_cast<MpiControl&>(*this),
                  options.text("provider", is_one_host() ? "shm" : "tcp")) {
    connect_all(*this);
  }
  /// Waits for all ranks before endpoints are closed.
  ~OfiTransport() {
    if (std::uncaught_exceptions() == 0) barrier();
  }

  void send(int peer, ConstBytes data) {
    if (inject(peer, data)) return;
    auto request = isend(peer, data);
    wait(request);
  }
  void recv(int peer, Bytes data) {
    auto request = irecv(peer, data);
    wait(request);
  }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    auto received = irecv(from, in);
    send(to, out);
    wait(received);
  }
  Request isend(int peer, ConstBytes data) {
    return start([&](void* context) {
      return fi_tsend(endpoint_.get(), data.data(), data.size(), nullptr, endpoint_.to(peer),
                      tag(rank()), context);
    });
  }
  Request irecv(int peer, Bytes data) {
    return start([&](void* context) {
      return fi_trecv(endpoint_.get(), data.data(), data.size(), nullptr, endpoint_.to(peer),
                      tag(peer), 0, context);
    });
  }
  void wait(Request& request) {
    if (request.operation == nullptr) return;
    go_on_until([&] { return request.operation->done; });
    forget(request);
  }
  std::size_t wait_any(std::span<Request> requests) {
    const auto completed = first_done(
        requests, [](const Request& request) { return request.operation != nullptr; },
        [](const Request& request) { return request.operation->done; });
    if (completed < requests.size()) forget(requests[completed]);
    return completed;
  }

  using Region = ofi::Region;
  Region expose(std::size_t size_bytes) {
    Region region{.size_bytes = size_bytes, .memory = Buffer(std::max(size_bytes, std::size_t{1}))};
    std::memset(region.memory.bytes().data(), 0, region.memory.bytes().size());
    region.registered = registered(region.memory.bytes());
    region.places = everybodys(region.registered.place());
    region.number = ++regions_;
    return region;
  }
  /// The data is where it belongs when this returns: so `complete` has nothing left to do.
  void put(Region& region, int peer, std::size_t offset, ConstBytes data) {
    write(peer, region.places[static_cast<std::size_t>(peer)], offset, data);
  }
  void get(Region& region, int peer, std::size_t offset, Bytes data) {
    read(peer, region.places[static_cast<std::size_t>(peer)], offset, data);
  }
  void complete(Region&, int) {}
  void signal(Region& region, int peer, int slot) {
    auto request = start([&](void* context) {
      return fi_tsend(endpoint_.get(), nullptr, 0, nullptr, endpoint_.to(peer),
                      signal_tag(region, slot), context);
    });
    wait(request);
  }
  void await_signal(Region& region, int slot) {
    auto request = start([&](void* context) {
      return fi_trecv(endpoint_.get(), nullptr, 0, nullptr, FI_ADDR_UNSPEC,
                      signal_tag(region, slot), 0, context);
    });
    wait(request);
  }
  void withdraw(Region& region) {
    barrier();
    region.registered = {};
  }

  static constexpr std::string_view steps = "create,register,publish,put,get,signal,destroy";
  template <class Timed>
  void segment_life(ConstBytes out, Bytes in, Timed timed) {
    if (rank() == 0) expose_once(out.size(), timed);
    if (rank() == 1) use_once(out, in, timed);
  }

  void progress() { endpoint_.progress(); }

  [[nodiscard]] std::string library() const {
    const auto version = fi_version();
    return "libfabric " + std::to_string(FI_MAJOR(version)) + "." +
           std::to_string(FI_MINOR(version)) + ", provider " + endpoint_.provider();
  }

 private:
  /// A message is known by the rank that sent it.
  static std::uint64_t tag(int from) { return static_cast<std::uint64_t>(from); }

  /// Tag of signals; no message has such a tag.
  static std::uint64_t signal_tag(const Region& region, int slot) {
    return (std::uint64_t{1} << 48U) | (region.number << 16U) | static_cast<std::uint64_t>(slot);
  }

  ofi::Registered registered(Bytes memory) {
    if (!endpoint_.has_remote_memory())
      throw InputError("provider " + endpoint_.provider() + " has no remote memory");
    return {endpoint_, memory};
  }

  void write(int peer, const ofi::Place& place, std::size_t offset, ConstBytes data) {
    if (data.empty()) return;
    iovec from{const_cast<std::byte*>(data.data()), data.size()};
    const fi_rma_iov to{place.address + offset, data.size(), place.key};
    auto request = start([&](void* context) {
      const fi_msg_rma message{&from, nullptr, 1, endpoint_.to(peer), &to, 1, context, 0};
      return fi_writemsg(endpoint_.get(), &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
    });
    wait(request);
  }
  void read(int peer, const ofi::Place& place, std::size_t offset, Bytes data) {
    if (data.empty()) return;
    auto request = start([&](void* context) {
      return fi_read(endpoint_.get(), data.data(), data.size(), nullptr, endpoint_.to(peer),
                     place.address + offset, place.key, context);
    });
    wait(request);
  }

  template <class Timed>
  void expose_once(std::size_t size_bytes, Timed timed) {
    Buffer memory(0);
    ofi::Registered registration;
    timed(Step::create, [&] { memory = Buffer(size_bytes); });
    timed(Step::enlist, [&] { registration = registered(memory.bytes()); });
    timed(Step::publish, [&] { send(1, std::as_bytes(std::span(&registration.place(), 1))); });
    recv(1, Bytes{});
    timed(Step::destroy, [&] {
      registration = {};
      memory = Buffer(0);
    });
  }
  template <class Timed>
  void use_once(ConstBytes out, Bytes in, Timed timed) {
    ofi::Place place;
    recv(0, std::as_writable_bytes(std::span(&place, 1)));
    timed(Step::put, [&] { write(0, place, 0, out); });
    timed(Step::get, [&] { read(0, place, 0, in); });
    timed(Step::signal, [&] { send(0, ConstBytes{}); });
  }

  /// Repeats a call while libfabric is temporarily out of resources.
  template <class Call>
  void post(Call call) {
    ssize_t status = call();
    if (status == -FI_EAGAIN) {
      go_on_until([&] {
        status = call();
        return status != -FI_EAGAIN;
      });
    }
    ofi::check(status, "move data");
  }
  template <class Call>
  Request start(Call call) {
    Request request{take()};
    post([&] { return call(&request.operation->context); });
    return request;
  }
  /// Sends a small message that libfabric copies at once.
  bool inject(int peer, ConstBytes data) {
    if (data.size() > endpoint_.inject_bytes()) return false;
    post([&] {
      return fi_tinject(endpoint_.get(), data.data(), data.size(), endpoint_.to(peer), tag(rank()));
    });
    return true;
  }

  ofi::Operation* take() {
    if (free_.empty()) {
      operations_.push_back(std::make_unique<ofi::Operation>());
      free_.reserve(operations_.size());
      return operations_.back().get();
    }
    auto* operation = free_.back();
    free_.pop_back();
    operation->done = false;
    return operation;
  }
  void forget(Request& request) {
    free_.push_back(request.operation);
    request = {};
  }

  ofi::Endpoint endpoint_;
  std::vector<std::unique_ptr<ofi::Operation>> operations_;
  std::vector<ofi::Operation*> free_;
  std::uint64_t regions_ = 0;
};

static_assert(OneSided<OfiTransport> && SegmentLife<OfiTransport>);
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::OfiTransport);
