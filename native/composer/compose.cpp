// SPDX-License-Identifier: Apache-2.0
// Reads the parts of a machine and compositions, one per line, and answers each composition with
// its seconds, or with "-" if it has none (no such algorithm, too large):
//
//   parts                    forgets all parts
//   o_s 1e-6
//   o_r 2e-6
//   message FIRST_BYTES START_S PER_BYTE_S PER_ROOT_BYTE_S     (also sends_apart, receives_apart)
//   compose bcast binomial RANKS BYTES
//   compose bcast chain RANKS BYTES PART_BYTES
#include <cstdio>
#include <iostream>
#include <new>
#include <sstream>
#include <string>

#include "composer/operations.hpp"

namespace nhalf {
namespace {

void answer(const MessageParts& parts, std::istringstream& words) {
  std::string operation;
  std::string algorithm;
  Composition composition{};
  if (!(words >> operation >> algorithm >> composition.ranks >> composition.size_bytes) ||
      composition.ranks < 1)
    throw InputError("a composition is: compose OPERATION ALGORITHM RANKS BYTES [PART_BYTES]");
  std::size_t part_bytes = 0;
  if (words >> part_bytes) {
    if (part_bytes == 0) throw InputError("a part has 1 byte or more");
    composition.part_bytes = part_bytes;
  }
  composition.operation = operation;
  composition.algorithm = algorithm;
  std::optional<double> time_s;
  try {
    time_s = composed_s(parts, composition);
  } catch (const std::bad_alloc&) {
    // The buffers would exceed the address space of this host.
  }
  if (time_s)
    std::printf("%.17g\n", *time_s);
  else
    std::puts("-");
  std::fflush(stdout);
}

void read_part(MessageParts& parts, const std::string& name, std::istringstream& words) {
  PartPiece piece{};
  if (name == "o_s" || name == "o_r") {
    if (!(words >> (name == "o_s" ? parts.o_s : parts.o_r)))
      throw InputError(name + " needs a time");
  } else if (words >> piece.first_bytes >> piece.start_s >> piece.per_byte_s >>
             piece.per_root_byte_s) {
    parts.curve(name).add(piece);
  } else {
    throw InputError("a piece of '" + name + "' needs four numbers");
  }
}

int compose() {
  memory_source = no_memory;
  MessageParts parts;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name)) continue;
    if (name == "compose")
      answer(parts, words);
    else if (name == "parts")
      parts = {};
    else
      read_part(parts, name, words);
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
