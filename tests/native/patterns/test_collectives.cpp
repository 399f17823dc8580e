// Collective operations on every transport that starts its own ranks: every root, wrong results.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "roster.hpp"

#include "patterns/bases/collectives/forms.hpp"
#include "patterns/collectives/barrier_communicator.hpp"
#include "patterns/collectives/block_operations.hpp"
#include "patterns/collectives/counted_operations.hpp"
#include "patterns/collectives/reduction_operations.hpp"

namespace nhalf::test_collectives {

namespace {

Case point(std::size_t size_bytes, const std::string& axes = "") {
  return {size_bytes, Options::parse(axes, ','), {}};
}

/// Runs a body on every rank; whether it was true on all.
template <class Body>
bool everywhere(int ranks, Body body, const std::string& options = "") {
  bool good = false;
  ProbeTransport::launch(0, nullptr, ranks, Options::parse(options, ','), [&](ProbeTransport& t) {
    const bool all_good = t.all(body(t));
    if (t.rank() == 0) good = all_good;
  });
  return good;
}

/// A transport whose operations give the right results but for one byte at rank 0.
class Spoiling : public ProbeTransport {
 public:
  explicit Spoiling(ProbeTransport&& good) : ProbeTransport(std::move(good)) {}

  void bcast(int root, Bytes data) {
    spoiled(data, [&] { ProbeTransport::bcast(root, data); });
  }
  void scatter(int root, ConstBytes in, Bytes out) {
    spoiled(out, [&] { ProbeTransport::scatter(root, in, out); });
  }
  void gather(int root, ConstBytes in, Bytes out) {
    spoiled(out, [&] { ProbeTransport::gather(root, in, out); });
  }
  using ProbeTransport::gather;
  void allgather(ConstBytes in, Bytes out) {
    spoiled(out, [&] { ProbeTransport::allgather(in, out); });
  }
  void alltoall(ConstBytes in, Bytes out) {
    spoiled(out, [&] { ProbeTransport::alltoall(in, out); });
  }
  void alltoallv(ConstBytes in, PerRank ic, PerRank io, Bytes out, PerRank oc, PerRank oo) {
    spoiled(out, [&] { ProbeTransport::alltoallv(in, ic, io, out, oc, oo); });
  }
  void reduce(int root, ConstBytes in, Bytes out) {
    spoiled(out, [&] { ProbeTransport::reduce(root, in, out); });
  }
  void allreduce(ConstBytes in, Bytes out) {
    spoiled(out, [&] { ProbeTransport::allreduce(in, out); });
  }
  void reduce_scatter(ConstBytes in, Bytes out) {
    spoiled(out, [&] { ProbeTransport::reduce_scatter(in, out); });
  }
  void scan(ConstBytes in, Bytes out) {
    spoiled(out, [&] { ProbeTransport::scan(in, out); });
  }

