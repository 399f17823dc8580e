// nhalf-needs: MPI
// nhalf-loads: libnccl.so.2 NHALF_NCCL_LIBRARY nvidia.nccl nvidia-nccl-cu13
// nhalf-flags: -Wl,--export-dynamic-symbol=ncclProfiler_*
// Operations of NCCL between buffers in GPU memory, in the processes that MPI starts.
#pragma once

#include "contract/messages.hpp"
#include "contract/pattern.hpp"
#include "host/gpu_memory.hpp"
#include "transports/bases/progressing_control.hpp"
#include "transports/nccl/choice.hpp"
#include "transports/nccl/phases.hpp"
#include "transports/nccl/watchdog.hpp"

namespace nhalf {
/// Each operation is put on a stream of its own, and over when the host sees that the stream is
/// empty. What ranks say about the measurement, from memory of the host, goes by MPI.
class NcclTransport : public MpiControl {
 public:
  using MpiControl::gather;
  static constexpr OptionInfo described[] = {
      {"library", "", "", "the file of NCCL, such as /opt/nccl-2.30/lib/libnccl.so.2"},
      {"limit_s", "60", "s", "longest time of one operation, or of NCCL's start, before ranks end"},
      ClockError::described[0],
      ClockError::described[1]};
  static constexpr TransportInfo info{"nccl", "NCCL's operations between buffers in GPU memory",
                                      described};
  static constexpr AxisInfo axes[] = {
      {"by", "launches", "launches",
       "graph: what an operation puts on the stream is captured by its first call, and launched by "
       "all others as a graph"}};
  static constexpr bool has_gpu_memory_only = true;
  static constexpr bool has_own_operations_only = true;
  static constexpr bool offers(const PatternInfo& pattern) {
    constexpr std::string_view names[] = {"pingpong",  "exchange", "stream",    "bibw",
                                          "bcast",     "reduce",   "gather",    "scatter",
                                          "allgather", "alltoall", "allreduce", "reduce-scatter"};
    return std::ranges::find(names, pattern.name) != std::end(names);
  }

  /// Throws std::runtime_error where NCCL or a GPU is missing.
  explicit NcclTransport(const Options& options)
      : MpiControl(options),
        waiting_(*this),
        gpu_(gpu::Gpu::of(rank_of_host())),
        watchdog_(rank(), options.number("limit_s", 60.0)) {
    if (const auto file = options.text("library"); !file.empty())
      setenv("NHALF_NCCL_LIBRARY", file.c_str(), 1);
    const auto& calls = nccl::library();
    share_gpus();
    nccl::Choice::offer();
    nccl::UniqueId id;
    watchdog_.begin();
    if (rank() == 0) calls.check(calls.unique_id(&id), "ncclGetUniqueId");
    nhalf::share(*this, id);
    calls.check(calls.initialise(&communicator_, size(), id, rank()), "ncclCommInitRank");
    watchdog_.end();
    watchdog_.look_at(communicator_);
  }
  ~NcclTransport() {
    if (std::uncaught_exceptions() > 0) return;
    graphs_.clear();
    barrier();
    watchdog_.look_at(nullptr);
    watchdog_.begin();
    nccl::library().destroy(communicator_);
    watchdog_.end();
  }

  /// A watchdog beside the rank's own thread never calls MPI.
  template <class Body>
  static int launch(int argc, char** argv, int, const Options& options, Body body) {
    return launch_by_mpi<NcclTransport>(argc, argv, options, body, MPI_THREAD_FUNNELED);
  }

