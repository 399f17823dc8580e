// Tables of differences of simplified DES, built in shared arrays by all ranks, or in ordinary
// ones.
#pragma once

#include "patterns/bases/arrays/array_access.hpp"
#include "patterns/bases/arrays/sdes_tables.hpp"

namespace nhalf::sdes {
inline constexpr std::string_view ordinary_name = "ordinary";
inline constexpr AxisInfo table_access_axis{
    "access", "for-all,pointer,block,cast,ordinary", "",
    "for-all: by index; pointer: shared pointers; block: shared pointers that stay in a block; "
    "cast: ordinary pointers to the rank's own elements; ordinary: arrays that are not shared"};

/// None for ordinary arrays. Throws InputError for an unknown access.
inline std::optional<Access> table_access_of(const Case& point) {
  if (point.axes.text("access") == ordinary_name) return std::nullopt;
  return static_cast<Access>(point.choice("access", access_names));
}

/// Stands for an access where arrays are not shared.
struct Ordinary {};

/// Calls `body` with an access that the compiler knows, or with Ordinary.
template <class Body>
void with_table_access(std::optional<Access> access, Body body) {
  if (!access) return body(Ordinary());
  with_access(*access, body);
}

/// A shared array, and an ordinary one of as many elements as this rank has of it.
template <class Element, class T>
class Table {
 public:
  Table(T& transport, const pgas::Layout& layout)
      : shared_(transport, layout), ordinary_(shared_.local().size()) {}

  [[nodiscard]] pgas::shared_array<Element, T>& shared() { return shared_; }

  /// A pointer to element `first`, which this rank has at `local`.
  template <class Way>
  [[nodiscard]] auto pointer(Way, std::size_t first, std::size_t local) {
    if constexpr (std::is_same_v<Way, Ordinary>) {
      return ordinary_.data() + local;
    } else {
      return pointer_by<Way::value>(shared_, first, local);
    }
  }
  /// This rank's elements, of that array which an access reaches.
  [[nodiscard]] std::span<Element> own(std::optional<Access> access) {
    return access ? shared_.local() : std::span(ordinary_);
  }
  /// Makes the ordinary array the like of the shared one.
  void copy_to_ordinary() { std::ranges::copy(shared_.local(), ordinary_.begin()); }

 private:
  pgas::shared_array<Element, T> shared_;
  std::vector<Element> ordinary_;
};

/// A layout in which every rank has `each` elements for itself, in one block.
inline pgas::Layout one_block_each(std::size_t block_size, int ranks) {
  return {block_size * static_cast<std::size_t>(ranks), block_size,
          static_cast<std::size_t>(ranks)};
}

/// Builds this rank's part of the table of pairs, in blocks of any length. Every rank has the
/// values of the functions in its part of a shared array.
template <ArraysOf T>
class PairTable {
 public:
  PairTable(T& transport, const Tabled& of, const pgas::Layout& layout)
      : of_(of),
        values_(transport, one_block_each(of.values.size(), transport.size())),
        pairs_(transport, layout) {
    std::ranges::copy(of_.values, values_.shared().local().begin());
    values_.copy_to_ordinary();
  }

  void build(std::optional<Access> access) {
    with_table_access(access, [this](auto way) {
      const auto rank = pairs_.shared().rank();
      const auto values = values_.pointer(way, rank * of_.values.size(), 0);
      pgas::each_block(pairs_.shared().layout(), rank,
                       [&](std::size_t first, std::size_t local, std::size_t count) {
                         fill_pairs(of_, first, count, values, pairs_.pointer(way, first, local));
                       });
    });
  }

  /// Makes every entry of this rank one that is wrong.
  void spoil(std::optional<Access> access) { std::ranges::fill(table().own(access), 0xFF); }

  [[nodiscard]] bool is_right(std::optional<Access> access) {
    const auto own = pairs_.own(access);
    const auto& layout = pairs_.shared().layout();
    for (std::size_t i = 0; i < own.size(); ++i)
      if (!is_pair(of_, layout.index(pairs_.shared().rank(), i), own[i])) return false;
    return true;
  }

  [[nodiscard]] Table<std::uint8_t, T>& table() { return pairs_; }

 private:
  Tabled of_;
  Table<std::uint8_t, T> values_;
  Table<std::uint8_t, T> pairs_;
};

/// Builds this rank's rows of the table of distributions from its rows of the table of pairs, both
/// in blocks of as many rows.
template <ArraysOf T>
class DistributionTable {
 public:
  DistributionTable(T& transport, const Tabled& of, const pgas::Layout& rows)
      : of_(of),
        rows_(rows),
        pairs_(transport, of, columns(of.inputs())),
        counts_(transport, columns(of.outputs())) {
    pairs_.build(Access::cast);
    pairs_.table().copy_to_ordinary();
  }

  void build(std::optional<Access> access) {
    with_table_access(access, [this](auto way) {
      auto& pairs = pairs_.table();
      pgas::each_block(
          rows_, counts_.shared().rank(), [&](std::size_t first, std::size_t local, std::size_t n) {
            count_pairs(of_, n, pairs.pointer(way, first << of_.in_bits, local << of_.in_bits),
                        counts_.pointer(way, first << of_.out_bits, local << of_.out_bits));
          });
    });
  }

  void spoil(std::optional<Access> access) { std::ranges::fill(counts_.own(access), 0xFFFF); }

  /// Entries, and the sum of each row.
  [[nodiscard]] bool is_right(std::optional<Access> access) {
    const auto own = counts_.own(access);
    const auto outputs = of_.outputs();
    for (std::size_t i = 0; i < own.size(); i += outputs) {
      const auto row = rows_.index(counts_.shared().rank(), i / outputs);
      if (!are_counts(of_, row, own.subspan(i, outputs))) return false;
    }
    return true;
  }

  [[nodiscard]] Table<std::uint16_t, T>& table() { return counts_; }
  [[nodiscard]] Table<std::uint8_t, T>& pairs() { return pairs_.table(); }

 private:
  [[nodiscard]] pgas::Layout columns(std::size_t count) const {
    return {rows_.size() * count, rows_.block() * count, rows_.ranks()};
  }

  Tabled of_;
  pgas::Layout rows_;
  PairTable<T> pairs_;
  Table<std::uint16_t, T> counts_;
};

/// A pattern that builds one of the tables; before it is timed and after it, all is compared.
template <ArraysOf T, class Built>
class TablePattern : public Pattern {
 public:
  /// `entries` are dealt to ranks by axis `block`.
  TablePattern(T& transport, const Case& point, std::size_t entries)
      : transport_(transport),
        access_(table_access_of(point)),
        built_(transport, tabled_of(point), layout_of(point, entries, transport.size())) {}

  void run(std::uint64_t rounds) override {
    for (auto i = rounds; i > 0; --i) built_.build(access_);
  }

  bool verify() override {
    built_.spoil(access_);
    built_.build(access_);
    return built_.is_right(access_);
  }

  [[nodiscard]] bool is_right() override { return built_.is_right(access_); }

  std::vector<Value> values() override {
    return {{"entries", static_cast<double>(built_.table().shared().size())}};
  }

 private:
  T& transport_;
  std::optional<Access> access_;
  Built built_;
};
}  // namespace nhalf::sdes
