// CG: the random sparse matrix, or a block of it, in compressed rows.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "apps/npb/cg/problem.hpp"
#include "apps/npb/random.hpp"

namespace nhalf::npb::cg {

/// Rows or columns from `begin` up to `end`.
struct Range {
  int begin = 0;
  int end = 0;

  [[nodiscard]] int size() const { return end - begin; }
  [[nodiscard]] bool has(int index) const { return index >= begin && index < end; }

  /// Part `part` of `parts` that differ by one at most.
  static Range part_of(int size, int part, int parts) {
    const auto at = [&](int number) {
      return static_cast<int>(std::int64_t{size} * number / parts);
    };
    return {at(part), at(part + 1)};
  }
};

/// Rows of a block; columns count from its first one.
struct Matrix {
  std::vector<std::int64_t> row_begin;
  std::vector<int> column;
  std::vector<double> value;
};

/// The sparse vectors of the matrix, which is the sum of their outer products, in their order.
class Vectors {
 public:
  struct Element {
    int place;
    double value;
  };

  explicit Vectors(const Problem& problem) : problem_(problem) { random_.skip(1); }

  /// Elements at random places, and 1/2 at the place of the vector's own number.
  const std::vector<Element>& next() {
    elements_.clear();
    const auto span = std::bit_ceil(static_cast<unsigned>(problem_.size));
    while (static_cast<int>(elements_.size()) < problem_.nonzeros) {
      const double value = random_.next();
      const int place = static_cast<int>(random_.next() * span);
      if (place < problem_.size && find(place) == elements_.end())
        elements_.push_back({place, value});
    }
    if (const auto own = find(number_); own != elements_.end()) {
      own->value = 0.5;
    } else {
      elements_.push_back({number_, 0.5});
    }
    ++number_;
    return elements_;
  }

 private:
  std::vector<Element>::iterator find(int place) {
    return std::ranges::find(elements_, place, &Element::place);
  }

  const Problem& problem_;
  Random random_;
  int number_ = 0;
  std::vector<Element> elements_;
};

/// Makes the block of some rows and columns. The sequence of random numbers cannot be divided: who
/// makes a block makes all vectors.
class MatrixMaker {
 public:
  MatrixMaker(const Problem& problem, Range rows, Range columns)
      : problem_(problem), rows_(rows), columns_(columns) {}

  Matrix make() {
    count();
    fill();
    merge();
    return std::move(matrix_);
  }

 private:
  /// Calls `use(row, column, value)` for every element of an outer product in the block.
  template <class Use>
  void every_element(Use use) {
    Vectors vectors(problem_);
    const double ratio = std::pow(condition, 1.0 / problem_.size);
    double weight = 1;
    for (int number = 0; number < problem_.size; ++number, weight *= ratio) {
      const auto& elements = vectors.next();
      for (const auto& [row, row_value] : elements) {
        if (!rows_.has(row)) continue;
        for (const auto& [column, column_value] : elements) {
          if (!columns_.has(column)) continue;
          const double diagonal =
              row == number && column == number ? condition - problem_.shift : 0;
          use(row - rows_.begin, column - columns_.begin,
              column_value * (row_value * weight) + diagonal);
        }
      }
    }
  }

  void count() {
    matrix_.row_begin.assign(static_cast<std::size_t>(rows_.size()) + 1, 0);
    every_element([&](int row, int, double) { ++at_row(row + 1); });
    for (int row = 0; row < rows_.size(); ++row) at_row(row + 1) += at_row(row);
  }

  void fill() {
    const auto total = static_cast<std::size_t>(matrix_.row_begin.back());
    matrix_.column.resize(total);
    matrix_.value.resize(total);
    auto next = matrix_.row_begin;
    every_element([&](int row, int column, double value) {
      const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(row)]++);
      matrix_.column[place] = column;
      matrix_.value[place] = value;
    });
  }

  /// Adds up what several vectors gave to one element, and moves the rows together.
  void merge() {
    std::vector<std::pair<int, double>> row_elements;
    std::size_t kept = 0;
    std::size_t begin = 0;
    for (int row = 0; row < rows_.size(); ++row) {
      const auto end = static_cast<std::size_t>(at_row(row + 1));
      row_elements.clear();
      for (std::size_t i = begin; i < end; ++i)
        row_elements.emplace_back(matrix_.column[i], matrix_.value[i]);
      begin = end;
      std::ranges::stable_sort(row_elements, {}, &std::pair<int, double>::first);
      const auto row_start = kept;
      for (const auto& [column, value] : row_elements) {
        if (kept > row_start && matrix_.column[kept - 1] == column) {
          matrix_.value[kept - 1] += value;
        } else {
          matrix_.column[kept] = column;
          matrix_.value[kept++] = value;
        }
      }
      at_row(row + 1) = static_cast<std::int64_t>(kept);
    }
    matrix_.column.resize(kept);
    matrix_.value.resize(kept);
  }

  std::int64_t& at_row(int row) { return matrix_.row_begin[static_cast<std::size_t>(row)]; }

  const Problem& problem_;
  Range rows_;
  Range columns_;
  Matrix matrix_;
};

}  // namespace nhalf::npb::cg
