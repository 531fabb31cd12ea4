// "Kernels" for the driver of a GPU that is not there: x, y, n and a scalar, as the manifest of gpu_run_test.cpp has
// them. What each of them does is its name.
#include <cstdint>
#include <ctime>

namespace {

struct Arguments {
  const float* x;
  float* y;
  std::int64_t n;
  float scale;
  explicit Arguments(void** p)
      : x(*static_cast<const float**>(p[0])),
        y(*static_cast<float**>(p[1])),
        n(*static_cast<std::int64_t*>(p[2])),
        scale(*static_cast<float*>(p[3])) {}
};

volatile float sink;
float* kept = nullptr;
float calls = 0;

}  // namespace

extern "C" {
void scales(const unsigned*, void** p) {
  const Arguments a(p);
  for (std::int64_t i = 0; i < a.n; ++i) a.y[i] = a.x[i] * a.scale;
}
void tells_its_launch(const unsigned* launch, void** p) {
  const Arguments a(p);
  for (int i = 0; i < 7; ++i) a.y[i] = static_cast<float>(launch[i]);
}
void reads_past_the_end(const unsigned*, void** p) {
  const Arguments a(p);
  for (std::int64_t i = 0; i < a.n + 5000; ++i) sink = a.x[i];
}
void writes_far_away(const unsigned*, void** p) { Arguments(p).y[1 << 24] = 1; }
void writes_past_the_end(const unsigned*, void** p) {
  const Arguments a(p);
  a.y[a.n] = 1;
}
void writes_before_the_start(const unsigned*, void** p) { Arguments(p).y[-3] = 1; }
void writes_far_before_the_start(const unsigned*, void** p) { Arguments(p).y[-30000] = 1; }
void writes_far_behind_the_end(const unsigned*, void** p) { Arguments(p).y[30000] = 1; }
void writes_its_input(const unsigned*, void** p) { const_cast<float*>(Arguments(p).x)[2] = 7; }
void never_ends(const unsigned*, void**) {
  for (volatile int i = 0;;) i = i + 1;
}
void takes_a_while(const unsigned*, void**) {
  const timespec wait{0, 3'000'000};
  nanosleep(&wait, nullptr);
}
void counts(const unsigned*, void** p) { Arguments(p).y[0] = ++calls; }
void adds_to_its_output(const unsigned*, void** p) { Arguments(p).y[0] += 1; }
void tells_whether_its_memory_moved(const unsigned*, void** p) {
  const Arguments a(p);
  a.y[0] = kept == a.y ? 1 : 0;
  kept = a.y;
}
}
