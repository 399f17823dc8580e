// An unchanged MPI program whose ranks describe the same data by types of one signature and of
// different orders. It compares collectives as programs call them with the library's own. Exit 1
// where a result differs.
#include <mpi.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int side = 4;
constexpr int many = side * side;

/// As large as its elements together, from its address on, and yet in another order.
struct Shuffled {
  const char* name;
  MPI_Datatype handle;
  int elements;
  /// No element twice, so that data can be received by it.
  bool can_receive = true;
};

/// The standard's own example: the columns of a matrix as rows.
MPI_Datatype transposed() {
  MPI_Datatype column, matrix;
  MPI_Type_vector(side, 1, side, MPI_INT, &column);
  MPI_Type_create_hvector(side, 1, sizeof(int), column, &matrix);
  MPI_Type_free(&column);
  MPI_Type_commit(&matrix);
  return matrix;
}
MPI_Datatype indexed(const std::vector<int>& places) {
  MPI_Datatype type;
  MPI_Type_create_indexed_block(static_cast<int>(places.size()), 1, places.data(), MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}
MPI_Datatype twice(MPI_Datatype inner) {
  MPI_Datatype row, copy;
  MPI_Type_contiguous(2, inner, &row);
  MPI_Type_dup(row, &copy);
  MPI_Type_free(&row);
  MPI_Type_commit(&copy);
  return copy;
}
/// Large enough to be examined by another way than small ones.
MPI_Datatype reversed(int elements) {
  std::vector<int> places;
  for (int i = elements - 1; i >= 0; --i) places.push_back(i);
  return indexed(places);
}

int failures = 0;
int rank = 0, size = 1;

std::vector<int> filled(int count, int salt) {
  std::vector<int> data;
  for (int i = 0; i < count; ++i) data.push_back(salt * 100003 + i);
  return data;
}
void same(const std::vector<int>& ours, const std::vector<int>& theirs, const std::string& what) {
  if (ours == theirs) return;
  ++failures;
  std::size_t at = 0;
  while (ours[at] == theirs[at]) ++at;
  std::fprintf(stderr, "rank %d of %d: %s differs at %zu: %d, not %d\n", rank, size, what.c_str(),
               at, ours[at], theirs[at]);
}

/// Terms are as they lie in memory, and where a number lies counts.
void weigh(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  const auto members = static_cast<int>(extent / static_cast<MPI_Aint>(sizeof(int)));
  for (int i = 0; i < *count * members; ++i)
    static_cast<int*>(inout)[i] += static_cast<int*>(in)[i] + i % members;
}

/// One way to say the same data on this rank.
struct Said {
  MPI_Datatype handle;
  int count;
};

class Orders {
 public:
  explicit Orders(const Shuffled& type) : type_(type) {
    const bool is_plain = rank % 2 == 1;
    in_ = is_plain ? Said{MPI_INT, type.elements} : Said{type.handle, 1};
    // What a rank takes is said in the other way than what it gives.
    const bool shuffles = is_plain && type.can_receive;
    out_ = shuffles ? Said{type.handle, 1} : Said{MPI_INT, type.elements};
  }

  void run(int root) {
    bcast(root);
    to_root(root);
    from_root(root);
    to_all();
    if (type_.can_receive) reductions(root);
  }

 private:
  [[nodiscard]] std::vector<int> data(int blocks, int salt) const {
    return filled(blocks * type_.elements, salt);
  }
  [[nodiscard]] std::string named(const char* operation) const {
    return std::string(operation) + " of " + type_.name;
  }

  void bcast(int root) const {
    auto ours = data(1, rank);
    auto theirs = ours;
    const auto& said = rank == root ? in_ : out_;
    MPI_Bcast(ours.data(), said.count, said.handle, root, MPI_COMM_WORLD);
    PMPI_Bcast(theirs.data(), said.count, said.handle, root, MPI_COMM_WORLD);
    same(ours, theirs, named("bcast"));
  }
  void to_root(int root) const {
    const auto given = data(1, rank);
    auto ours = data(size, rank + 10);
    auto theirs = ours;
    MPI_Gather(given.data(), in_.count, in_.handle, ours.data(), out_.count, out_.handle, root,
               MPI_COMM_WORLD);
    PMPI_Gather(given.data(), in_.count, in_.handle, theirs.data(), out_.count, out_.handle, root,
                MPI_COMM_WORLD);
    same(ours, theirs, named("gather"));
  }
  void from_root(int root) const {
    const auto given = data(size, rank);
    auto ours = data(1, rank + 10);
    auto theirs = ours;
    MPI_Scatter(given.data(), in_.count, in_.handle, ours.data(), out_.count, out_.handle, root,
                MPI_COMM_WORLD);
    PMPI_Scatter(given.data(), in_.count, in_.handle, theirs.data(), out_.count, out_.handle, root,
                 MPI_COMM_WORLD);
    same(ours, theirs, named("scatter"));
  }
  void to_all() const {
    const auto given = data(size, rank);
    auto ours = data(size, rank + 10);
    auto theirs = ours;
    MPI_Allgather(given.data(), in_.count, in_.handle, ours.data(), out_.count, out_.handle,
                  MPI_COMM_WORLD);
    PMPI_Allgather(given.data(), in_.count, in_.handle, theirs.data(), out_.count, out_.handle,
                   MPI_COMM_WORLD);
    same(ours, theirs, named("allgather"));
    MPI_Alltoall(given.data(), in_.count, in_.handle, ours.data(), out_.count, out_.handle,
                 MPI_COMM_WORLD);
    PMPI_Alltoall(given.data(), in_.count, in_.handle, theirs.data(), out_.count, out_.handle,
                  MPI_COMM_WORLD);
    same(ours, theirs, named("alltoall"));
  }
  void reductions(int root) const {
    MPI_Op by;
    MPI_Op_create(weigh, 0, &by);
    const auto given = data(2, rank + 1);
    auto ours = data(2, rank + 10);
    auto theirs = ours;
    MPI_Allreduce(given.data(), ours.data(), 2, type_.handle, by, MPI_COMM_WORLD);
    PMPI_Allreduce(given.data(), theirs.data(), 2, type_.handle, by, MPI_COMM_WORLD);
    same(ours, theirs, named("allreduce"));
    MPI_Reduce(given.data(), ours.data(), 2, type_.handle, by, root, MPI_COMM_WORLD);
    PMPI_Reduce(given.data(), theirs.data(), 2, type_.handle, by, root, MPI_COMM_WORLD);
    if (rank == root) same(ours, theirs, named("reduce"));
    MPI_Scan(given.data(), ours.data(), 2, type_.handle, by, MPI_COMM_WORLD);
    PMPI_Scan(given.data(), theirs.data(), 2, type_.handle, by, MPI_COMM_WORLD);
    same(ours, theirs, named("scan"));
    MPI_Op_free(&by);
  }

  Shuffled type_;
  Said in_{}, out_{};
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Datatype matrix = transposed();
  const Shuffled types[]{
      {"transposed", matrix, many},           {"swapped", indexed({1, 0}), 2},
      {"in order", indexed({0, 1, 2, 3}), 4}, {"twice transposed", twice(matrix), 2 * many},
      {"reversed", reversed(30000), 30000},   {"overlap and gap", indexed({0, 0, 2}), 3, false}};
  for (const auto& type : types)
    for (int root = 0; root < size; ++root) Orders(type).run(root);
  int all = 0;
  PMPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d wrong\n", all);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
