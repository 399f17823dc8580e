// nhalf-needs: MPI
// Who a process is: the names of its files, and the first line of its metadata.
#pragma once

#include <sys/random.h>

#include "host/cores.hpp"
#include "preloaded/launch.hpp"
#include "preloaded/library.hpp"
#include "trace/layout.hpp"
#include "trace/metadata.hpp"

namespace nhalf::trace {
class Identity {
 public:
  /// Notes the time, before the library's own MPI_Init.
  void begin() { began_ns_ = real_ns(); }

  /// Makes the file of metadata; returns an errno. Neither host nor process may be unique, as in
  /// containers.
  int open_in(const std::string& folder) {
    constexpr int trials = 8;
    std::array<char, 256> host{"unknown"};
    gethostname(host.data(), host.size() - 1);
    host_ = host.data();
    auto name = host_;
    std::ranges::replace(name, '/', '_');
    int error = EEXIST;
    for (int trial = 0; trial < trials && error == EEXIST; ++trial) {
      std::array<char, 9> random{};
      std::snprintf(random.data(), random.size(), "%08x", random_number());
      stem_ = folder + "/" + name + "-" + random.data() + "-" + std::to_string(getpid());
      error = Metadata::of_process().open_at(stem_ + ".json");
    }
    return error;
  }

  /// What the names of all files of the process begin with; empty before the first is made.
  [[nodiscard]] const std::string& stem() const { return stem_; }

  /// Writes who this process is, and the names of calls by their numbers; false if that cannot be
  /// written.
  template <class Names>
  [[nodiscard]] bool introduce(int rank, int size, const Names& calls) const {
    json::Object process;
    process.add("version", format_version)
        .add("rank", rank)
        .add("size", size)
        .add("host", host_)
        .add("pid", getpid())
        .add("library", preloaded::library_version().substr(0, 200))
        .add("launch", launch())
        .add("parent", preloaded::process_and_start(getppid()))
        .add("began_ns", began_ns_)
        .add("ready_ns", real_ns());
    if (const char* about = of_virtual_network("NHALF_FABRIC_ABOUT"))
      process.add("virtual", json::Raw{about});
    process.add("processors", allowed_cpus()).add("calls", calls);
    return Metadata::of_process().line(process.text());
  }

  /// Removes the file of metadata: nobody must take this process for one that ended within
  /// MPI_Init.
  void remove() const { unlink((stem_ + ".json").c_str()); }

  /// Says, in a line, that the process is not `traced`.
  void complain(const char* traced, int error) const {
    std::fprintf(stderr, "nhalf: this process is not %s: %s: %s\n", traced, stem_.c_str(),
                 std::strerror(error));
  }

 private:
  static std::uint32_t random_number() {
    std::uint32_t number = 0;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
      number = static_cast<std::uint32_t>(real_ns() ^ reinterpret_cast<std::uintptr_t>(&number));
    return number;
  }

  /// Returns a variable that the virtual network has set; null without one.
  static const char* of_virtual_network(const char* variable) {
    return virtual_time == nullptr ? nullptr : std::getenv(variable);
  }

  /// Returns what tells the ranks of this launch from those of others that the command starts. No
  /// message may do so: other ranks may not be traced.
  static std::string launch() {
    const char* machine = of_virtual_network(preloaded::virtual_variable);
    return machine == nullptr ? preloaded::launch() : std::string("try ") + machine;
  }

  std::string host_;
  std::string stem_;
  std::uint64_t began_ns_ = 0;
};
}  // namespace nhalf::trace
