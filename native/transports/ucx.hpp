// nhalf-needs: MPI
// nhalf-links: -lucp -lucs
// nhalf-package: libucx-dev
// Tagged messages and remote memory of UCX's protocol layer (UCP), without MPI above it.
#pragma once

#include "contract/exposed_memory.hpp"
#include "contract/pattern.hpp"
#include "transports/bases/message_collectives.hpp"
#include "transports/bases/progressing_control.hpp"
#include "transports/ucx/handles.hpp"

namespace nhalf {
/// UCX as a library under MPI uses it: what MPI adds to these calls is its own.
class UcxTransport : public ProgressingControl<UcxTransport>,
                     public MessageCollectives<UcxTransport> {
 public:
  using MessageCollectives::gather;
  using MessageCollectives::wait;
  using ProgressingControl::gather;
  static constexpr OptionInfo described[] = {
      {"tls", "", "", "UCX's own transports, as in UCX_TLS but with + between them: posix+self"},
      ClockError::described[0],
      ClockError::described[1]};
  static constexpr TransportInfo info{"ucx", "tagged messages and remote memory of UCX", described};
  /// UCX finds out where an address is; regions and collectives are in memory of the host.
  static constexpr bool offers_gpu_memory(const PatternInfo& pattern) {
    constexpr std::string_view messages[] = {"", "duplex", "non-blocking", "synchronous-send"};
    return pattern.sized && std::ranges::find(messages, pattern.needs) != std::end(messages);
  }

  /// A started operation. `handle` is null where UCX was done with it at once.
  struct Request {
    void* handle = nullptr;
    bool active = false;
  };
  using Region = ucx::Region;

  explicit UcxTransport(const Options& options)
      : ProgressingControl(options),
        worker_(static_cast<MpiControl&>(*this), with_commas(options.text("tls"))) {}
  /// Completes all pending operations before any rank frees its memory.
  ~UcxTransport() {
    if (std::uncaught_exceptions() == 0) {
      flush(ucp_worker_flush_nbx(worker_.get(), &plain));
      barrier();
    }
  }

  void send(int peer, ConstBytes data) { finish(post_send(peer, data)); }
  void recv(int peer, Bytes data) { finish(post_receive(peer, data)); }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    void* received = post_receive(from, in);
    void* sent = post_send(to, out);
    finish(received);
    finish(sent);
  }
  void ssend(int peer, ConstBytes data) {
    finish(checked(
        ucp_tag_send_sync_nbx(worker_.to(peer), data.data(), data.size(), tag(rank()), &plain)));
  }
  Request isend(int peer, ConstBytes data) { return {post_send(peer, data), true}; }
  Request irecv(int peer, Bytes data) { return {post_receive(peer, data), true}; }
  void wait(Request& request) {
    finish(request.handle);
    request = {};
  }
  std::size_t wait_any(std::span<Request> requests) {
    const auto completed = first_done(
        requests, [](const Request& request) { return request.active; },
        [](const Request& request) { return is_done(request.handle); });
    if (completed < requests.size()) wait(requests[completed]);
    return completed;
  }

  Region expose(std::size_t size_bytes) {
    return {static_cast<MpiControl&>(*this), worker_, size_bytes};
  }
  void put(Region& region, int peer, std::size_t offset, ConstBytes data) {
    finish(checked(ucp_put_nbx(worker_.to(peer), data.data(), data.size(),
                               region.bytes_at(peer, offset), region.key(peer), &plain)));
  }
  void get(Region& region, int peer, std::size_t offset, Bytes data) {
    finish(checked(ucp_get_nbx(worker_.to(peer), data.data(), data.size(),
                               region.bytes_at(peer, offset), region.key(peer), &plain)));
  }
  void complete(Region&, int peer) { flush(ucp_ep_flush_nbx(worker_.to(peer), &plain)); }
  void signal(Region& region, int peer, int slot) {
    ucp_worker_fence(worker_.get());
    static constexpr std::uint64_t one_value = 1;
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    params.datatype = ucp_dt_make_contig(sizeof one_value);
    finish(checked(ucp_atomic_op_nbx(worker_.to(peer), UCP_ATOMIC_OP_ADD, &one_value, 1,
                                     region.signal_at(peer, slot), region.key(peer), &params)));
  }
  void await_signal(Region& region, int slot) {
    go_on_until([&] { return region.has_signal(slot); });
    region.signal_awaited(slot);
  }
  void withdraw(Region& region) {
    flush(ucp_worker_flush_nbx(worker_.get(), &plain));
    barrier();
    region.close();
  }

