// Fabric, domain and registered memory of libfabric, and what the network can do in libfabric's
// words.
#pragma once

#include "fabric/provider/messages.hpp"

namespace nhalf::fabric::provider {
// What the network can do, in libfabric's words. Attributes are allocated with C's own calls,
// because libfabric frees them, and with room for members of later versions of it, which are
// appended and mean nothing when zero.

inline constexpr const char* provider_name = "nhalf";
/// Set when one of libfabric's own providers looks for something to build upon.
inline constexpr std::uint64_t for_other_provider = std::uint64_t{1} << 59;
inline constexpr std::size_t inject_bytes = 16384;
inline constexpr std::size_t message_bytes_max = std::size_t{1} << 40;

inline constexpr std::uint64_t common_abilities =
    FI_TAGGED | FI_MSG | FI_LOCAL_COMM | FI_REMOTE_COMM;
inline constexpr std::uint64_t receive_abilities =
    common_abilities | FI_RECV | FI_MULTI_RECV | FI_DIRECTED_RECV | FI_SOURCE;
inline constexpr std::uint64_t abilities = receive_abilities | FI_SEND;
/// Access to the memory of others, which only those get that ask for it.
inline constexpr std::uint64_t remote_abilities =
    FI_RMA | FI_ATOMIC | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

template <class Attributes>
Attributes* zeroed() {
  constexpr std::size_t later_members = 256;
  return static_cast<Attributes*>(std::calloc(1, sizeof(Attributes) + later_members));
}

inline bool can_serve(const fi_info& hints, std::uint64_t flags) {
  if ((flags & for_other_provider) != 0 || (hints.caps & ~(abilities | remote_abilities)) != 0)
    return false;
  if (hints.ep_attr == nullptr) return true;
  return hints.ep_attr->type == FI_EP_UNSPEC || hints.ep_attr->type == FI_EP_RDM;
}

inline void describe_sends(fi_tx_attr& attributes, std::uint64_t caps, const fi_tx_attr* hints) {
  attributes.caps = caps & (common_abilities | remote_abilities | FI_SEND);
  attributes.op_flags = hints == nullptr ? 0 : hints->op_flags;
  attributes.msg_order = FI_ORDER_SAS;
  attributes.inject_size = inject_bytes;
  attributes.size = 4096;
  attributes.iov_limit = 8;
  attributes.rma_iov_limit = 1;
}
inline void describe_receives(fi_rx_attr& attributes, std::uint64_t caps, const fi_rx_attr* hints) {
  attributes.caps = caps & (receive_abilities | remote_abilities);
  attributes.op_flags = hints == nullptr ? 0 : hints->op_flags;
  attributes.msg_order = FI_ORDER_SAS;
  attributes.size = 4096;
  attributes.iov_limit = 8;
}
inline void describe_endpoint(fi_ep_attr& attributes) {
  attributes.type = FI_EP_RDM;
  attributes.protocol = 0x6e68;
  attributes.protocol_version = 1;
  attributes.max_msg_size = message_bytes_max;
  attributes.mem_tag_format = 0xAAAA'AAAA'AAAA'AAAA;
  // One of each: libraries would otherwise open endpoints of several contexts.
  attributes.tx_ctx_cnt = attributes.rx_ctx_cnt = 1;
}
inline void describe_domain(fi_domain_attr& attributes, const fi_domain_attr* hints) {
  attributes.name = strdup("nhalf0");
  attributes.threading = FI_THREAD_SAFE;
  attributes.control_progress = attributes.data_progress = FI_PROGRESS_MANUAL;
  if (hints != nullptr) {
    if (hints->threading != FI_THREAD_UNSPEC) attributes.threading = hints->threading;
    if (hints->control_progress != FI_PROGRESS_UNSPEC)
      attributes.control_progress = hints->control_progress;
    if (hints->data_progress != FI_PROGRESS_UNSPEC) attributes.data_progress = hints->data_progress;
  }
  attributes.resource_mgmt = FI_RM_ENABLED;
  attributes.av_type = FI_AV_TABLE;
  attributes.mr_key_size = attributes.cq_data_size = 8;
  attributes.cq_cnt = attributes.ep_cnt = attributes.cntr_cnt = 256;
  attributes.tx_ctx_cnt = attributes.rx_ctx_cnt = 256;
  attributes.max_ep_tx_ctx = attributes.max_ep_rx_ctx = 1;
  attributes.mr_iov_limit = 1;
  attributes.mr_cnt = 65536;
  attributes.caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
}

inline int get_info(std::uint32_t version, const char*, const char*, std::uint64_t flags,
                    const fi_info* hints, fi_info** result) {
  if (hints != nullptr && !can_serve(*hints, flags)) return -FI_ENODATA;
  if (!Rank::here().open()) return -FI_ENODATA;
  auto* info = zeroed<fi_info>();
  info->caps = abilities;
  if (hints != nullptr && hints->caps != 0) info->caps = hints->caps | FI_SEND | FI_RECV;
  info->addr_format = FI_ADDR_PSMX;
  auto* address = static_cast<Address*>(std::calloc(1, sizeof(Address)));
  address->rank = static_cast<std::uint32_t>(Rank::here().number());
  info->src_addr = address;
  info->src_addrlen = sizeof(Address);
  info->tx_attr = zeroed<fi_tx_attr>();
  info->rx_attr = zeroed<fi_rx_attr>();
  info->ep_attr = zeroed<fi_ep_attr>();
  info->domain_attr = zeroed<fi_domain_attr>();
  info->fabric_attr = zeroed<fi_fabric_attr>();
  describe_sends(*info->tx_attr, info->caps, hints == nullptr ? nullptr : hints->tx_attr);
  describe_receives(*info->rx_attr, info->caps, hints == nullptr ? nullptr : hints->rx_attr);
  describe_endpoint(*info->ep_attr);
  describe_domain(*info->domain_attr, hints == nullptr ? nullptr : hints->domain_attr);
  // libfabric adds the provider's name itself.
  info->fabric_attr->name = strdup(provider_name);
  info->fabric_attr->prov_version = FI_VERSION(1, 0);
  info->fabric_attr->api_version = version;
  *result = info;
  return 0;
}

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
