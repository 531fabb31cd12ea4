#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/text.h"

namespace kw {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMostDescriptors = 8;

std::string reason(int code) { return std::strerror(code); }

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

// Two connected descriptors, first ours, then the child's, both above 2, so that placing one as the child's stdin
// cannot overwrite another. Sockets, because a write to a dead reader can then be refused without a signal to the whole
// process.
struct Channel {
  int ours = -1, theirs = -1;
  bool open() {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
    ours = ::fcntl(ends[0], F_DUPFD_CLOEXEC, 3);
    theirs = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
    ::close(ends[0]);
    ::close(ends[1]);
    return ours >= 0 && theirs >= 0;
  }
  ~Channel() {
    close_fd(ours);
    close_fd(theirs);
  }
};

std::vector<std::string> merged_environment(const Command& command) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced = std::any_of(command.environment.begin(), command.environment.end(),
                                      [&](const auto& pair) { return pair.first == name; });
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto& [name, value] : command.environment) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

Result<int> spawn(const Command& command, int in, int out, int err) {
  KW_ASSERT(!command.argv.empty(), "a command needs a program");
  std::vector<std::string> arguments = command.argv, environment = merged_environment(command);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  if (!command.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGINT);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, arguments[0].c_str(), &actions, &attributes, pointers(arguments).data(),
                                   pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    const std::string& program = command.argv[0];
    if (error == ENOENT && !command.directory.empty() && find_program(program)) {
      return bad_input("there is no such folder", Place{command.directory});
    }
    return missing_tool("cannot run " + program + ": " + reason(error), "install " + program + " or put it into PATH");
  }
  if (command.memory_limit) {
    const rlimit limit{*command.memory_limit, *command.memory_limit};
    ::prlimit(pid, RLIMIT_AS, &limit, nullptr);
  }
  return pid;
}

// The group has the number of its first process, and keeps it while any of its processes lives.
void kill_group(int pid) { ::kill(-pid, SIGKILL); }

void note_end(int status, Finished& finished) {
  finished.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  finished.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int wait_for(int pid, int flags, int& status) {
  int result;
  do {
    result = ::waitpid(pid, &status, flags);
  } while (result < 0 && errno == EINTR);
  return result;
}

// Reads what is there. False at the end of the stream.
bool read_available(int fd, std::string& into, std::size_t limit, bool& truncated) {
  std::array<char, 1 << 16> chunk;
  const ssize_t count = ::recv(fd, chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  const std::size_t room = limit - std::min(limit, into.size());
  into.append(chunk.data(), std::min<std::size_t>(room, static_cast<std::size_t>(count)));
  truncated = truncated || static_cast<std::size_t>(count) > room;
  return count > 0;
}

ssize_t send_some(int fd, std::string_view bytes, std::span<const int> descriptors) {
  if (descriptors.empty()) return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  KW_ASSERT(descriptors.size() <= kMostDescriptors, "too many descriptors for one line");
  iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostDescriptors)> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  return ::sendmsg(fd, &message, MSG_NOSIGNAL);
}

// Milliseconds until the deadline, at most `longest`.
int remaining(std::optional<Clock::time_point> deadline, int longest) {
  if (!deadline) return longest;
  const auto left = std::chrono::duration_cast<milliseconds>(*deadline - Clock::now()).count() + 1;
  return static_cast<int>(std::clamp<long long>(left, 0, longest));
}

}  // namespace

std::string describe_end(const Finished& finished) {
  if (finished.timed_out) return "ran out of time";
  if (finished.signal == 0) return "exited with code " + std::to_string(finished.exit_code);
  return "was killed by signal " + std::to_string(finished.signal) + " (" + ::strsignal(finished.signal) + ")";
}

Result<Finished> run(const Command& command) {
  const auto start = Clock::now();
  std::optional<Clock::time_point> deadline;
  if (command.timeout) deadline = start + *command.timeout;

  Channel in, out, err;
  if (!in.open() || !out.open() || !err.open()) {
    return fail(ErrorKind::Internal, "cannot open a channel: " + reason(errno));
  }
  KW_TRY(const int pid, spawn(command, in.theirs, out.theirs, err.theirs));
  for (Channel* channel : {&in, &out, &err}) close_fd(channel->theirs);

  Finished finished;
  std::string_view input = command.input;
  if (input.empty()) close_fd(in.ours);
  int status = 0;
  bool ended = false;
  milliseconds pause{1};  // how long to wait for the end of a program that has closed its output
  while (!ended) {
    if (deadline && Clock::now() >= *deadline) {
      finished.timed_out = true;
      break;
    }
    std::array<pollfd, 3> watched{{{in.ours, POLLOUT, 0}, {out.ours, POLLIN, 0}, {err.ours, POLLIN, 0}}};
    const bool silent = out.ours < 0 && err.ours < 0;
    ::poll(watched.data(), watched.size(), remaining(deadline, silent ? static_cast<int>(pause.count()) : 50));
    if (silent) pause = std::min(pause * 2, milliseconds{50});
    if (watched[0].revents != 0) {
      const ssize_t count = ::send(in.ours, input.data(), input.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count > 0) input.remove_prefix(static_cast<std::size_t>(count));
      const bool refused = count < 0 && errno != EAGAIN && errno != EINTR;
      if (input.empty() || refused) close_fd(in.ours);
    }
    if (watched[1].revents != 0 &&
        !read_available(out.ours, finished.output, command.output_limit, finished.truncated)) {
      close_fd(out.ours);
    }
    if (watched[2].revents != 0 &&
        !read_available(err.ours, finished.errors, command.output_limit, finished.truncated)) {
      close_fd(err.ours);
    }
    // Asked only when it may have ended: on an idle round, or when it has closed its output.
    const bool idle = std::all_of(watched.begin(), watched.end(), [](const pollfd& fd) { return fd.revents == 0; });
    if (idle || (out.ours < 0 && err.ours < 0)) ended = wait_for(pid, WNOHANG, status) == pid;
  }
  kill_group(pid);  // what it may have left running
  if (!ended) wait_for(pid, 0, status);
  note_end(status, finished);
  finished.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return finished;
}

