// nhalf-needs: MPI
// Messages of MPI that are set up once and started again and again.
#pragma once

#include <mpi.h>

#include <span>

#include "contract/transport.hpp"

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

}  // namespace nhalf
