// A folder of compiled kernels, by the hash of all that they were made from. Entries are written whole or not at all,
// are never changed, and may be made and read by any number of processes at once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace kw::device {

// $XDG_CACHE_HOME/kernelwright, or ~/.cache/kernelwright.
std::string default_cache_folder();

class Cache {
 public:
  explicit Cache(std::string folder) : folder_(std::move(folder)) {}

  struct Made {
    std::string path;
    bool hit = false;  // it was there already
  };

  // The file of a key (hexadecimal digits). Where there is none, `make` gives its bytes; of several callers that ask
  // for one key at once, one makes and the others wait. A file that is damaged is made again.
  Result<Made> file(const std::string& key, const std::string& extension,
                    const std::function<Result<std::string>()>& make) const;

  struct MadeSet {
    std::vector<std::string> paths;  // in the order of the extensions
    bool hit = false;                // all were there already
  };

  // The same for files that are made together: whoever finds one of them finds all, or makes all again.
  Result<MadeSet> files(const std::string& key, const std::vector<std::string>& extensions,
                        const std::function<Result<std::vector<std::string>>()>& make) const;

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

}  // namespace kw::device
