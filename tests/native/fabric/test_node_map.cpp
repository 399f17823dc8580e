#include "fabric/node_map.hpp"

#include <doctest/doctest.h>

namespace {

using nhalf::fabric::NodeMates;
using nhalf::fabric::process_mapping;
using nhalf::fabric::with_mapping;

TEST_CASE("a mapping has a block for nodes that follow each other and hold as many ranks") {
  CHECK(process_mapping({0, 0, 1, 1, 2, 2}) == "(vector,(0,3,2))");
  CHECK(process_mapping({0, 0, 1, 1, 2}) == "(vector,(0,2,2),(2,1,1))");
  CHECK(process_mapping({0, 1, 2, 0, 1, 2}) == "(vector,(0,3,1),(0,3,1))");
  CHECK(process_mapping({4}) == "(vector,(4,1,1))");
}

TEST_CASE("the mapping in a launcher's reply is replaced, and nothing else") {
  const auto changed =
      with_mapping("cmd=get_result rc=0 msg=success value=(vector,(0,1,4))\n", "(vector,(0,2,2))");
  CHECK(changed == "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))\n");
  CHECK(!with_mapping("cmd=get_result rc=0 msg=success value=mpi#0000$\n", "(vector)"));
  CHECK(!with_mapping("cmd=put kvsname=a key=b value=(vector,(0,1,4))\n", "(vector)"));
  CHECK(!with_mapping("cmd=get_result rc=0 value=(vector,(0,1", "(vector)"));
}

TEST_CASE("the ranks of a node are listed in their order") {
  const NodeMates mates({0, 1, 0, 1, 0}, 2);
  CHECK(mates.text == "0,2,4");
  CHECK(mates.number == 3);
  CHECK(mates.place == 1);
}

}  // namespace
