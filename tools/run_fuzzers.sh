#!/bin/bash
# Builds every target of tests/fuzz with libFuzzer and runs each for FUZZ_SECONDS. New inputs that reach new code are
# merged into the kept corpus; an input that fails is left in build-fuzz/TARGET-*.
set -euo pipefail
cd "$(dirname "$0")/.."

cmake -S . -B build-fuzz -G Ninja -DKW_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++-14
ninja -C build-fuzz
shopt -s nullglob
for source in tests/fuzz/*.cpp; do
  target=$(basename "$source" .cpp)
  corpus=tests/fuzz/corpus/$target
  found=build-fuzz/found/$target
  mkdir -p "$corpus" "$found"
  echo "fuzzing $target for ${FUZZ_SECONDS:-60} s"
  "build-fuzz/fuzz_$target" -max_total_time="${FUZZ_SECONDS:-60}" -max_len=65536 -timeout=10 -rss_limit_mb=4096 \
    -print_final_stats=1 -artifact_prefix="build-fuzz/$target-" "$found" "$corpus" 2>&1 | tail -n 20
  "build-fuzz/fuzz_$target" -merge=1 -max_len=4096 "$corpus" "$found" 2>&1 | tail -n 1
done
