// nhalf-needs: OpenMP
// nhalf-app: npb
// nhalf-model: OpenMP
// nhalf-ranks: threads
// nhalf-flags: -fno-math-errno -fno-trapping-math
// The NAS Parallel Benchmarks in OpenMP: every kernel that has a file openmp.hpp.
#include <omp.h>

#include "apps/npb/all_openmp.hpp"
#include "apps/npb/program.hpp"
#include "probe/placement.hpp"
#include "probe/session.hpp"

namespace {

using nhalf::npb::OpenMpWorld;

/// A process whose threads count as ranks.
class Control {
 public:
  static constexpr nhalf::TransportInfo info{"npb-openmp", "NAS Parallel Benchmarks in OpenMP", {}};
  static constexpr std::string_view clock_name = nhalf::SteadyClock::name;

  explicit Control(int threads) : threads_(threads) {}
  [[nodiscard]] int rank() const { return 0; }
  [[nodiscard]] int size() const { return threads_; }
  [[nodiscard]] double now_s() const { return clock_.now_s(); }
  void barrier() {}
  void broadcast(nhalf::Bytes) {}
  bool all(bool mine) { return mine; }
  std::vector<std::string> gather(const std::string& text) { return {text}; }
  [[nodiscard]] static std::string library() { return "OpenMP " + std::to_string(_OPENMP); }

 private:
  int threads_;
  nhalf::SteadyClock clock_;
};

/// Returns the core of every thread.
std::vector<std::string> placements(int threads) {
  std::vector<std::string> texts(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    texts[static_cast<std::size_t>(thread)] = nhalf::Placement().of(thread);
  }
  return texts;
}

int run(const nhalf::Arguments& arguments) {
  omp_set_dynamic(0);
  Control control(arguments.ranks > 0 ? arguments.ranks : 1);
  OpenMpWorld world(control.size());
  nhalf::npb::Program program(control, world, nhalf::npb::openmp_kernels());
  program.serve(placements(control.size()));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto describe = [](const nhalf::Arguments&) {
    return nhalf::npb::description<Control>(nhalf::npb::openmp_kernels());
  };
  return nhalf::run_program("probe", nhalf::npb::usage, argc, argv, describe, run);
}