  void send(int peer, ConstBytes data) {
    if (!gpu::owns(data.data())) {
      MPI_Send(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    } else {
      run("ncclSend", &nccl::Library::send, data.data(), data.size(), nccl::uint8, peer);
    }
  }
  void recv(int peer, Bytes data) {
    if (!gpu::owns(data.data())) {
      MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, peer, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    } else {
      run("ncclRecv", &nccl::Library::recv, data.data(), data.size(), nccl::uint8, peer);
    }
  }
  void exchange(int to, ConstBytes out, int from, Bytes in) {
    grouped(key_of("exchange", to, from, out.data(), in.data(), out.size(), in.size()),
            [&](const auto& calls, auto check) {
              check(put(calls, to, out));
              check(take(calls, from, in));
            });
  }

  /// One after the other on the stream, and one wait; both ways in one group, which alone makes
  /// progress both ways.
  void send_several(int peer, std::size_t count, ConstBytes data) {
    const auto key = key_of("several sends", peer, count, data.data(), data.size());
    repeat("ncclSend", key, count, [&](const auto& calls) { return put(calls, peer, data); });
  }
  void recv_several(int peer, std::size_t count, Bytes data) {
    const auto key = key_of("several receives", peer, count, data.data(), data.size());
    repeat("ncclRecv", key, count, [&](const auto& calls) { return take(calls, peer, data); });
  }
  void exchange_several(int peer, std::size_t count, ConstBytes out, Bytes in) {
    grouped(key_of("several", peer, count, out.data(), in.data(), in.size()),
            [&](const auto& calls, auto check) {
              for (auto left = count; left > 0; --left) {
                check(put(calls, peer, out));
                check(take(calls, peer, in));
              }
            });
  }

  void bcast(int root, Bytes data) {
    run("ncclBroadcast", &nccl::Library::bcast, data.data(), data.data(), data.size(), nccl::uint8,
        root);
  }
  void allgather(ConstBytes in, Bytes out) {
    run("ncclAllGather", &nccl::Library::allgather, in.data(), out.data(), in.size(), nccl::uint8);
  }
  void reduce(int root, ConstBytes in, Bytes out) {
    run("ncclReduce", &nccl::Library::reduce, in.data(), out.data(), elements(in),
        combination_.type, combination_.operation, root);
  }
  void allreduce(ConstBytes in, Bytes out) {
    run("ncclAllReduce", &nccl::Library::allreduce, in.data(), out.data(), elements(in),
        combination_.type, combination_.operation);
  }
  /// Throws InputError in place: NCCL's result is then in the block of the rank's own number.
  void reduce_scatter(ConstBytes in, Bytes out) {
    if (in.data() == out.data())
      throw InputError("NCCL leaves its reduce-scatter elsewhere in place: leave out place=in");
    run("ncclReduceScatter", &nccl::Library::reduce_scatter, in.data(), out.data(), elements(out),
        combination_.type, combination_.operation);
  }

  // NCCL's guide makes these of sends and receives in a group.

  void scatter(int root, ConstBytes in, Bytes out) {
    grouped(key_of("scatter", root, in.data(), out.data(), out.size()),
            [&](const auto& calls, auto check) {
              for (int peer = 0; rank() == root && peer < size(); ++peer)
                if (const auto block = block_of(in, peer, out.size()); block.data() != out.data())
                  check(put(calls, peer, block));
              if (rank() != root || block_of(in, root, out.size()).data() != out.data())
                check(take(calls, root, out));
            });
  }
  void gather(int root, ConstBytes in, Bytes out) {
    grouped(key_of("gather", root, in.data(), out.data(), in.size()),
            [&](const auto& calls, auto check) {
              for (int peer = 0; rank() == root && peer < size(); ++peer)
                if (const auto block = block_of(out, peer, in.size()); block.data() != in.data())
                  check(take(calls, peer, block));
              if (rank() != root || block_of(out, root, in.size()).data() != in.data())
                check(put(calls, root, in));
            });
  }
  /// Throws InputError in place, which sends and receives at once cannot be.
  void alltoall(ConstBytes in, Bytes out) {
    if (in.data() == out.data())
      throw InputError("NCCL has no all-to-all in place: leave out place=in");
    const auto block_bytes = in.size() / static_cast<std::size_t>(size());
    grouped(key_of("alltoall", in.data(), out.data(), in.size()),
            [&](const auto& calls, auto check) {
              for (int peer = 0; peer < size(); ++peer) {
                check(put(calls, peer, block_of(in, peer, block_bytes)));
                check(take(calls, peer, block_of(out, peer, block_bytes)));
              }
            });
  }
  // What NCCL does not have; no pattern of it is offered.
  void alltoallv(ConstBytes, PerRank, PerRank, Bytes, PerRank, PerRank) { refuse("alltoallv"); }
  void scan(ConstBytes, Bytes) { refuse("scan"); }
  void synchronise() { refuse("barrier"); }

  /// What the axes of the next point ask for. Throws InputError.
  void choose(const Options& axes_of_point) {
    const auto by = axes_of_point.text("by", "launches");
    if (by != "launches" && by != "graph") throw InputError("axis by has no value '" + by + "'");
    by_graph_ = by == "graph";
    graphs_.clear();
    if (by_graph_ && gpu::driver().graph_launch == nullptr)
      throw InputError("the GPU driver has no graphs: leave out by=graph");
  }

  /// Throws InputError for what NCCL does not combine.
  void reduce_by(const Reduction& reduction) { combination_ = nccl::Combination::of(reduction); }

  /// What NCCL took for the first operation since it was asked last.
  [[nodiscard]] static std::vector<Value> choices() { return nccl::choice.take(); }

  /// When operations are over that `work` makes, by three definitions; `work` is no sample.
  template <class Work>
  [[nodiscard]] std::vector<Value> phases(Work work) {
    constexpr int times = 11;
    nccl::Phases observed;
    for (int i = 0; i < times; ++i) {
      barrier();
      phases_ = &observed;
      work();
      phases_ = nullptr;
    }
    return observed.medians();
  }

  [[nodiscard]] std::string library() const {
    auto title = nccl::library().title();
    if (shares_gpu_) title += ", ranks in time slices of one GPU: no network";
    return title;
  }

 private:
  /// How many ranks of this host have lower numbers.
  std::size_t rank_of_host() {
    const auto mine = std::hash<std::string>()(boot_id());
    const auto hosts = everybodys(mine);
    return static_cast<std::size_t>(std::count(hosts.begin(), hosts.begin() + rank(), mine));
  }

  /// Lets NCCL have several ranks on one GPU, where there are; before NCCL 2.30 only ranks that it
  /// takes for those of several hosts. The user's own values stay.
  void share_gpus() {
    const auto mine = std::hash<std::string>()(boot_id() + gpu_.device().pci_address());
    shares_gpu_ = !all(std::ranges::count(everybodys(mine), mine) == 1);
    if (!shares_gpu_) return;
    setenv("NCCL_NVLS_ENABLE", "0", 0);
    if (nccl::library().has_shared_gpus()) {
      setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 0);
    } else {
      setenv("NCCL_HOSTID", ("nhalf-" + std::to_string(rank())).c_str(), 0);
    }
  }

