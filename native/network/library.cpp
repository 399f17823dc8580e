// The network in the library that Python loads, which has the replays as well: one call, one
// answer.
#include <exception>
#include <new>

#include "network/concurrent.hpp"

/// A piece of a curve as a machine file has it: T(n) = start + n per_byte + sqrt(n) per_root.
struct Piece {
  double from_bytes, start_s, per_byte_s, per_root_s;
};

#define NHALF_ANSWER extern "C" __attribute__((visibility("default"))) const char*

/// Answers what messages take alone, by the pieces of a curve; below the first one that counts.
NHALF_ANSWER nhalf_curve(const Piece* pieces, std::int64_t count, const double* sizes_bytes,
                         std::int64_t messages, double* answer_s) {
  if (count == 0) return "the curve has no pieces";
  std::transform(sizes_bytes, sizes_bytes + messages, answer_s, [&](double bytes) {
    const auto starts_above = [](double size, const Piece& piece) {
      return size < piece.from_bytes;
    };
    const auto* next = std::upper_bound(pieces + 1, pieces + count, bytes, starts_above);
    const auto& [_, start_s, per_byte_s, per_root_s] = *(next - 1);
    return start_s + bytes * per_byte_s + per_root_s * std::sqrt(bytes);
  });
  return nullptr;
}

/// Answers what messages share; with rates of them alone, what each moves. Returns nothing, or what
/// was wrong; no memory is kept.
NHALF_ANSWER nhalf_concurrent(const nhalf::network::Question* question) {
  try {
    nhalf::network::Concurrent concurrent(*question);
    if (!concurrent.read()) return "the description is not that of a machine";
    question->alone_Bps == nullptr ? concurrent.load() : concurrent.flow();
    return nullptr;
  } catch (const std::bad_alloc&) {
    return "memory";
  } catch (const std::exception&) {
    return "the machine is larger than can be followed";
  }
}
