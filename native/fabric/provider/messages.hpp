// SPDX-License-Identifier: Apache-2.0
// Sends and receives of libfabric, with and without tags: every form of them as one of two calls.
#pragma once

#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>

#include <span>
#include <utility>

#include "fabric/provider/end.hpp"
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
  std::uint64_t flags = 0;
  /// Whether the library never hears of it again.
  bool is_forgotten = false;
};

inline ssize_t send(End& end, Parts parts, const Sending& sending) {
  const auto to = end.addresses == nullptr ? std::nullopt : end.addresses->at(sending.to);
  if (!to) return -FI_EINVAL;
  const bool is_reported =
      !sending.is_forgotten && (!end.is_selective_in_sends || (sending.flags & FI_COMPLETION) != 0);
  Rank::here().send(*end.endpoint, *to, sending.envelope, parts,
                    is_reported ? std::optional(sending.context) : std::nullopt);
  return 0;
}

struct Receiving {
  fi_addr_t from;
  std::uint64_t tag = 0;
  std::uint64_t ignored = 0;
  void* context = nullptr;
  std::uint64_t flags = 0;
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

inline ssize_t peek(End& end, const Receiving& receiving) {
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
    if ((receiving.flags & FI_DISCARD) != 0)
      rank.discard(endpoint, *message);
    else if ((receiving.flags & FI_CLAIM) != 0) {
      message->is_claimed = true;
      claimed_in(receiving.context) = message;
    }
  }
  endpoint.report(answer);
  return 0;
}

inline ssize_t receive(End& end, Parts parts, const Receiving& receiving, bool is_tagged) {
  auto& rank = Rank::here();
  auto& endpoint = *end.endpoint;
  if (is_tagged && (receiving.flags & FI_PEEK) != 0) return peek(end, receiving);
  Receive receive{selection_of(end, receiving), {parts.begin(), parts.end()}, receiving.context};
  if (is_tagged && (receiving.flags & FI_CLAIM) != 0) {
    if ((receiving.flags & FI_DISCARD) != 0) receive.parts.clear();
    return rank.receive_claimed(endpoint, std::move(receive), *claimed_in(receiving.context))
               ? 0
               : -FI_ENOMSG;
  }
  receive.is_reported =
      !is_tagged || !end.is_selective_in_receives || (receiving.flags & FI_COMPLETION) != 0;
  receive.takes_many = !is_tagged && (receiving.flags & FI_MULTI_RECV) != 0;
  rank.receive(endpoint, std::move(receive), is_tagged);
  return 0;
}

inline fi_ops_tagged* tagged_calls() {
  static fi_ops_tagged table{
      sizeof(fi_ops_tagged),
      [](fid_ep* file, void* data, std::size_t size, void*, fi_addr_t from, std::uint64_t tag,
         std::uint64_t ignored, void* context) {
        auto& end = end_of(file);
        return receive(end, OnePart(data, size).parts(),
                       {from, tag, ignored, context, end.receive_flags}, true);
      },
      [](fid_ep* file, const iovec* parts, void**, std::size_t count, fi_addr_t from,
         std::uint64_t tag, std::uint64_t ignored, void* context) {
        auto& end = end_of(file);
        return receive(end, {parts, count}, {from, tag, ignored, context, end.receive_flags}, true);
      },
      [](fid_ep* file, const fi_msg_tagged* all, std::uint64_t flags) {
        return receive(end_of(file), {all->msg_iov, all->iov_count},
                       {all->addr, all->tag, all->ignore, all->context, flags}, true);
      },
      [](fid_ep* file, const void* data, std::size_t size, void*, fi_addr_t to, std::uint64_t tag,
         void* context) {
        auto& end = end_of(file);
        return send(end, OnePart(data, size).parts(),
                    {to, {tag, 0, true, false}, context, end.send_flags});
      },
      [](fid_ep* file, const iovec* parts, void**, std::size_t count, fi_addr_t to,
         std::uint64_t tag, void* context) {
        auto& end = end_of(file);
        return send(end, {parts, count}, {to, {tag, 0, true, false}, context, end.send_flags});
      },
      [](fid_ep* file, const fi_msg_tagged* all, std::uint64_t flags) {
        const bool has_data = (flags & FI_REMOTE_CQ_DATA) != 0;
        return send(end_of(file), {all->msg_iov, all->iov_count},
                    {all->addr, {all->tag, all->data, true, has_data}, all->context, flags});
      },
      [](fid_ep* file, const void* data, std::size_t size, fi_addr_t to, std::uint64_t tag) {
        return send(end_of(file), OnePart(data, size).parts(),
                    {to, {tag, 0, true, false}, nullptr, 0, true});
      },
      [](fid_ep* file, const void* data, std::size_t size, void*, std::uint64_t more, fi_addr_t to,
         std::uint64_t tag, void* context) {
        auto& end = end_of(file);
        return send(end, OnePart(data, size).parts(),
                    {to, {tag, more, true, true}, context, end.send_flags});
      },
      [](fid_ep* file, const void* data, std::size_t size, std::uint64_t more, fi_addr_t to,
         std::uint64_t tag) {
        return send(end_of(file), OnePart(data, size).parts(),
                    {to, {tag, more, true, true}, nullptr, 0, true});
      }};
  return &table;
}

