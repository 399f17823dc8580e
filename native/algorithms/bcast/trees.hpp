// The whole message, or one part after the other, down a tree.
#pragma once

#include "algorithms/bases/parts.hpp"
#include "contract/algorithm.hpp"

namespace nhalf::algorithms::bcast {
/// A tree of two children each: rank i, counted from the root, sends to 2 i + 1 and 2 i + 2.
///
/// p - 1 messages. For p = 2^(d + 1) - 1 and n bytes d (max(o_s, g + nG) + o_s + nG + L + o_r).
template <Transport T>
void binary(T& transport, int root, Bytes data) {
  const int ranks = transport.size();
  const int place = (transport.rank() - root + ranks) % ranks;
  if (place > 0) transport.recv(((place - 1) / 2 + root) % ranks, data);
  for (int child = 2 * place + 1; child <= 2 * place + 2 && child < ranks; ++child)
    transport.send((child + root) % ranks, data);
}

inline constexpr AlgorithmInfo binary_info{
    .name = "binary",
    .what = "down a tree of two children each",
    .source = sources::pjesivac,
    .cost = "ceil(log2(p)) * (M(n, 1) + T(n))",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      if (!is_power_of_two(p + 1)) return std::nullopt;
      return (doublings(p) - 1) * (m.sends_apart_s(n) + m.one_s(n));
    }};

/// Each part of the message down a tree of two children each.
///
/// m (p - 1) messages for m = ceil(n / B) parts of B bytes. For p = 2^(d + 1) - 1 at most
/// d (max(o_s, g + BG) + o_s + BG + L + o_r) for the first part and, for each further one, what a
/// rank between root and leaves needs: o_r + 2 max(o_s, g + BG); exact for one part.
template <Transport T>
void binary_pipelined(T& transport, int root, Bytes data,
                      std::size_t part_bytes = default_part_bytes) {
  for_each_part(data, part_bytes, [&](Bytes part) { binary(transport, root, part); });
}

inline constexpr AlgorithmInfo binary_pipelined_info{
    .name = "binary-pipelined",
    .what = "each part of 8 KiB down a tree of two children each",
    .source = sources::pjesivac,
    .cost =
        "(max(1, n / B) - 1) * M(min(n, B), 2) + ceil(log2(p)) * (M(min(n, B), 1) + "
        "T(min(n, B)))",
    .messages = [](int p, std::size_t n) -> std::int64_t { return parts_of(n) * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return n > default_part_bytes ? std::nullopt : binary_info.time_s(m, p, n);
    }};

/// Recursive doubling: in stage i ranks 0 to 2^i - 1, counted from the root, send to the rank that
/// is 2^i further.
///
/// p - 1 messages. For p = 2^k and n bytes k (o_s + nG + L + o_r), as long as messages leave a rank
/// no further apart than one takes (g <= o_s + L + o_r).
template <Transport T>
void binomial(T& transport, int root, Bytes data) {
  const int ranks = transport.size();
  const int place = (transport.rank() - root + ranks) % ranks;
  int distance = 1;
  while (distance <= place) distance *= 2;
  if (place > 0) transport.recv((place - distance / 2 + root) % ranks, data);
  for (; place + distance < ranks; distance *= 2)
    transport.send((place + distance + root) % ranks, data);
}

inline constexpr AlgorithmInfo binomial_info{
    .name = "binomial",
    .what = "in each stage every rank that has the message sends it to one that has not",
    .source = sources::thakur,
    .cost = "ceil(log2(p)) * T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return for_powers_of_two(p, doublings(p) * m.one_s(n));
    }};

/// A binomial broadcast of each part of the message: ranks pass a part on before they get the next.
///
/// m (p - 1) messages for m = ceil(n / B) parts of B bytes. At most m ceil(log2 p)
/// (o_s + BG + L + o_r), where g <= o_s + L + o_r; exactly that for p = 2^k and one part.
template <Transport T>
void binomial_pipelined(T& transport, int root, Bytes data,
                        std::size_t part_bytes = default_part_bytes) {
  for_each_part(data, part_bytes, [&](Bytes part) { binomial(transport, root, part); });
}

