// The set of ranks that can continue, visited in round-robin order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nhalf {

/// A set of numbers below a limit, as bits; above them a bit for each word that is not empty.
class ReadySet {
 public:
  explicit ReadySet(std::size_t limit = 0)
      : words_(words_for(limit)), filled_(words_for(words_.size())) {}

  void insert(std::size_t number) {
    words_[number / bits] |= bit(number);
    filled_[number / bits / bits] |= bit(number / bits);
  }
  void erase(std::size_t number) {
    auto& word = words_[number / bits];
    word &= ~bit(number);
    if (word == 0) filled_[number / bits / bits] &= ~bit(number / bits);
  }

  /// The least number of the set from `first` on, else the least of all; `none` of an empty set.
  [[nodiscard]] std::size_t next(std::size_t first) const {
    const auto rank = at_or_after(first);
    return rank == none ? at_or_after(0) : rank;
  }

  static constexpr std::size_t none = ~std::size_t{0};

 private:
  static constexpr std::size_t bits = 64;
  using Word = std::uint64_t;

  static std::size_t words_for(std::size_t count) { return (count + bits - 1) / bits; }
  static Word bit(std::size_t number) { return Word{1} << (number % bits); }
  static Word from(std::size_t number) { return ~Word{0} << (number % bits); }
  static std::size_t lowest(Word word) { return static_cast<std::size_t>(std::countr_zero(word)); }

  /// The least member of one level from `first` on.
  static std::size_t least(const std::vector<Word>& level, std::size_t first) {
    auto place = first / bits;
    if (place >= level.size()) return none;
    Word word = level[place] & from(first);
    while (word == 0 && ++place < level.size()) word = level[place];
    return word == 0 ? none : place * bits + lowest(word);
  }

  [[nodiscard]] std::size_t at_or_after(std::size_t first) const {
    const auto place = first / bits;
    if (place >= words_.size()) return none;
    if (const Word ready = words_[place] & from(first); ready != 0)
      return place * bits + lowest(ready);
    const auto filled = least(filled_, place + 1);
    return filled == none ? none : filled * bits + lowest(words_[filled]);
  }

  std::vector<Word> words_, filled_;
};

}  // namespace nhalf
