#include "pgas/shared_array.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "transports/threads.hpp"

namespace nhalf::pgas {

namespace {

/// Threads that do not tell each other where their memory is: everything is put and got.
class Distant : public ThreadsTransport {
 public:
  explicit Distant(ThreadsTransport&& threads) : ThreadsTransport(std::move(threads)) {}

  class Region {
   public:
    explicit Region(ThreadRegion inner) : inner_(std::move(inner)) {}
    [[nodiscard]] Bytes local() const { return inner_.local(); }

   private:
    friend Distant;
    ThreadRegion inner_;
  };

  Region expose(std::size_t size_bytes) { return Region(ThreadsTransport::expose(size_bytes)); }
  void put(Region& region, int peer, std::size_t offset, ConstBytes data) {
    ++moved;
    ThreadsTransport::put(region.inner_, peer, offset, data);
  }
  void get(Region& region, int peer, std::size_t offset, Bytes data) {
    ++moved;
    ThreadsTransport::get(region.inner_, peer, offset, data);
  }
  void complete(Region& region, int peer) { ThreadsTransport::complete(region.inner_, peer); }
  void signal(Region& region, int peer, int slot) {
    ThreadsTransport::signal(region.inner_, peer, slot);
  }
  void await_signal(Region& region, int slot) {
    ThreadsTransport::await_signal(region.inner_, slot);
  }
  void withdraw(Region& region) { ThreadsTransport::withdraw(region.inner_); }

  /// Puts and gets of this rank.
  int moved = 0;