 private:
  template <class Operation>
  void spoiled(Bytes out, Operation operation) {
    operation();
    if (rank() == 0) out.back() ^= std::byte{1};
  }
};

/// A transport whose operations return at once.
class Idle : public ProbeTransport {
 public:
  explicit Idle(ProbeTransport&& good) : ProbeTransport(std::move(good)) {}
  void bcast(int, Bytes) {}
  void scatter(int, ConstBytes, Bytes) {}
  void gather(int, ConstBytes, Bytes) {}
  using ProbeTransport::gather;
  void allgather(ConstBytes, Bytes) {}
  void alltoall(ConstBytes, Bytes) {}
  void alltoallv(ConstBytes, PerRank, PerRank, Bytes, PerRank, PerRank) {}
  void reduce(int, ConstBytes, Bytes) {}
  void allreduce(ConstBytes, Bytes) {}
  void reduce_scatter(ConstBytes, Bytes) {}
  void scan(ConstBytes, Bytes) {}
  void synchronise() {}
};

template <template <Collectives> class P, class T>
bool passes(T& transport, std::size_t size_bytes, const std::string& axes) {
  return transport.all(P<T>(transport, point(size_bytes, axes)).verify());
}

/// The names of those operations whose verification passes.
template <class T>
std::string passing(T& t, std::size_t size_bytes, const std::string& place) {
  const std::pair<const char*, bool (*)(T&, std::size_t, const std::string&)> all[] = {
      {"bcast ", passes<Bcast, T>},       {"scatter ", passes<Scatter, T>},
      {"gather ", passes<Gather, T>},     {"allgather ", passes<Allgather, T>},
      {"alltoall ", passes<Alltoall, T>}, {"alltoallv ", passes<Alltoallv, T>},
      {"reduce ", passes<Reduce, T>},     {"allreduce ", passes<Allreduce, T>},
      {"scan ", passes<Scan, T>},         {"reduce-scatter ", passes<ReduceScatter, T>},
  };
  std::string names;
  for (const auto& [name, pass] : all)
    if (pass(t, size_bytes, place)) names += name;
  return names;
}

template <class Bad>
std::string passing_on(int ranks, std::size_t size_bytes, const std::string& place) {
  std::string names;
  ProbeTransport::launch(0, nullptr, ranks, Options{}, [&](ProbeTransport& t) {
    Bad bad(std::move(t));
    auto found = passing(bad, size_bytes, place);
    if (bad.rank() == 0) names = std::move(found);
  });
  return names;
}

}  // namespace

TEST_CASE("operations with a root verify at every root, in place and out of place") {
  for (const int ranks : {2, 3, 5, 8, 13}) {
    CAPTURE(ranks);
    CHECK(everywhere(ranks, [](ProbeTransport& t) {
      bool good = true;
      for (const auto& entry : patterns<ProbeTransport>())
        for (const auto* place : {"place=out", "place=in"}) {
          if (!entry.info.rooted || entry.make == nullptr) continue;
          const auto pattern = entry.make(t, point(1200, place));
          for (int root = t.size() - 1; root >= 0; --root) {
            pattern->root_at(root);
            good = t.all(pattern->verify()) && good;
          }
        }
      return good;
    }));
  }
}

TEST_CASE("blocks differ as their shares say, and an all-to-all gives what it gets") {
  const Shares shares(point(1000, "shares=3:1"), 5);
  CHECK(shares.of(1100, 0) == 1500);
  CHECK(shares.of(1100, 3) == 500);
  CHECK(shares.before(1100, 5) == 5500);
  CHECK(shares.of(1210, 0, 1) == shares.of(1210, 1, 0));
  CHECK(shares.of(1210, 0, 0) == 2250);
  CHECK(shares.longest(1100) == 1500);
  CHECK(Shares(point(8), 3).before(8, 3) == 24);
  for (const auto* wrong : {"shares=", "shares=1:", "shares=a", "shares=0:0"})
    CHECK_THROWS_AS(Shares(point(8, wrong), 2), InputError);
  for (const int ranks : {2, 5})
    for (const auto* axes : {"shares=3:1", "shares=0:7:1,place=in", "shares=0:1"})
      CHECK(everywhere(ranks, [axes](auto& t) { return passes<Alltoallv>(t, 1200, axes); }));
}

TEST_CASE("one wrong byte in a result is found, and an operation that does nothing") {
  for (const int ranks : {2, 5})
    for (const std::size_t size : {4UL, 5000UL})
      for (const auto* place : {"place=out", "place=in"}) {
        CAPTURE(ranks);
        CAPTURE(size);
        CAPTURE(place);
        CHECK(passing_on<ProbeTransport>(ranks, size, place) ==
              "bcast scatter gather allgather alltoall alltoallv reduce allreduce scan "
              "reduce-scatter ");
        CHECK(passing_on<Spoiling>(ranks, size, place) == "");
        CHECK(passing_on<Idle>(ranks, size, place) == "");
      }
}

TEST_CASE("reductions of every type and by every operation") {
  for (const auto* axes :
       {"type=char", "type=int,op=max", "type=long", "type=double,op=min", "type=complex",
        "type=pairs,op=maxloc", "type=derived,op=user,place=in"}) {
    CAPTURE(axes);
    for (const int ranks : {1, 3}) {
      CHECK(everywhere(ranks, [&](ProbeTransport& t) {
        return passes<Reduce>(t, 48, axes) && passes<Allreduce>(t, 48, axes) &&
               passes<Scan>(t, 48, axes) && passes<ReduceScatter>(t, 48, axes);
      }));
      CHECK(passing_on<Spoiling>(ranks, 48, axes) == "");
    }
  }
}

TEST_CASE("reductions that do not commute are refused where no order is kept") {
  CHECK(everywhere(2, [](ProbeTransport& t) {
    CHECK_THROWS_AS(Allreduce<ProbeTransport>(t, point(8, "type=pairs,op=ordered")), InputError);
    return true;
  }));
}

TEST_CASE("vectors are of whole elements, and offsets of alltoallv are integers") {
  CHECK(everywhere(4, [](ProbeTransport& t) {
    int refused = 0;
    for (const auto& entry : patterns<ProbeTransport>())
      if (entry.info.size_multiple == 4 && entry.make != nullptr) {
        CHECK_THROWS_AS(entry.make(t, point(6)), InputError);
        ++refused;
      }
    CHECK_THROWS(Alltoallv<ProbeTransport>(t, point(std::size_t{1} << 31)));
    CHECK_THROWS_AS(Bcast<ProbeTransport>(t, point(8, "place=there")), InputError);
    return refused == 9;
  }));
}

TEST_CASE("more ranks than sends that are under way at once") {
  CHECK(everywhere(70, [](ProbeTransport& t) {
    return passes<Alltoall>(t, 3, "") && passes<Alltoallv>(t, 3, "place=in");
  }));
}

TEST_CASE("the share of an operation that work hides, after IMB-NBC") {
  CHECK(overlap_share(2, 2, 2) == 1);
  CHECK(overlap_share(2, 2, 4) == 0);
  CHECK(overlap_share(2, 2, 3) == 0.5);
  CHECK(overlap_share(4, 2, 5) == 0.5);
  CHECK(overlap_share(2, 2, 9) == 0);
  CHECK(overlap_share(2, 2, 1) == 1);
  CHECK(overlap_share(0, 2, 2) == 0);
}

}  // namespace nhalf::test_collectives
