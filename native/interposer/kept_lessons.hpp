// What calls have learned in earlier runs, from a file that the user names: where those of later
// runs start. Plain text, with a line for all calls that learn together; the last column is the
// time of the way that they took last, in percent of that of the library's own:
//
//     # nhalf lessons 1
//     # library ranks operation bytes_from way percent
//     MPICH-Version:-5.0.2-2876421968 2 bcast 64 shared-memory 36
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "host/kernel_files.hpp"
#include "interposer/table.hpp"

namespace nhalf::coll {

/// Returns a hash of a text (FNV-1a, 64 bits).
constexpr std::uint64_t digest_of(std::string_view text) {
  std::uint64_t digest = 14695981039346656037U;
  for (const char letter : text)
    digest = (digest ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  return digest;
}

/// Returns a word for an MPI library, by its version text.
inline std::string library_word(std::string_view version) {
  std::string word(version.substr(0, version.find_first_of("\n,")));
  std::ranges::replace_if(word, [](char letter) { return letter <= ' ' || letter > '~'; }, '-');
  return word + '-' + std::to_string(digest_of(version));
}

/// Ways and percentages by the columns before them.
using KeptLessons = std::map<std::string, std::pair<std::string, std::uint64_t>>;

/// Returns the columns of calls before the way, but for the library.
inline std::string kept_calls(int ranks, Operation operation, std::uint64_t from_bytes) {
  return ' ' + std::to_string(ranks) + ' ' + std::string(operation_names[index_of(operation)]) +
         ' ' + std::to_string(from_bytes);
}

/// What a file says, or why it says nothing.
struct LessonText {
  KeptLessons lessons;
  std::string complaint;
  /// Whether the user should hear of that unasked.
  bool is_wrong = false;
  /// Whether nothing of others is lost if another file takes its place.
  bool may_be_replaced = true;
};

inline LessonText parse_lessons(std::string_view text) {
  if (text.empty()) return {{}, "is empty"};
  if (!text.starts_with("# nhalf lessons ")) return {{}, "holds no lessons", true, false};
  if (!text.starts_with("# nhalf lessons 1\n"))
    return {{}, "is of another version of nhalf", false, false};
  LessonText parsed;
  for (int number = 1; !text.empty(); ++number) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    try {
      const auto calls = line.substr(0, line.find_last_of(' ', line.find_last_of(' ') - 1));
      line.remove_prefix(calls.size());
      const std::string way(next_word(line));
      if (std::ranges::find(way_names, way) == way_names.end()) throw InputError(way);
      parsed.lessons[std::string(calls)] = {way, number_in_table(next_word(line), false)};
    } catch (const InputError&) {
      return {{}, "is damaged in line " + std::to_string(number), true};
    }
  }
  return parsed;
}

/// Reads a plain file of a size that lessons may have.
inline LessonText read_lessons(const std::string& path, std::size_t bytes_most) {
  struct stat state{};
  if (stat(path.c_str(), &state) != 0)
    return {{}, std::string("cannot be read: ") + std::strerror(errno)};
  if (!S_ISREG(state.st_mode) || static_cast<std::size_t>(state.st_size) > bytes_most)
    return {{}, "is no plain file, or too large a one", false, false};
  const auto text = text_of(path.c_str());
  if (text.empty() && state.st_size > 0) return {{}, "cannot be read", false, false};
  return parse_lessons(text);
}

/// The file that the user names: what it said when this process first looked.
class LessonFile {
 public:
  static constexpr std::size_t bytes_most = 1 << 20;

  /// `path` may be null or empty: then nothing is kept.
  LessonFile(const char* path, std::string_view version)
      : library_(library_word(version)), path_(path == nullptr ? "" : path) {
    if (!path_.empty()) text_ = read_lessons(path_, bytes_most);
    std::erase_if(text_.lessons,
                  [&](const auto& lesson) { return !lesson.first.starts_with(library_ + ' '); });
    if (text_.complaint.empty() && text_.lessons.empty())
      text_.complaint = "has no lessons for " + library_;
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const LessonText& text() const { return text_; }
  /// Returns a hash of all lessons for this library, equal on ranks that start alike.
  [[nodiscard]] std::uint64_t digest() const { return digest_of(lines_of(text_.lessons)); }
  /// Returns the way that was faster than the library's own; empty if none is known to be.
  [[nodiscard]] std::string_view faster_way(const std::string& calls) const {
    const auto place = text_.lessons.find(library_ + calls);
    if (place == text_.lessons.end() || place->second.second >= 100) return {};
    return place->second.first == "native" ? "" : std::string_view(place->second.first);
  }

  /// Adds lessons to what the file says by now, whole or not at all. Returns why that failed.
  [[nodiscard]] std::string keep(const KeptLessons& own) const {
    auto present = read_lessons(path_, bytes_most);
    if (!present.may_be_replaced) return "it " + present.complaint;
    for (const auto& [calls, lesson] : own) present.lessons[library_ + calls] = lesson;
    const auto text = lines_of(present.lessons);
    if (text.size() > bytes_most) return "it would be too large";
    auto beside = path_ + ".XXXXXX";
    const int descriptor = mkstemp(beside.data());
    std::FILE* const file = descriptor < 0 ? nullptr : fdopen(descriptor, "w");
    const bool is_written =
        file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool is_closed = file != nullptr && std::fclose(file) == 0;
    if (is_written && is_closed && rename(beside.c_str(), path_.c_str()) == 0) return {};
    std::string why = std::strerror(errno);
    unlink(beside.c_str());
    return why;
  }

 private:
  static std::string lines_of(const KeptLessons& lessons) {
    std::string text = "# nhalf lessons 1\n# library ranks operation bytes_from way percent\n";
    for (const auto& [calls, lesson] : lessons)
      text += calls + ' ' + lesson.first + ' ' + std::to_string(lesson.second) + '\n';
    return text;
  }

  std::string library_, path_;
  LessonText text_;
};

}  // namespace nhalf::coll
