// The command line of programs that read points. It puts a rank on the core that it was given,
// before the message layer starts.
#pragma once

#include <sched.h>
#include <cerrno>
#include <cstdlib>

#include "contract/options.hpp"

namespace nhalf {
/// The cores in "0,2,4". Throws InputError for anything else.
inline std::vector<int> parse_cpus(std::string_view text) {
  std::vector<int> cpus;
  while (!text.empty()) {
    const auto cut = std::min(text.find(','), text.size());
    int cpu = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + cut, cpu);
    if (error != std::errc{} || end != text.data() + cut || cpu < 0 || cpu >= CPU_SETSIZE)
      throw InputError("'" + std::string(text.substr(0, cut)) + "' is not the number of a core");
    cpus.push_back(cpu);
    text.remove_prefix(std::min(cut + 1, text.size()));
  }
  if (cpus.empty()) throw InputError("--cpus names no core");
  return cpus;
}

/// This process's number among those of its host, as launchers announce it.
inline std::optional<std::size_t> local_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID",
                           "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}) {
    const char* text = std::getenv(name);
    std::size_t number = 0;
    if (text == nullptr) continue;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
    if (error == std::errc{} && *end == '\0') return number;
  }
  return std::nullopt;
}

/// Binds this process to the core of its local rank, round and round; where no launcher says which
/// rank this is (ranks that are threads), to all of them. Throws InputError where that fails.
inline void bind_process(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (const auto rank = local_rank()) {
    CPU_SET(static_cast<std::size_t>(cpus[*rank % cpus.size()]), &set);
  } else {
    for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  }
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    throw InputError(std::string("these cores cannot be used: ") + std::strerror(errno));
}

/// What the command line of a probe asks for; 0 ranks are as many as the program takes by itself.
struct Arguments {
  bool describe = false;
  bool help = false;
  int ranks = 0;
  Options options;
  std::vector<int> cpus;

  /// Throws InputError for what it cannot read.
  static Arguments parse(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
      const std::string_view word = argv[i];
      const auto next = [&]() -> std::string_view {
        if (++i >= argc) throw InputError(std::string(word) + " needs a value");
        return argv[i];
      };
      if (word == "--describe") {
        arguments.describe = true;
      } else if (word == "--help") {
        arguments.help = true;
      } else if (word == "--ranks") {
        arguments.ranks = Options::parse("n=" + std::string(next()), ',').number("n", 0);
        if (arguments.ranks < 1) throw InputError("--ranks must be 1 or more");
      } else if (word == "--cpus") {
        arguments.cpus = parse_cpus(next());
      } else if (word == "--options") {
        arguments.options = Options::parse(next(), ',');
      } else {
        throw InputError("unknown argument '" + std::string(word) + "'");
      }
    }
    return arguments;
  }
};
}  // namespace nhalf
