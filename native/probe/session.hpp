// What programs that answer points have in common: their command line and the conversation.
#pragma once

#include <sched.h>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "contract/options.hpp"
#include "probe/placement.hpp"
#include "probe/record.hpp"

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

/// What went wrong, for whoever started the program.
inline const char* in_words(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) == nullptr
             ? error.what()
             : "not enough memory: fewer ranks or smaller messages need less";
}

/// The main function of a program: help, a description, or a session, for which it is bound to its
/// cores and ends with whoever started it. `describe` and `run` are given the arguments; errors go
/// to standard error after `name`.
template <class Describe, class Run>
int run_program(std::string_view name, std::string_view usage, int argc, char** argv,
                Describe describe, Run run) {
  try {
    const auto arguments = Arguments::parse(argc, argv);
    if (arguments.help) {
      std::fwrite(usage.data(), 1, usage.size(), stdout);
      return 0;
    }
    if (arguments.describe) {
      write_line(describe(arguments));
      return 0;
    }
    die_with_parent();
    if (!arguments.cpus.empty()) bind_process(arguments.cpus);
    return run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(name.size()), name.data(), in_words(error));
    return 2;
  }
}

/// The entry of a pattern among those of a program. Throws InputError.
template <class Entries>
const auto& entry_named(const Entries& entries, const std::string& name) {
  for (const auto& entry : entries)
    if (entry.info.name == name) return entry;
  throw InputError("unknown pattern '" + name + "'");
}

/// The answer to a line, or what is wrong with it.
template <class Answer>
std::optional<std::string> answer_to(const std::string& line, Answer& answer) {
  std::string id;
  try {
    const auto point = Options::parse(line, ' ');
    id = point.text("id");
    return answer(point, id);
  } catch (const InputError& error) {
    return error_record(id, error.what());
  }
}

/// The next line of standard input; false at the end.
inline bool read_line(std::string& line) {
  // Open MPI 5.0.11 never passes on the end of its input, so a word ends it, too.
  return std::getline(std::cin, line) && line != "end";
}

/// Says what `introduction` gives, then answers lines until `next` has no more, or until an answer
/// was the last one: then it returns false. Of several ranks one writes.
template <class Next, class Introduction, class Answer>
bool converse(bool writes, Next next, Introduction introduction, Answer answer) {
  if (writes) write_line(introduction());
  for (std::string line; next(line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    auto record = answer_to(line, answer);
    if (!record) return false;
    if (writes) write_line(std::move(*record));
  }
  if (writes) write_line(json::Object{}.add("nhalf", "end").text());
  return true;
}

/// The life of a program of one process. `answer` takes a point and its id and gives a record; none
/// where nothing is to follow.
template <class Introduction, class Answer>
void serve(Introduction introduction, Answer answer) {
  converse(true, read_line, introduction, answer);
}

/// The life of one rank of several. All of them answer each line; rank 0 reads and writes.
template <Controlled T, class Introduction, class Answer>
void serve(T& control, Introduction introduction, Answer answer) {
  const bool writes = control.rank() == 0;
  const auto next = [&](std::string& line) {
    bool more = writes && read_line(line);
    share(control, more);
    if (more) share(control, line);
    return more;
  };
  // All ranks end together.
  if (!converse(writes, next, introduction, answer)) control.barrier();
}

/// How much a point wants measured; what it does not say is as usual.
inline Effort effort_of(const Options& point, Effort usual) {
  usual.slice_s = point.number("slice_s", usual.slice_s);
  usual.precision = point.number("precision", usual.precision);
  usual.samples_min = std::max<std::size_t>(1, point.number("samples_min", usual.samples_min));
  usual.samples_max = std::max(usual.samples_min, point.number("samples_max", usual.samples_max));
  return usual;
}

/// Every axis that a point names is one of its pattern's, or one of `further`.
inline void check_axes(const PatternInfo& info, const Options& axes,
                       std::span<const AxisInfo> further = {}) {
  for (const auto& [name, value] : axes.values()) {
    if (std::ranges::find(further, name, &AxisInfo::name) == further.end() &&
        std::ranges::find(info.axes, name, &AxisInfo::name) == info.axes.end())
      throw InputError("pattern " + std::string(info.name) + " has no axis '" + name + "'");
  }
}

/// What `make` gives, on every rank or on none. Where it fails here the error says why, in
/// `no_memory` if that is it; where it fails at another rank only, `failure`.
template <Controlled T, class Make>
auto made_everywhere(T& control, const std::string& no_memory, std::string failure, Make make) {
  decltype(make()) result;
  try {
    result = make();
  } catch (const std::bad_alloc&) {
    failure = no_memory;
  } catch (const InputError& error) {
    failure = error.what();
  }
  if (!control.all(result != nullptr)) throw InputError(failure);
  return result;
}
}  // namespace nhalf
