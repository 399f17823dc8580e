// Ways to multicast that know nodes by their numbers.
#pragma once

#include "multicast/bases/multicast.hpp"

namespace nhalf::multicast {
/// Serial forwarding: a chain through all destinations by their numbers; d steps.
inline Schedule serial(const Multicast& multicast) {
  auto schedule = empty_schedule(multicast);
  add_worm(schedule, in_order(multicast));
  return schedule;
}

inline const bool enrolled_serial = enroll_multicast(
    {.name = "serial", .what = "each destination forwards to the next, by number", .make = serial});

/// Separate addressing: the source sends to one destination after the other; d steps.
inline Schedule separate(const Multicast& multicast) {
  auto schedule = empty_schedule(multicast);
  for (const int node : in_order(multicast))
    if (node != multicast.source) add_forward(schedule, multicast.source, node);
  return schedule;
}

inline const bool enrolled_separate =
    enroll_multicast({.name = "separate",
                      .what = "the source sends to one destination after the other",
                      .make = separate});

/// Binary tree: of the nodes in the order of their numbers from the source on, the one at place i
/// forwards to those at 2 i + 1 and 2 i + 2.
inline Schedule binary(const Multicast& multicast) {
  auto schedule = empty_schedule(multicast);
  const auto order = in_order(multicast);
  for (std::size_t i = 1; i < order.size(); ++i)
    add_forward(schedule, order[(i - 1) / 2], order[i]);
  return schedule;
}

inline const bool enrolled_binary = enroll_multicast(
    {.name = "binary", .what = "a tree in which each node forwards to two", .make = binary});

/// Binomial tree by the numbers of nodes: in step j those at places 0 to 2^j - 1, counted from the
/// source, send to the one 2^j further; ceil(log2 m) steps for m nodes.
inline Schedule binomial(const Multicast& multicast) {
  auto schedule = empty_schedule(multicast);
  const auto order = in_order(multicast);
  for (std::size_t holders = 1; holders < order.size(); holders *= 2)
    for (std::size_t i = 0; i < holders && i + holders < order.size(); ++i)
      add_forward(schedule, order[i], order[i + holders]);
  return schedule;
}

inline const bool enrolled_binomial =
    enroll_multicast({.name = "binomial",
                      .what = "in each step every node that has the message sends it on",
                      .make = binomial});
}  // namespace nhalf::multicast
