// Completion queues and counters of libfabric.
#pragma once

#include <rdma/fi_eq.h>

#include "fabric/provider/objects.hpp"
#include "fabric/rank.hpp"

namespace nhalf::fabric::provider {
struct Queue {
  fid_cq file;
  fi_cq_format format;
  Completions* completions;
  /// The addresses by which it names senders: those of its endpoint.
  const Addresses* addresses;
};

inline std::uint64_t flags_of(const Completion& completion) {
  if (completion.is_access) return FI_RMA;
  std::uint64_t flags = completion.is_received ? FI_RECV : FI_SEND;
  flags |= completion.envelope.is_tagged ? FI_TAGGED : FI_MSG;
  if (completion.is_received && completion.envelope.has_data) flags |= FI_REMOTE_CQ_DATA;
  if (completion.is_released) flags |= FI_MULTI_RECV;
  return flags;
}

/// Formats are the beginnings of the longest.
inline std::size_t entry_bytes(fi_cq_format format) {
  switch (format) {
    case FI_CQ_FORMAT_CONTEXT:
      return sizeof(fi_cq_entry);
    case FI_CQ_FORMAT_MSG:
      return sizeof(fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA:
      return sizeof(fi_cq_data_entry);
    default:
      return sizeof(fi_cq_tagged_entry);
  }
}

inline ssize_t read_from(fid_cq* file, void* entries, std::size_t count, fi_addr_t* senders) {
  auto& queue = *reinterpret_cast<Queue*>(file);
  auto& rank = Rank::here();
  if (!rank.poll(*queue.completions)) return -FI_EAGAIN;
  std::size_t entry_count = 0;
  auto* to = static_cast<char*>(entries);
  while (entry_count < count && queue.completions->due() <= rank.now()) {
    if (queue.completions->has_failed_first())
      return entry_count > 0 ? static_cast<ssize_t>(entry_count) : -FI_EAVAIL;
    // What costs time ends the poll: the rank sees it before anything later happens.
    const bool costs = queue.completions->first().cost > 0;
    if (costs && entry_count > 0) break;
    const auto completion = rank.take(*queue.completions);
    const fi_cq_tagged_entry entry{completion.context,       flags_of(completion),
                                   completion.size_bytes,    completion.buffer,
                                   completion.envelope.data, completion.envelope.tag};
    std::memcpy(to, &entry, entry_bytes(queue.format));
    to += entry_bytes(queue.format);
    if (senders != nullptr)
      senders[entry_count] =
          queue.addresses == nullptr ? FI_ADDR_NOTAVAIL : queue.addresses->find(completion.source);
    ++entry_count;
    if (costs) break;
  }
  return static_cast<ssize_t>(entry_count);
}
inline ssize_t read(fid_cq* file, void* entries, std::size_t count) {
  return read_from(file, entries, count, nullptr);
}
inline ssize_t read_and_wait(fid_cq* file, void* entries, std::size_t count, const void*, int) {
  return read_from(file, entries, count, nullptr);
}
inline ssize_t read_from_and_wait(fid_cq* file, void* entries, std::size_t count,
                                  fi_addr_t* senders, const void*, int) {
  return read_from(file, entries, count, senders);
}

inline int error_of(Failure failure) {
  switch (failure) {
    case Failure::truncated:
      return FI_ETRUNC;
    case Failure::cancelled:
      return FI_ECANCELED;
    case Failure::no_message:
      return FI_ENOMSG;
    case Failure::no_memory:
      return FI_EACCES;
    case Failure::none:
      break;
  }
  return 0;
}

inline ssize_t read_error(fid_cq* file, fi_cq_err_entry* entry, std::uint64_t) {
  auto& queue = *reinterpret_cast<Queue*>(file);
  if (!queue.completions->has_failed_first()) return -FI_EAGAIN;
  const auto completion = Rank::here().take(*queue.completions);
  entry->op_context = completion.context;
  entry->flags = flags_of(completion);
  entry->len = completion.size_bytes;
  entry->buf = completion.buffer;
  entry->data = completion.envelope.data;
  entry->tag = completion.envelope.tag;
  entry->olen = completion.lost_bytes;
  entry->err = error_of(completion.failure);
  entry->prov_errno = entry->err;
  entry->err_data_size = 0;
  return 1;
}

inline const char* error_text(fid_cq*, int error, const void*, char*, std::size_t) {
  return strerror(error);
}

inline int open_queue(fid_domain*, fi_cq_attr* hints, fid_cq** result, void* context) {
  static fi_ops_cq calls{sizeof(fi_ops_cq),  read,    read_from, read_error, read_and_wait,
                         read_from_and_wait, lacking, error_text};
  auto* queue = new Queue{};
  describe(queue->file.fid, FI_CLASS_CQ, context, operations<Queue>());
  queue->file.ops = &calls;
  queue->format = hints == nullptr ? FI_CQ_FORMAT_UNSPEC : hints->format;
  queue->completions = &Rank::here().endpoints().add_queue();
  *result = &queue->file;
  return 0;
}

/// A counter that libraries open for remote memory, which there is none of.
struct Counter {
  fid_cntr file;
  std::uint64_t value;
};

inline int open_counter(fid_domain*, fi_cntr_attr*, fid_cntr** result, void* context) {
  static fi_ops_cntr calls{sizeof(fi_ops_cntr),
                           [](fid_cntr* file) { return reinterpret_cast<Counter*>(file)->value; },
                           [](fid_cntr*) { return std::uint64_t{0}; },
                           [](fid_cntr* file, std::uint64_t more) {
                             reinterpret_cast<Counter*>(file)->value += more;
                             return 0;
                           },
                           [](fid_cntr* file, std::uint64_t value) {
                             reinterpret_cast<Counter*>(file)->value = value;
                             return 0;
                           },
                           [](fid_cntr*, std::uint64_t, int) { return 0; },
                           lacking,
                           lacking};
  auto* counter = new Counter{};
  describe(counter->file.fid, FI_CLASS_CNTR, context, operations<Counter>());
  counter->file.ops = &calls;
  *result = &counter->file;
  return 0;
}
}  // namespace nhalf::fabric::provider
