#include "device/executor.h"

#include <sys/mman.h>
#include <unistd.h>

namespace kw::device {

// Fences cannot be touched, inputs cannot be written.
Mapping::Mapping(int descriptor, const Request& request) : bytes_(request.arena_bytes) {
  void* memory = ::mmap(nullptr, bytes_, PROT_NONE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  ::close(descriptor);
  if (memory == MAP_FAILED) return;
  memory_ = static_cast<std::byte*>(memory);
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (const Request::Range& range : request.ranges) {
    const std::uint64_t first = range.first / page * page, end = (range.end + page - 1) / page * page;
    ::mprotect(memory_ + first, end - first, PROT_READ | (range.writable ? PROT_WRITE : 0));
  }
  situation.arena = memory_;
  situation.arena_bytes = bytes_;
}

Mapping::~Mapping() {
  situation.arena = nullptr;
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

}  // namespace kw::device
