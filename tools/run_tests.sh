#!/bin/bash
# run_tests.sh [--slow]: every compiled test, then every Python test; fails if any of them fails, and says which part.
set -uo pipefail
cd "$(dirname "$0")/.."

selection=(-m "not slow and not gpu")
if [[ "${1:-}" == --slow ]]; then
  selection=(-m "not gpu")
  export KW_SLOW_TESTS=1
fi

start=$SECONDS
ctest --test-dir "$BUILD" --output-on-failure --no-tests=error -j "$(nproc)"
compiled=$?
"$PYTHON" -m pytest -q "${selection[@]}" tests
scripted=$?

word() { [[ $1 -eq 0 ]] && echo passed || echo FAILED; }
echo
echo "compiled tests $(word $compiled) · Python tests $(word $scripted) · $((SECONDS - start)) s"
[[ $compiled -eq 0 && $scripted -eq 0 ]]
