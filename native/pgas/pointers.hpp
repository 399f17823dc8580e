// Pointers into shared arrays: to any element, into one block, and what they give.
#pragma once

#include <compare>

#include "pgas/layout.hpp"

namespace nhalf::pgas {
/// An element where it cannot be addressed: reading gets it, assigning puts it.
template <class Array>
class shared_reference {
 public:
  using value_type = typename Array::value_type;

  shared_reference(Array& array, std::size_t rank, std::ptrdiff_t local)
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
  std::ptrdiff_t local_;
};

/// A pointer that stays in one block, or in what one rank has: it has no phase to look after.
template <class Array>
class block_pointer {
 public:
  using position_type = typename Array::position_type;

  block_pointer(Array& array, std::size_t rank, position_type position)
      : array_(&array), rank_(rank), position_(position) {}

  decltype(auto) operator*() const { return array_->element(rank_, position_); }
  decltype(auto) operator[](std::ptrdiff_t step) const { return *(*this + step); }
  block_pointer& operator++() {
    ++position_;
    return *this;
  }
  block_pointer& operator+=(std::ptrdiff_t step) {
    position_ += step;
    return *this;
  }
  friend block_pointer operator+(block_pointer pointer, std::ptrdiff_t step) {
    return pointer += step;
  }
  friend std::ptrdiff_t operator-(const block_pointer& a, const block_pointer& b) {
    return a.position_ - b.position_;
  }
  bool operator==(const block_pointer&) const = default;

  [[nodiscard]] std::size_t rank() const { return rank_; }
  /// The element's address, where it lies in memory of this rank; else null.
  [[nodiscard]] auto* local() const { return array_->address(rank_, position_); }

 private:
  Array* array_;
  std::size_t rank_;
  position_type position_;
};

/// A pointer to any element: `++` goes on to the next rank's block at the end of one.
template <class Array>
class shared_pointer {
 public:
  using position_type = typename Array::position_type;

  shared_pointer(Array& array, const Place& place) : array_(&array) { go_to(place); }

  decltype(auto) operator*() const { return array_->element(rank_, position_); }
  decltype(auto) operator[](std::ptrdiff_t step) const { return *(*this + step); }
  shared_pointer& operator++() {
    ++position_;
    if (++phase_ == array_->layout().block()) next_block();
    return *this;
  }
  /// Whole rounds over all ranks lead to the same rank and phase: only the position moves.
  shared_pointer& operator+=(std::ptrdiff_t step) {
    const auto& layout = array_->layout();
    if (layout.is_rounds(step)) {
      position_ += layout.own_step(step);
    } else {
      go_to(layout.moved(place(), step));
    }
    return *this;
  }
  /// To the element of the same phase in this rank's next block, as whole rounds over all ranks do.
  void to_next_round() { position_ += static_cast<std::ptrdiff_t>(array_->layout().block()); }
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

  [[nodiscard]] Place place() const { return {rank_, phase_, array_->local_of(rank_, position_)}; }
  [[nodiscard]] std::size_t index() const { return array_->layout().index(place()); }
  [[nodiscard]] std::size_t rank() const { return rank_; }
  [[nodiscard]] std::size_t phase() const { return phase_; }
  /// A pointer to this element that stays in its block.
  [[nodiscard]] block_pointer<Array> in_block() const { return {*array_, rank_, position_}; }
  /// The element's address, where it lies in memory of this rank; else null.
  [[nodiscard]] auto* local() const { return array_->address(rank_, position_); }

 private:
  void go_to(const Place& place) {
    rank_ = place.rank;
    phase_ = place.phase;
    position_ = array_->position(place.rank, place.local);
  }
  /// From behind the end of a block.
  void next_block() {
    const auto& layout = array_->layout();
    auto local = array_->local_of(rank_, position_);
    phase_ = 0;
    if (++rank_ < layout.ranks()) {
      local -= layout.block();
    } else {
      rank_ = 0;
    }
    position_ = array_->position(rank_, local);
  }

  Array* array_;
  std::size_t rank_ = 0;
  std::size_t phase_ = 0;
  position_type position_{};
};
}  // namespace nhalf::pgas
