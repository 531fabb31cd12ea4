// A worker's end of the line to the engine: requests come in by stdin, each with the descriptor that was sent along;
// answers leave by a descriptor of their own, so that whatever runs in the worker may print.
#pragma once

#include <string>
#include <string_view>

namespace kw::device {

class Channel {
 public:
  // What is printed to stdout from here on joins stderr. Not ok() where that cannot be had.
  Channel();
  bool ok() const { return out_ >= 0; }

  // False: the engine has hung up. The descriptor is the caller's to close; -1: none came.
  bool next(std::string& line, int& descriptor);
  bool send(std::string_view line) const;  // the newline is added

  int descriptor() const { return out_; }  // where answers leave, for who cannot call `send` (a signal handler)

 private:
  int out_ = -1;
  std::string pending_;
  int came_along_ = -1;
};

}  // namespace kw::device
