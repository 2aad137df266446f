#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# fetch_source.sh PACKAGE FOLDER [PATTERN...]: brings the distribution's source of PACKAGE into FOLDER, unpacked, or what of it
# the patterns match. Uses a private configuration of apt with source lists made from the machine's own lists, so neither root nor a change to the
# machine is needed. Does nothing when the source is there already.

set -euo pipefail
package=$1
folder=$2
patterns=("${@:3}")
[ -e "$folder/complete" ] && exit 0

fail() {
    echo "fetch_source: $*" >&2
    exit 1
}
command -v apt-get >/dev/null || fail "there is no apt-get here; unpack the source of $package into $folder and create $folder/complete"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$folder"

# the distribution's own archives, as sources
apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(CREATED_BY)' |
    awk '$3 == "main" && $4 == "Packages" { print "deb-src", $1, $2, $3 }' | sort -u >"$work/sources.list"
[ -s "$work/sources.list" ] || fail "apt knows no archive with a component 'main'"

cat >"$work/apt.conf" <<END
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "-";
Dir::State "$work/state";
Dir::State::Lists "$work/state/lists";
Dir::State::status "/dev/null";
Dir::Cache "$work/cache";
APT::Sandbox::User "";
Acquire::Languages "none";
END
export APT_CONFIG="$work/apt.conf"

echo "fetching the source of $package"
# an archive that a third party offers may be unreachable: what counts is that the source is found
apt-get -qq update || true
cd "$work"
apt-get -qq source --download-only "$package" || fail "apt-get source $package failed"
tarball=$(echo "$package"_*.orig.tar.*)
[ -f "$tarball" ] || fail "apt-get source brought no ${package}_*.orig.tar.*"
[ ${#patterns[@]} -eq 0 ] || patterns=(--wildcards --no-wildcards-match-slash "${patterns[@]}")
tar -xf "$tarball" -C "$folder" --strip-components=1 "${patterns[@]}"
touch "$folder/complete"
