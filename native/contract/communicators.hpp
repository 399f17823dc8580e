// What it takes until a program can communicate: starting, and groups of ranks of its own.
#pragma once

#include <concepts>

#include "contract/collectives.hpp"

namespace nhalf {

/// Groups of ranks that are made, by all ranks together, and given up again: of the same ranks
/// (`duplicate`), and of every other rank (`split`).
template <class T>
concept Communicators = Collectives<T> && requires(T& transport) {
  transport.duplicate();
  transport.split();
};

/// Seconds that this rank's library took to start, and rank 0's launch until then, from the call of
/// the launcher; below 0 where that is not known. And those that it took to end, once it has.
template <class T>
concept StartUp = Transport<T> && requires(T& transport) {
  { transport.initialised_s() } -> std::same_as<double>;
  { transport.launched_s() } -> std::same_as<double>;
  { T::finalised_s() } -> std::same_as<double>;
};

}  // namespace nhalf
