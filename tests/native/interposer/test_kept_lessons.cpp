#include "interposer/kept_lessons.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using nhalf::coll::kept_calls;
using nhalf::coll::LessonFile;
using nhalf::coll::library_word;
using nhalf::coll::Operation;
using nhalf::coll::parse_lessons;

namespace {

constexpr std::string_view version = "Some MPI v1.2\tof today\nbuilt somewhere";
constexpr std::string_view heading = "# nhalf lessons 1\n";

/// A file in a folder of its own.
class Place {
 public:
  Place() {
    std::string folder = std::filesystem::temp_directory_path() / "nhalf-lessons-XXXXXX";
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    folder_ = folder;
    path = folder_ / "lessons";
  }
  ~Place() { std::filesystem::remove_all(folder_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  void write(std::string_view text) const { std::ofstream(path, std::ios::binary) << text; }
  [[nodiscard]] std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
  }
  [[nodiscard]] LessonFile file(std::string_view library = version) const {
    return {path.c_str(), library};
  }
  [[nodiscard]] auto files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {});
  }

  std::filesystem::path path;

 private:
  std::filesystem::path folder_;
};

const auto bcast = kept_calls(2, Operation::bcast, 64);

}  // namespace

TEST_CASE("what is kept is where a later run starts, and only one like it") {
  const Place place;
  CHECK(place.file().keep({{bcast, {"shared-memory", 36}}}).empty());
  const auto later = place.file();
  CHECK(later.text().complaint.empty());
  CHECK(later.faster_way(bcast) == "shared-memory");
  CHECK(later.faster_way(kept_calls(3, Operation::bcast, 64)).empty());
  CHECK(later.faster_way(kept_calls(2, Operation::bcast, 128)).empty());
  CHECK(later.faster_way(kept_calls(2, Operation::barrier, 64)).empty());
  const auto other = place.file("Some MPI v1.2\tof today\nbuilt elsewhere");
  CHECK(other.text().complaint.starts_with("has no lessons for Some-MPI-v1.2-of-today-"));
  CHECK_FALSE(other.text().is_wrong);
  CHECK(other.faster_way(bcast).empty());
  CHECK(place.files() == 1);
}

TEST_CASE("only a way that was faster than the library's own begins sooner") {
  const Place place;
  for (const auto& [way, percent] : {std::pair{"native", 99U}, {"shared-memory", 100U}}) {
    CHECK(place.file().keep({{bcast, {way, percent}}}).empty());
    CHECK(place.file().text().complaint.empty());
    CHECK(place.file().faster_way(bcast).empty());
  }
}

TEST_CASE("runs beside each other, and of other libraries, keep each other's lessons") {
  const Place place;
  const auto allreduce = kept_calls(2, Operation::allreduce, 8);
  const auto first = place.file();
  const auto second = place.file();
  CHECK(first.keep({{bcast, {"shared-memory", 36}}}).empty());
  CHECK(second.keep({{allreduce, {"single-copy", 50}}}).empty());
  CHECK(place.file("another").keep({{bcast, {"native", 200}}}).empty());
  CHECK(place.file().faster_way(bcast) == "shared-memory");
  CHECK(place.file().faster_way(allreduce) == "single-copy");
  CHECK(place.file("another").text().lessons.size() == 1);
  CHECK(first.keep({{bcast, {"native", 130}}}).empty());
  CHECK(place.file().faster_way(bcast).empty());
}

TEST_CASE("ranks that start alike have one digest, and others another") {
  const Place place;
  const auto absent = place.file().digest();
  CHECK(absent == LessonFile(nullptr, version).digest());
  CHECK(place.file().keep({{bcast, {"shared-memory", 36}}}).empty());
  const auto present = place.file().digest();
  CHECK(present != absent);
  CHECK(place.file().keep({{bcast, {"shared-memory", 37}}}).empty());
  CHECK(place.file().digest() != present);
  CHECK(place.file("another").digest() == absent);
}

TEST_CASE("a damaged file starts nothing, is told of, and is replaced") {
  const Place place;
  const auto word = library_word(version);
  for (const auto* row : {"x", " ", "a b", "2 bcast 64 magic 36", "2 bcast 64 native",
                          "2 bcast 64 native -1", "2 bcast 64 native 1e3", "2 bcast 64 native nan",
                          "2 bcast 64 native 36 7", "2 bcast 64 native 99999999999999999999"}) {
    CAPTURE(row);
    place.write(std::string(heading) + word + bcast + " native 90\n" + word + ' ' + row);
    const auto file = place.file();
    CHECK(file.text().complaint == "is damaged in line 3");
    CHECK(file.text().is_wrong);
    CHECK(file.text().lessons.empty());
    CHECK(file.keep({{bcast, {"shared-memory", 36}}}).empty());
    CHECK(place.file().faster_way(bcast) == "shared-memory");
  }
}

TEST_CASE("an empty file starts nothing, and is replaced") {
  const Place place;
  place.write("");
  CHECK(place.file().text().complaint == "is empty");
  CHECK_FALSE(place.file().text().is_wrong);
  CHECK(place.file().keep({{bcast, {"shared-memory", 36}}}).empty());
  CHECK(place.file().faster_way(bcast) == "shared-memory");
}

TEST_CASE("a file of others, of a later version, or too large is left as it is") {
  for (const auto& [text, is_wrong] :
       {std::pair{std::string("my thesis\n"), true},
        {std::string(1, '\0'), true},
        {std::string("# nhalf lessons 2\nwho knows\n"), false},
        {std::string(heading) + std::string(LessonFile::bytes_most, '\n'), false}}) {
    const Place place;
    place.write(text);
    const auto file = place.file();
    CHECK(file.text().is_wrong == is_wrong);
    CHECK_FALSE(file.text().complaint.empty());
    CHECK_FALSE(file.keep({{bcast, {"shared-memory", 36}}}).empty());
    CHECK(place.text() == text);
    CHECK(place.files() == 1);
  }
}

TEST_CASE("what is no file is neither read nor replaced") {
  const Place place;
  REQUIRE(mkfifo(place.path.c_str(), 0600) == 0);
  CHECK_FALSE(place.file().keep({{bcast, {"native", 120}}}).empty());
  // By a link, so that only the link is lost where this fails.
  const Place device;
  std::filesystem::create_symlink("/dev/null", device.path);
  CHECK_FALSE(device.file().keep({{bcast, {"native", 120}}}).empty());
  CHECK(std::filesystem::is_symlink(device.path));
  for (const char* path : {"/", "/nowhere/at/all"}) {
    const LessonFile file(path, version);
    CHECK_FALSE(file.text().complaint.empty());
    CHECK_FALSE(file.keep({{bcast, {"native", 120}}}).empty());
  }
}

TEST_CASE("a file in which lessons no longer fit stays as it is") {
  const Place place;
  std::string text(heading);
  for (int ranks = 2; text.size() + 64 < LessonFile::bytes_most; ++ranks)
    text += "other" + kept_calls(ranks, Operation::bcast, 64) + " native 100\n";
  place.write(text);
  CHECK(place.file().keep({{bcast, {"native", 120}}}) == "it would be too large");
  CHECK(place.text() == text);
}

TEST_CASE("lines may end as on other systems, and be empty") {
  CHECK(parse_lessons(std::string(heading) + "\na 2 bcast 64 native 7\r\n#\n").lessons.size() == 1);
}
