#!/bin/bash
# install_packages.sh PURPOSE...: installs the packages of tools/packages.txt that are missing. Without root it prints
# the line that does and exits with 4.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=()
for purpose in "$@"; do
  read -ra words <<< "$(sed -n "s/^$purpose: //p" tools/packages.txt | tr '\n' ' ')"
  wanted+=("${words[@]}")
done

if ! command -v dpkg-query > /dev/null; then
  echo "This is neither Debian nor Ubuntu; please install what these packages hold: ${wanted[*]}" >&2
  exit 4
fi

missing=()
installed=" $(dpkg-query -W -f '${db:Status-Status}/${Package} ' "${wanted[@]}" 2> /dev/null || true)"
for package in "${wanted[@]}"; do
  [[ "$installed" == *" installed/$package "* ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

line="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
if [[ $EUID -ne 0 ]]; then
  echo "Some packages are missing. This installs them:" >&2
  echo "  sudo sh -c '$line'" >&2
  exit 4
fi
echo "Installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
if ! sh -c "$line" > "$log" 2>&1; then
  cat "$log" >&2
  echo "Installing packages failed. The line was: $line" >&2
  exit 4
fi
rm -f "$log"
