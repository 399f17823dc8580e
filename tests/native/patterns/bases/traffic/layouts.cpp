// Prints rings and permutations of ranks, one line each, for a comparison with the predictions.
#include <cstdio>
#include <string>

#include "patterns/bases/traffic/bit_permutations.hpp"
#include "patterns/bases/traffic/ring_layout.hpp"

namespace {

constexpr int ranks_max = 40;
constexpr int bits_max = 6;

void print_rings(int ranks, int number) {
  const nhalf::RingLayout layout(ranks, number, 1);
  std::printf("ring %d %d", ranks, number);
  for (const auto& ring : layout.rings()) {
    const char* separator = " ";
    for (const int rank : ring) {
      std::printf("%s%d", separator, rank);
      separator = ",";
    }
  }
  std::printf(" messages %zu\n", layout.messages());
}

/// Prints where each rank sends after the stages from `first` on.
void print_rule(const nhalf::bit_permutations::Rule& rule, const std::string& name, int bits,
                int first) {
  std::printf("rule %s %d ", name.c_str(), bits);
  for (unsigned rank = 0; rank < 1U << bits; ++rank) {
    unsigned to = rank;
    for (int stage = first; stage < bits; ++stage) to = rule.of(to, bits, stage);
    std::printf("%s%u", rank > 0 ? "," : "", to);
  }
  std::printf("\n");
}

}  // namespace

int main() {
  for (int ranks = 2; ranks <= ranks_max; ++ranks)
    for (int number = 1; number <= nhalf::RingLayout::regular; ++number) print_rings(ranks, number);
  for (const auto& rule : nhalf::bit_permutations::rules) {
    const std::string name(rule.name);
    for (int bits = 1; bits <= bits_max; ++bits) {
      if (bits > rule.first_stage) print_rule(rule, name, bits, bits - 1);
      if (rule.first_stage > 0 && bits > rule.first_stage)
        print_rule(rule, name + "-all", bits, rule.first_stage);
    }
  }
  return 0;
}
