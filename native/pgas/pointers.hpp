// SPDX-License-Identifier: Apache-2.0
// Pointers into shared arrays: to any element, into one block, and what they give.
#pragma once

#include <compare>
#include <cstddef>

#include "pgas/layout.hpp"

namespace nhalf::pgas {

/// An element where it cannot be addressed: reading gets it, assigning puts it.
template <class Array>
class shared_reference {
 public:
  using value_type = typename Array::value_type;

  shared_reference(Array& array, std::size_t rank, std::size_t local)
      : array_(&array), rank_(rank), local_(local) {}

  // NOLINTNEXTLINE(google-explicit-constructor): it stands for the element.
  operator value_type() const { return array_->read(rank_, local_); }
  const shared_reference& operator=(const value_type& value) const {
    array_->write(rank_, local_, value);
    return *this;
  }
  const shared_reference& operator=(const shared_reference& other) const {
    return *this = static_cast<value_type>(other);
  }
  shared_reference(const shared_reference&) = default;
  ~shared_reference() = default;

 private:
  Array* array_;
  std::size_t rank_;
  std::size_t local_;
};

/// A pointer that stays in one block, or in what one rank has: it has no phase to look after.
template <class Array>
class block_pointer {
 public:
  block_pointer(Array& array, std::size_t rank, std::size_t local)
      : array_(&array), rank_(rank), local_(local) {}

  decltype(auto) operator*() const { return array_->element(rank_, local_); }
  decltype(auto) operator[](std::ptrdiff_t step) const { return *(*this + step); }
  block_pointer& operator++() {
    ++local_;
    return *this;
  }
  block_pointer& operator+=(std::ptrdiff_t step) {
    local_ += static_cast<std::size_t>(step);
    return *this;
  }
  friend block_pointer operator+(block_pointer pointer, std::ptrdiff_t step) {
    return pointer += step;
  }
  friend std::ptrdiff_t operator-(const block_pointer& a, const block_pointer& b) {
    return static_cast<std::ptrdiff_t>(a.local_ - b.local_);
  }
  bool operator==(const block_pointer&) const = default;

  [[nodiscard]] std::size_t rank() const { return rank_; }
  /// The element's address, where it lies in memory of this rank; else null.
  [[nodiscard]] auto* local() const { return array_->address(rank_, local_); }

 private:
  Array* array_;
  std::size_t rank_;
  std::size_t local_;
};

/// A pointer to any element: `++` goes on to the next rank's block at the end of one.
template <class Array>
class shared_pointer {
 public:
  shared_pointer(Array& array, const Place& place) : array_(&array), at_(place) {}

  decltype(auto) operator*() const { return array_->element(at_.rank, at_.local); }
  decltype(auto) operator[](std::ptrdiff_t step) const { return *(*this + step); }
  shared_pointer& operator++() {
    ++at_.local;
    if (++at_.phase == array_->layout().block()) next_block();
    return *this;
  }
  shared_pointer& operator+=(std::ptrdiff_t step) {
    at_ = array_->layout().moved(at_, step);
    return *this;
  }
  shared_pointer& operator-=(std::ptrdiff_t step) { return *this += -step; }
  friend shared_pointer operator+(shared_pointer pointer, std::ptrdiff_t step) {
    return pointer += step;
  }
  friend shared_pointer operator-(shared_pointer pointer, std::ptrdiff_t step) {
    return pointer -= step;
  }
  friend std::ptrdiff_t operator-(const shared_pointer& a, const shared_pointer& b) {
    return static_cast<std::ptrdiff_t>(a.index() - b.index());
  }
  bool operator==(const shared_pointer&) const = default;
  std::strong_ordering operator<=>(const shared_pointer& other) const {
    return index() <=> other.index();
  }

  [[nodiscard]] std::size_t index() const { return array_->layout().index(at_); }
  [[nodiscard]] std::size_t rank() const { return at_.rank; }
  [[nodiscard]] std::size_t phase() const { return at_.phase; }
  /// The same element, to stay in its block.
  [[nodiscard]] block_pointer<Array> in_block() const { return {*array_, at_.rank, at_.local}; }
  /// The element's address, where it lies in memory of this rank; else null.
  [[nodiscard]] auto* local() const { return array_->address(at_.rank, at_.local); }

 private:
  void next_block() {
    const auto& layout = array_->layout();
    at_.phase = 0;
    if (++at_.rank < layout.ranks()) {
      at_.local -= layout.block();
    } else {
      at_.rank = 0;
    }
  }

  Array* array_;
  Place at_;
};

}  // namespace nhalf::pgas
