// SPDX-License-Identifier: Apache-2.0
// Fabric, domain and registered memory of libfabric, which have no state here.
#pragma once

#include <rdma/fi_domain.h>

#include "fabric/provider/addresses.hpp"
#include "fabric/provider/messages.hpp"
#include "fabric/provider/objects.hpp"
#include "fabric/provider/queue.hpp"

namespace nhalf::fabric::provider {

/// Registers memory in name only: there is no remote access to it.
inline int register_memory(fid*, const void*, std::size_t, std::uint64_t, std::uint64_t,
                           std::uint64_t key, std::uint64_t, fid_mr** result, void* context) {
  static std::uint64_t last_key = 0;
  auto* memory = new fid_mr{};
  describe(memory->fid, FI_CLASS_MR, context, operations<fid_mr>());
  memory->mem_desc = memory;
  memory->key = key != 0 ? key : ++last_key;
  *result = memory;
  return 0;
}

inline fi_ops_mr* memory_calls() {
  static fi_ops_mr table{
      sizeof(fi_ops_mr), register_memory,
      [](fid* file, const iovec*, std::size_t, std::uint64_t access, std::uint64_t offset,
         std::uint64_t key, std::uint64_t flags, fid_mr** result, void* context) {
        return register_memory(file, nullptr, 0, access, offset, key, flags, result, context);
      },
      [](fid* file, const fi_mr_attr* wanted, std::uint64_t flags, fid_mr** result) {
        return register_memory(file, nullptr, 0, wanted->access, wanted->offset,
                               wanted->requested_key, flags, result, wanted->context);
      }};
  return &table;
}

inline fi_ops_domain* domain_calls() {
  static fi_ops_domain table{};
  table.size = sizeof(fi_ops_domain);
  table.av_open = open_addresses;
  table.cq_open = open_queue;
  table.endpoint = open_end;
  table.scalable_ep = lacking<int, fid_domain*, fi_info*, fid_ep**, void*>;
  table.cntr_open = open_counter;
  table.poll_open = lacking<int, fid_domain*, fi_poll_attr*, fid_poll**>;
  table.stx_ctx = lacking<int, fid_domain*, fi_tx_attr*, fid_stx**, void*>;
  table.srx_ctx = lacking<int, fid_domain*, fi_rx_attr*, fid_ep**, void*>;
  table.query_atomic =
      lacking<int, fid_domain*, fi_datatype, fi_op, fi_atomic_attr*, std::uint64_t>;
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
  calls.passive_ep = lacking<int, fid_fabric*, fi_info*, fid_pep**, void*>;
  calls.eq_open = lacking<int, fid_fabric*, fi_eq_attr*, fid_eq**, void*>;
  calls.wait_open = lacking<int, fid_fabric*, fi_wait_attr*, fid_wait**>;
  calls.trywait = lacking<int, fid_fabric*, fid**, int>;
  auto* fabric = new fid_fabric{};
  describe(fabric->fid, FI_CLASS_FABRIC, context, operations<fid_fabric>());
  fabric->ops = &calls;
  *result = fabric;
  return 0;
}

}  // namespace nhalf::fabric::provider
