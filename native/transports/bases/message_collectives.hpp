// Collective operations for transports that have none of their own: a plain algorithm for each.
#pragma once

#include "algorithms/allgather/allgather.hpp"
#include "algorithms/allreduce/allreduce.hpp"
#include "algorithms/alltoall/alltoall.hpp"
#include "algorithms/barrier/dissemination.hpp"
#include "algorithms/reduce_scatter/reduce_scatter.hpp"
#include "algorithms/scan/linear.hpp"
#include "algorithms/scatter/scatter.hpp"
#include "contract/reduction.hpp"

namespace nhalf {
/// The collective operations of transport Self, from its own messages. Operations that are started
/// run when they are first tested or waited for: nothing goes on while the rank works.
template <class Self>
class MessageCollectives {
 public:
  /// An operation that was started: its call, and that call's arguments as they lie in memory.
  struct CollectiveRequest {
    void (*run)(Self&, const CollectiveRequest&) = nullptr;
    alignas(void*) std::array<std::byte, 112> call{};
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

  /// Throws InputError for what does not commute: messages of a tree come in no order.
  void reduce_by(const Reduction& reduction) {
    if (!reduction.commutes()) throw InputError("only an MPI library combines with op=ordered");
    reduction_ = reduction;
  }
  [[nodiscard]] std::size_t element_bytes() const { return reduction_.element_bytes(); }
  void combine(ConstBytes from, Bytes to) const { combine_elements(reduction_, from, to); }

#define NHALF_EQUAL(operation, ...)                                 \
  template <class... Given>                                         \
  CollectiveRequest i##operation(Given... given) {                  \
    return later([given...](Self& on) { on.operation(given...); }); \
  }
#include "contract/operations.inc"

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

  template <class Call>
  static CollectiveRequest later(Call call) {
    CollectiveRequest request{.run = [](Self& on, const CollectiveRequest& begun) {
      (*reinterpret_cast<const Call*>(begun.call.data()))(on);
    }};
    static_assert(std::is_trivially_copyable_v<Call> && sizeof call <= sizeof request.call);
    std::memcpy(request.call.data(), &call, sizeof call);
    return request;
  }

  Scratch scratch_;
  Reduction reduction_;
};
}  // namespace nhalf
