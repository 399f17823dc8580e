// Waits with a limit, by name: in vain, ended by another thread, and over before they begin. Each
// says how long it took by the rank's clock and what came of it.
#include <mpi.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <functional>
#include <future>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;

/// Longer than a test lasts; nobody waits for it in real time unless a thread may end it.
constexpr auto limit = 3000s;
constexpr long limit_s = 3000;

timespec in(clockid_t clock, long seconds) {
  timespec time{};
  clock_gettime(clock, &time);
  time.tv_sec += seconds;
  return time;
}
const timespec& interval(long seconds) {
  static timespec time;
  time = {seconds, 0};
  return time;
}

std::mutex mutex;
std::condition_variable condition;
bool is_set = false;
sem_t semaphore;
int ends[2];
timespec deadline{};

/// What another thread holds meanwhile.
struct Held {
  explicit Held(std::function<void()> take, std::function<void()> give_back)
      : thread([=, this] {
          take();
          is_taken.set_value();
          end.get_future().wait();
          give_back();
        }) {
    is_taken.get_future().wait();
  }
  ~Held() {
    end.set_value();
    thread.join();
  }
  std::promise<void> is_taken;
  std::promise<void> end;
  std::thread thread;
};

const char* answer_of(int error) {
  return error == 0 ? "done" : error == ETIMEDOUT ? "timeout" : strerror(error);
}
const char* errno_of(int result) {
  return result == 0 ? "done" : answer_of(errno);
}
const char* number_of(int result) {
  return result == 0 ? "timeout" : result > 0 ? "done" : strerror(errno);
}

const char* condition_of(clockid_t clock, long seconds) {
  pthread_condattr_t kind;
  pthread_condattr_init(&kind);
  pthread_condattr_setclock(&kind, clock);
  pthread_cond_t own;
  pthread_cond_init(&own, &kind);
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  const auto end = in(clock, seconds);
  return answer_of(pthread_cond_timedwait(&own, &lock, &end));
}

const char* selected(long seconds) {
  fd_set files;
  FD_ZERO(&files);
  FD_SET(ends[0], &files);
  timeval time{seconds, 0};
  const int number = select(ends[0] + 1, &files, nullptr, nullptr, &time);
  if ((number == 0) == FD_ISSET(ends[0], &files)) return "wrong sets";
  if (number == 0 && time.tv_sec != 0) return "time left";
  if (number > 0 && time.tv_sec == 0) return "no time left";
  return number_of(number);
}

const char* polled(epoll_event event, int milliseconds) {
  const int file = epoll_create1(0);
  event.events = EPOLLIN;
  epoll_ctl(file, EPOLL_CTL_ADD, ends[0], &event);
  return number_of(epoll_wait(file, &event, 1, milliseconds));
}

const char* received(long seconds) {
  const std::string name = "/nhalf-test-" + std::to_string(getpid());
  mq_attr about{};
  about.mq_maxmsg = 1;
  about.mq_msgsize = 8;
  const auto queue = mq_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600, &about);
  if (queue < 0) return "timeout";
  mq_unlink(name.c_str());
  char text[8];
  const auto end = in(CLOCK_REALTIME, seconds);
  return mq_timedreceive(queue, text, sizeof text, nullptr, &end) < 0 ? errno_of(-1) : "done";
}

const char* signalled(const timespec& time) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const int number = sigtimedwait(&signals, nullptr, &time);
  return number == SIGUSR1 ? "done" : errno == EAGAIN ? "timeout" : strerror(errno);
}

const char* of_cv(std::cv_status status) {
  return status == std::cv_status::timeout ? "timeout" : "done";
}
const char* of_bool(bool has_ended) {
  return has_ended ? "done" : "timeout";
}

