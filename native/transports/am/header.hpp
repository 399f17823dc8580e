// The header of an active message, and what has to hold before any of it is used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "contract/active_messages.hpp"

namespace nhalf::am {

/// The kind of a message. `done` says that a request was handled without a reply.
enum class Kind : std::uint8_t { done, short_message, medium_message, long_message };
inline constexpr std::uint8_t kinds = 4;

/// The words of a line: arguments from the front, what the kind of message needs from the back.
using HeaderWords = std::array<active::Word, active::words_short_max>;
inline constexpr std::size_t length_at = active::words_short_max - 1;
inline constexpr std::size_t offset_at = active::words_short_max - 2;

/// A header as it was read.
struct Header {
  std::uint8_t kind = 0;
  std::uint8_t count = 0;
  active::Number handler = 0;
  HeaderWords words{};

  [[nodiscard]] std::uint64_t length_bytes() const { return words[length_at]; }
  [[nodiscard]] std::uint64_t offset() const { return words[offset_at]; }
};

/// Returns how much payload of a medium message fits beside `words` arguments; a payload that fits
/// travels in the line.
constexpr std::size_t room_beside(std::size_t words) {
  return words > length_at ? 0 : (length_at - words) * sizeof(active::Word);
}

/// Limits of the payloads that may arrive here.
struct Limits {
  std::size_t medium_bytes = 0;
  std::size_t region_bytes = 0;
};

/// The most arguments beside what else the header of this kind has to say.
constexpr std::size_t words_of(Kind kind) {
  constexpr std::size_t most[kinds] = {0, length_at + 1, length_at, offset_at};
  return most[static_cast<std::size_t>(kind)];
}

/// Whether a range lies in a region.
constexpr bool lies_in(std::size_t region_bytes, std::uint64_t offset, std::uint64_t length_bytes) {
  return offset <= region_bytes && length_bytes <= region_bytes - offset;
}

/// Returns the error in a header, given whether its handler is in the table; empty if there is
/// none.
constexpr std::string_view fault(const Header& header, const Limits& limits, bool has_handler) {
  if (header.kind >= kinds) return "a kind of message that does not exist";
  const auto kind = static_cast<Kind>(header.kind);
  if (header.count > words_of(kind)) return "more words than fit";
  if (kind == Kind::done) return "";
  if (!has_handler) return "a handler that does not exist";
  if (kind == Kind::medium_message && header.length_bytes() > limits.medium_bytes)
    return "a payload longer than its slot";
  if (kind == Kind::long_message &&
      !lies_in(limits.region_bytes, header.offset(), header.length_bytes()))
    return "a payload outside of the region";
  return "";
}

/// A header that cannot be right arrived: memory was overwritten, or the sender is another program.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace nhalf::am
