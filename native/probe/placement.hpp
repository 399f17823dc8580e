// Where a rank really runs, asked from inside, and where all run, as they tell rank 0.
#pragma once

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <csignal>
#include <unordered_map>

#include "contract/transport.hpp"
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

/// The name of this rank's host.
template <class T>
std::string host_of(T& transport) {
  if constexpr (requires { transport.host(); }) {
    return transport.host();
  } else {
    return host_name();
  }
}

/// By rank the number of its host, in the order in which hosts appear, at every rank; empty where
/// there is one host only.
template <Controlled T>
std::vector<int> hosts_of(T& transport) {
  if constexpr (is_one_thread<T>) return {};
  std::unordered_map<std::string, int> numbers;
  std::vector<int> hosts;
  for (const auto& name : transport.gather(host_of(transport)))
    hosts.push_back(numbers.try_emplace(name, static_cast<int>(numbers.size())).first->second);
  bool several = numbers.size() > 1;
  share(transport, several);
  if (!several) return {};
  hosts.resize(static_cast<std::size_t>(transport.size()));
  transport.broadcast(std::as_writable_bytes(std::span(hosts)));
  return hosts;
}

/// The addresses that only other hosts than this rank's have.
template <Controlled T>
std::set<std::string> peers_of(T& transport) {
  const auto texts = transport.gather(addresses_as_text());
  std::string all;
  for (const auto& text : std::set(texts.begin(), texts.end())) all += text;
  share(transport, all);
  return addresses_of_peers({all});
}

/// Where every rank is, as records have it; at rank 0 only.
template <Controlled T>
std::vector<std::string> placements(T& transport) {
  if constexpr (is_one_thread<T>) {
    std::vector<std::string> texts;
    if (transport.rank() != 0) return texts;
    const Placement placement;
    for (int rank = 0; rank < transport.size(); ++rank) texts.push_back(placement.of(rank));
    return texts;
  } else if constexpr (requires { transport.host(); }) {
    return transport.gather(placement_on(transport.rank(), transport.host()));
  } else {
    return transport.gather(Placement(peers_of(transport)).of(transport.rank()));
  }
}
}  // namespace nhalf