/// Waits of a thread alone, for some seconds; nothing ends them.
const char* in_vain(const std::string& way, long seconds) {
  const auto time = std::chrono::seconds(seconds);
  const auto real = in(CLOCK_REALTIME, seconds);
  const auto mono = in(CLOCK_MONOTONIC, seconds);
  std::unique_lock lock(mutex);
  if (way == "wait_for") return of_cv(condition.wait_for(lock, time));
  if (way == "wait_until")
    return of_cv(condition.wait_until(lock, std::chrono::system_clock::now() + time));
  if (way == "predicate") return of_bool(condition.wait_for(lock, time, [] { return is_set; }));
  if (way == "cond-real") return condition_of(CLOCK_REALTIME, seconds);
  if (way == "cond-mono") return condition_of(CLOCK_MONOTONIC, seconds);
  if (way == "sem") return errno_of(sem_timedwait(&semaphore, &real));
  if (way == "sem-mono") return errno_of(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &mono));
  if (way == "select") return selected(seconds);
  if (way == "pselect")
    return number_of(pselect(0, nullptr, nullptr, nullptr, &interval(seconds), nullptr));
  pollfd file{ends[0], POLLIN, 0};
  if (way == "poll") return number_of(poll(&file, 1, static_cast<int>(seconds) * 1000));
  if (way == "poll-none") return number_of(poll(nullptr, 0, static_cast<int>(seconds) * 1000));
  if (way == "ppoll") return number_of(ppoll(&file, 1, &interval(seconds), nullptr));
  if (way == "epoll") return polled({}, static_cast<int>(seconds) * 1000);
  if (way == "signal") return signalled(interval(seconds));
  if (way == "mq") return received(seconds);
  if (way == "counting") return of_bool(std::counting_semaphore<4>(0).try_acquire_for(time));
  if (way == "promise") {
    std::promise<int> never;
    return of_bool(never.get_future().wait_for(time) == std::future_status::ready);
  }
  if (way == "promise-real") {
    std::promise<int> never;
    return of_bool(never.get_future().wait_until(std::chrono::system_clock::now() + time) ==
                   std::future_status::ready);
  }
  if (way == "cnd") {
    mtx_t own;
    cnd_t one;
    mtx_init(&own, mtx_plain);
    cnd_init(&one);
    mtx_lock(&own);
    return cnd_timedwait(&one, &own, &real) == thrd_timedout ? "timeout" : "other";
  }
  const bool is_sleep = seconds >= 0;
  if (way == "thrd_sleep")
    return is_sleep && thrd_sleep(&interval(seconds), nullptr) == 0 ? "timeout" : "other";
  if (way == "sleep_for") return std::this_thread::sleep_for(time), "timeout";
  if (way == "sleep_until")
    return std::this_thread::sleep_until(std::chrono::steady_clock::now() + time), "timeout";
  if (way == "nanosleep-until")
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &mono, nullptr) == 0 ? "timeout"
                                                                                : "other";
  return "unknown way";
}

/// Waits for what another thread holds.
const char* held(const std::string& way, long seconds) {
  const auto time = std::chrono::seconds(seconds);
  const auto real = in(CLOCK_REALTIME, seconds);
  if (way == "held-mutex") {
    std::timed_mutex own;
    const Held other([&] { own.lock(); }, [&] { own.unlock(); });
    return of_bool(own.try_lock_for(time));
  }
  if (way == "held-mutex-real") {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    const Held other([&] { pthread_mutex_lock(&own); }, [&] { pthread_mutex_unlock(&own); });
    return answer_of(pthread_mutex_timedlock(&own, &real));
  }
  if (way == "held-mtx") {
    mtx_t own;
    mtx_init(&own, mtx_timed);
    const Held other([&] { mtx_lock(&own); }, [&] { mtx_unlock(&own); });
    return mtx_timedlock(&own, &real) == thrd_timedout ? "timeout" : "other";
  }
  if (way == "held-shared") {
    std::shared_timed_mutex own;
    const Held other([&] { own.lock(); }, [&] { own.unlock(); });
    return of_bool(own.try_lock_shared_for(time) || own.try_lock_for(time));
  }
  if (way == "held-rwlock") {
    pthread_rwlock_t own = PTHREAD_RWLOCK_INITIALIZER;
    const Held other([&] { pthread_rwlock_wrlock(&own); }, [&] { pthread_rwlock_unlock(&own); });
    const int read = pthread_rwlock_timedrdlock(&own, &real);
    return read == ETIMEDOUT ? answer_of(pthread_rwlock_timedwrlock(&own, &real)) : "other";
  }
  if (way == "held-join") {
    const Held other([] {}, [] {});
    const auto thread = const_cast<std::thread&>(other.thread).native_handle();
    return answer_of(pthread_timedjoin_np(thread, nullptr, &real));
  }
  return in_vain(way, seconds);
}

