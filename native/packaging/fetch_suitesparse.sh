#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# fetch_suitesparse.sh FOLDER: brings the distribution's source of SuiteSparse into FOLDER, unpacked. Uses a private
# configuration of apt with source lists made from the machine's own lists, so neither root nor a change to the
# machine is needed. Does nothing when the source is there already.

set -euo pipefail
folder=$1
[ -e "$folder/complete" ] && exit 0

fail() {
    echo "fetch_suitesparse: $*" >&2
    exit 1
}
command -v apt-get >/dev/null || fail "there is no apt-get here; unpack SuiteSparse into $folder and create $folder/complete"

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

echo "fetching the source of SuiteSparse"
# an archive that a third party offers may be unreachable: what counts is that the source is found
apt-get -qq update || true
cd "$work"
apt-get -qq source --download-only suitesparse || fail "apt-get source suitesparse failed"
tarball=$(echo suitesparse_*.orig.tar.*)
[ -f "$tarball" ] || fail "apt-get source brought no suitesparse_*.orig.tar.*"
tar -xf "$tarball" -C "$folder" --strip-components=1 --wildcards --no-wildcards-match-slash \
    '*/SuiteSparse_config' '*/AMD' '*/COLAMD' '*/CHOLMOD'
touch "$folder/complete"
