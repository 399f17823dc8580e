// Reads a machine and compositions, and answers each composition with its seconds: until its last
// rank ends, until the root is free, and for which messages keep all processors together. A pattern
// has the first alone. The answer is "-" if there is none (no such algorithm, too large):
//
//   machine LINES                       its lines follow, as network/wires.hpp has them
//   compose bcast binomial BYTES        among all ranks of the machine
//   compose bcast chain BYTES PART_BYTES
//   compose exchange followed BYTES     a pattern: what a round of it takes
#include <cstdio>
#include <iostream>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>

#include "composer/operations.hpp"
#include "composer/traffic.hpp"

namespace nhalf {
namespace {

void answer(const std::optional<network::Wires>& wires, std::istringstream& words) {
  std::string operation;
  std::string algorithm;
  Composition composition{};
  if (!wires || !(words >> operation >> algorithm >> composition.size_bytes))
    throw InputError("a composition is: compose OPERATION ALGORITHM BYTES [PART_BYTES]");
  std::size_t part_bytes = 0;
  if (words >> part_bytes) {
    if (part_bytes == 0) throw InputError("a part has 1 byte or more");
    composition.part_bytes = part_bytes;
  }
  composition.operation = operation;
  composition.algorithm = algorithm;
  std::optional<double> round_s;
  std::optional<ComposedTimes> times;
  try {
    if (algorithm == "followed")
      round_s = traffic_s(*wires, operation, composition.size_bytes);
    else
      times = composed(*wires, composition);
  } catch (const std::bad_alloc&) {
    // The buffers would exceed the address space of this host.
  } catch (const std::length_error&) {
    // It would take too long.
  }
  if (round_s)
    std::printf("%.17g\n", *round_s);
  else if (times)
    std::printf("%.17g %.17g %.17g\n", times->completion_s, times->root_s, times->processors_s);
  else
    std::puts("-");
  std::fflush(stdout);
}

network::Wires machine_of(std::size_t lines) {
  std::string text;
  for (std::string line; lines > 0 && std::getline(std::cin, line); --lines) text += line + "\n";
  auto wires = network::Wires::read(text);
  if (!wires) throw InputError("the description is not that of a machine");
  return *wires;
}

int compose() {
  memory_source = no_memory;
  std::optional<network::Wires> wires;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name;
    std::size_t lines = 0;
    if (!(words >> name)) continue;
    if (name == "compose")
      answer(wires, words);
    else if (name == "machine" && words >> lines)
      wires = machine_of(lines);
    else
      throw InputError("'" + line + "' is neither a machine nor a composition");
  }
  return 0;
}

}  // namespace
}  // namespace nhalf

int main() {
  try {
    return nhalf::compose();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
