// Authenticates ranks that connect by a token of the run.
#pragma once

#include <sys/random.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>

namespace nhalf::tcp {

/// Random bytes, one half of which the rank that connects shows and the other half the rank that
/// accepts: a stranger who gets to see one does not know the other.
struct Token {
  using Half = std::array<std::byte, 16>;
  Half asking{}, answering{};

  /// Throws std::runtime_error where the system has no random numbers.
  static Token random() {
    Token token;
    if (getrandom(&token, sizeof token, 0) != static_cast<ssize_t>(sizeof token))
      throw std::runtime_error("the system gives no random numbers for the run's token");
    return token;
  }
};

/// The first message of either side.
struct Greeting {
  static constexpr std::uint64_t expected_magic = 0x31504354666c616eU;  // "nalfTCP1"

  std::uint64_t magic = expected_magic;
  Token::Half half{};
  std::uint32_t from = 0;
  std::uint32_t to = 0;

  [[nodiscard]] std::array<std::byte, 32> bytes() const {
    std::array<std::byte, 32> out;
    std::memcpy(out.data(), this, out.size());
    return out;
  }
};
static_assert(sizeof(Greeting) == 32);

/// Whether two halves are the same, in a time that does not tell where they differ.
inline bool same(const Token::Half& first, const Token::Half& second) {
  std::byte difference{0};
  for (std::size_t i = 0; i < first.size(); ++i) difference |= first[i] ^ second[i];
  return difference == std::byte{0};
}

/// The rank that greets rank `to` of `ranks` with this half; none where the greeting is wrong.
inline std::optional<int> greeted_by(std::span<const std::byte, sizeof(Greeting)> bytes,
                                     const Token::Half& half, int to, int ranks) {
  Greeting greeting;
  std::memcpy(static_cast<void*>(&greeting), bytes.data(), sizeof greeting);
  if (greeting.magic != Greeting::expected_magic || !same(greeting.half, half)) return {};
  if (greeting.to != static_cast<std::uint32_t>(to)) return {};
  if (greeting.from >= static_cast<std::uint32_t>(ranks) || greeting.from == greeting.to) return {};
  return static_cast<int>(greeting.from);
}

}  // namespace nhalf::tcp
