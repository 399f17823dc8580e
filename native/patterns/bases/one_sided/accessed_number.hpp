// A number in a window that another rank changes in one step.
#pragma once

#include <cstdint>
#include <cstring>

#include "patterns/bases/one_sided/accessing.hpp"

namespace nhalf {

/// Rank 0 changes a 64-bit number of rank 1's; a pattern's size has no meaning.
template <Windows T>
class AccessedNumber : public Accessing<T> {
 public:
  AccessedNumber(T& transport, const Case& point)
      : Accessing<T>(transport, point, accessed_pair(transport.rank(), point),
                     sizeof(std::int64_t)) {}

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override { return 0; }

  /// Numbers are 7 at first; `before_` is what the operation told of it.
  bool verify() override {
    for (const int origin : this->accessed_.origins) set(origin, first);
    before_ = -1;
    this->access_once();
    bool good = true;
    for (const int origin : this->accessed_.origins)
      good = good && number(origin) == expected(this->operations_);
    if (!this->accessed_.targets.empty() && this->operations_ == 1) good = good && before_ == first;
    return good;
  }

 protected:
  static constexpr std::int64_t first = 7;
  /// The number after so many operations.
  [[nodiscard]] virtual std::int64_t expected(int operations) const = 0;

  std::int64_t before_ = 0;

 private:
  [[nodiscard]] std::int64_t number(int origin) {
    std::int64_t value = 0;
    std::memcpy(&value, this->here(origin).data(), sizeof value);
    return value;
  }
  void set(int origin, std::int64_t value) {
    std::memcpy(this->here(origin).data(), &value, sizeof value);
  }
};

}  // namespace nhalf
