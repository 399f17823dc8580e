#include "host/life_line.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/wait.h>

#include <csignal>
#include <string>

namespace {

/// Listens at a name that nothing else listens at, and puts it into the environment.
int listener() {
  const auto name = "nhalf-test-" + std::to_string(getpid());
  setenv("NHALF_LIFE_LINE", name.c_str(), 1);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(&address.sun_path[1], name.data(), name.size());
  const auto length = offsetof(sockaddr_un, sun_path) + 1 + name.size();
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(bind(file, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(length)) ==
          0);
  REQUIRE(listen(file, 8) == 0);
  return file;
}

/// A process that holds its life line, passes a letter of its standard input on, and waits.
///
/// It has so many files that the order in which they end can be seen.
pid_t holder(int input, int output) {
  const pid_t child = fork();
  if (child != 0) return child;
  dup2(input, STDIN_FILENO);
  char letter = '?';
  nhalf::hold_life_line();
  const int high = fcntl(output, F_DUPFD, 900);
  close(output);
  int ends[2];
  for (int files = 0; files < 800 && pipe(ends) == 0; files += 2) continue;
  if (read(STDIN_FILENO, &letter, 1) != 1 || write(high, &letter, 1) != 1) _exit(1);
  for (;;) pause();
}

}  // namespace

TEST_CASE("a life line ends with its process, before anything else of it") {
  const int door = listener();
  int input[2], output[2];
  REQUIRE(pipe2(input, O_CLOEXEC) == 0);
  REQUIRE(pipe2(output, O_CLOEXEC) == 0);
  const pid_t child = holder(input[0], output[1]);
  unsetenv("NHALF_LIFE_LINE");
  close(output[1]);
  const int line = accept(door, nullptr, nullptr);
  char letter = '?';
  CHECK(write(input[1], "x", 1) == 1);
  CHECK(read(output[0], &letter, 1) == 1);
  CHECK(letter == 'x');
  pollfd watched{line, POLLIN, 0};
  CHECK(poll(&watched, 1, 0) == 0);

  kill(child, SIGKILL);
  // The pipe has a number below that of the life line.
  CHECK(read(output[0], &letter, 1) == 0);
  CHECK(poll(&watched, 1, 0) == 1);
  CHECK(read(line, &letter, 1) == 0);
  waitpid(child, nullptr, 0);
  for (const int file : {door, line, input[0], input[1], output[0]}) close(file);
}

TEST_CASE("without anybody who listens there is no life line") {
  unsetenv("NHALF_LIFE_LINE");
  CHECK(nhalf::life_line() == -1);
  setenv("NHALF_LIFE_LINE", "nhalf-test-nobody", 1);
  CHECK(nhalf::life_line() == -1);
  setenv("NHALF_LIFE_LINE", std::string(200, 'x').c_str(), 1);
  CHECK(nhalf::life_line() == -1);
  unsetenv("NHALF_LIFE_LINE");
}
