#pragma once

#include "patterns/bases/arrays/sdes_build.hpp"

namespace nhalf::sdes {
/// All ranks build the tables together; then each gets them whole into its own part of two shared
/// arrays, and looks up there.
template <ArraysOf T>
class TablesHere {
 public:
  explicit TablesHere(T& transport)
      : pairs_(transport, one_block_each(s_boxes_tabled.pairs(), transport.size())),
        counts_(transport, one_block_each(s_boxes_tabled.counts(), transport.size())) {
    const auto ranks = static_cast<std::size_t>(transport.size());
    DistributionTable<T> built(transport, s_boxes_tabled,
                               pgas::Layout::even(s_boxes_tabled.rows(), ranks));
    built.build(Access::cast);
    built.pairs().shared().barrier();
    built.table().shared().barrier();
    built.pairs().shared().get(0, pairs_.local());
    built.table().shared().get(0, counts_.local());
    // Nobody takes down its part while another reads it.
    transport.barrier();
  }

  /// Looks up by pointers of an access.
  template <Access access>
  [[nodiscard]] auto inputs() {
    const auto rank = pairs_.rank();
    return TabledPairs{pointer_by<access>(pairs_, rank * s_boxes_tabled.pairs(), 0),
                       pointer_by<access>(counts_, rank * s_boxes_tabled.counts(), 0)};
  }

 private:
  pgas::shared_array<std::uint8_t, T> pairs_;
  pgas::shared_array<std::uint16_t, T> counts_;
};
}  // namespace nhalf::sdes

namespace nhalf {
inline constexpr AxisInfo sdes_axes[] = {
    array_axes[0],
    {"block", "even", "even", "keys in a block; even: one block for each rank"},
    {"keys", "1024", "1024", "secret keys to recover; there are 1024 in all"},
    {"pairs", "16", "16", "pairs of chosen plain texts for each key"},
    {"tables", "constant", "constant",
     "constant: tables of differences that the compiler knows; shared: those that the ranks built "
     "in shared arrays, looked up by the same access"}};
inline constexpr std::array<std::string_view, 2> sdes_tables_names{"constant", "shared"};

inline constexpr PatternInfo sdes_info{
    .name = "sdes",
    .what =
        "keys of simplified DES are recovered by differential cryptanalysis from cipher texts "
        "in a shared array, each rank those that lie at it",
    .needs = "one-sided, computing",
    .ranks_min = 1,
    .timing = Timing::slowest_rank,
    .axes = sdes_axes,
    .sized = false};

/// One round recovers every key. Cipher texts of one key lie together, at the rank of its key.
template <ArraysOf T>
class SdesAttack : public Pattern {
 public:
  SdesAttack(T& transport, const Case& point)
      : transport_(transport),
        access_(static_cast<Access>(point.choice("access", access_names))),
        pairs_(number_of(point, "pairs", 16, sdes::pairs_most)),
        layout_(layout_of(point,
                          static_cast<std::size_t>(number_of(point, "keys", sdes::keys, keys_most)),
                          transport.size())),
        ciphertext_(transport,
                    {layout_.size() * texts(), layout_.block() * texts(), layout_.ranks()}),
        keys_(transport, layout_) {
    if (point.choice("tables", sdes_tables_names) == 1) tables_.emplace(transport);
    const auto own = ciphertext_.local();
    for (std::size_t i = 0; i < own.size(); ++i) {
      const auto text = static_cast<int>(i % texts());
      own[i] = sdes::encrypted(secret(layout_.index(keys_.rank(), i / texts())),
                               sdes::chosen_plain(text / 2, text % 2));
    }
  }

  void run(std::uint64_t rounds) override {
    for (auto i = rounds; i > 0; --i) attack();
  }

  bool verify() override {
    for (auto& key : keys_.local()) key = unknown;
    attack();
    return all_found();
  }

  [[nodiscard]] bool is_right() override { return all_found(); }

  std::vector<Value> values() override { return {{"keys", static_cast<double>(layout_.size())}}; }

 private:
  static constexpr std::uint16_t unknown = 0xFFFF;
  static constexpr int keys_most = 1 << 24;

