// The main of tests that run kernels: started as a worker it is one, otherwise it runs its tests.
#include <gtest/gtest.h>

#include "device/worker_main.h"

int main(int argc, char** argv) {
  if (const auto code = kw::device::worker_main(argc, argv)) return *code;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
