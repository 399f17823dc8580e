// Arrays that all ranks have together: each a part, and all of them every element.
#pragma once

#include "contract/transport.hpp"
#include "pgas/pointers.hpp"

namespace nhalf::pgas {
/// An array of `layout.size()` elements over all ranks of a one-sided transport; zeros at first.
///
/// Every rank makes it and, later, destroys it. What a rank writes is seen by the others after the
/// next `barrier`. Where the transport maps the others' memory, elements are addressed; elsewhere
/// those of other ranks are put and got one by one.
template <class Element, OneSided T>
  requires std::is_trivially_copyable_v<Element>
class shared_array {
 public:
  using value_type = Element;
  using pointer = shared_pointer<shared_array>;
  /// Whether elements of other ranks have an address here.
  static constexpr bool is_mapped = MappedMemory<T>;
  /// What pointers hold beside the rank: an address, or the place in what the rank has.
  using position_type = std::conditional_t<is_mapped, Element*, std::ptrdiff_t>;

  /// Throws std::bad_alloc where a rank has no memory for its part.
  shared_array(T& transport, const Layout& layout)
      : transport_(transport),
        layout_(layout),
        region_(transport.expose(layout.count(0) * sizeof(Element))) {
    for (std::size_t rank = 0; rank < layout.ranks(); ++rank) parts_.push_back(part_of(rank));
  }
  shared_array(T& transport, std::size_t size, std::size_t block)
      : shared_array(transport, Layout(size, block, static_cast<std::size_t>(transport.size()))) {}
  shared_array(const shared_array&) = delete;
  shared_array& operator=(const shared_array&) = delete;
  ~shared_array() { transport_.withdraw(region_); }

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] std::size_t size() const { return layout_.size(); }
  [[nodiscard]] std::size_t rank() const { return static_cast<std::size_t>(transport_.rank()); }

  decltype(auto) operator[](std::size_t index) {
    const auto at = layout_.place(index);
    return element(at.rank, position(at.rank, at.local));
  }
  /// A pointer to an element, or to behind the last.
  [[nodiscard]] pointer at(std::size_t index) { return {*this, layout_.place(index)}; }
  [[nodiscard]] pointer begin() { return at(0); }
  [[nodiscard]] pointer end() { return at(size()); }

  /// The elements of this rank, as an ordinary array.
  [[nodiscard]] std::span<Element> local() { return {parts_[rank()], layout_.count(rank())}; }

  /// Waits for all ranks; then all see what each has written.
  void barrier() {
    for (int peer = 0; peer < transport_.size(); ++peer) transport_.complete(region_, peer);
    transport_.barrier();
  }

  /// Writes `values` to the elements from `first` on.
  void put(std::size_t first, std::span<const Element> values) {
    pieces(first, values.size(), [&](const Place& at, std::size_t offset, std::size_t length) {
      transport_.put(region_, static_cast<int>(at.rank), at.local * sizeof(Element),
                     std::as_bytes(values.subspan(offset, length)));
    });
  }
  /// Reads the elements from `first` on into `values`.
  void get(std::size_t first, std::span<Element> values) {
    pieces(first, values.size(), [&](const Place& at, std::size_t offset, std::size_t length) {
      transport_.get(region_, static_cast<int>(at.rank), at.local * sizeof(Element),
                     std::as_writable_bytes(values.subspan(offset, length)));
    });
  }
  /// Writes `count` elements from `from` on of another array to those from `first` on of this one.
  void copy(std::size_t first, shared_array& source, std::size_t from, std::size_t count) {
    std::vector<Element> own(std::min(count, copied_at_once));
    for (std::size_t offset = 0; offset < count; offset += own.size()) {
      const auto some = std::span(own).first(std::min(own.size(), count - offset));
      source.get(from + offset, some);
      put(first + offset, some);
    }
  }

  /// For pointers: where an element of a rank is, by its place in what that has, and back.
  [[nodiscard]] position_type position(std::size_t rank, std::size_t local) const {
    if constexpr (is_mapped) {
      return parts_[rank] + local;
    } else {
      return static_cast<std::ptrdiff_t>(local);
    }
  }
  [[nodiscard]] std::size_t local_of(std::size_t rank, position_type position) const {
    if constexpr (is_mapped) {
      return static_cast<std::size_t>(position - parts_[rank]);
    } else {
      return static_cast<std::size_t>(position);
    }
  }
  /// The element at a position, or what stands for it.
  decltype(auto) element(std::size_t rank, position_type position) {
    if constexpr (is_mapped) {
      return *position;
    } else {
      return shared_reference<shared_array>(*this, rank, position);
    }
  }
  /// Null where it has none here.
  [[nodiscard]] Element* address(std::size_t rank, position_type position) const {
    if constexpr (is_mapped) {
      return position;
    } else {
      return parts_[rank] == nullptr ? nullptr : parts_[rank] + position;
    }
  }
  [[nodiscard]] Element read(std::size_t rank, position_type position) {
    if (const auto* own = address(rank, position)) return *own;
    Element value{};
    transport_.get(region_, static_cast<int>(rank), local_of(rank, position) * sizeof(Element),
                   std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  void write(std::size_t rank, position_type position, const Element& value) {
    if (auto* own = address(rank, position)) {
      *own = value;
    } else {
      transport_.put(region_, static_cast<int>(rank), local_of(rank, position) * sizeof(Element),
                     std::as_bytes(std::span(&value, 1)));
    }
  }

 private:
  static constexpr std::size_t copied_at_once = (std::size_t{1} << 20) / sizeof(Element) + 1;

  /// Null where the elements of a rank have no address here.
  Element* part_of(std::size_t rank) {
    Bytes part;
    if constexpr (is_mapped) {
      part = transport_.mapped(region_, static_cast<int>(rank));
    } else if (rank == this->rank()) {
      part = region_.local();
    }
    return reinterpret_cast<Element*>(part.data());
  }

  /// Calls `move` for each run of the elements from `first` on that lie together in memory.
  template <class Move>
  void pieces(std::size_t first, std::size_t count, Move move) {
    for (std::size_t offset = 0; offset < count;) {
      const auto at = layout_.place(first + offset);
      const auto length = std::min(layout_.block() - at.phase, count - offset);
      move(at, offset, length);
      offset += length;
    }
  }

  T& transport_;
  Layout layout_;
  typename T::Region region_;
  /// By rank the address of its elements.
  std::vector<Element*> parts_;
};

/// Calls `body(i)` for every element i of an array that lies at this rank.
template <class Element, class T, class Body>
void for_all(const shared_array<Element, T>& array, Body body) {
  each_block(array.layout(), array.rank(), [&](std::size_t first, std::size_t, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) body(i);
  });
}
}  // namespace nhalf::pgas
