// Fabric, domain and registered memory of libfabric.
#pragma once

#include <rdma/fi_domain.h>

#include "fabric/provider/addresses.hpp"
#include "fabric/provider/messages.hpp"
#include "fabric/provider/objects.hpp"
#include "fabric/provider/queue.hpp"

namespace nhalf::fabric::provider {

/// Memory that other ranks reach by a key, counted from its beginning.
struct Memory {
  fid_mr file;
};

inline int close_memory(fid* file) {
  auto* memory = reinterpret_cast<Memory*>(file);
  Rank::here().accesses().close(memory->file.key);
  delete memory;
  return 0;
}

inline int register_memory(fid*, const void* begin, std::size_t size, std::uint64_t,
                           std::uint64_t /*offset*/, std::uint64_t key, std::uint64_t,
                           fid_mr** result, void* context) {
  static fi_ops calls{sizeof(fi_ops), close_memory, nothing_to_bind, nothing_to_control,
                      no_operations,  nullptr,      nullptr};
  static std::uint64_t keys_chosen = std::uint64_t{1} << 63;
  auto& accesses = Rank::here().accesses();
  auto* const bytes = static_cast<std::byte*>(const_cast<void*>(begin));
  if (!accesses.open(key, bytes, size)) {
    // Libraries that never tell the key to others ask for none.
    if (key != 0) return -FI_ENOKEY;
    key = ++keys_chosen;
    accesses.open(key, bytes, size);
  }
  auto* memory = new Memory{};
  describe(memory->file.fid, FI_CLASS_MR, context, &calls);
  memory->file.mem_desc = memory;
  memory->file.key = key;
  *result = &memory->file;
  return 0;
}

inline fi_ops_mr* memory_calls() {
  static fi_ops_mr table{
      sizeof(fi_ops_mr), register_memory,
      [](fid* file, const iovec* part, std::size_t count, std::uint64_t access,
         std::uint64_t offset, std::uint64_t key, std::uint64_t flags, fid_mr** result,
         void* context) {
        if (count != 1) return -FI_EINVAL;
        return register_memory(file, part->iov_base, part->iov_len, access, offset, key, flags,
                               result, context);
      },
      [](fid* file, const fi_mr_attr* hints, std::uint64_t flags, fid_mr** result) {
        if (hints->iov_count != 1) return -FI_EINVAL;
        return register_memory(file, hints->mr_iov->iov_base, hints->mr_iov->iov_len, hints->access,
                               hints->offset, hints->requested_key, flags, result, hints->context);
      }};
  return &table;
}

inline fi_ops_domain* domain_calls() {
  static fi_ops_domain table{};
  table.size = sizeof(fi_ops_domain);
  table.av_open = open_addresses;
  table.cq_open = open_queue;
  table.endpoint = open_end;
  table.scalable_ep = lacking;
  table.cntr_open = open_counter;
  table.poll_open = lacking;
  table.stx_ctx = lacking;
  table.srx_ctx = lacking;
  table.query_atomic = describe_atomic;
  return &table;
}

inline int open_domain(fid_fabric*, fi_info*, fid_domain** result, void* context) {
  auto* domain = new fid_domain{};
  describe(domain->fid, FI_CLASS_DOMAIN, context, operations<fid_domain>());
  domain->ops = domain_calls();
  domain->mr = memory_calls();
  *result = domain;
  return 0;
}

inline int open_fabric(fi_fabric_attr*, fid_fabric** result, void* context) {
  static fi_ops_fabric calls{};
  calls.size = sizeof(fi_ops_fabric);
  calls.domain = open_domain;
  calls.passive_ep = lacking;
  calls.eq_open = lacking;
  calls.wait_open = lacking;
  calls.trywait = lacking;
  auto* fabric = new fid_fabric{};
  describe(fabric->fid, FI_CLASS_FABRIC, context, operations<fid_fabric>());
  fabric->ops = &calls;
  *result = fabric;
  return 0;
}

}  // namespace nhalf::fabric::provider
