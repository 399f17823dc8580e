// Who sends to whom, in the library that Python loads.

#include "patterns/bases/traffic/destinations.hpp"
#include "patterns/bases/traffic/ring_layout.hpp"

/// Writes to whom each of 2^bits ranks sends by a rule with the highest stage, or with all of them.
extern "C" __attribute__((visibility("default"))) void nhalf_permutation(const char* name, int bits,
                                                                         int is_all,
                                                                         std::int32_t* to) {
  using nhalf::bit_permutations::rules;
  const auto* rule =
      std::ranges::find(rules, std::string_view(name), &nhalf::bit_permutations::Rule::name);
  for (unsigned rank = 0; rank < 1U << bits; ++rank) {
    auto place = rank;
    for (int stage = is_all != 0 ? rule->first_stage : bits - 1; stage < bits; ++stage)
      place = rule->of(place, bits, stage);
    to[rank] = static_cast<std::int32_t>(place);
  }
}

/// Writes in which ring of a regular pattern of the effective bandwidth each rank is.
extern "C" __attribute__((visibility("default"))) void nhalf_rings(int ranks, int number,
                                                                   std::int32_t* ring) {
  const nhalf::RingLayout layout(ranks, number, 0);
  for (std::size_t at = 0; at < layout.rings().size(); ++at)
    for (const int rank : layout.rings()[at]) ring[rank] = static_cast<std::int32_t>(at);
}
