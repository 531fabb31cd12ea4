#!/bin/bash
# Runs every benchmark that bench/ holds: the compiled ones, then the Python scripts named bench_*.py.
set -euo pipefail
cd "$(dirname "$0")/.."

shopt -s nullglob
for program in "$BUILD"/bench_*; do
  [[ -x "$program" && -f "$program" ]] && "$program"
done
for script in bench/bench_*.py; do
  "$PYTHON" "$script"
done
