// nhalf-needs: MPI
// Whether all ranks of the program have preloaded this library. Those that have enter themselves
// into a folder that the launch has for itself, before the library's own MPI_Init; that returns
// nowhere before all ranks are in it. No message may be sent to find out: ranks that have not would
// take it for the program's. The first to look decides for all, so nobody needs to be in time.
#pragma once

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <numeric>

#include "preloaded/chain.hpp"
#include "preloaded/lasting.hpp"
#include "preloaded/launch.hpp"
#include "preloaded/mpi.hpp"

namespace nhalf::coll {

class RollCall {
 public:
  static RollCall& of_process() { return preloaded::lasting<RollCall>(); }

  /// Enters this rank, before the library's own MPI_Init.
  void enter() { enter_as(preloaded::rank_of_variables()); }

  /// Looks who is there, after the library's own MPI_Init.
  void look() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size_);
    if (rank != rank_) {
      leave();
      enter_as(rank);
    }
    has_looked_ = true;
    is_complete_ = size_ > 1 && decided() == all;
  }

  /// Whether every rank of a communicator has preloaded this library; false where there is no
  /// MPI_COMM_WORLD, as with sessions only.
  bool is_complete(MPI_Comm comm) {
    if (!has_world()) return false;
    if (!has_looked_) {
      // A tool above has called PMPI_Init.
      enter();
      look();
    }
    return is_complete_ && is_within_world(comm);
  }

  /// Strikes this rank out, once the library's own MPI_Finalize has returned.
  void leave() {
    if (entry_.empty()) return;
    unlink(entry_.c_str());
    entry_.clear();
    if (!entries().empty()) return;
    unlink(decision().c_str());
    rmdir(folder_.c_str());
  }

 private:
  /// Names a folder that all hosts of the launch share.
  static constexpr const char* folder_variable = "NHALF_COLL_FOLDER";
  static constexpr std::string_view all = "all";
  static constexpr std::string_view some = "some";
  /// Where a rank is late although the library's MPI_Init has returned, as in some it may.
  static constexpr int looks = 50;
  static constexpr long between_looks_ns = 10'000'000;
  /// An entry that is older was left by a program that was killed.
  static constexpr std::int64_t most_s = 3600;

  struct Entry {
    int rank;
    long process;
    std::size_t host;
    std::string name;
  };

  void enter_as(int rank) {
    rank_ = rank;
    if (rank < 0 || !has_folder()) return;
    for (const auto& entry : entries())
      if (entry.rank == rank && is_alive(entry)) return decide(some);
    // Whoever decided that all are there before this one was did so in an earlier program.
    if (read(decision()) == all) unlink(decision().c_str());
    entry_ = folder_ + "/" + std::to_string(rank) + "." + std::to_string(getpid()) + "." +
             std::to_string(host());
    if (symlink("-", entry_.c_str()) == 0) return;
    // Where entries of an earlier program were there, another launch may just have removed them.
    mkdir(folder_.c_str(), 0700);
    if (!is_own_folder(folder_) || symlink("-", entry_.c_str()) != 0) entry_.clear();
  }

  /// Makes the folder of the launch, which nobody else may write to.
  bool has_folder() {
    if (!folder_.empty()) return true;
    const auto launch = preloaded::launch();
    std::string path = base();
    // Hydra gives processes that were spawned at different times no different names.
    if (path.empty() || launch.ends_with(" spawned")) return false;
    if (launch.empty() && std::getenv(folder_variable) == nullptr) return false;
    const auto prefix = "nhalf-ranks-" + std::to_string(geteuid()) + "-";
    const auto name = prefix + std::to_string(std::hash<std::string>{}(launch));
    mkdir(path.c_str(), 0755);
    if (mkdir((path + "/" + name).c_str(), 0700) == 0) remove_left(path, prefix);
    path += "/" + name;
    if (!is_own_folder(path)) return false;
    folder_ = path;
    return true;
  }

  /// Whether a path is a folder, and no link to one, that nobody else may write to.
  static bool is_own_folder(const std::string& path) {
    struct stat state{};
    return lstat(path.c_str(), &state) == 0 && S_ISDIR(state.st_mode) &&
           state.st_uid == geteuid() && (state.st_mode & 077U) == 0;
  }

  /// Removes folders of launches that were killed: old ones, and those whose ranks, all of this
  /// host, are no more. A rank that enters meanwhile keeps its folder.
  static void remove_left(const std::string& base, const std::string& prefix) {
    for (const auto& name : names_in(base)) {
      const auto folder = base + "/" + name;
      if (!name.starts_with(prefix) || !is_own_folder(folder)) continue;
      const auto ranks = entries_in(folder);
      const bool have_ended = !ranks.empty() && std::ranges::all_of(ranks, has_ended);
      if (!have_ended && age_s(folder) < most_s) continue;
      for (const auto& rank : ranks) unlink((folder + "/" + rank.name).c_str());
      unlink(decision_in(folder).c_str());
      rmdir(folder.c_str());
    }
  }

  static std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), &closedir);
    if (open == nullptr) return names;
    while (const dirent* file = readdir(open.get())) names.emplace_back(file->d_name);
    return names;
  }

  /// Returns the time since a file was written; a long one if there is none.
  static std::int64_t age_s(const std::string& path) {
    struct stat state{};
    if (lstat(path.c_str(), &state) != 0) return most_s;
    return std::time(nullptr) - state.st_mtime;
  }

  /// Returns a folder that all hosts of the launch share.
  static std::string base() {
    if (const char* folder = std::getenv(folder_variable)) return folder;
    if (is_on_one_host()) return "/dev/shm";
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
      return std::string(cache) + "/nhalf";
    const char* home = std::getenv("HOME");
    return home == nullptr ? "" : std::string(home) + "/.cache/nhalf";
  }

  /// Whether the launcher says so; all ranks come to the same answer.
  static bool is_on_one_host() {
    for (const auto& [local, total] :
         {std::pair{"MPI_LOCALNRANKS", "PMI_SIZE"},
          std::pair{"OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE"}}) {
      const char* local_ranks = std::getenv(local);
      const char* ranks = std::getenv(total);
      if (local_ranks != nullptr && ranks != nullptr) return std::string_view(local_ranks) == ranks;
    }
    const char* nodes = std::getenv("SLURM_STEP_NUM_NODES");
    return nodes != nullptr && std::string_view(nodes) == "1";
  }

  /// Returns what was decided, or decides it.
  std::string decided() {
    if (entry_.empty()) {
      if (rank_ == 0) say("the ranks of this launch cannot find each other");
      return std::string(some);
    }
    std::vector<bool> is_there;
    for (int look = 0; look < looks; ++look) {
      if (auto answer = read(decision()); !answer.empty()) {
        if (answer != all) say_absent(present());
        return answer;
      }
      is_there = present();
      if (std::ranges::find(is_there, false) == is_there.end())
        return decide(all), read(decision());
      const timespec pause{0, between_looks_ns};
      nanosleep(&pause, nullptr);
    }
    decide(some);
    say_absent(is_there);
    return read(decision());
  }

  /// Returns which ranks have entered themselves.
  std::vector<bool> present() const {
    std::vector<bool> is_there(static_cast<std::size_t>(size_), false);
    for (const auto& entry : entries())
      if (entry.rank < size_ && is_alive(entry))
        is_there[static_cast<std::size_t>(entry.rank)] = true;
    return is_there;
  }

  /// Prints, from the first rank that is there, that another one is not.
  void say_absent(const std::vector<bool>& is_there) const {
    const auto first = std::ranges::find(is_there, true) - is_there.begin();
    const auto absent = std::ranges::find(is_there, false) - is_there.begin();
    if (first != rank_) return;
    say("rank " + std::to_string(absent == size_ ? 0 : absent) +
        " has not preloaded nhalf's, or not where the others see it");
  }

  static void say(const std::string& why) {
    std::fprintf(stderr, "nhalf: collectives are the library's own: %s\n", why.c_str());
  }

  [[nodiscard]] std::string decision() const { return decision_in(folder_); }
  static std::string decision_in(const std::string& folder) { return folder + "/decision"; }

  /// Decides unless that was done before: a link is made by one process only.
  void decide(std::string_view answer) const {
    static_cast<void>(symlink(std::string(answer).c_str(), decision().c_str()));
  }

  static std::string read(const std::string& link) {
    std::array<char, 16> text{};
    const auto length = readlink(link.c_str(), text.data(), text.size());
    return length <= 0 ? "" : std::string(text.data(), static_cast<std::size_t>(length));
  }

  /// Returns those that have entered themselves, also in programs that were killed.
  [[nodiscard]] std::vector<Entry> entries() const { return entries_in(folder_); }
  static std::vector<Entry> entries_in(const std::string& folder) {
    std::vector<Entry> all_entries;
    for (auto& name : names_in(folder)) {
      Entry entry{};
      if (std::sscanf(name.c_str(), "%d.%ld.%zu", &entry.rank, &entry.process, &entry.host) != 3)
        continue;
      entry.name = std::move(name);
      all_entries.push_back(std::move(entry));
    }
    return all_entries;
  }

  [[nodiscard]] bool is_alive(const Entry& entry) const {
    return !has_ended(entry) && age_s(folder_ + "/" + entry.name) < most_s;
  }

  /// Whether the process is known to be no more: of other hosts that is not known.
  static bool has_ended(const Entry& entry) {
    return entry.host == host() && kill(static_cast<pid_t>(entry.process), 0) != 0 &&
           errno == ESRCH;
  }

  /// Returns a number of the host and its namespace of processes.
  static std::size_t host() {
    static const std::size_t number = [] {
      struct stat processes{};
      stat("/proc/self/ns/pid", &processes);
      return std::hash<std::string>{}(boot_id() + ' ' + std::to_string(processes.st_ino));
    }();
    return number;
  }

  /// Whether there is an MPI_COMM_WORLD: some libraries crash where it is asked without.
  static bool has_world() {
    int is_initialized = 0;
    int is_finalized = 0;
    PMPI_Initialized(&is_initialized);
    PMPI_Finalized(&is_finalized);
    return is_initialized != 0 && is_finalized == 0;
  }

  /// Whether all processes of a communicator are of this program: others are not asked.
  static bool is_within_world(MPI_Comm comm) {
    int size = 0;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(group, &size);
    std::vector<int> ranks(static_cast<std::size_t>(size));
    std::vector<int> world_ranks(ranks.size(), MPI_UNDEFINED);
    std::iota(ranks.begin(), ranks.end(), 0);
    PMPI_Group_translate_ranks(group, size, ranks.data(), world, world_ranks.data());
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return std::ranges::find(world_ranks, MPI_UNDEFINED) == world_ranks.end();
  }

  int rank_ = -1;
  int size_ = 1;
  bool has_looked_ = false;
  bool is_complete_ = false;
  std::string folder_;
  std::string entry_;
};

/// Runs MPI_Init, or MPI_Init_thread, of the next tool or of the library between entering and
/// looking.
template <class Function, class... Arguments>
int among_all(const char* name, Arguments... arguments) {
  auto* const then = reinterpret_cast<Function*>(preloaded::behind(name));
  RollCall::of_process().enter();
  const int error = then(arguments...);
  if (error == MPI_SUCCESS) RollCall::of_process().look();
  return error;
}

}  // namespace nhalf::coll
