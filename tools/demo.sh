#!/bin/bash
# The main job on three examples, through every stage: understand the op, show the page that a person judges, approve it,
# generate kernels for this machine, prove them right and say how near they are to the machine's limit.
set -euo pipefail
cd "$(dirname "$0")/.."

for name in swiglu rms_norm_llama mse; do
  echo "── kw understand examples/$name.py"
  build/kw understand "examples/$name.py" --quiet
  echo "── kw review $name"
  build/kw review "$name"
  echo "── kw approve $name"
  build/kw approve "$name" --yes --quiet
  echo "── kw act $name"
  build/kw act "$name" --quiet
  echo "── kw verify $name"
  build/kw verify "$name" --quiet
  echo
done