 private:
  using ThreadsTransport::mapped;
};
static_assert(MappedMemory<ThreadsTransport>);
static_assert(OneSided<Distant> && !MappedMemory<Distant>);

/// Runs a body on every rank, on mapped memory and on distant one; whether it held everywhere.
template <class Body>
bool holds_everywhere(int ranks, Body body) {
  std::atomic<int> right{0};
  ThreadsTransport::launch(0, nullptr, ranks, Options{}, [&](ThreadsTransport& transport) {
    right += body(transport) ? 1 : 0;
    transport.barrier();
    Distant distant(std::move(transport));
    right += body(distant) ? 1 : 0;
  });
  return right == 2 * ranks;
}

/// Sizes and blocks: empty, one element, blocks of 1, powers of two and others, longer than all.
constexpr std::pair<std::size_t, std::size_t> shapes[] = {{0, 1},  {1, 1},   {10, 1}, {10, 3},
                                                          {24, 4}, {10, 16}, {17, 5}, {17, 1000}};

template <class Check>
void for_every_shape(Check check) {
  for (const auto& shape : shapes)
    for (const int ranks : {1, 2, 3}) {
      const auto size = shape.first;
      const auto block = shape.second;
      CAPTURE(size);
      CAPTURE(block);
      CAPTURE(ranks);
      check(ranks, size, block);
    }
}

int value_of(std::size_t index) {
  return static_cast<int>(index * 7 + 3);
}

}  // namespace

TEST_CASE("what each rank writes to its elements, all ranks read from all of them") {
  for_every_shape([](int ranks, std::size_t size, std::size_t block) {
    CHECK(holds_everywhere(ranks, [&]<class T>(T& transport) {
      shared_array<int, T> array(transport, size, block);
      bool right = array.size() == size;
      for (std::size_t i = 0; i < size; ++i) right = right && int{array[i]} == 0;
      array.barrier();
      for_all(array, [&](std::size_t i) { array[i] = value_of(i); });
      array.barrier();
      auto pointer = array.begin();
      for (std::size_t i = 0; i < size; ++i, ++pointer) {
        right = right && int{array[i]} == value_of(i) && int{*pointer} == value_of(i);
        right = right && pointer.index() == i && pointer == array.at(i);
      }
      return right && pointer == array.end();
    }));
  });
}

TEST_CASE("local elements are this rank's, in the order of their indices") {
  for_every_shape([](int ranks, std::size_t size, std::size_t block) {
    CHECK(holds_everywhere(ranks, [&]<class T>(T& transport) {
      shared_array<int, T> array(transport, size, block);
      const auto own = array.local();
      for (std::size_t i = 0; i < own.size(); ++i)
        own[i] = value_of(array.layout().index(array.rank(), i));
      array.barrier();
      bool right = true;
      std::size_t mine = 0;
      for (std::size_t i = 0; i < size; ++i) {
        right = right && int{array[i]} == value_of(i);
        const auto* here = array.at(i).local();
        if (array.at(i).rank() == array.rank())
          right = right && here == &own[mine++];
        else
          right = right && (here != nullptr) == MappedMemory<T>;
      }
      array.barrier();
      return right && mine == own.size();
    }));
  });
}

TEST_CASE("any rank writes any element, and puts and gets cross blocks") {
  for_every_shape([](int ranks, std::size_t size, std::size_t block) {
    CHECK(holds_everywhere(ranks, [&]<class T>(T& transport) {
      shared_array<int, T> array(transport, size, block);
      shared_array<int, T> other(transport, size, block + 1);
      const bool writes = transport.rank() == ranks - 1;
      std::vector<int> values(size);
      for (std::size_t i = 0; i < size; ++i) values[i] = value_of(i);
      if (writes) array.put(0, values);
      array.barrier();
      bool right = true;
      for (std::size_t first = 0; first <= size; first += 3) {
        std::vector<int> got(size - first, -1);
        array.get(first, got);
        right = right && std::equal(got.begin(), got.end(), values.begin() + std::ptrdiff_t(first));
      }
      if (writes && size > 2) other.copy(2, array, 0, size - 2);
      other.barrier();
      for (std::size_t i = 2; i < size; ++i) right = right && int{other[i]} == value_of(i - 2);
      other.barrier();
      if (writes)
        for (std::size_t i = 0; i < size; ++i) other[i] = -value_of(i);
      other.barrier();
      for (std::size_t i = 0; i < size; ++i) right = right && int{other[i]} == -value_of(i);
      return right;
    }));
  });
}

TEST_CASE("pointers: steps both ways, differences, order, and those that stay in a block") {
  for_every_shape([](int ranks, std::size_t size, std::size_t block) {
    CHECK(holds_everywhere(ranks, [&]<class T>(T& transport) {
      shared_array<int, T> array(transport, size, block);
      for_all(array, [&](std::size_t i) { array[i] = value_of(i); });
      array.barrier();
      bool right = true;
      for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j) {
          const auto step = std::ptrdiff_t(j) - std::ptrdiff_t(i);
          const auto moved = array.at(i) + step;
          right = right && moved == array.at(j) && moved - array.at(i) == step;
          right =
              right && (array.at(i) < array.at(j)) == (i < j) && array.at(j) - step == array.at(i);
          right = right && int{array.at(i)[step]} == value_of(j);
        }
      const auto round = block * static_cast<std::size_t>(ranks);
      for (std::size_t i = 0; i + round < size; ++i) {
        auto next = array.at(i);
        next.to_next_round();
        right = right && next == array.at(i + round);
      }
      for (std::size_t i = 0; i < size; ++i) {
        auto inside = array.at(i).in_block();
        for (auto j = i; j < size && j / block == i / block; ++j, ++inside)
          right = right && int{*inside} == value_of(j) && inside.rank() == array.at(i).rank();
      }
      return right;
    }));
  });
}

TEST_CASE("own elements are reached without the transport, others by one put or get each") {
  ThreadsTransport::launch(0, nullptr, 2, Options{}, [&](ThreadsTransport& transport) {
    Distant distant(std::move(transport));
    shared_array<int, Distant> array(distant, 8, 2);
    for_all(array, [&](std::size_t i) { array[i] = 1; });
    const int before = distant.moved;
    array.barrier();
    int sum = 0;
    for (std::size_t i = 0; i < array.size(); ++i) sum += array[i];
    const bool right = distant.all(before == 0 && distant.moved == 4 && sum >= 4);
    array.barrier();
    if (distant.rank() == 0) CHECK(right);
  });
}

TEST_CASE("a memory that no rank has is refused at every rank") {
  CHECK(holds_everywhere(3, [&]<class T>(T& transport) {
    try {
      const shared_array<double, T> array(transport, Buffer::largest_bytes(), 1);
    } catch (const std::bad_alloc&) {
      return true;
    }
    return false;
  }));
}

}  // namespace nhalf::pgas
