// Endpoints of libfabric: their options, what they are bound to, and their names.
#pragma once

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>

#include "fabric/provider/queue.hpp"

namespace nhalf::fabric::provider {
struct End {
  fid_ep file;
  Endpoint* endpoint;
  const Addresses* addresses;
  Queue* of_receives;
  /// Whether only those operations are reported that ask for it.
  bool is_selective_in_sends;
  bool is_selective_in_receives;
  /// What counts accesses that are complete; null without.
  std::uint64_t* of_puts;
  std::uint64_t* of_gets;
  std::uint64_t send_flags;
  std::uint64_t receive_flags;

  /// Queues name senders by the addresses that their endpoint knows.
  void connect() {
    if (of_receives != nullptr) of_receives->addresses = addresses;
  }
};

/// Returns the endpoint that begins with libfabric's part of it.
template <class File>
End& end_of(File* file) {
  return *reinterpret_cast<End*>(file);
}

inline int bind(fid* file, fid* bound, std::uint64_t flags) {
  auto& end = end_of(file);
  const bool is_selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
  if (bound->fclass == FI_CLASS_AV) end.addresses = reinterpret_cast<Addresses*>(bound);
  if (bound->fclass == FI_CLASS_CQ && (flags & FI_TRANSMIT) != 0) {
    end.endpoint->of_sends = reinterpret_cast<Queue*>(bound)->completions;
    end.is_selective_in_sends = is_selective;
  }
  if (bound->fclass == FI_CLASS_CQ && (flags & FI_RECV) != 0) {
    end.of_receives = reinterpret_cast<Queue*>(bound);
    end.endpoint->of_receives = end.of_receives->completions;
    end.is_selective_in_receives = is_selective;
  }
  if (bound->fclass == FI_CLASS_CNTR) {
    auto* const value = &reinterpret_cast<Counter*>(bound)->value;
    if ((flags & FI_WRITE) != 0) end.of_puts = value;
    if ((flags & FI_READ) != 0) end.of_gets = value;
  }
  end.connect();
  return 0;
}

/// How many endpoints are open: with the last one the library needs the network no more.
inline int open_ends = 0;

inline int close_end(fid* file) {
  if (--open_ends == 0) Rank::here().leave();
  return close_object<End>(file);
}

inline ssize_t cancel(fid* file, void* context) {
  return end_of(file).endpoint->cancel(context, Rank::here().now()) ? 0 : -FI_ENOENT;
}
inline int get_option(fid* file, int, int name, void* value, std::size_t* size) {
  if (name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  *static_cast<std::size_t*>(value) = end_of(file).endpoint->least_room;
  *size = sizeof(std::size_t);
  return 0;
}
inline int set_option(fid* file, int, int name, const void* value, std::size_t) {
  if (name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  end_of(file).endpoint->least_room = *static_cast<const std::size_t*>(value);
  return 0;
}
inline ssize_t places_left(fid_ep*) {
  return 1024;
}

inline int get_name(fid* file, void* name, std::size_t* size) {
  const Address own{static_cast<std::uint32_t>(Rank::here().number()),
                    end_of(file).endpoint->number};
  const auto room = std::exchange(*size, sizeof own);
  if (room < sizeof own) return -FI_ETOOSMALL;
  std::memcpy(name, &own, sizeof own);
  return 0;
}

inline fi_ops* end_operations() {
  static fi_ops table{sizeof(fi_ops), close_end, bind,   nothing_to_control,
                      no_operations,  nullptr,   nullptr};
  return &table;
}
inline fi_ops_ep* option_calls() {
  static fi_ops_ep table{sizeof(fi_ops_ep), cancel,  get_option,  set_option,
                         lacking,           lacking, places_left, places_left};
  return &table;
}
inline fi_ops_cm* naming_calls() {
  static fi_ops_cm table{};
  table.size = sizeof(fi_ops_cm);
  table.setname = lacking;
  table.getname = get_name;
  table.getpeer = lacking;
  return &table;
}
}  // namespace nhalf::fabric::provider
