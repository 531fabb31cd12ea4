// The memory that an emulated launch may touch: the buffers of the call, and the shared memory of the block that runs.
// It says of each access whether it may be made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/emulate/shadow.h"

namespace kw::device::emulate {

// What is wrong with a kernel.
struct Finding {
  std::string name;   // of its kind: "race between threads"
  std::string words;  // "thread 3 of block 0 reads byte 4 of x at norm.cu:12, which ..."
};

// A buffer of a program, as it lies in this process.
struct GlobalBuffer {
  std::string name;
  std::byte* memory = nullptr;
  std::size_t bytes = 0;
  bool input = false;   // holds values from the start
  bool output = false;  // must be written whole
  bool writable = false;
  std::size_t element_bytes = 1;
  std::vector<std::int64_t> shape, strides;  // in elements
};

struct Toucher {
  std::uint64_t block = 0;
  std::uint32_t thread = 0;
};

class Memory {
 public:
  Memory();

  void give(std::vector<GlobalBuffer> buffers);  // for one run of a program

  // A new launch, which was given the buffers at these addresses.
  std::optional<Finding> begin_launch(const std::vector<const void*>& pointers, std::size_t dynamic_bytes);
  void begin_block(std::size_t threads);

  // Notes an access, and says what is wrong about it.
  std::optional<Finding> touch(const void* address, std::size_t bytes, std::size_t alignment, Access access,
                               Toucher who, Place place);

  // A static array of the kernel, the same for each call with one tag. Nullptr: there is no room.
  void* shared(const void* tag, std::size_t bytes, std::size_t alignment, const char* name);
  void* dynamic_shared() { return shared_.get() + arrays_.front().first; }
  std::size_t dynamic_bytes() const { return arrays_.front().bytes; }

  // A copy that has not landed: its destination can be neither read nor written.
  std::optional<Finding> begin_copy(const void* to, std::size_t bytes, Toucher who, Place place);
  std::optional<Finding> land_copy(void* to, const void* from, std::size_t bytes, Toucher who, Place place);

  void fill(const void* address, std::size_t bytes);  // a step of the program that is no kernel wrote here

  std::optional<Finding> unwritten() const;  // the first output that is not written whole

  Clock clock;

 private:
  struct Buffer {
    GlobalBuffer global;
    std::vector<std::uint8_t> written;  // by this program so far
    Shadow shadow;                      // of this launch
    bool in_call = false;
  };
  struct SharedArray {
    std::string name;
    std::size_t first = 0, bytes = 0;
    Shadow shadow;
    std::vector<std::uint8_t> in_flight;
  };

  Buffer* find_buffer(const std::byte* address);
  SharedArray* find_array(std::size_t byte);
  std::optional<Finding> touch_shared(const std::byte* address, std::size_t bytes, Access access, Toucher who,
                                      Place place);
  std::optional<Finding> touch_global(const std::byte* address, std::size_t bytes, Access access, Toucher who,
                                      Place place);
  Finding outside(const std::byte* address, std::size_t bytes, Access access, Toucher who, Place place) const;
  Finding race(const Shadow::Conflict& conflict, const std::string& where, Access access, Toucher who,
               Place place) const;
  std::string where(const std::byte* address) const;  // "byte 4 of x"
  bool is_shared(const std::byte* address) const {
    return address >= shared_.get() && address < shared_.get() + shared_bytes_;
  }
  Stamp stamp(Toucher who, Place place);
  std::uint32_t number_of(Place place);

  std::vector<Buffer> buffers_;
  Buffer* last_ = nullptr;  // the one that was touched last

  struct Release {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Release> shared_;
  std::size_t shared_bytes_ = 0, used_ = 0;
  std::vector<SharedArray> arrays_;  // the first is the dynamic one
  std::map<const void*, std::size_t> array_of_;

  std::vector<Place> places_;  // by number; 0 is unknown
  std::array<std::uint16_t, 2 * Stamp::kPlaces> place_table_{};
};

std::string text_of(Place place);  // "norm.cu:12"
std::string text_of(Toucher who);  // "thread 3 of block 0"

}  // namespace kw::device::emulate
