// What identifies the launch that this process is a rank of. All its ranks can tell without a
// message: from their launcher's daemon or its variables.
#pragma once

#include <unistd.h>

#include <cstdlib>

#include "host/kernel_files.hpp"

namespace nhalf::preloaded {

/// Returns a field of /proc/PID/stat by its number in proc(5), from the third on; empty if unknown.
inline std::string stat_field(pid_t process, int number) {
  const auto text = text_of(("/proc/" + std::to_string(process) + "/stat").c_str());
  // The second field is a name, which may hold blanks and brackets.
  std::size_t at = text.rfind(')');
  for (int field = 2; field < number && at != std::string::npos; ++field)
    at = text.find(' ', at + 1);
  if (at == std::string::npos) return {};
  return text.substr(at + 1, text.find(' ', at + 1) - at - 1);
}

/// Returns the parent of a process; 0 if there is none in this namespace.
inline pid_t parent_of(pid_t process) {
  return std::atoi(stat_field(process, 4).c_str());
}

/// Returns a process and when it started, which no other process of this host shares.
inline std::string process_and_start(pid_t process) {
  const auto start = stat_field(process, 22);
  return start.empty() ? "" : std::to_string(process) + ' ' + start;
}

/// Returns the word after another one of a command line, whose words end with a null character.
inline std::string word_after(const std::string& command_line, std::string_view option) {
  const std::string sought = '\0' + std::string(option) + '\0';
  const auto at = command_line.find(sought);
  return at == std::string::npos ? "" : command_line.c_str() + at + sought.size();
}

/// Returns a suffix that tells processes that a program has spawned from those of that program,
/// where the launcher gives both the same names.
inline std::string spawned() {
  const char* group = std::getenv("HYDRA_BSTRAP_PGID");
  const char* is_spawned = std::getenv("PMI_SPAWNED");
  return (group == nullptr ? "" : std::string(" ") + group) +
         (is_spawned == nullptr || std::string_view(is_spawned) == "0" ? "" : " spawned");
}

/// Returns what a daemon of Hydra shares with those of the same launch on all hosts; empty if its
/// command line does not tell.
inline std::string launch_of_hydra(const std::string& command_line) {
  const auto port = word_after(command_line, "--control-port");
  if (port.empty()) return {};
  return "hydra " + port + ' ' + word_after(command_line, "--pgid") + spawned();
}

/// Returns the launch by variables that launchers set alike for all ranks; empty without any.
inline std::string launch_of_variables() {
  for (const char* name : {"PMIX_NAMESPACE", "I_MPI_HYDRA_UUID", "PMI_PORT", "PALS_APID",
                           "ALPS_APP_ID", "FLUX_JOB_ID"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
      return std::string(name) + ' ' + value + spawned();
  const char* job = std::getenv("SLURM_JOB_ID");
  const char* step = std::getenv("SLURM_STEP_ID");
  return job == nullptr || step == nullptr ? "" : std::string("SLURM ") + job + '.' + step;
}

/// Whether a program starts ranks, and its variables or command line tell which launch is theirs.
inline bool is_launcher(const std::string& command_line) {
  static constexpr std::array<std::string_view, 11> names{
      "hydra_",  "orted",   "prted", "prte",        "prterun",   "mpirun",
      "mpiexec", "orterun", "palsd", "slurmstepd:", "flux-shell"};
  const std::string program = command_line.c_str();
  const std::string_view name = std::string_view(program).substr(program.rfind('/') + 1);
  return std::ranges::any_of(names, [&](std::string_view variable) {
    return name.substr(0, std::min(name.size(), variable.size())) == variable;
  });
}

/// Returns a text that is equal on all ranks of one launch and differs on those of others; empty if
/// none is known.
inline std::string launch() {
  constexpr int ancestors_most = 64;
  pid_t process = getppid();
  for (int count = 0; process > 1 && count < ancestors_most; ++count) {
    const auto command_line = text_of(("/proc/" + std::to_string(process) + "/cmdline").c_str());
    if (is_launcher(command_line)) {
      auto name = launch_of_hydra(command_line);
      if (name.empty()) name = launch_of_variables();
      return name.empty() ? "process " + process_and_start(process) : name;
    }
    process = parent_of(process);
  }
  return launch_of_variables();
}

/// Returns this process's rank by the variables of launchers; -1 if none tells.
inline int rank_of_variables() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(name); rank != nullptr && *rank != '\0')
      return std::atoi(rank);
  return -1;
}

}  // namespace nhalf::preloaded
