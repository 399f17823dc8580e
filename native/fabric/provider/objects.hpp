// What all objects of libfabric have in common: a table of calls, most of which are not needed; and
// address vectors: a table of the endpoints that a library knows.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>
#include <cstdio>

#include "fabric/message.hpp"

namespace nhalf::fabric::provider {
/// Stands for any call that the network does not have.
inline constexpr struct Lacking {
  template <class Result, class... Arguments>
  using Call = Result (*)(Arguments...);
  template <class Result, class... Arguments>
  constexpr operator Call<Result, Arguments...>() const {
    return [](Arguments...) { return static_cast<Result>(-FI_ENOSYS); };
  }
} lacking;

inline int nothing_to_bind(fid*, fid*, std::uint64_t) {
  return 0;
}
inline int nothing_to_control(fid*, int, void*) {
  return 0;
}
inline int no_operations(fid*, const char*, std::uint64_t, void**, void*) {
  return -FI_ENOSYS;
}

/// Closes an object whose first member is libfabric's part of it.
template <class Object>
int close_object(fid* file) {
  delete reinterpret_cast<Object*>(file);
  return 0;
}

template <class Object>
fi_ops* operations() {
  static fi_ops table{sizeof(fi_ops),  close_object<Object>,
                      nothing_to_bind, nothing_to_control,
                      no_operations,   nullptr,
                      nullptr};
  return &table;
}

inline void describe(fid& file, std::size_t kind, void* context, fi_ops* table) {
  file.fclass = kind;
  file.context = context;
  file.ops = table;
}

struct Addresses {
  fid_av file;
  std::vector<Address> entries;

  [[nodiscard]] std::optional<Address> at(fi_addr_t index) const {
    if (index >= entries.size()) return std::nullopt;
    return entries[index];
  }
  [[nodiscard]] fi_addr_t find(Address address) const {
    const auto place = std::find(entries.begin(), entries.end(), address);
    return place == entries.end() ? FI_ADDR_NOTAVAIL
                                  : static_cast<fi_addr_t>(place - entries.begin());
  }
};

inline int insert(fid_av* file, const void* addresses, std::size_t count, fi_addr_t* indices,
                  std::uint64_t, void*) {
  auto& entries = reinterpret_cast<Addresses*>(file)->entries;
  const auto* from = static_cast<const char*>(addresses);
  for (std::size_t at = 0; at < count; ++at, from += sizeof(Address)) {
    if (indices != nullptr) indices[at] = entries.size();
    std::memcpy(&entries.emplace_back(), from, sizeof(Address));
  }
  return static_cast<int>(count);
}
inline int remove(fid_av*, fi_addr_t*, std::size_t, std::uint64_t) {
  return 0;
}
inline int look_up(fid_av* file, fi_addr_t index, void* address, std::size_t* size) {
  const auto entry = reinterpret_cast<Addresses*>(file)->at(index);
  if (!entry) return -FI_EINVAL;
  std::memcpy(address, &*entry, std::min(*size, sizeof(Address)));
  *size = sizeof(Address);
  return 0;
}
inline const char* in_text(fid_av*, const void* address, char* text, std::size_t* size) {
  Address entry;
  std::memcpy(&entry, address, sizeof entry);
  const int length = std::snprintf(text, *size, "nhalf://%u/%u", entry.rank, entry.endpoint);
  *size = static_cast<std::size_t>(length) + 1;
  return text;
}

inline int open_addresses(fid_domain*, fi_av_attr* hints, fid_av** result, void* context) {
  static fi_ops_av calls{};
  calls.size = sizeof(fi_ops_av);
  calls.insert = insert;
  calls.insertsvc = lacking;
  calls.insertsym = lacking;
  calls.remove = remove;
  calls.lookup = look_up;
  calls.straddr = in_text;
  auto* addresses = new Addresses{};
  describe(addresses->file.fid, FI_CLASS_AV, context, operations<Addresses>());
  addresses->file.ops = &calls;
  if (hints != nullptr) hints->type = FI_AV_TABLE;
  *result = &addresses->file;
  return 0;
}
}  // namespace nhalf::fabric::provider
