// Networks that this process uses to communicate with other hosts, from the kernel's tables.
#pragma once

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "contract/vocabulary.hpp"

namespace nhalf {
/// Networks of a process: `networks` are interfaces (eth0) and open devices of fast networks
/// (mlx5_0), `addresses` its own ends of connections to other hosts.
struct Networks {
  std::vector<std::string> networks;
  std::vector<std::string> addresses;
};

/// Returns the sorted names in a folder; none if it cannot be read.
inline std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* open = opendir(folder.c_str());
  if (open == nullptr) return names;
  while (const dirent* entry = readdir(open))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  closedir(open);
  std::ranges::sort(names);
  return names;
}

/// Returns the devices of fast networks of this host: InfiniBand and the like, Omni-Path,
/// Slingshot.
inline std::vector<std::string> fabrics() {
  std::vector<std::string> devices;
  for (const char* kind : {"infiniband", "hfi1", "cxi"})
    for (auto& name : names_in(std::string("/sys/class/") + kind))
      devices.push_back(std::move(name));
  return devices;
}

/// Converts an address of /proc/net/tcp or tcp6 ("0100007F:1F90": 32-bit words in memory order) to
/// the usual form; '' for any other text. IPv4-mapped IPv6 becomes IPv4.
inline std::string address_of(std::string_view text) {
  const auto digits = text.substr(0, text.find(':'));
  if (digits.size() != 8 && digits.size() != 32) return "";
  std::array<std::uint32_t, 4> words{};
  for (std::size_t i = 0; i < digits.size() / 8; ++i) {
    const auto* first = digits.data() + 8 * i;
    if (std::from_chars(first, first + 8, words[i], 16).ptr != first + 8) return "";
  }
  const bool mapped =
      digits.size() == 32 && words[0] == 0 && words[1] == 0 && words[2] == htonl(0xFFFF);
  const bool old = digits.size() == 8 || mapped;
  char shown[INET6_ADDRSTRLEN] = "";
  inet_ntop(old ? AF_INET : AF_INET6, mapped ? &words[3] : &words[0], shown, sizeof shown);
  return shown;
}

/// Returns the interface of every address of this host.
inline std::map<std::string, std::string> own_addresses() {
  std::map<std::string, std::string> interfaces;
  ifaddrs* entries = nullptr;
  if (getifaddrs(&entries) != 0) return interfaces;
  for (const ifaddrs* entry = entries; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    char shown[INET6_ADDRSTRLEN] = "";
    const int family = entry->ifa_addr->sa_family;
    if (family == AF_INET)
      inet_ntop(family, &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr, shown,
                sizeof shown);
    else if (family == AF_INET6)
      inet_ntop(family, &reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr, shown,
                sizeof shown);
    else
      continue;
    interfaces.emplace(shown, entry->ifa_name);
  }
  freeifaddrs(entries);
  return interfaces;
}

/// Returns the targets of this process's file descriptors: "socket:[4711]",
/// "/dev/infiniband/uverbs0".
inline std::set<std::string> open_files() {
  std::set<std::string> targets;
  const std::string folder = "/proc/self/fd";
  for (const auto& name : names_in(folder)) {
    char target[4096];
    const auto length = readlink((folder + "/" + name).c_str(), target, sizeof target);
    if (length > 0) targets.emplace(target, static_cast<std::size_t>(length));
  }
  return targets;
}

/// Returns the device of a file of a fast network, '' for any other file.
inline std::string fabric_of(const std::string& file) {
  const auto name = file.substr(file.rfind('/') + 1);
  if (file.starts_with("/dev/infiniband/uverbs")) {
    std::ifstream device("/sys/class/infiniband_verbs/" + name + "/ibdev");
    std::string device_name;
    return std::getline(device, device_name) ? device_name : name;
  }
  return file.starts_with("/dev/hfi1") || file.starts_with("/dev/cxi") ? name : "";
}

/// Returns the local addresses of established connections to addresses of `peers`.
inline std::set<std::string> talking_addresses(const std::set<std::string>& files,
                                               const std::set<std::string>& peers) {
  std::set<std::string> addresses;
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream lines(table);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state, inode, passed;
      words >> number >> local >> remote >> state;
      for (int i = 0; i < 5; ++i) words >> passed;
      words >> inode;
      if (state != "01" || !files.contains("socket:[" + inode + "]")) continue;
      if (peers.contains(address_of(remote))) addresses.insert(address_of(local));
    }
  }
  return addresses;
}

/// Returns the addresses that only other hosts have, from the `addresses_as_text` of all ranks:
/// connections to any other address belong to a launcher and carry no messages.
inline std::set<std::string> addresses_of_peers(const std::vector<std::string>& all) {
  const auto own = own_addresses();
  std::set<std::string> peers;
  for (const auto& text : all) {
    std::istringstream words(text);
    for (std::string word; words >> word;)
      if (!own.contains(word)) peers.insert(word);
  }
  return peers;
}

/// Returns the addresses of this host, separated by spaces.
inline std::string addresses_as_text() {
  std::string text;
  for (const auto& [address, interface] : own_addresses()) text += address + " ";
  return text;
}

/// Returns the networks in use to `peers` at present.
inline Networks networks_in_use(const std::set<std::string>& peers) {
  const auto files = open_files();
  const auto own = own_addresses();
  std::set<std::string> networks;
  for (const auto& file : files)
    if (auto device = fabric_of(file); !device.empty()) networks.insert(std::move(device));
  const auto addresses = talking_addresses(files, peers);
  for (const auto& address : addresses)
    if (const auto entry = own.find(address); entry != own.end()) networks.insert(entry->second);
  return {{networks.begin(), networks.end()}, {addresses.begin(), addresses.end()}};
}
}  // namespace nhalf
