// Two processes on one GPU, each of which writes into the memory of the other: a ping-pong by the
// driver's shared memory, with words through pipes. The GPU gives processes its time in turns, so
// this is the price of time slices, and never that of a network.
#pragma once

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <csignal>

#include "node/gpu_loops.hpp"

namespace nhalf::gpu {
/// What a process of the pair opens with: its memory, or why it has none.
struct Opening {
  int gpu = 0;
  std::uint64_t size_bytes = 0;
  SharedHandle memory{};
  std::array<char, 200> error{};
};

/// A byte each way, or whole openings; ends with the other process, and after a while without it.
class Pipes {
 public:
  Pipes(int in, int out) : in_(in), out_(out) {}

  template <class Whole>
  void put(const Whole& whole) const {
    if (write(out_, &whole, sizeof whole) != ssize_t{sizeof whole})
      throw InputError("the other process of the pair has ended");
  }
  /// None where the other process has closed its end.
  template <class Whole>
  [[nodiscard]] std::optional<Whole> take(int limit_ms) const {
    Whole whole{};
    pollfd watched{.fd = in_, .events = POLLIN, .revents = 0};
    if (poll(&watched, 1, limit_ms) == 0)
      throw InputError("the other process of the pair did not answer within " +
                       std::to_string(limit_ms / 1000) + " s");
    if (read(in_, &whole, sizeof whole) != ssize_t{sizeof whole}) return std::nullopt;
    return whole;
  }

 private:
  int in_, out_;
};

inline OpenedMemory opened(const SharedHandle& handle) {
  Address address = 0;
  driver().check(driver().share_open(&address, handle, 1), "memory of another process");
  return OpenedMemory(address);
}

inline void copy_message(const ReadyGpu& gpu, const OpenedMemory& to, Address from,
                         std::size_t size_bytes) {
  driver().check(driver().copy_within_async(to.get(), from, size_bytes, gpu.stream.get()), "copy");
  synchronise(gpu.stream.get());
}

inline constexpr char message_word = 'm', empty_word = 'e';
inline constexpr int answer_limit_ms = 20'000;

/// The life of the other process, which has the pipes for its input and output: a message comes
/// back as one, an empty word at once. Ends with the input.
inline void serve_peer() {
  const Pipes pipes(0, 1);
  const auto asked = pipes.take<Opening>(answer_limit_ms);
  if (!asked) return;
  Opening opening;
  std::optional<ReadyGpu> gpu;
  DeviceMemory own;
  OpenedMemory theirs;
  try {
    gpu.emplace(asked->gpu, 0);
    own = device_memory(asked->size_bytes);
    driver().check(driver().share(&opening.memory, own.get()), "shared memory");
    theirs = opened(asked->memory);
  } catch (const DriverError& error) {
    std::snprintf(opening.error.data(), opening.error.size(), "%s", error.what());
  }
  pipes.put(opening);
  while (const auto word = pipes.take<char>(-1)) {
    if (*word == message_word) copy_message(*gpu, theirs, own.get(), asked->size_bytes);
    pipes.put(*word);
  }
}

inline constexpr AxisInfo peer_axes[] = {
    {"processes", "2,4", "2", "processes on the GPU: the others answer the first one at once"},
    which_gpu};
inline constexpr PatternInfo peer_info{
    .name = "gpu-ipc",
    .what =
        "messages from the GPU memory of one process to those of others on this GPU, in time "
        "slices: half of there and back",
    .messages_per_round = 2,
    .ranks_min = 1,
    .axes = peer_axes};

/// Another process on the GPU, which this one starts, with the memory of both for each other.
class Partner {
 public:
  Partner(ReadyGpu& gpu, int number, std::size_t size_bytes)
      : size_bytes_(size_bytes), to_(gpu, "device", size_bytes) {
    start();
    Opening opening{.gpu = number, .size_bytes = size_bytes};
    driver().check(driver().share(&opening.memory, to_.address()), "shared memory");
    pipes().put(opening);
    const auto answer = pipes().take<Opening>(answer_limit_ms);
    if (!answer) throw InputError("the other process of the pair has ended");
    if (answer->error.front() != '\0') throw InputError(answer->error.data());
    theirs_ = opened(answer->memory);
  }
  ~Partner() {
    close(ends_[0]);
    close(ends_[1]);
    // It has nothing to keep, and may wait for the driver.
    if (process_ > 0 && kill(process_, SIGKILL) == 0) waitpid(process_, nullptr, 0);
  }
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;