/// Waits that another thread ends after a while.
const char* ended(const std::string& way) {
  const auto later = [](auto act) {
    return std::async(std::launch::async, [act] {
      std::this_thread::sleep_for(30ms);
      act();
    });
  };
  const auto set = [] {
    const std::lock_guard guard(mutex);
    is_set = true;
    condition.notify_all();
  };
  if (way == "ended-wait_for") {
    std::unique_lock lock(mutex);
    const auto other = later(set);
    return of_bool(condition.wait_for(lock, limit, [] { return is_set; }));
  }
  if (way == "ended-sem") {
    const auto other = later([] { sem_post(&semaphore); });
    const auto end = in(CLOCK_REALTIME, limit_s);
    return errno_of(sem_timedwait(&semaphore, &end));
  }
  if (way == "ended-future") {
    const auto other = later([] {});
    return of_bool(other.wait_for(limit) == std::future_status::ready);
  }
  if (way == "ended-select" || way == "ended-poll" || way == "ended-epoll") {
    const auto other = later([] { static_cast<void>(write(ends[1], "", 1)); });
    if (way == "ended-select") return selected(limit_s);
    if (way == "ended-epoll") return polled({}, limit_s * 1000);
    pollfd file{ends[0], POLLIN, 0};
    return number_of(poll(&file, 1, limit_s * 1000));
  }
  if (way == "ended-child") {
    const pid_t child = fork();
    if (child == 0) {
      timespec time{0, 300'000'000};
      nanosleep(&time, nullptr);
      static_cast<void>(write(ends[1], "", 1));
      _exit(0);
    }
    pollfd file{ends[0], POLLIN, 0};
    const auto* const answer = number_of(poll(&file, 1, limit_s * 1000));
    waitpid(child, nullptr, 0);
    return answer;
  }
  if (way == "ended-signal") {
    signalled({0, 0});
    const pthread_t self = pthread_self();
    const auto other = later([self] { pthread_kill(self, SIGUSR1); });
    return signalled(interval(limit_s));
  }
  return "unknown way";
}

/// Another thread waits until a deadline that the rank's thread has made; the rank may wait in MPI.
const char* helped(const std::string& way, int rank) {
  deadline = in(CLOCK_MONOTONIC, 1);
  auto other = std::async(std::launch::async, [] {
    std::unique_lock lock(mutex);
    pthread_cond_t own = PTHREAD_COND_INITIALIZER;
    return pthread_cond_clockwait(&own, mutex.native_handle(), CLOCK_MONOTONIC, &deadline);
  });
  if (way == "helped-mpi") {
    if (rank == 0) sleep(2);
    int got = 0;
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 1, &got, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  return answer_of(other.get());
}

/// Another thread computes until the first one has waited.
const char* beside_computing() {
  std::atomic<bool> is_over{false};
  const auto other = std::async(std::launch::async, [&] {
    while (!is_over) {
    }
  });
  std::unique_lock lock(mutex);
  const auto* const answer = of_bool(condition.wait_for(lock, 200ms, [] { return is_set; }));
  is_over = true;
  return answer;
}

/// Sleeps that the kernel refuses, and those over before they begin.
const char* refused() {
  for (const timespec time : {timespec{-1, 0}, timespec{0, -1}, timespec{0, 1'000'000'000}}) {
    errno = 0;
    if (nanosleep(&time, nullptr) != -1 || errno != EINVAL) return "not refused";
    if (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr) != EINVAL) return "not refused";
    if (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, nullptr) != EINVAL) return "taken";
    if (ppoll(nullptr, 0, &time, nullptr) != -1 || errno != EINVAL) return "not refused";
    pthread_cond_t own = PTHREAD_COND_INITIALIZER;
    const std::lock_guard guard(mutex);
    if (time.tv_sec == 0 && pthread_cond_timedwait(&own, mutex.native_handle(), &time) != EINVAL)
      return "not refused";
  }
  timeval negative{-1, 0};
  if (select(0, nullptr, nullptr, nullptr, &negative) != -1 || errno != EINVAL) return "taken";
  return "timeout";
}

const char* run(const std::string& way, int rank, long seconds) {
  is_set = false;
  if (way.starts_with("ended")) return ended(way);
  if (way.starts_with("helped")) return helped(way, rank);
  if (way == "beside") return beside_computing();
  if (way == "refused") return refused();
  return held(way, seconds);
}

}  // namespace

int main(int count, char** words) {
  int level = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_SERIALIZED, &level);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sem_init(&semaphore, 0, 0);
  if (pipe(ends) != 0) return 2;
  const long seconds = std::atol(words[1]);
  for (int number = 2; number < count; ++number) {
    const double begin = MPI_Wtime();
    const char* const answer = run(words[number], rank, seconds);
    // One write: what several ranks print may come mixed.
    char line[128];
    const int length = std::snprintf(line, sizeof line, "%s %.3f %s\n", words[number],
                                     MPI_Wtime() - begin, answer);
    static_cast<void>(!write(1, line, static_cast<std::size_t>(length)));
  }
  MPI_Finalize();
}
