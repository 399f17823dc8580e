// Access of libfabric to the memory of other ranks: reads, writes and atomic operations, every form
// of them as one call.
#pragma once

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

#include "fabric/provider/end.hpp"

namespace nhalf::fabric::provider {
static_assert(static_cast<int>(Operation::sum) == FI_SUM);
static_assert(static_cast<int>(Operation::write) == FI_ATOMIC_WRITE);
static_assert(static_cast<int>(Operation::swap_of_mask) == FI_MSWAP);
static_assert(static_cast<int>(Number::uint64) == FI_UINT64);
static_assert(static_cast<int>(Number::double_precision) == FI_DOUBLE);

/// Where an access goes, and who hears of its end.
struct Reaching {
  fi_addr_t to;
  void* context = nullptr;
  /// The flags of the endpoint unless a call brings its own.
  std::optional<std::uint64_t> flags = std::nullopt;
  /// Whether the library never hears of it again.
  bool is_forgotten = false;
};

inline ssize_t reach(fid_ep* file, const Access& access, std::vector<iovec> sent,
                     std::vector<iovec> received, const Reaching& reaching) {
  const auto& end = end_of(file);
  const auto to = end.addresses == nullptr ? std::nullopt : end.addresses->at(reaching.to);
  if (!to) return -FI_EINVAL;
  Asked pending;
  pending.parts = std::move(received);
  pending.context = reaching.context;
  pending.size_bytes = static_cast<std::size_t>(access.size_bytes);
  pending.counter =
      access.kind == Access::Kind::get || access.wants_old ? end.of_gets : end.of_puts;
  pending.is_reported =
      !reaching.is_forgotten && (!end.is_selective_in_sends ||
                                 (reaching.flags.value_or(end.send_flags) & FI_COMPLETION) != 0);
  Rank::here().access(*end.endpoint, *to, access, sent, std::move(pending));
  return 0;
}

inline std::vector<iovec> listed(const iovec* parts, std::size_t count) {
  return {parts, parts + count};
}
inline std::vector<iovec> listed(const void* data, std::size_t size) {
  return {iovec{const_cast<void*>(data), size}};
}

/// Writes parts to memory of another rank, or reads them from it.
inline ssize_t transfer(Access::Kind kind, fid_ep* file, std::vector<iovec> parts,
                        std::uint64_t place, std::uint64_t key, const Reaching& reaching) {
  Access access;
  access.kind = kind;
  access.place = place;
  access.key = key;
  access.size_bytes = bytes_in(parts);
  if (kind == Access::Kind::get) return reach(file, access, {}, std::move(parts), reaching);
  return reach(file, access, std::move(parts), {}, reaching);
}

/// The forms of either.
template <Access::Kind kind>
struct Transfers {
  template <class Data>
  static ssize_t one(fid_ep* file, Data* data, std::size_t size, void*, fi_addr_t peer,
                     std::uint64_t place, std::uint64_t key, void* context) {
    return transfer(kind, file, listed(data, size), place, key, {peer, context});
  }
  static ssize_t parts(fid_ep* file, const iovec* parts, void**, std::size_t count, fi_addr_t peer,
                       std::uint64_t place, std::uint64_t key, void* context) {
    return transfer(kind, file, listed(parts, count), place, key, {peer, context});
  }
  static ssize_t message(fid_ep* file, const fi_msg_rma* all, std::uint64_t flags) {
    return transfer(kind, file, listed(all->msg_iov, all->iov_count), all->rma_iov->addr,
                    all->rma_iov->key, {all->addr, all->context, flags});
  }
};

inline fi_ops_rma* remote_calls() {
  using Gets = Transfers<Access::Kind::get>;
  using Puts = Transfers<Access::Kind::put>;
  static fi_ops_rma table{sizeof(fi_ops_rma),
                          Gets::one<void>,
                          Gets::parts,
                          Gets::message,
                          Puts::one<const void>,
                          Puts::parts,
                          Puts::message,
                          [](fid_ep* file, const void* data, std::size_t size, fi_addr_t to,
                             std::uint64_t place, std::uint64_t key) {
                            return transfer(Access::Kind::put, file, listed(data, size), place, key,
                                            {to, nullptr, 0, true});
                          },
                          lacking,
                          lacking};
  return &table;
}

/// An atomic operation on numbers of a type.
struct Combining {
  fi_datatype type;
  fi_op operation;
  std::uint64_t place;
  std::uint64_t key;

