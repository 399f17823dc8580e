#include "host/kernel_files.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace {

using Files = std::map<std::string, std::string>;

/// A folder with files as the kernel has them, for as long as it lives.
class Tree {
 public:
  explicit Tree(const Files& files) {
    std::string name = (std::filesystem::temp_directory_path() / "nhalf-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root_ = name;
    for (const auto& [path, text] : files) {
      const std::filesystem::path file = name + path;
      std::filesystem::create_directories(file.parent_path());
      std::ofstream(file) << text;
    }
  }
  ~Tree() { std::filesystem::remove_all(root_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  [[nodiscard]] std::uint64_t limit() const { return nhalf::group_memory_limit_bytes(root_); }

 private:
  std::string root_;
};

}  // namespace

TEST_CASE("version 2: the least limit on the way to the top counts") {
  CHECK(Tree(Files{{"/proc/self/cgroup", "0::/job/step\n"},
                   {"/sys/fs/cgroup/job/memory.max", "536870912\n"},
                   {"/sys/fs/cgroup/job/step/memory.max", "max\n"}})
            .limit() == 536870912);
  CHECK(Tree(Files{{"/proc/self/cgroup", "0::/job/step\n"},
                   {"/sys/fs/cgroup/job/memory.max", "900\n"},
                   {"/sys/fs/cgroup/job/step/memory.max", "800\n"}})
            .limit() == 800);
}

TEST_CASE("a container sees its own group as the top, by whatever path") {
  for (const auto* path : {"0::/\n", "0::/../../other\n", "0::/docker/0123\n", "0::\n"}) {
    CAPTURE(path);
    CHECK(
        Tree(Files{{"/proc/self/cgroup", path}, {"/sys/fs/cgroup/memory.max", "4096\n"}}).limit() ==
        4096);
  }
}

TEST_CASE("version 1 has a tree for memory") {
  CHECK(Tree(Files{{"/proc/self/cgroup", "5:cpu,cpuacct:/job\n4:hugetlb,memory:/job\n0::/\n"},
                   {"/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000000\n"},
                   {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}})
            .limit() == 1000000);
}

TEST_CASE("what says nothing is no limit") {
  CHECK(Tree(Files{}).limit() == nhalf::no_memory_limit);
  for (const auto* text : {"", "max\n", "many\n", "-5\n", "0\n", "99999999999999999999999\n"}) {
    CAPTURE(text);
    CHECK(Tree(Files{{"/proc/self/cgroup", "0::/job\n"}, {"/sys/fs/cgroup/job/memory.max", text}})
              .limit() == nhalf::no_memory_limit);
  }
  for (const auto* text : {"", "\n\n", "nonsense\n", "0:\n", ":::\n"}) {
    CAPTURE(text);
    CHECK(Tree(Files{{"/proc/self/cgroup", text}}).limit() == nhalf::no_memory_limit);
  }
}

TEST_CASE("a host has memory in any case") {
  CHECK(nhalf::memory_limit_bytes() > 0);
  CHECK(nhalf::memory_limit_bytes() < nhalf::no_memory_limit);
}