  static constexpr std::string_view steps = "create,publish,map,put,get,fence,signal,unmap,destroy";
  /// UCX allocates and registers in one step.
  template <class Timed>
  void segment_life(ConstBytes out, Bytes in, Timed timed) {
    if (rank() == 0) expose_once(out.size(), timed);
    if (rank() == 1) use_once(out, in, timed);
  }

  void progress() { worker_.progress(); }

  [[nodiscard]] std::string library() const {
    return "UCX " + std::string(ucp_get_version_string());
  }

 private:
  static constexpr ucp_request_param_t plain{};

  /// Options are separated by commas, and so are UCX's transports.
  static std::string with_commas(std::string text) {
    for (auto& letter : text)
      if (letter == '+') letter = ',';
    return text;
  }

  /// A message is known by the rank that sent it.
  static ucp_tag_t tag(int from) { return static_cast<ucp_tag_t>(from); }

  static void* checked(ucs_status_ptr_t handle) {
    if (UCS_PTR_IS_ERR(handle)) ucx::check(UCS_PTR_STATUS(handle), "move data");
    return handle;
  }
  void* post_send(int peer, ConstBytes data) {
    return checked(
        ucp_tag_send_nbx(worker_.to(peer), data.data(), data.size(), tag(rank()), &plain));
  }
  void* post_receive(int peer, Bytes data) {
    return checked(ucp_tag_recv_nbx(worker_.get(), data.data(), data.size(), tag(peer),
                                    ~ucp_tag_t{0}, &plain));
  }

  static bool is_done(void* handle) {
    return handle == nullptr || ucp_request_check_status(handle) != UCS_INPROGRESS;
  }
  /// The address of a segment, and its key.
  struct Ticket {
    std::uint64_t address = 0;
    std::array<char, 1000> key{};
  };

  template <class Timed>
  void expose_once(std::size_t size_bytes, Timed timed) {
    ucx::Memory memory;
    timed(Step::create, [&] { memory = ucx::Memory(worker_.context(), size_bytes); });
    timed(Step::publish, [&] {
      Ticket ticket{.address = memory.address()};
      const auto key = memory.key();
      if (key.size() > ticket.key.size()) throw std::length_error("UCX has a key of that length");
      std::ranges::copy(key, ticket.key.begin());
      send(1, std::as_bytes(std::span(&ticket, 1)));
    });
    recv(1, Bytes{});
    timed(Step::destroy, [&] { memory = {}; });
  }
  template <class Timed>
  void use_once(ConstBytes out, Bytes in, Timed timed) {
    Ticket ticket;
    recv(0, std::as_writable_bytes(std::span(&ticket, 1)));
    auto* const end = worker_.to(0);
    ucp_rkey_h key = nullptr;
    timed(Step::map, [&] { key = ucx::unpacked(end, ticket.key.data()); });
    timed(Step::put, [&] {
      finish(checked(ucp_put_nbx(end, out.data(), out.size(), ticket.address, key, &plain)));
      flush(ucp_ep_flush_nbx(end, &plain));
    });
    timed(Step::get, [&] {
      finish(checked(ucp_get_nbx(end, in.data(), in.size(), ticket.address, key, &plain)));
    });
    timed(Step::fence, [&] { flush(ucp_ep_flush_nbx(end, &plain)); });
    timed(Step::unmap, [&] { ucp_rkey_destroy(key); });
    timed(Step::signal, [&] { send(0, ConstBytes{}); });
  }

  void finish(void* handle) {
    if (handle == nullptr) return;
    go_on_until([&] { return is_done(handle); });
    const auto status = ucp_request_check_status(handle);
    ucp_request_free(handle);
    ucx::check(status, "move data");
  }
  void flush(ucs_status_ptr_t handle) { finish(checked(handle)); }

  ucx::Worker worker_;
};

static_assert(OneSided<UcxTransport> && SegmentLife<UcxTransport>);
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::UcxTransport);
