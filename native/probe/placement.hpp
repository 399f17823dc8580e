// Where a rank really runs, asked from inside.
#pragma once

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "host/cores.hpp"
#include "host/networks.hpp"
#include "probe/json.hpp"

namespace nhalf {

/// The name of this host.
inline std::string host_name() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

/// Host, process, core and NUMA domain of the calling thread, and the networks through which its
/// process talks to the addresses of other hosts by now.
class Placement {
 public:
  explicit Placement(const std::set<std::string>& peers = {}) : used_(networks_in_use(peers)) {
    // The C library has a function for it since 2.29; some that are still in use are older.
    syscall(SYS_getcpu, &cpu_, &numa_, nullptr);
  }

  /// The JSON object of a rank.
  [[nodiscard]] std::string of(int rank) const {
    return json::Object{}
        .add("rank", rank)
        .add("host", host_)
        .add("pid", pid_)
        .add("cpu", cpu_)
        .add("allowed_cpus", allowed_cpus_)
        .add("numa", numa_)
        .add("networks", used_.networks)
        .add("addresses", used_.addresses)
        .add("fabrics", fabrics_)
        .text();
  }

 private:
  unsigned cpu_ = 0, numa_ = 0;
  Networks used_;
  std::string host_ = host_name();
  pid_t pid_ = getpid();
  std::vector<int> allowed_cpus_ = allowed_cpus();
  std::vector<std::string> fabrics_ = fabrics();
};

/// The JSON object of a simulated rank: on a host, and on no core that could be named.
inline std::string placement_on(int rank, const std::string& host) {
  return json::Object{}
      .add("rank", rank)
      .add("host", host)
      .add("allowed_cpus", std::vector<int>{})
      .text();
}

/// Ends this process when the one that started it ends, so that no rank outlives its launcher.
inline void die_with_parent() {
  const auto parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) std::raise(SIGKILL);
}

}  // namespace nhalf
