// Collective operations for transports that have none of their own: a plain algorithm for each.
#pragma once

#include <cstddef>

#include "algorithms/allgather/ring.hpp"
#include "algorithms/allreduce/reduce_bcast.hpp"
#include "algorithms/alltoall/windowed.hpp"
#include "algorithms/barrier/dissemination.hpp"
#include "algorithms/bcast/binomial.hpp"
#include "algorithms/gather/linear.hpp"
#include "algorithms/reduce/binomial.hpp"
#include "algorithms/reduce_scatter/pairwise.hpp"
#include "algorithms/scan/linear.hpp"
#include "algorithms/scatter/linear.hpp"
#include "contract/blocks.hpp"
#include "contract/collectives.hpp"

namespace nhalf {

/// The collective operations of transport Self, from its own messages. Operations that are started
/// run when they are first tested or waited for: nothing goes on while the rank works.
template <class Self>
class MessageCollectives {
 public:
  /// The work of an operation that was started.
  struct CollectiveRequest {
    void (*run)(Self&, const CollectiveRequest&) = nullptr;
    int root = 0;
    ConstBytes in{};
    Bytes out{};
    PerRank in_counts{}, in_offsets{}, out_counts{}, out_offsets{};
  };

  void bcast(int root, Bytes data) { algorithms::bcast::binomial(self(), root, data); }
  void scatter(int root, ConstBytes in, Bytes out) {
    algorithms::scatter::linear(self(), root, in, out);
  }
  void gather(int root, ConstBytes in, Bytes out) {
    algorithms::gather::linear(self(), root, in, out);
  }
  void allgather(ConstBytes in, Bytes out) { algorithms::allgather::ring(self(), in, out); }
  void alltoall(ConstBytes in, Bytes out) {
    algorithms::alltoall::windowed(self(), scratch_, in, out);
  }
  void alltoallv(ConstBytes in, PerRank in_counts, PerRank in_offsets, Bytes out,
                 PerRank out_counts, PerRank out_offsets) {
    using algorithms::alltoall::numbered;
    algorithms::alltoall::windowed(self(),
                                   numbered(apart(scratch_, in, out), in_counts, in_offsets),
                                   numbered(out, out_counts, out_offsets));
  }
  void reduce(int root, ConstBytes in, Bytes out) {
    algorithms::reduce::binomial(self(), scratch_, root, in, out);
  }
  void allreduce(ConstBytes in, Bytes out) {
    algorithms::allreduce::reduce_bcast(self(), scratch_, in, out);
  }
  void reduce_scatter(ConstBytes in, Bytes out) {
    algorithms::reduce_scatter::pairwise(self(), scratch_, in, out);
  }
  void scan(ConstBytes in, Bytes out) { algorithms::scan::linear(self(), scratch_, in, out); }
  void synchronise() { algorithms::barrier::dissemination(self()); }

  CollectiveRequest ibcast(int root, Bytes data) {
    return later(root, {}, data, [](Self& t, const auto& r) { t.bcast(r.root, r.out); });
  }
  CollectiveRequest iscatter(int root, ConstBytes in, Bytes out) {
    return later(root, in, out, [](Self& t, const auto& r) { t.scatter(r.root, r.in, r.out); });
  }
  CollectiveRequest igather(int root, ConstBytes in, Bytes out) {
    return later(root, in, out, [](Self& t, const auto& r) { t.gather(r.root, r.in, r.out); });
  }
  CollectiveRequest iallgather(ConstBytes in, Bytes out) {
    return later(0, in, out, [](Self& t, const auto& r) { t.allgather(r.in, r.out); });
  }
  CollectiveRequest ialltoall(ConstBytes in, Bytes out) {
    return later(0, in, out, [](Self& t, const auto& r) { t.alltoall(r.in, r.out); });
  }
  CollectiveRequest ialltoallv(ConstBytes in, PerRank in_counts, PerRank in_offsets, Bytes out,
                               PerRank out_counts, PerRank out_offsets) {
    auto request = later(0, in, out, [](Self& t, const auto& r) {
      t.alltoallv(r.in, r.in_counts, r.in_offsets, r.out, r.out_counts, r.out_offsets);
    });
    request.in_counts = in_counts;
    request.in_offsets = in_offsets;
    request.out_counts = out_counts;
    request.out_offsets = out_offsets;
    return request;
  }
  CollectiveRequest ireduce(int root, ConstBytes in, Bytes out) {
    return later(root, in, out, [](Self& t, const auto& r) { t.reduce(r.root, r.in, r.out); });
  }
  CollectiveRequest iallreduce(ConstBytes in, Bytes out) {
    return later(0, in, out, [](Self& t, const auto& r) { t.allreduce(r.in, r.out); });
  }
  CollectiveRequest ireduce_scatter(ConstBytes in, Bytes out) {
    return later(0, in, out, [](Self& t, const auto& r) { t.reduce_scatter(r.in, r.out); });
  }
  CollectiveRequest iscan(ConstBytes in, Bytes out) {
    return later(0, in, out, [](Self& t, const auto& r) { t.scan(r.in, r.out); });
  }
  CollectiveRequest isynchronise() {
    return later(0, {}, {}, [](Self& t, const auto&) { t.synchronise(); });
  }
  void wait(CollectiveRequest& request) {
    if (request.run != nullptr) request.run(self(), request);
    request.run = nullptr;
  }
  bool test(CollectiveRequest& request) {
    wait(request);
    return true;
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }

  static CollectiveRequest later(int root, ConstBytes in, Bytes out,
                                 void (*run)(Self&, const CollectiveRequest&)) {
    return {.run = run, .root = root, .in = in, .out = out};
  }

  Scratch scratch_;
};

}  // namespace nhalf
