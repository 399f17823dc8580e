// Programs that use the stand-in of a GPU's driver, in processes of their own: each loads it once.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "host/gpu_driver.hpp"

namespace nhalf::gpu {
/// Runs `work` in a child process with the stand-in and these variables; the line of the error and
/// the fault that it has, a signal, or "done".
inline std::string in_child(const std::map<std::string, std::string>& variables,
                            const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const auto child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);  // the test program reports it as its own
    setenv("NHALF_CUDA_LIBRARY", NHALF_GPU_STAND_IN, 1);
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    std::string line;
    try {
      line = work();
    } catch (const DriverError& error) {
      line = std::to_string(static_cast<int>(error.fault)) + " " + error.what();
    }
    const auto written = write(ends[1], line.data(), line.size());
    _exit(written == static_cast<ssize_t>(line.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string line(2000, '\0');
  const auto length = read(ends[0], line.data(), line.size());
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  line.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  return line;
}
}  // namespace nhalf::gpu