inline constexpr AlgorithmInfo binomial_pipelined_info{
    .name = "binomial-pipelined",
    .what = "a binomial broadcast of each part of 8 KiB",
    .source =
        "S. Johnsson, C.-T. Ho, Optimum Broadcasting and Personalized Communication in "
        "Hypercubes, IEEE Transactions on Computers 38(9), 1989",
    .cost = "max(1, n / B) * ceil(log2(p)) * T(min(n, B))",
    .messages = [](int p, std::size_t n) -> std::int64_t { return parts_of(n) * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      if (n > default_part_bytes) return std::nullopt;
      return for_powers_of_two(p, doublings(p) * m.one_s(n));
    },
    .time_at_most_s = [](const LogGP& m, int p, double n) -> Seconds {
      const auto parts = static_cast<double>(parts_of(static_cast<std::size_t>(n)));
      return parts * doublings(p) * m.one_s(std::min<double>(n, default_part_bytes));
    }};

/// Each part of the message from rank to rank, from the root to the one before it.
///
/// m (p - 1) messages for m = n / B whole parts of B bytes. For p > 2
/// (p - 1) (o_s + BG + L + o_r) + (m - 1) max(o_r + o_s, g + BG).
template <Transport T>
void chain(T& transport, int root, Bytes data, std::size_t part_bytes = default_part_bytes) {
  const int ranks = transport.size();
  const int rank = transport.rank();
  const int next = (rank + 1) % ranks;
  for_each_part(data, part_bytes, [&](Bytes part) {
    if (rank != root) transport.recv((rank + ranks - 1) % ranks, part);
    if (next != root) transport.send(next, part);
  });
}

inline constexpr AlgorithmInfo chain_info{
    .name = "chain",
    .what = "each part of 8 KiB from rank to rank",
    .source = sources::pjesivac,
    .cost = "(p - 1) * T(min(n, B)) + (max(1, n / B) - 1) * max(M(min(n, B), 1), R(min(n, B), 1))",
    .messages = [](int p, std::size_t n) -> std::int64_t { return parts_of(n) * (p - 1); },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      const double part_bytes = std::min<double>(n, default_part_bytes);
      const auto parts = static_cast<double>(parts_of(static_cast<std::size_t>(n)));
      if (parts * part_bytes != n || p == 2) return std::nullopt;
      return (p - 1) * m.one_s(part_bytes) +
             (parts - 1) * std::max(m.o_r + m.o_s, m.g + part_bytes * m.G);
    }};

/// Down a tree in whose stages every rank that has the message sends it to k - 1 others: the
/// binomial tree for k = 2. The furthest are sent to first, for they have most to forward.
///
/// p - 1 messages. For p = k^r and n bytes r (o_s + nG + L + o_r + (k - 2) max(o_s, g + nG)), where
/// g <= o_s + L + o_r.
template <Transport T>
void k_nomial(T& transport, int root, Bytes data, int radix = 4) {
  const int ranks = transport.size();
  const int place = (transport.rank() - root + ranks) % ranks;
  // A place is written in the digits of the radix: its parent has the last that is not 0 cleared.
  int unit = 1;
  while (unit < ranks && place / unit % radix == 0) unit *= radix;
  if (place > 0) transport.recv((place - place / unit % radix * unit + root) % ranks, data);
  for (unit /= radix; unit > 0; unit /= radix)
    for (int digit = 1; digit < radix && place + digit * unit < ranks; ++digit)
      transport.send((place + digit * unit + root) % ranks, data);
}

inline constexpr AlgorithmInfo k_nomial_info{
    .name = "k-nomial",
    .what = "in each stage every rank that has the message sends it to three that have not",
    .source =
        "J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for "
        "All-to-All Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), "
        "1997: k ports, served in turn",
    .cost = "ceil(log2(p) / 2) * T(n) + floor(log2(p) / 2) * M(n, 2)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      if (!is_power_of_two(p) || doublings(p) % 2 != 0) return std::nullopt;
      return doublings(p) / 2 * (m.one_s(n) + 2 * m.sends_apart_s(n));
    }};

/// The root sends to one rank after the other, beginning with the next.
///
/// p - 1 messages. For n bytes (p - 2) max(o_s, g + nG) + o_s + nG + L + o_r.
template <Transport T>
void linear(T& transport, int root, Bytes data) {
  const int ranks = transport.size();
  if (transport.rank() != root) return transport.recv(root, data);
  for (int distance = 1; distance < ranks; ++distance)
    transport.send((root + distance) % ranks, data);
}

inline constexpr AlgorithmInfo linear_info{
    .name = "linear",
    .what = "the root sends to one rank after the other",
    .source = sources::alexandrov_sender,
    .cost = "M(n, p - 2) + T(n)",
    .messages = [](int p, std::size_t) -> std::int64_t { return p - 1; },
    .time_s = [](const LogGP& m, int p, double n) -> Seconds {
      return (p - 2) * m.sends_apart_s(n) + m.one_s(n);
    }};
}  // namespace nhalf::algorithms::bcast
