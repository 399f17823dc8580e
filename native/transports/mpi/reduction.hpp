// nhalf-needs: MPI
// The type and the operation of a reduction as MPI names them.
#pragma once

#include <mpi.h>

#include "contract/reduction.hpp"

namespace nhalf {
/// Names a reduction to MPI; types and operations that it has made last as long as it.
class MpiReduction {
 public:
  MpiReduction() = default;
  explicit MpiReduction(const Reduction& reduction)
      : reduction_(reduction), element_bits_(std::countr_zero(reduction.element_bytes())) {
    if (reduction.type == ElementType::derived) {
      MPI_Type_contiguous(4, MPI_INT, &type);
      MPI_Type_commit(&type);
    } else {
      type = predefined(reduction.type);
    }
    if (is_own_operation()) {
      called() = reduction;
      MPI_Op_create(apply, reduction.commutes() ? 1 : 0, &operation);
    } else {
      operation = predefined(reduction.operation);
    }
  }
  MpiReduction(const MpiReduction&) = delete;
  MpiReduction& operator=(MpiReduction&& other) noexcept {
    std::swap(reduction_, other.reduction_);
    std::swap(type, other.type);
    std::swap(operation, other.operation);
    std::swap(element_bits_, other.element_bits_);
    return *this;
  }
  ~MpiReduction() {
    if (reduction_.type == ElementType::derived) MPI_Type_free(&type);
    if (is_own_operation()) MPI_Op_free(&operation);
  }

  [[nodiscard]] const Reduction& reduction() const { return reduction_; }
  [[nodiscard]] int elements(ConstBytes data) const {
    return static_cast<int>(data.size() >> element_bits_);
  }

  MPI_Datatype type = MPI_FLOAT;
  MPI_Op operation = MPI_SUM;

 private:
  [[nodiscard]] bool is_own_operation() const {
    return reduction_.operation >= ReductionOperation::user;
  }

  static MPI_Datatype predefined(ElementType type) {
    const MPI_Datatype types[] = {MPI_FLOAT,  MPI_UNSIGNED_CHAR,    MPI_INT, MPI_LONG,
                                  MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX, MPI_2INT};
    return types[static_cast<int>(type)];
  }
  static MPI_Op predefined(ReductionOperation operation) {
    const MPI_Op operations[] = {MPI_SUM, MPI_MIN, MPI_MAX, MPI_MINLOC, MPI_MAXLOC};
    return operations[static_cast<int>(operation)];
  }

  /// What the function of the program's own combines: MPI hands it no context.
  static Reduction& called() {
    static Reduction reduction;
    return reduction;
  }
  static void apply(void* from, void* to, int* count, MPI_Datatype*) {
    const auto size_bytes = static_cast<std::size_t>(*count) * called().element_bytes();
    combine_elements(called(), {static_cast<const std::byte*>(from), size_bytes},
                     {static_cast<std::byte*>(to), size_bytes});
  }

  Reduction reduction_{};
  int element_bits_ = 2;
};
}  // namespace nhalf
