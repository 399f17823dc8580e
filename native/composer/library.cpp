// Compositions in the library that Python loads: one call, one answer.
#include "composer/program.hpp"
#include "composer/traffic.hpp"

/// Answers what an algorithm takes among all ranks of a machine, which network/wires.hpp describes,
/// or a round of a pattern that is `followed`: seconds until its last rank ends, until the root is
/// free, and for which messages keep all processors together. A pattern has the first alone; there
/// is no number where there is none (no such algorithm, too large). Returns nothing, or what was
/// wrong.
extern "C" __attribute__((visibility("default"))) const char* nhalf_compose(
    const char* machine, const char* operation, const char* algorithm, std::uint64_t size_bytes,
    std::uint64_t part_bytes, double* times_s) {
  using namespace nhalf;
  memory_source = no_memory;
  std::fill_n(times_s, 3, std::numeric_limits<double>::quiet_NaN());
  try {
    const auto wires = network::Wires::read(machine);
    if (!wires) return "the description is not that of a machine";
    Composition composition{};
    composition.operation = operation;
    composition.algorithm = algorithm;
    composition.size_bytes = size_bytes;
    composition.part_bytes = part_bytes;
    if (composition.algorithm == "followed") {
      const auto round_s = traffic_s(*wires, operation, composition.size_bytes);
      if (round_s) *times_s = *round_s;
    } else if (const auto times = composed(*wires, composition)) {
      const std::array answer{times->completion_s, times->root_s, times->processors_s};
      std::ranges::copy(answer, times_s);
    }
  } catch (const std::bad_alloc&) {
    // The buffers would exceed the address space of this host.
  } catch (const std::length_error&) {
    // It would take too long.
  } catch (const std::exception&) {
    return "the composition cannot be followed";
  }
  return nullptr;
}

/// Follows a program, whose lines composer/program.hpp explains, on a machine: the rank that ends
/// last and when its steps end, in `ends_s`, which has room for as many as there are lines; no
/// steps if it would take too long. Returns nothing, or what was wrong.
extern "C" __attribute__((visibility("default"))) const char* nhalf_follow(const char* machine,
                                                                           const char* program,
                                                                           std::uint64_t* last,
                                                                           std::uint64_t* steps,
                                                                           double* ends_s) {
  using namespace nhalf;
  memory_source = no_memory;
  *steps = 0;
  try {
    const auto wires = network::Wires::read(machine);
    if (!wires) return "the description is not that of a machine";
    std::istringstream lines(program);
    ComposedProgram followed(*wires, lines);
    *last = followed.run();
    const auto& ends = followed.ends_s(*last);
    std::ranges::copy(ends, ends_s);
    *steps = ends.size();
  } catch (const std::bad_alloc&) {
    // The messages would exceed the memory of this host.
  } catch (const std::length_error&) {
    // It would take too long.
  } catch (const std::exception& error) {
    thread_local std::string words;
    words = error.what();
    return words.c_str();
  }
  return nullptr;
}
