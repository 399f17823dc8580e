// The command line of programs that read points.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "contract/options.hpp"
#include "probe/binding.hpp"

namespace nhalf {

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
