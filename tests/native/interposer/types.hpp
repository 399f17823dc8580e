// Types that programs reduce and send, and values of them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

/// A type, and its values made from a number so that sums and products stay exact.
struct Type {
  std::string name;
  MPI_Datatype handle;
  std::size_t extent_bytes;
  void (*write)(std::byte* to, int value);
  bool is_pair = false, is_whole = false, is_derived = false;
};

template <class Value>
void write_as(std::byte* to, int value) {
  const Value typed = static_cast<Value>(value);
  std::memcpy(to, &typed, sizeof typed);
}

template <class Value>
struct Pair {
  Value value;
  int place;
};
template <class Value>
void write_pair(std::byte* to, int value) {
  Pair<Value> pair;
  std::memset(&pair, 0, sizeof pair);
  pair.value = static_cast<Value>(value % 3);
  pair.place = value;
  std::memcpy(to, &pair, sizeof pair);
}

/// Three integers of which the one in the middle is a gap.
inline void write_gapped(std::byte* to, int value) {
  const int three[]{value, -1, value + 7};
  std::memcpy(to, three, sizeof three);
}
/// x -> a x + b, whose composition does not commute.
inline void write_affine(std::byte* to, int value) {
  const unsigned two[]{static_cast<unsigned>(value % 5) + 2, static_cast<unsigned>(value)};
  std::memcpy(to, two, sizeof two);
}
inline void compose(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* first = static_cast<const unsigned*>(in);
  auto* second = static_cast<unsigned*>(inout);
  for (int i = 0; i < *count; ++i, first += 2, second += 2) {
    const unsigned a = first[0] * second[0];
    const unsigned b = first[0] * second[1] + first[1];
    second[0] = a;
    second[1] = b;
  }
}

inline MPI_Datatype gapped_type() {
  MPI_Datatype vector, resized;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 3 * sizeof(int), &resized);
  MPI_Type_commit(&resized);
  MPI_Type_free(&vector);
  return resized;
}
inline MPI_Datatype affine_type() {
  MPI_Datatype type;
  MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
  MPI_Type_commit(&type);
  return type;
}

inline std::vector<Type> all_types() {
  return {{"int", MPI_INT, sizeof(int), write_as<int>, false, true},
          {"double", MPI_DOUBLE, sizeof(double), write_as<double>},
          {"float", MPI_FLOAT, sizeof(float), write_as<float>},
          {"short", MPI_SHORT, sizeof(short), write_as<short>, false, true},
          {"long", MPI_LONG, sizeof(long), write_as<long>, false, true},
          {"long double", MPI_LONG_DOUBLE, sizeof(long double), write_as<long double>},
          {"2int", MPI_2INT, sizeof(Pair<int>), write_pair<int>, true},
          {"double int", MPI_DOUBLE_INT, sizeof(Pair<double>), write_pair<double>, true},
          {"short int", MPI_SHORT_INT, sizeof(Pair<short>), write_pair<short>, true},
          {"gapped", gapped_type(), 3 * sizeof(int), write_gapped, false, false, true},
          {"affine", affine_type(), 2 * sizeof(unsigned), write_affine, false, false, true}};
}