inline fi_ops_msg* plain_calls() {
  static fi_ops_msg table{
      sizeof(fi_ops_msg),
      [](fid_ep* file, void* data, std::size_t size, void*, fi_addr_t from, void* context) {
        auto& end = end_of(file);
        return receive(end, OnePart(data, size).parts(), {from, 0, 0, context, end.receive_flags},
                       false);
      },
      [](fid_ep* file, const iovec* parts, void**, std::size_t count, fi_addr_t from,
         void* context) {
        auto& end = end_of(file);
        return receive(end, {parts, count}, {from, 0, 0, context, end.receive_flags}, false);
      },
      [](fid_ep* file, const fi_msg* all, std::uint64_t flags) {
        return receive(end_of(file), {all->msg_iov, all->iov_count},
                       {all->addr, 0, 0, all->context, flags}, false);
      },
      [](fid_ep* file, const void* data, std::size_t size, void*, fi_addr_t to, void* context) {
        auto& end = end_of(file);
        return send(end, OnePart(data, size).parts(), {to, {}, context, end.send_flags});
      },
      [](fid_ep* file, const iovec* parts, void**, std::size_t count, fi_addr_t to, void* context) {
        auto& end = end_of(file);
        return send(end, {parts, count}, {to, {}, context, end.send_flags});
      },
      [](fid_ep* file, const fi_msg* all, std::uint64_t flags) {
        const bool has_data = (flags & FI_REMOTE_CQ_DATA) != 0;
        return send(end_of(file), {all->msg_iov, all->iov_count},
                    {all->addr, {0, all->data, false, has_data}, all->context, flags});
      },
      [](fid_ep* file, const void* data, std::size_t size, fi_addr_t to) {
        return send(end_of(file), OnePart(data, size).parts(), {to, {}, nullptr, 0, true});
      },
      [](fid_ep* file, const void* data, std::size_t size, void*, std::uint64_t more, fi_addr_t to,
         void* context) {
        auto& end = end_of(file);
        return send(end, OnePart(data, size).parts(),
                    {to, {0, more, false, true}, context, end.send_flags});
      },
      [](fid_ep* file, const void* data, std::size_t size, std::uint64_t more, fi_addr_t to) {
        return send(end_of(file), OnePart(data, size).parts(),
                    {to, {0, more, false, true}, nullptr, 0, true});
      }};
  return &table;
}

inline int open_end(fid_domain*, fi_info* wanted, fid_ep** result, void* context) {
  auto* end = new End{};
  ++open_ends;
  describe(end->file.fid, FI_CLASS_EP, context, end_operations());
  end->file.ops = option_calls();
  end->file.cm = naming_calls();
  end->file.msg = plain_calls();
  end->file.tagged = tagged_calls();
  end->file.rma = remote_calls();
  end->file.atomic = atomic_calls();
  end->endpoint = &Rank::here().add_endpoint();
  if (wanted != nullptr && wanted->tx_attr != nullptr) end->send_flags = wanted->tx_attr->op_flags;
  if (wanted != nullptr && wanted->rx_attr != nullptr)
    end->receive_flags = wanted->rx_attr->op_flags;
  *result = &end->file;
  return 0;
}

}  // namespace nhalf::fabric::provider
