#include "device/channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace kw::device {

Channel::Channel() : out_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10)) {
  if (out_ >= 0 && ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) out_ = -1;
}

bool Channel::next(std::string& line, int& descriptor) {
  descriptor = -1;
  while (true) {
    const std::size_t end = pending_.find('\n');
    if (end != std::string::npos) {
      line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      descriptor = std::exchange(came_along_, -1);
      return true;
    }
    std::array<char, 1 << 16> chunk;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    iovec piece{chunk.data(), chunk.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t count = ::recvmsg(STDIN_FILENO, &message, MSG_CMSG_CLOEXEC);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
      std::memcpy(&came_along_, CMSG_DATA(header), sizeof came_along_);
    pending_.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

bool Channel::send(std::string_view line) const {
  std::fflush(stdout);
  const std::string text = std::string(line) + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::write(out_, text.data() + sent, text.size() - sent);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace kw::device
