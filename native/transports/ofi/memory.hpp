// nhalf-needs: MPI
// nhalf-links: -lfabric
// Memory that is registered with libfabric, and how other ranks reach it.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_rma.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "contract/buffer.hpp"
#include "contract/transport.hpp"
#include "transports/ofi/endpoint.hpp"

namespace nhalf::ofi {

/// The address of a rank's memory for other ranks, and its key.
struct Place {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
};

/// Memory of this rank while it is registered.
class Registered {
 public:
  Registered() = default;
  Registered(const Endpoint& endpoint, Bytes memory) {
    constexpr auto remote_rights = FI_REMOTE_READ | FI_REMOTE_WRITE;
    static std::uint64_t wanted_key = 0;
    fid_mr* region = nullptr;
    check(fi_mr_reg(endpoint.domain(), memory.data(), memory.size(), remote_rights, 0, ++wanted_key,
                    0, &region, nullptr),
          "register memory");
    region_.reset(region);
    if ((endpoint.registration() & FI_MR_ENDPOINT) != 0) {
      check(fi_mr_bind(region, &endpoint.get()->fid, 0), "bind memory");
      check(fi_mr_enable(region), "enable memory");
    }
    place_.key = fi_mr_key(region);
    if ((endpoint.registration() & FI_MR_VIRT_ADDR) != 0)
      place_.address = reinterpret_cast<std::uint64_t>(memory.data());
  }

  [[nodiscard]] const Place& place() const { return place_; }

 private:
  Held<fid_mr> region_;
  Place place_;
};

/// A rank's part of a region, and the addresses of all other parts. `number` tells its signals from
/// those of other regions.
struct Region {
  std::size_t size_bytes = 0;
  Buffer memory;
  Registered registered{};
  std::vector<Place> places{};
  std::uint64_t number = 0;

  [[nodiscard]] Bytes local() { return memory.bytes().first(size_bytes); }
};

}  // namespace nhalf::ofi
