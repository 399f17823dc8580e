// An unchanged MPI program: it calls collectives as programs do, and beside each the library's own
// by its profiling name. With nothing loaded before it both are one and the same. Arguments: how
// many calls, and the seed. Exit 1 where a result differs.
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "types.hpp"

namespace {

class Comparison {
 public:
  Comparison(int calls, unsigned seed) : calls_(calls), random_(seed), types_(all_types()) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
    MPI_Op_create(compose, 0, &compose_);
  }

  /// How many results differed.
  int run() {
    MPI_Comm dup, split, single;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank_ % 2, -world_rank_, &split);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank_, 0, &single);
    const MPI_Comm comms[]{MPI_COMM_WORLD, dup, split, single, MPI_COMM_SELF};
    for (int i = 0; i < calls_; ++i) {
      comm_ = comms[draw(i % 4 == 0 ? 5 : 3)];
      MPI_Comm_rank(comm_, &rank_);
      MPI_Comm_size(comm_, &size_);
      call(i);
    }
    MPI_Comm_free(&dup);
    MPI_Comm_free(&split);
    MPI_Comm_free(&single);
    return failures_;
  }

 private:
  using Buffer = std::vector<std::byte>;

  int draw(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  Buffer filled(const Type& type, int count, int salt) const {
    Buffer data(type.extent_bytes * static_cast<std::size_t>(count) + 16, std::byte{0x5a});
    for (int i = 0; i < count; ++i)
      type.write(data.data() + type.extent_bytes * static_cast<std::size_t>(i),
                 (salt * 13 + i * 5 + 1) % 11);
    return data;
  }

  /// Values without padding.
  Buffer values(const Type& type, int count, const Buffer& data) const {
    int room_bytes = 0, at = 0;
    PMPI_Pack_size(count, type.handle, MPI_COMM_SELF, &room_bytes);
    Buffer packed(static_cast<std::size_t>(room_bytes) + 1);
    PMPI_Pack(data.data(), count, type.handle, packed.data(), room_bytes, &at, MPI_COMM_SELF);
    packed.resize(static_cast<std::size_t>(at));
    if (type.handle == MPI_LONG_DOUBLE)
      for (std::size_t i = 0; i < packed.size(); ++i)
        if (i % sizeof(long double) >= 10) packed[i] = std::byte{0};
    return packed;
  }

  /// Libraries leave the padding of long doubles as it is, or not.
  void same(const Type& type, int count, const Buffer& ours, const Buffer& theirs, bool whole,
            const std::string& what) {
    const bool is_same = whole && type.handle != MPI_LONG_DOUBLE
                             ? ours == theirs
                             : values(type, count, ours) == values(type, count, theirs);
    if (is_same) return;
    ++failures_;
    std::fprintf(stderr, "rank %d of %d (world %d): %s of %d %s differs\n", rank_, size_,
                 world_rank_, what.c_str(), count, type.name.c_str());
  }

  void call(int number) {
    static constexpr int counts[]{0, 1, 1, 2, 3, 7, 16, 100, 513, 1025, 3000, 20000};
    const auto& type = types_[static_cast<std::size_t>(draw(static_cast<int>(types_.size())))];
    const int count = counts[draw(12)];
    const int root = draw(size_ == 1 ? 1 : 60) % size_;
    const bool in_place = draw(3) == 0;
    switch (number % 10) {
      case 0:
        MPI_Barrier(comm_);
        break;
      case 1:
        return bcast(type, count, root);
      case 2:
        return gather(type, count, root, in_place);
      case 3:
        return scatter(type, count, root, in_place);
      case 4:
        return allgather(type, count, in_place);
      case 5:
        return alltoall(type, count, in_place);
      default:
        return reduction(number % 10, type, count, root, in_place);
    }
  }

  /// Some ranks say the same data by another type: as many bytes in another layout.
  void bcast(const Type& type, int count, int root) {
    auto ours = filled(type, count, rank_ == root ? 3 : rank_ + 20);
    auto theirs = ours;
    MPI_Bcast(ours.data(), count, type.handle, root, comm_);
    PMPI_Bcast(theirs.data(), count, type.handle, root, comm_);
    same(type, count, ours, theirs, !type.is_pair, "bcast");
    if (type.name != "gapped") return;
    const bool is_plain = rank_ % 2 == 0;
    const int plain_count = is_plain ? 2 * count : count;
    const MPI_Datatype handle = is_plain ? MPI_INT : type.handle;
    auto mixed = filled(type, count, rank_);
    auto expected = mixed;
    MPI_Bcast(mixed.data(), plain_count, handle, root, comm_);
    PMPI_Bcast(expected.data(), plain_count, handle, root, comm_);
    same(type, count, mixed, expected, true, "mixed bcast");
  }

  /// MPICH 5.0.2 itself refuses types with gaps here: its ranks 4 and up send others' bytes along.
  void gather(const Type& asked, int count, int root, bool in_place) {
    const bool has_gaps = asked.is_derived || asked.is_pair;
    const auto& type = has_gaps && size_ > 4 ? types_.front() : asked;
    const auto in = filled(type, count, rank_);
    auto ours = filled(type, count * size_, rank_);
    auto theirs = ours;
    const void* from = in_place && rank_ == root ? MPI_IN_PLACE : in.data();
    MPI_Gather(from, count, type.handle, ours.data(), count, type.handle, root, comm_);
    PMPI_Gather(from, count, type.handle, theirs.data(), count, type.handle, root, comm_);
    same(type, count * size_, ours, theirs, !type.is_pair, "gather");
  }

  void scatter(const Type& type, int count, int root, bool in_place) {
    const auto in = filled(type, count * size_, rank_);
    auto ours = filled(type, count, rank_ + 5);
    auto theirs = ours;
    const bool keeps = in_place && rank_ == root;
    MPI_Scatter(in.data(), count, type.handle, keeps ? MPI_IN_PLACE : ours.data(), count,
                type.handle, root, comm_);
    PMPI_Scatter(in.data(), count, type.handle, keeps ? MPI_IN_PLACE : theirs.data(), count,
                 type.handle, root, comm_);
    same(type, count, ours, theirs, !type.is_pair, "scatter");
    same(type, count * size_, in, filled(type, count * size_, rank_), true, "input of scatter");
  }

  void allgather(const Type& type, int count, bool in_place) {
    const auto in = filled(type, count, rank_);
    auto ours = filled(type, count * size_, rank_);
    auto theirs = ours;
    const void* from = in_place ? MPI_IN_PLACE : in.data();
    MPI_Allgather(from, count, type.handle, ours.data(), count, type.handle, comm_);
    PMPI_Allgather(from, count, type.handle, theirs.data(), count, type.handle, comm_);
    same(type, count * size_, ours, theirs, !type.is_pair, "allgather");
  }

  void alltoall(const Type& type, int count, bool in_place) {
    const auto in = filled(type, count * size_, rank_);
    auto ours = filled(type, count * size_, rank_ + 3);
    auto theirs = ours;
    const void* from = in_place ? MPI_IN_PLACE : in.data();
    MPI_Alltoall(from, count, type.handle, ours.data(), count, type.handle, comm_);
    PMPI_Alltoall(from, count, type.handle, theirs.data(), count, type.handle, comm_);
    same(type, count * size_, ours, theirs, !type.is_pair, "alltoall");
  }

  MPI_Op operation_for(const Type& type) {
    if (type.is_pair) return draw(2) == 0 ? MPI_MINLOC : MPI_MAXLOC;
    if (type.name == "affine") return compose_;
    static const MPI_Op any[]{MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD};
    static const MPI_Op whole[]{MPI_SUM, MPI_MAX, MPI_BXOR, MPI_BOR, MPI_LAND, MPI_LXOR};
    return type.is_whole ? whole[draw(6)] : any[draw(4)];
  }

  void reduction(int which, const Type& asked, int count, int root, bool in_place) {
    // No operation takes the type with a gap.
    const auto& type = asked.name == "gapped" ? types_.back() : asked;
    const MPI_Op by = operation_for(type);
    const bool scatters = which == 9;
    const int blocks = scatters ? size_ : 1;
    const auto in = filled(type, count * blocks, rank_);
    auto ours = in_place ? in : filled(type, count * blocks, rank_ + 9);
    auto theirs = ours;
    const auto* from = in_place ? MPI_IN_PLACE : static_cast<const void*>(in.data());
    const auto* given = rank_ == root ? from : static_cast<const void*>(in.data());
    bool is_known = true;
    if (which == 6) {
      MPI_Reduce(given, ours.data(), count, type.handle, by, root, comm_);
      PMPI_Reduce(given, theirs.data(), count, type.handle, by, root, comm_);
      is_known = rank_ == root;
    } else if (which == 7) {
      MPI_Allreduce(from, ours.data(), count, type.handle, by, comm_);
      PMPI_Allreduce(from, theirs.data(), count, type.handle, by, comm_);
    } else if (which == 8) {
      MPI_Scan(from, ours.data(), count, type.handle, by, comm_);
      PMPI_Scan(from, theirs.data(), count, type.handle, by, comm_);
    } else {
      MPI_Reduce_scatter_block(from, ours.data(), count, type.handle, by, comm_);
      PMPI_Reduce_scatter_block(from, theirs.data(), count, type.handle, by, comm_);
    }
    static const char* names[]{"reduce", "allreduce", "scan", "reduce_scatter_block"};
    if (is_known) same(type, count, ours, theirs, false, names[which - 6]);
  }

  int calls_;
  std::mt19937 random_;
  std::vector<Type> types_;
  MPI_Op compose_ = MPI_OP_NULL;
  MPI_Comm comm_ = MPI_COMM_WORLD;
  int rank_ = 0, size_ = 1, world_rank_ = 0;
  int failures_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? std::atoi(argv[1]) : 1000;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 1);
  int mine = Comparison(calls, seed).run();
  int failures = 0;
  PMPI_Allreduce(&mine, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%d of %d calls differ\n", failures, calls);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
