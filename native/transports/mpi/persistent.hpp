// nhalf-needs: MPI
// Messages of MPI that are set up once and started again and again.
#pragma once

#include <mpi.h>

#include <span>

#include "contract/persistent_collectives.hpp"
#include "contract/transport.hpp"

/// Persistent collectives, partitioned messages and sessions. Open MPI has had them since 5.0 but
/// still calls itself 3.1.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define NHALF_MPI_4
#endif

namespace nhalf {

/// Persistent requests on MPI_COMM_WORLD, added to what Base can do.
template <class Base>
class MpiPersistent : public Base {
 public:
  MPI_Request prepare_send(int peer, ConstBytes data) {
    MPI_Request request;
    MPI_Send_init(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                  &request);
    return request;
  }
  MPI_Request prepare_recv(int peer, Bytes data) {
    MPI_Request request;
    MPI_Recv_init(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                  &request);
    return request;
  }
  void start(MPI_Request& request) { MPI_Start(&request); }
  void start_all(std::span<MPI_Request> requests) {
    MPI_Startall(static_cast<int>(requests.size()), requests.data());
  }
  void release(MPI_Request& request) { MPI_Request_free(&request); }

 protected:
  using Base::Base;

 private:
  static constexpr int tag = 1;
};

// Collective operations of MPI 4 that are set up once, one to one.

/// Added to what Base can do, where the library has them; Base starts and releases requests.
template <class Base>
class MpiPersistentCollectives : public Base {
#ifdef NHALF_MPI_4
 public:
#define NHALF_EQUAL(operation, Function, function, parameters, ...)                                \
  MPI_Request prepare_##operation parameters {                                                     \
    MPI_Request request;                                                                           \
    MPI_##Function##_init(__VA_ARGS__ __VA_OPT__(, ) this->under_test(), MPI_INFO_NULL, &request); \
    return request;                                                                                \
  }
#define NHALF_VARYING NHALF_EQUAL
#include "transports/mpi/operations.inc"
#endif

 protected:
  using Base::Base;
  using Base::count;
  using Base::floats;
  using Base::or_in_place;
};

// The partitioned messages of MPI 4.

/// Added to what Base can do, where the library has them; Base starts and releases requests.
template <class Base>
class MpiPartitioned : public Base {
#ifdef NHALF_MPI_4
 public:
  MPI_Request prepare_parts_send(int peer, ConstBytes data, int parts) {
    MPI_Request request;
    MPI_Psend_init(data.data(), parts, part(data, parts), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &request);
    return request;
  }
  MPI_Request prepare_parts_recv(int peer, Bytes data, int parts) {
    MPI_Request request;
    MPI_Precv_init(data.data(), parts, part(data, parts), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &request);
    return request;
  }
  void ready(MPI_Request& request, int number) { MPI_Pready(number, request); }

 private:
  static constexpr int tag = 2;
  static MPI_Count part(ConstBytes data, int parts) {
    return static_cast<MPI_Count>(data.size()) / parts;
  }
#endif

 protected:
  using Base::Base;
};

}  // namespace nhalf
