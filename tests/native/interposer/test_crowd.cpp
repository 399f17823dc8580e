// SPDX-License-Identifier: Apache-2.0
#include "interposer/crowd.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>

using nhalf::coll::Crowd;

namespace {

/// What ranks know together that may use so many cores.
Crowd::Words with_cores(int cores) {
  Crowd::Words words{};
  for (int i = 0; i < cores; ++i)
    words[static_cast<std::size_t>(i) % Crowd::cores_words] |= 1U << (i / 16);
  return words;
}

}  // namespace

TEST_CASE("ranks are a crowd where they are more than their cores") {
  CHECK_FALSE(Crowd::is_crowded(with_cores(2), 2));
  CHECK(Crowd::is_crowded(with_cores(2), 3));
  CHECK_FALSE(Crowd::is_crowded(with_cores(40), 40));
  CHECK_FALSE(Crowd::is_crowded(with_cores(0), 3));
}

TEST_CASE("two ranks of a job that outnumbers the cores of its host are a crowd") {
  setenv("MPI_LOCALNRANKS", "1000000", 1);
  const auto words = Crowd::of_rank();
  unsetenv("MPI_LOCALNRANKS");
  CHECK(Crowd::is_crowded(words, 2));
  CHECK_FALSE(Crowd::is_crowded(Crowd::of_rank(), 1));
}
