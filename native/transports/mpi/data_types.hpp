// nhalf-needs: MPI
// Derived data types of MPI and messages of them.
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

#include "contract/layouts.hpp"

namespace nhalf {

/// Added to what Base can do.
template <class Base>
class MpiDataTypes : public Base {
 public:
  using DataType = MPI_Datatype;

  MPI_Datatype data_type(const Layout& layout) {
    MPI_Datatype derived = MPI_DATATYPE_NULL;
    const int blocks = static_cast<int>(layout.offsets.size());
    const int block = static_cast<int>(layout.block_bytes);
    if (layout.kind == LayoutKind::vector) {
      MPI_Type_vector(blocks, block, 2 * block, MPI_BYTE, &derived);
    } else if (layout.kind == LayoutKind::indexed) {
      const std::vector<int> lengths(layout.offsets.size(), block);
      const std::vector<int> offsets(layout.offsets.begin(), layout.offsets.end());
      MPI_Type_indexed(blocks, lengths.data(), offsets.data(), MPI_BYTE, &derived);
    } else if (layout.kind == LayoutKind::structure) {
      derived = row_of_structures(blocks / 2, block);
    } else {
      MPI_Type_contiguous(static_cast<int>(layout.size_bytes()), MPI_BYTE, &derived);
    }
    MPI_Type_commit(&derived);
    return derived;
  }
  void release_type(MPI_Datatype& type) { MPI_Type_free(&type); }

  void send_typed(int peer, ConstBytes data, const MPI_Datatype& type) {
    MPI_Send(data.data(), 1, type, peer, tag, MPI_COMM_WORLD);
  }
  void recv_typed(int peer, Bytes data, const MPI_Datatype& type) {
    MPI_Recv(data.data(), 1, type, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  void pack(ConstBytes from, const MPI_Datatype& type, Bytes to) {
    int place = 0;
    MPI_Pack(from.data(), 1, type, to.data(), static_cast<int>(to.size()), &place, MPI_COMM_WORLD);
  }
  void unpack(ConstBytes from, Bytes to, const MPI_Datatype& type) {
    int place = 0;
    MPI_Unpack(from.data(), static_cast<int>(from.size()), &place, to.data(), 1, type,
               MPI_COMM_WORLD);
  }

 protected:
  using Base::Base;

 private:
  static constexpr int tag = 3;

  static MPI_Datatype row_of_structures(int count, int block) {
    const std::array lengths{block / 2, block / 2};
    const std::array<MPI_Aint, 2> offsets{0, block * 3 / 4};
    const std::array types{MPI_BYTE, MPI_BYTE};
    MPI_Datatype element = MPI_DATATYPE_NULL;
    MPI_Datatype spaced = MPI_DATATYPE_NULL;
    MPI_Datatype row = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths.data(), offsets.data(), types.data(), &element);
    MPI_Type_create_resized(element, 0, MPI_Aint{2} * block, &spaced);
    MPI_Type_contiguous(count, spaced, &row);
    MPI_Type_free(&element);
    MPI_Type_free(&spaced);
    return row;
  }
};

}  // namespace nhalf
