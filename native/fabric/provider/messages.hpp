// Sends and receives of libfabric, with and without tags: every form of them as one of two calls.
#pragma once

#include <rdma/fi_tagged.h>

#include "fabric/provider/remote.hpp"

namespace nhalf::fabric::provider {
using Parts = std::span<const iovec>;

/// The bytes of a call that names one place.
struct OnePart {
  iovec part;
  OnePart(const void* data, std::size_t size) : part{const_cast<void*>(data), size} {}
  [[nodiscard]] Parts parts() const { return {&part, 1}; }
};

/// Sends are of one kind: with or without a tag, data, or a completion.
struct Sending {
  fi_addr_t to;
  Envelope envelope;
  void* context = nullptr;
  /// The flags of the endpoint unless a call brings its own.
  std::optional<std::uint64_t> flags = std::nullopt;
  /// Whether the library never hears of it again.
  bool is_forgotten = false;
};

inline ssize_t send(fid_ep* file, Parts parts, const Sending& sending) {
  const auto& end = end_of(file);
  const auto to = end.addresses == nullptr ? std::nullopt : end.addresses->at(sending.to);
  if (!to) return -FI_EINVAL;
  const auto flags = sending.flags.value_or(end.send_flags);
  const bool is_reported =
      !sending.is_forgotten && (!end.is_selective_in_sends || (flags & FI_COMPLETION) != 0);
  Rank::here().send(*end.endpoint, *to, sending.envelope, parts,
                    is_reported ? std::optional(sending.context) : std::nullopt);
  return 0;
}

struct Receiving {
  fi_addr_t from;
  void* context;
  std::uint64_t tag = 0;
  std::uint64_t ignored = 0;
  /// The flags of the endpoint unless a call brings its own.
  std::optional<std::uint64_t> flags = std::nullopt;
};

inline Selection selection_of(const End& end, const Receiving& receiving) {
  Selection selection{receiving.tag, receiving.ignored, std::nullopt};
  if (receiving.from != FI_ADDR_UNSPEC && end.addresses != nullptr)
    selection.source = end.addresses->at(receiving.from);
  return selection;
}

/// The place in a library's context where a claimed message is remembered.
inline Message*& claimed_in(void* context) {
  return reinterpret_cast<Message*&>(static_cast<fi_context*>(context)->internal[0]);
}

inline ssize_t peek(End& end, const Receiving& receiving, std::uint64_t flags) {
  auto& rank = Rank::here();
  auto& endpoint = *end.endpoint;
  Message* message = rank.peek(endpoint, selection_of(end, receiving));
  Completion answer(rank.now(), receiving.context);
  answer.is_received = true;
  answer.envelope = {receiving.tag, 0, true, false};
  if (message == nullptr) {
    answer.failure = Failure::no_message;
  } else {
    answer.size_bytes = message->size_bytes;
    answer.envelope = message->envelope;
    answer.source = message->source;
    if ((flags & FI_DISCARD) != 0)
      rank.discard(endpoint, *message);
    else if ((flags & FI_CLAIM) != 0) {
      message->is_claimed = true;
      claimed_in(receiving.context) = message;
    }
  }
  endpoint.report(answer);
  return 0;
}

inline ssize_t receive(fid_ep* file, Parts parts, const Receiving& receiving, bool is_tagged) {
  auto& end = end_of(file);
  const auto flags = receiving.flags.value_or(end.receive_flags);
  auto& rank = Rank::here();
  auto& endpoint = *end.endpoint;
  if (is_tagged && (flags & FI_PEEK) != 0) return peek(end, receiving, flags);
  Receive receive{selection_of(end, receiving), {parts.begin(), parts.end()}, receiving.context};
  if (is_tagged && (flags & FI_CLAIM) != 0) {
    if ((flags & FI_DISCARD) != 0) receive.parts.clear();
    return rank.receive_claimed(endpoint, std::move(receive), *claimed_in(receiving.context))
               ? 0
               : -FI_ENOMSG;
  }
  receive.is_reported = !is_tagged || !end.is_selective_in_receives || (flags & FI_COMPLETION) != 0;
  receive.takes_many = !is_tagged && (flags & FI_MULTI_RECV) != 0;
  rank.receive(endpoint, std::move(receive), is_tagged);
  return 0;
}

/// The calls of libfabric, with or without a tag after the addresses.
template <class Record, class... Tag>
struct Forms {
  static constexpr bool is_tagged = sizeof...(Tag) > 0;
  using Calls = std::conditional_t<is_tagged, fi_ops_tagged, fi_ops_msg>;

