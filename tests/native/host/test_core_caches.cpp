#include "host/core_caches.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>

using nhalf::core_caches;
using nhalf::CoreCaches;

namespace {

/// A folder of the kernel's files for cores with three levels, for as long as it lives.
class TreeOfCaches {
 public:
  /// The cores that share the last level, by core.
  explicit TreeOfCaches(const std::map<int, const char*>& sharing) {
    std::string name = (std::filesystem::temp_directory_path() / "nhalf-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root_ = name;
    for (const auto& [core, cores] : sharing) {
      const char* const levels[][3] = {{"Data", "32K", "0"},
                                       {"Instruction", "64K", "0"},
                                       {"Unified", "1024K", "0"},
                                       {"Unified", "32M", cores}};
      for (int index = 0; index < 4; ++index) {
        const auto folder = std::filesystem::path(root_) / "sys/devices/system/cpu" /
                            ("cpu" + std::to_string(core)) / "cache" /
                            ("index" + std::to_string(index));
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "type") << levels[index][0] << '\n';
        std::ofstream(folder / "size") << levels[index][1] << '\n';
        std::ofstream(folder / "shared_cpu_list") << levels[index][2] << '\n';
      }
    }
  }
  ~TreeOfCaches() { std::filesystem::remove_all(root_); }
  TreeOfCaches(const TreeOfCaches&) = delete;
  TreeOfCaches& operator=(const TreeOfCaches&) = delete;

  [[nodiscard]] CoreCaches caches(std::vector<int> cores) const {
    return core_caches(cores, root_);
  }

 private:
  std::string root_;
};

}  // namespace

TEST_CASE("a thread that stays near one last-level cache knows it, and the cache before it") {
  const TreeOfCaches tree(
      {{8, "8-15,72-79"}, {9, "8-15,72-79"}, {16, "16-23"}, {72, "8-15,72-79"}});
  for (const auto& cores : {std::vector{8}, std::vector{72}, std::vector{8, 9, 72}}) {
    CHECK(tree.caches(cores).last_level == 9);
    CHECK(tree.caches(cores).inner_bytes == 1 << 20);
  }
  CHECK(tree.caches({8, 9, 16, 72}).last_level == 0);
  CHECK(tree.caches({8, 10}).last_level == 0);
  CHECK(tree.caches({}).last_level == 0);
}

TEST_CASE("where the kernel does not say, nothing is known") {
  CHECK(core_caches(std::vector{0}, "/nowhere").inner_bytes == 0);
  CHECK(TreeOfCaches({{0, ""}}).caches({0}).last_level == 0);
}