  int put(const nccl::Library& calls, int peer, ConstBytes data) {
    return calls.send(data.data(), data.size(), nccl::uint8, peer, communicator_, stream_.get());
  }
  int take(const nccl::Library& calls, int peer, Bytes data) {
    return calls.recv(data.data(), data.size(), nccl::uint8, peer, communicator_, stream_.get());
  }
  [[nodiscard]] std::size_t elements(ConstBytes data) const {
    return data.size() / combination_.element_bytes;
  }
  [[noreturn]] static void refuse(const std::string& operation) {
    throw InputError("NCCL has no " + operation);
  }

  /// An operation by its name and what it is given: the same one has the same graph.
  using Key = std::array<std::uintptr_t, 8>;
  template <class... Words>
  static Key key_of(Words... words) {
    const auto number = [](auto word) {
      if constexpr (std::is_pointer_v<decltype(word)>)
        return reinterpret_cast<std::uintptr_t>(word);
      else
        return static_cast<std::uintptr_t>(word);
    };
    return {number(words)...};
  }

  template <class Call>
  void launch_graph(std::string_view name, const Key& key, Call call) {
    auto& graph = graphs_[key];
    if (graph.get() == nullptr)
      graph =
          gpu::graph_of(stream_.get(), [&] { nccl::library().check(call(nccl::library()), name); });
    gpu::driver().check(gpu::driver().graph_launch(graph.get(), stream_.get()), name);
  }

  /// From the call until the host knows that the stream is empty.
  template <class Call>
  void operate(std::string_view name, const Key& key, Call call) {
    watchdog_.begin();
    if (phases_ != nullptr) phases_->begin(stream_.get());
    if (by_graph_)
      launch_graph(name, key, call);
    else
      nccl::library().check(call(nccl::library()), name);
    if (phases_ != nullptr) phases_->returned(stream_.get());
    waiting_.until([&] {
      const int state = gpu::driver().stream_query(stream_.get());
      if (state == gpu::not_ready) return false;
      gpu::driver().check(state, name);
      return true;
    });
    if (phases_ != nullptr) phases_->known();
    watchdog_.end();
  }
  template <class Call>
  void repeat(std::string_view name, const Key& key, std::size_t count, Call call) {
    operate(name, key, [&](const nccl::Library& calls) {
      for (auto left = count; left > 1; --left) calls.check(call(calls), name);
      return call(calls);
    });
  }
  template <class Call, class... Arguments>
  void run(std::string_view name, Call call, Arguments... arguments) {
    operate(name, key_of(name.data(), arguments...), [&](const nccl::Library& calls) {
      return (calls.*call)(arguments..., communicator_, stream_.get());
    });
  }
  template <class Calls>
  void grouped(const Key& key, Calls several) {
    operate("ncclGroupEnd", key, [&](const nccl::Library& calls) {
      calls.check(calls.group_start(), "ncclGroupStart");
      several(calls, [&](int result) { calls.check(result, "ncclSend or ncclRecv"); });
      return calls.group_end();
    });
  }

  Waiting waiting_;
  gpu::Gpu& gpu_;
  nccl::Watchdog watchdog_;
  gpu::OwnedStream stream_ = gpu::stream();
  nccl::Communicator communicator_ = nullptr;
  nccl::Combination combination_;
  nccl::Phases* phases_ = nullptr;
  bool shares_gpu_ = false;
  bool by_graph_ = false;
  std::map<Key, gpu::OwnedGraphProgram> graphs_;
};

static_assert(Duplex<NcclTransport> && SeveralAtOnce<NcclTransport>);
static_assert(Collectives<NcclTransport> && Reductions<NcclTransport>);
}  // namespace nhalf

NHALF_TRANSPORT(nhalf::NcclTransport);
