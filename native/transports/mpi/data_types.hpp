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

  /// Bytes, or integers, whose representation is converted where the calls say so.
  MPI_Datatype data_type(const Layout& layout, bool of_integers = false) {
    const MPI_Datatype element = of_integers ? MPI_INT : MPI_BYTE;
    const auto width = of_integers ? sizeof(int) : 1;
    MPI_Datatype derived = MPI_DATATYPE_NULL;
    const int blocks = static_cast<int>(layout.offsets.size());
    const int block = static_cast<int>(layout.block_bytes / width);
    if (layout.kind == LayoutKind::vector) {
      MPI_Type_vector(blocks, block, 2 * block, element, &derived);
    } else if (layout.kind == LayoutKind::indexed) {
      const std::vector<int> lengths(layout.offsets.size(), block);
      std::vector<int> places;
      for (const auto offset : layout.offsets) places.push_back(static_cast<int>(offset / width));
      MPI_Type_indexed(blocks, lengths.data(), places.data(), element, &derived);
    } else if (layout.kind == LayoutKind::structure) {
      derived = row_of_structures(blocks / 2, static_cast<int>(layout.block_bytes), element, width);
    } else {
      MPI_Type_contiguous(static_cast<int>(layout.size_bytes() / width), element, &derived);
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
  /// In the representation that is the same on all machines: big-endian, as XDR. MPICH 5.0.2 ends
  /// the program where a type has no data.
  void pack_external(ConstBytes from, const MPI_Datatype& type, Bytes to) {
    if (to.empty()) return;
    MPI_Aint place = 0;
    MPI_Pack_external("external32", from.data(), 1, type, to.data(),
                      static_cast<MPI_Aint>(to.size()), &place);
  }
  void unpack_external(ConstBytes from, Bytes to, const MPI_Datatype& type) {
    if (from.empty()) return;
    MPI_Aint place = 0;
    MPI_Unpack_external("external32", from.data(), static_cast<MPI_Aint>(from.size()), &place,
                        to.data(), 1, type);
  }

 protected:
  using Base::Base;

 private:
  static constexpr int tag = 3;

  static MPI_Datatype row_of_structures(int count, int block, MPI_Datatype part,
                                        std::size_t width) {
    const int half = block / 2 / static_cast<int>(width);
    const std::array lengths{half, half};
    const std::array<MPI_Aint, 2> offsets{0, block * 3 / 4};
    const std::array types{part, part};
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
