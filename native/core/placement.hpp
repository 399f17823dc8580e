// SPDX-License-Identifier: Apache-2.0
// Where a rank really runs, asked from inside.
#pragma once

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/networks.hpp"

namespace nhalf {

/// The cores that the calling thread may run on.
inline std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

/// The name of this host.
inline std::string host_name() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

/// Host, process, core and NUMA domain of the calling thread, and the networks through which its
/// process talks to the addresses of other hosts by now, as one JSON object.
inline std::string placement_of(int rank, const std::set<std::string>& peers = {}) {
  unsigned cpu = 0;
  unsigned numa = 0;
  getcpu(&cpu, &numa);
  const auto used = networks_in_use(peers);
  return json::Object{}
      .add("rank", rank)
      .add("host", host_name())
      .add("pid", getpid())
      .add("cpu", cpu)
      .add("allowed_cpus", allowed_cpus())
      .add("numa", numa)
      .add("networks", used.networks)
      .add("addresses", used.addresses)
      .add("fabrics", fabrics())
      .text();
}

/// Ends this process when the one that started it ends, so that no rank outlives its launcher.
inline void die_with_parent() {
  const auto parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) std::raise(SIGKILL);
}

}  // namespace nhalf
