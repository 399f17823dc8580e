// The daemon of PVM that serves one run: private to it, and gone with it.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace nhalf::pvm {

/// Sets the environment that libpvm and its daemon read.
inline void set_environment(const std::string& folder) {
  setenv("PVM_TMP", folder.c_str(), 1);
  setenv("PVM_ROOT", "/usr/lib/pvm3", 0);
  // It refuses the superuser otherwise.
  setenv("PVM_ALLOW_ROOT", "1", 0);
}

/// A virtual machine of this host alone. Its daemon ends with the process that started it, however
/// that one ends.
class Daemon {
 public:
  Daemon() = default;
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon() { halt(); }

  /// Throws std::runtime_error where it does not come up. Its files lie in `folder()`.
  void start() {
    auto name = (std::filesystem::temp_directory_path() / "nhalf-pvm-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("PVM cannot have a folder " + name);
    folder_ = name;
    set_environment(folder_);
    int pipe[2];
    if (pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for PVM's daemon");
    process_ = fork();
    if (process_ == 0) become_daemon(pipe[1]);
    close(pipe[1]);
    const bool is_ready = process_ > 0 && says_something(pipe[0]);
    close(pipe[0]);
    if (!is_ready)
      throw std::runtime_error("PVM's daemon did not start: is " + program() + " there?");
  }

  [[nodiscard]] const std::string& folder() const { return folder_; }

  /// Removes its files, which only those who enrol need: nothing is left if this process is killed.
  void remove_files() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
    folder_.clear();
  }

  /// Asks it to end, which leaves no file of it behind.
  void halt() {
    if (process_ > 0) {
      kill(process_, SIGTERM);
      for (int tenths = 0; tenths < 30 && waitpid(process_, nullptr, WNOHANG) == 0; ++tenths)
        usleep(100000);
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, WNOHANG);
    }
    process_ = -1;
    remove_files();
  }

 private:
  static std::string program() { return std::string(getenv("PVM_ROOT")) + "/lib/pvmd"; }

  [[noreturn]] static void become_daemon(int output) {
    const auto path = program();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output, STDOUT_FILENO);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDERR_FILENO);
    execl(path.c_str(), "pvmd", "-n127.0.0.1", nullptr);
    _exit(127);
  }

  /// The daemon writes where it can be reached once it can be.
  static bool says_something(int file) {
    pollfd watched{file, POLLIN, 0};
    char text[64];
    return poll(&watched, 1, 20000) > 0 && read(file, text, sizeof text) > 0;
  }

  pid_t process_ = -1;
  std::string folder_;
};

}  // namespace nhalf::pvm