  static Envelope envelope(std::optional<std::uint64_t> data, Tag... tag) {
    return {(std::uint64_t{0} + ... + tag), data.value_or(0), is_tagged, data.has_value()};
  }
  static ssize_t receive_message(fid_ep* file, const Record* all, std::uint64_t flags) {
    Receiving receiving{all->addr, all->context};
    receiving.flags = flags;
    if constexpr (is_tagged) receiving.tag = all->tag;
    if constexpr (is_tagged) receiving.ignored = all->ignore;
    return receive(file, {all->msg_iov, all->iov_count}, receiving, is_tagged);
  }
  static ssize_t send_message(fid_ep* file, const Record* all, std::uint64_t flags) {
    Envelope head{0, all->data, is_tagged, (flags & FI_REMOTE_CQ_DATA) != 0};
    if constexpr (is_tagged) head.tag = all->tag;
    return send(file, {all->msg_iov, all->iov_count}, {all->addr, head, all->context, flags});
  }

  static Calls* calls() {
    static Calls table{
        sizeof(Calls),
        [](fid_ep* file, void* data, std::size_t size, void*, fi_addr_t from, Tag... tag,
           Tag... ignored, void* context) {
          return receive(file, OnePart(data, size).parts(), {from, context, tag..., ignored...},
                         is_tagged);
        },
        [](fid_ep* file, const iovec* parts, void**, std::size_t count, fi_addr_t from, Tag... tag,
           Tag... ignored, void* context) {
          return receive(file, {parts, count}, {from, context, tag..., ignored...}, is_tagged);
        },
        receive_message,
        [](fid_ep* file, const void* data, std::size_t size, void*, fi_addr_t to, Tag... tag,
           void* context) {
          return send(file, OnePart(data, size).parts(), {to, envelope({}, tag...), context});
        },
        [](fid_ep* file, const iovec* parts, void**, std::size_t count, fi_addr_t to, Tag... tag,
           void* context) {
          return send(file, {parts, count}, {to, envelope({}, tag...), context});
        },
        send_message,
        [](fid_ep* file, const void* data, std::size_t size, fi_addr_t to, Tag... tag) {
          return send(file, OnePart(data, size).parts(),
                      {to, envelope({}, tag...), nullptr, 0, true});
        },
        [](fid_ep* file, const void* data, std::size_t size, void*, std::uint64_t more,
           fi_addr_t to, Tag... tag, void* context) {
          return send(file, OnePart(data, size).parts(), {to, envelope(more, tag...), context});
        },
        [](fid_ep* file, const void* data, std::size_t size, std::uint64_t more, fi_addr_t to,
           Tag... tag) {
          return send(file, OnePart(data, size).parts(),
                      {to, envelope(more, tag...), nullptr, 0, true});
        }};
    return &table;
  }
};

inline int open_end(fid_domain*, fi_info* hints, fid_ep** result, void* context) {
  auto* end = new End{};
  ++open_ends;
  describe(end->file.fid, FI_CLASS_EP, context, end_operations());
  end->file.ops = option_calls();
  end->file.cm = naming_calls();
  end->file.msg = Forms<fi_msg>::calls();
  end->file.tagged = Forms<fi_msg_tagged, std::uint64_t>::calls();
  end->file.rma = remote_calls();
  end->file.atomic = atomic_calls();
  end->endpoint = &Rank::here().endpoints().add();
  if (hints != nullptr && hints->tx_attr != nullptr) end->send_flags = hints->tx_attr->op_flags;
  if (hints != nullptr && hints->rx_attr != nullptr) end->receive_flags = hints->rx_attr->op_flags;
  *result = &end->file;
  return 0;
}
}  // namespace nhalf::fabric::provider