  [[nodiscard]] bool is_known() const {
    const auto type_number = static_cast<unsigned>(type);
    const auto operation_number = static_cast<unsigned>(operation);
    return type_number < static_cast<unsigned>(Number::number_of_types) &&
           operation_number < static_cast<unsigned>(Operation::number_of_operations) &&
           can_combine(static_cast<Operation>(operation), static_cast<Number>(type));
  }
  /// Returns 0 for a type that is not known.
  [[nodiscard]] std::size_t number_bytes() const {
    return is_known() ? bytes_of(static_cast<Number>(type)) : 0;
  }
  [[nodiscard]] std::vector<iovec> listed(const void* data, std::size_t count) const {
    return {iovec{const_cast<void*>(data), count * number_bytes()}};
  }
  [[nodiscard]] std::vector<iovec> listed(const fi_ioc* parts, std::size_t count) const {
    std::vector<iovec> bytes;
    for (std::size_t at = 0; at < count; ++at)
      bytes.push_back({parts[at].addr, parts[at].count * number_bytes()});
    return bytes;
  }
};

inline ssize_t combine_at(fid_ep* file, const Combining& combining, std::vector<iovec> operands,
                          const std::vector<iovec>& compared, std::vector<iovec> results,
                          const Reaching& reaching) {
  if (!combining.is_known()) return -FI_EOPNOTSUPP;
  Access access;
  access.kind = Access::Kind::combine;
  access.operation = static_cast<Operation>(combining.operation);
  access.type = static_cast<Number>(combining.type);
  access.place = combining.place;
  access.key = combining.key;
  access.wants_old = !results.empty();
  access.size_bytes = bytes_in(results.empty() ? operands : results);
  if (access.operation == Operation::read) operands.clear();
  operands.insert(operands.end(), compared.begin(), compared.end());
  return reach(file, access, std::move(operands), std::move(results), reaching);
}

inline Combining combining_of(const fi_msg_atomic& all) {
  return {all.datatype, all.op, all.rma_iov->addr, all.rma_iov->key};
}

inline int can_combine_at(fid_ep*, fi_datatype type, fi_op operation, std::size_t* count) {
  *count = 4096;
  return Combining{type, operation, 0, 0}.is_known() ? 0 : -FI_EOPNOTSUPP;
}
inline int describe_atomic(fid_domain*, fi_datatype type, fi_op operation, fi_atomic_attr* result,
                           std::uint64_t) {
  const Combining combining{type, operation, 0, 0};
  if (!combining.is_known()) return -FI_EOPNOTSUPP;
  result->count = 4096;
  result->size = combining.number_bytes();
  return 0;
}

/// Calls that change what is there.
inline void add_changes(fi_ops_atomic& table) {
  table.write = [](fid_ep* file, const void* data, std::size_t count, void*, fi_addr_t to,
                   std::uint64_t place, std::uint64_t key, fi_datatype type, fi_op operation,
                   void* context) {
    const Combining combining{type, operation, place, key};
    return combine_at(file, combining, combining.listed(data, count), {}, {}, {to, context});
  };
  table.writev = [](fid_ep* file, const fi_ioc* parts, void**, std::size_t count, fi_addr_t to,
                    std::uint64_t place, std::uint64_t key, fi_datatype type, fi_op operation,
                    void* context) {
    const Combining combining{type, operation, place, key};
    return combine_at(file, combining, combining.listed(parts, count), {}, {}, {to, context});
  };
  table.writemsg = [](fid_ep* file, const fi_msg_atomic* all, std::uint64_t flags) {
    const auto combining = combining_of(*all);
    return combine_at(file, combining, combining.listed(all->msg_iov, all->iov_count), {}, {},
                      {all->addr, all->context, flags});
  };
  table.inject = [](fid_ep* file, const void* data, std::size_t count, fi_addr_t to,
                    std::uint64_t place, std::uint64_t key, fi_datatype type, fi_op operation) {
    const Combining combining{type, operation, place, key};
    return combine_at(file, combining, combining.listed(data, count), {}, {},
                      {to, nullptr, 0, true});
  };
  table.writevalid = can_combine_at;
}

/// Calls that also bring what was there before.
inline void add_fetches(fi_ops_atomic& table) {
  table.readwrite = [](fid_ep* file, const void* data, std::size_t count, void*, void* result,
                       void*, fi_addr_t to, std::uint64_t place, std::uint64_t key,
                       fi_datatype type, fi_op operation, void* context) {
    const Combining combining{type, operation, place, key};
    return combine_at(file, combining, combining.listed(data, count), {},
                      combining.listed(result, count), {to, context});
  };
  table.readwritev = [](fid_ep* file, const fi_ioc* parts, void**, std::size_t count,
                        fi_ioc* results, void**, std::size_t result_count, fi_addr_t to,
                        std::uint64_t place, std::uint64_t key, fi_datatype type, fi_op operation,
                        void* context) {
    const Combining combining{type, operation, place, key};
    return combine_at(file, combining, combining.listed(parts, count), {},
                      combining.listed(results, result_count), {to, context});
  };
  table.readwritemsg = [](fid_ep* file, const fi_msg_atomic* all, fi_ioc* results, void**,
                          std::size_t result_count, std::uint64_t flags) {
    const auto combining = combining_of(*all);
    return combine_at(file, combining, combining.listed(all->msg_iov, all->iov_count), {},
                      combining.listed(results, result_count), {all->addr, all->context, flags});
  };
  table.readwritevalid = can_combine_at;
}

/// Calls that change what is there on a condition.
inline void add_swaps(fi_ops_atomic& table) {
  table.compwrite = [](fid_ep* file, const void* data, std::size_t count, void*,
                       const void* compared, void*, void* result, void*, fi_addr_t to,
                       std::uint64_t place, std::uint64_t key, fi_datatype type, fi_op operation,
                       void* context) {
    const Combining combining{type, operation, place, key};
    return combine_at(file, combining, combining.listed(data, count),
                      combining.listed(compared, count), combining.listed(result, count),
                      {to, context});
  };
  table.compwritev = [](fid_ep* file, const fi_ioc* parts, void**, std::size_t count,
                        const fi_ioc* compared, void**, std::size_t compared_count, fi_ioc* results,
                        void**, std::size_t result_count, fi_addr_t to, std::uint64_t place,
                        std::uint64_t key, fi_datatype type, fi_op operation, void* context) {
    const Combining combining{type, operation, place, key};
    return combine_at(file, combining, combining.listed(parts, count),
                      combining.listed(compared, compared_count),
                      combining.listed(results, result_count), {to, context});
  };
  table.compwritemsg = [](fid_ep* file, const fi_msg_atomic* all, const fi_ioc* compared, void**,
                          std::size_t compared_count, fi_ioc* results, void**,
                          std::size_t result_count, std::uint64_t flags) {
    const auto combining = combining_of(*all);
    return combine_at(file, combining, combining.listed(all->msg_iov, all->iov_count),
                      combining.listed(compared, compared_count),
                      combining.listed(results, result_count), {all->addr, all->context, flags});
  };
  table.compwritevalid = can_combine_at;
}

inline fi_ops_atomic* atomic_calls() {
  static fi_ops_atomic table = [] {
    fi_ops_atomic all{};
    all.size = sizeof all;
    add_changes(all);
    add_fetches(all);
    add_swaps(all);
    return all;
  }();
  return &table;
}
}  // namespace nhalf::fabric::provider
