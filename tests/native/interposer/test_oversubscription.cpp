#include "interposer/limits.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>

using nhalf::coll::Oversubscription;

namespace {

/// Returns the combined words of ranks that may use `cores` cores.
Oversubscription::Words with_cores(int cores) {
  Oversubscription::Words words{};
  for (int i = 0; i < cores; ++i)
    words[static_cast<std::size_t>(i) % Oversubscription::cores_words] |= 1U << (i / 16);
  return words;
}

}  // namespace

TEST_CASE("ranks that outnumber their cores are oversubscribed") {
  CHECK_FALSE(Oversubscription::is_oversubscribed(with_cores(2), 2));
  CHECK(Oversubscription::is_oversubscribed(with_cores(2), 3));
  CHECK_FALSE(Oversubscription::is_oversubscribed(with_cores(40), 40));
  CHECK_FALSE(Oversubscription::is_oversubscribed(with_cores(0), 3));
}

TEST_CASE("ranks of a job that outnumbers the cores of its host are oversubscribed") {
  setenv("MPI_LOCALNRANKS", "1000000", 1);
  const auto words = Oversubscription::of_rank();
  unsetenv("MPI_LOCALNRANKS");
  CHECK(Oversubscription::is_oversubscribed(words, 2));
  CHECK_FALSE(Oversubscription::is_oversubscribed(Oversubscription::of_rank(), 1));
}
