// Reads a machine and compositions, and answers each composition with its seconds, or with "-" if
// it has none (no such algorithm, too large):
//
//   machine LINES                       its lines follow, as network/wires.hpp has them
//   compose bcast binomial BYTES        among all ranks of the machine
//   compose bcast chain BYTES PART_BYTES
//   compose exchange followed BYTES     a pattern: what a round of it takes
//   program LINES                       its lines follow, as composer/program.hpp has them; the
//                                       answer has the rank that ends last and the ends of its
//                                       steps
#include <cstdio>
#include <iostream>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>

#include "composer/operations.hpp"
#include "composer/program.hpp"
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
  std::optional<double> time_s;
  try {
    time_s = algorithm == "followed" ? traffic_s(*wires, operation, composition.size_bytes)
                                     : composed_s(*wires, composition);
  } catch (const std::bad_alloc&) {
    // The buffers would exceed the address space of this host.
  } catch (const std::length_error&) {
    // It would take too long.
  }
  if (time_s)
    std::printf("%.17g\n", *time_s);
  else
    std::puts("-");
  std::fflush(stdout);
}

void follow(const network::Wires& wires, std::size_t lines) {
  ComposedProgram program(wires, std::cin, lines);
  try {
    const auto last = program.run();
    std::printf("%zu", last);
    for (const double end_s : program.ends_s(last)) std::printf(" %.17g", end_s);
  } catch (const std::length_error&) {
    std::printf("-");
  }
  std::puts("");
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
    else if (name == "program" && wires && words >> lines)
      follow(*wires, lines);
    else
      throw InputError("'" + line + "' is no question, or has no machine");
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