std::optional<std::string> find_program(std::string_view name) {
  const auto runnable = [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; };
  if (name.find('/') != std::string_view::npos) {
    return runnable(std::string(name)) ? std::optional(std::string(name)) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", ':')) {
    std::string candidate = (folder.empty() ? "." : folder) + "/" + std::string(name);
    if (runnable(candidate)) return candidate;
  }
  return std::nullopt;
}

Result<Child> Child::start(const Command& command) {
  Channel in, out;
  const int errors = ::memfd_create("kw-child-stderr", MFD_CLOEXEC);
  Child child;
  child.errors_ = errors;
  if (!in.open() || !out.open() || errors < 0) {
    return fail(ErrorKind::Internal, "cannot open a channel: " + reason(errno));
  }
  KW_TRY(child.pid_, spawn(command, in.theirs, out.theirs, errors));
  child.to_ = std::exchange(in.ours, -1);
  child.from_ = std::exchange(out.ours, -1);
  child.program_ = command.argv[0];
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      to_(std::exchange(other.to_, -1)),
      from_(std::exchange(other.from_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      program_(std::move(other.program_)),
      pending_(std::move(other.pending_)),
      end_(std::move(other.end_)) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(to_, other.to_);
  std::swap(from_, other.from_);
  std::swap(errors_, other.errors_);
  std::swap(program_, other.program_);
  std::swap(pending_, other.pending_);
  std::swap(end_, other.end_);
  return *this;
}

Child::~Child() {
  kill();
  close_fd(errors_);
}

bool Child::alive() {
  if (pid_ < 0) return false;
  int status = 0;
  if (wait_for(pid_, WNOHANG, status) != pid_) return true;
  note_end(status, end_);
  kill_group(pid_);
  pid_ = -1;
  return false;
}

void Child::kill() {
  if (alive()) {
    kill_group(pid_);
    int status = 0;
    wait_for(pid_, 0, status);
    note_end(status, end_);
    pid_ = -1;
  }
  close_fd(to_);
  close_fd(from_);
}

std::string Child::errors() const {
  std::string text;
  std::array<char, 4096> chunk;
  ssize_t count = 0;
  while ((count = ::pread(errors_, chunk.data(), chunk.size(), static_cast<off_t>(text.size()))) > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
  return text;
}

Failure Child::died(std::string_view what) {
  // A stream can end an instant before the process does: give it the time to leave its own exit code.
  for (int i = 0; i < 100 && what.empty() && alive(); ++i) ::poll(nullptr, 0, 1);
  kill();
  constexpr std::size_t kTail = 2000;
  std::string tail = errors();
  if (tail.size() > kTail) tail = "..." + tail.substr(tail.size() - kTail);
  std::string message = program_ + " " + (what.empty() ? describe_end(end_) : std::string(what));
  if (!trim(tail).empty()) message += ":\n" + std::string(trim(tail));
  return fail(ErrorKind::GateFailed, std::move(message));
}

Status Child::write_line(std::string_view line, std::span<const int> descriptors) {
  KW_ASSERT(line.find('\n') == std::string_view::npos, "a request is one line");
  const std::string text = std::string(line) + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t count = to_ < 0 ? -1 : send_some(to_, rest, descriptors);
    if (count < 0 && to_ >= 0 && errno == EINTR) continue;
    if (count < 0) return died({});
    rest.remove_prefix(static_cast<std::size_t>(count));
    descriptors = {};  // they went with the first byte
  }
  return {};
}

Result<std::string> Child::read_line(milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  std::size_t searched = 0;
  while (true) {
    const std::size_t newline = pending_.find('\n', searched);
    if (newline != std::string::npos) {
      std::string line = pending_.substr(0, newline);
      pending_.erase(0, newline + 1);
      return line;
    }
    searched = pending_.size();
    if (from_ < 0) return died({});
    pollfd watched{from_, POLLIN, 0};
    const int ready = ::poll(&watched, 1, remaining(deadline, 60'000));
    if (ready == 0 && Clock::now() >= deadline) {
      end_.timed_out = true;
      return died("did not answer in time");
    }
    bool truncated = false;
    if (ready > 0 && !read_available(from_, pending_, std::string::npos, truncated)) return died({});
  }
}

}  // namespace kw
