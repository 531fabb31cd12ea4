#include "base/progress.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace kw {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr std::size_t kTextWidth = 40;
constexpr auto kRedrawInterval = std::chrono::milliseconds(50);

// At most `width` characters, the end kept: of a path, that is the part that differs.
std::string last_characters(std::string_view text, std::size_t width) {
  const std::vector<std::string_view> characters = code_points(text);
  std::string result;
  for (std::size_t i = characters.size() - std::min(width, characters.size()); i < characters.size(); ++i) {
    result += characters[i];
  }
  return result;
}

}  // namespace

ProgressMode progress_mode(bool quiet) {
  if (quiet) return ProgressMode::Quiet;
  return ::isatty(STDERR_FILENO) != 0 ? ProgressMode::Live : ProgressMode::Plain;
}

Progress::Progress(std::string title, std::size_t total, ProgressMode mode, std::FILE* stream)
    : title_(std::move(title)), total_(total), mode_(mode), stream_(stream) {}

void Progress::step(std::string_view what) {
  ++begun_;
  total_ = std::max(total_, begun_);
  const std::string count = std::to_string(begun_) + "/" + std::to_string(total_);
  if (mode_ == ProgressMode::Plain) {
    std::fprintf(stream_, "%s %s %.*s\n", title_.c_str(), count.c_str(), static_cast<int>(what.size()), what.data());
  }
  if (mode_ != ProgressMode::Live) return;
  const auto now = std::chrono::steady_clock::now();
  if (begun_ < total_ && now - drawn_ < kRedrawInterval) return;
  drawn_ = now;
  const std::size_t filled = kBarWidth * begun_ / total_;
  const std::string bar = std::string(filled, '#') + std::string(kBarWidth - filled, '.');
  std::fprintf(stream_, "\r%s [%s] %s %s\x1b[K", title_.c_str(), bar.c_str(), count.c_str(),
               last_characters(what, kTextWidth).c_str());
  std::fflush(stream_);
}

Progress::~Progress() {
  if (mode_ != ProgressMode::Live || begun_ == 0) return;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
}

}  // namespace kw