  /// Where its messages arrive.
  [[nodiscard]] const Place& arrivals() const { return to_; }

  void send(const ReadyGpu& gpu, Address from) const {
    copy_message(gpu, theirs_, from, size_bytes_);
    pipes().put(message_word);
  }
  void put_empty() const { pipes().put(empty_word); }
  void await(char word) const {
    if (pipes().take<char>(answer_limit_ms) != word)
      throw InputError("the other process of the pair has ended");
  }

 private:
  [[nodiscard]] Pipes pipes() const { return {ends_[0], ends_[1]}; }

  /// Starts this program once more: the driver allows no fork without it.
  void start() {
    std::array<int, 2> there{}, back{};
    std::signal(SIGPIPE, SIG_IGN);
    if (pipe2(there.data(), O_CLOEXEC) != 0 || pipe2(back.data(), O_CLOEXEC) != 0)
      throw InputError("no pipes for a pair of processes");
    posix_spawn_file_actions_t ends;
    posix_spawn_file_actions_init(&ends);
    posix_spawn_file_actions_adddup2(&ends, there[0], 0);
    posix_spawn_file_actions_adddup2(&ends, back[1], 1);
    std::string words[] = {"gpu-probe", "--peer"};
    char* arguments[] = {words[0].data(), words[1].data(), nullptr};
    const int failure =
        posix_spawn(&process_, "/proc/self/exe", &ends, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&ends);
    close(there[0]);
    close(back[1]);
    ends_ = {back[0], there[1]};
    if (failure != 0) throw InputError(std::string("no second process: ") + std::strerror(failure));
  }

  std::size_t size_bytes_;
  Place to_;
  OpenedMemory theirs_;
  pid_t process_ = -1;
  std::array<int, 2> ends_{-1, -1};
};

class Peer : public Pattern {
 public:
  Peer(ReadyGpu& gpu, const HostClock& clock, const Case& point)
      : gpu_(gpu), clock_(clock), from_(gpu, "device", at_least_one(point.size_bytes)) {
    constexpr int processes_max = 64;
    const int processes = point.axes.number("processes", 2);
    if (processes < 2 || processes > processes_max)
      throw InputError("axis processes is from 2 to " + std::to_string(processes_max));
    for (int i = 1; i < processes; ++i)
      partners_.push_back(
          std::make_unique<Partner>(gpu, point.axes.number("gpu", 0), point.size_bytes));
    gpu_.processes = partners_.size() + 1;
  }
  ~Peer() override { gpu_.processes = 1; }

  void run(std::uint64_t rounds) override {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      for (const auto& partner : partners_) partner->send(gpu_, from_.address());
      for (const auto& partner : partners_) partner->await(message_word);
    }
  }
  bool verify() override {
    ++seed_;
    from_.write(seed_);
    for (const auto& partner : partners_) partner->arrivals().write(seed_ + 1);
    run(1);
    return is_right();
  }
  bool is_right() override {
    return std::ranges::all_of(partners_,
                               [&](const auto& partner) { return partner->arrivals().has(seed_); });
  }

  [[nodiscard]] std::optional<std::uint64_t> moved_bytes() const override {
    return from_.size_bytes() * partners_.size();
  }

  /// What the words through pipes take by themselves, half of there and back.
  std::vector<Value> values() override {
    constexpr int times = 51;
    std::vector<double> words_s;
    for (int i = 0; i < times; ++i) {
      const double start_s = clock_.now_s();
      for (const auto& partner : partners_) partner->put_empty();
      for (const auto& partner : partners_) partner->await(empty_word);
      words_s.push_back((clock_.now_s() - start_s) / 2);
    }
    return {{"words_s", order_statistic(words_s, words_s.size() / 2)}};
  }

 private:
  static std::size_t at_least_one(std::size_t size_bytes) {
    if (size_bytes == 0) throw InputError("a message has 1 byte or more here");
    return size_bytes;
  }

  ReadyGpu& gpu_;
  const HostClock& clock_;
  Place from_;
  std::vector<std::unique_ptr<Partner>> partners_;
  std::uint32_t seed_ = 1;
};
}  // namespace nhalf::gpu