  /// An axis that is not given where it has its usual value.
  static int number_of(const Case& point, const std::string& axis, int usual, int most) {
    return point.axes.text(axis).empty() ? usual : point.axis(axis, 1, most);
  }

  /// All keys in an order that is not theirs, again and again.
  static unsigned secret(std::size_t index) {
    return static_cast<unsigned>((index * 619 + 271) % sdes::keys);
  }
  [[nodiscard]] std::size_t texts() const { return 2 * static_cast<std::size_t>(pairs_); }

  void attack() {
    with_access(access_, [this](auto access) {
      if (tables_) {
        attack_by<access()>(tables_->template inputs<access()>());
      } else {
        attack_by<access()>(sdes::ConstantPairs());
      }
    });
  }
  template <Access access, class Inputs>
  void attack_by(const Inputs& inputs) {
    const auto of_block = [&](std::size_t first, std::size_t local, std::size_t count) {
      attack_run(count, pointer_by<access>(keys_, first, local),
                 pointer_by<access>(ciphertext_, first * texts(), local * texts()), inputs);
    };
    pgas::each_block(layout_, keys_.rank(), of_block);
  }
  template <class Key, class Text, class Inputs>
  void attack_run(std::size_t count, Key key, Text text, const Inputs& inputs) {
    for (; count > 0; --count) {
      const auto next = [&] {
        const std::uint8_t ciphertext = *text;
        ++text;
        return ciphertext;
      };
      *key = static_cast<std::uint16_t>(sdes::recovered(pairs_, next, inputs).value_or(unknown));
      ++key;
    }
  }

  [[nodiscard]] bool all_found() {
    const auto own = keys_.local();
    for (std::size_t i = 0; i < own.size(); ++i)
      if (own[i] != secret(layout_.index(keys_.rank(), i))) return false;
    return true;
  }

  T& transport_;
  Access access_;
  int pairs_;
  pgas::Layout layout_;
  pgas::shared_array<std::uint8_t, T> ciphertext_;
  pgas::shared_array<std::uint16_t, T> keys_;
  std::optional<sdes::TablesHere<T>> tables_;
};
NHALF_PATTERN(sdes_info, SdesAttack);

inline constexpr AxisInfo sdes_pairs_axes[] = {
    sdes::table_access_axis,
    {"block", "even", "even", "entries in a block; even: one block for each rank"},
    sdes::tabled_axis};

inline constexpr PatternInfo sdes_pairs_info{
    .name = "sdes-dpt",
    .what =
        "the difference pair table of simplified DES is built in a shared array, each rank what "
        "lies at it: for each difference of inputs and each input the difference of the outputs",
    .needs = "one-sided, computing",
    .ranks_min = 1,
    .timing = Timing::slowest_rank,
    .axes = sdes_pairs_axes,
    .sized = false};
template <ArraysOf T>
class SdesPairs : public sdes::TablePattern<T, sdes::PairTable<T>> {
 public:
  SdesPairs(T& transport, const Case& point)
      : sdes::TablePattern<T, sdes::PairTable<T>>(transport, point,
                                                  sdes::tabled_of(point).pairs()) {}
};
NHALF_PATTERN(sdes_pairs_info, SdesPairs);

inline constexpr AxisInfo sdes_distribution_axes[] = {
    sdes::table_access_axis,
    {"block", "even", "even", "rows in a block of both tables; even: one block for each rank"},
    sdes::tabled_axis};

inline constexpr PatternInfo sdes_distribution_info{
    .name = "sdes-ddt",
    .what =
        "the difference distribution table of simplified DES is built in a shared array from the "
        "pair table in another, each rank the rows that lie at it: for each difference of "
        "inputs how often it becomes each difference of outputs",
    .needs = "one-sided, computing",
    .ranks_min = 1,
    .timing = Timing::slowest_rank,
    .axes = sdes_distribution_axes,
    .sized = false};
template <ArraysOf T>
class SdesDistribution : public sdes::TablePattern<T, sdes::DistributionTable<T>> {
 public:
  SdesDistribution(T& transport, const Case& point)
      : sdes::TablePattern<T, sdes::DistributionTable<T>>(transport, point,
                                                          sdes::tabled_of(point).rows()) {}
};
NHALF_PATTERN(sdes_distribution_info, SdesDistribution);
}  // namespace nhalf
