// SPDX-License-Identifier: Apache-2.0
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
/// process talks to the addresses of other hosts by now, as one JSON object.
inline std::string placement_of(int rank, const std::set<std::string>& peers = {}) {
  unsigned cpu = 0;
  unsigned numa = 0;
  // The C library has a function for it since 2.29; some that are still in use are older.
  syscall(SYS_getcpu, &cpu, &numa, nullptr);
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

/// The same where ranks are simulated: on a host, and on no core that could be named.
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
