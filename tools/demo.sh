#!/bin/bash
# The main job on three examples, one of each tier: understand them, then show the page that a person judges.
set -euo pipefail
cd "$(dirname "$0")/.."

for name in swiglu rms_norm_llama cross_entropy; do
  echo "── kw understand examples/$name.py"
  build/kw understand "examples/$name.py" --quiet
  echo "── kw review $name"
  build/kw review "$name"
  echo
done
