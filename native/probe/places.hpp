// Where all ranks run, as they tell rank 0.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "contract/transport.hpp"
#include "probe/placement.hpp"

namespace nhalf {

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
