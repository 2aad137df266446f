#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# collect_licences.sh SUITESPARSE TETGEN SITE_PACKAGES FOLDER: the licence texts of all that is shipped beside our own code.

set -euo pipefail
suitesparse=$1
tetgen=$2
site_packages=$3
folder=$4

first_of() {
    local candidate
    for candidate in "$@"; do
        [ -f "$candidate" ] && echo "$candidate" && return
    done
    echo "collect_licences: none of these exists: $*" >&2
    return 1
}
for part in AMD COLAMD CHOLMOD; do
    cp "$(first_of "$suitesparse/$part/Doc/License.txt" "$suitesparse/$part/License.txt")" "$folder/$part.txt"
done
cp "$(first_of "$suitesparse/CHOLMOD/Supernodal/gpl.txt" "$suitesparse/CHOLMOD/Doc/gpl.txt" "$suitesparse/CHOLMOD/gpl.txt")" \
    "$folder/GPL-2.0.txt"
cp "$(first_of "$suitesparse/CHOLMOD/Cholesky/lesser.txt" "$suitesparse/CHOLMOD/Doc/lesser.txt" "$suitesparse/CHOLMOD/lesser.txt")" \
    "$folder/LGPL-2.1.txt"
cp "$(first_of "$site_packages"/scipy_openblas32-*.dist-info/licenses/LICENSE.txt)" "$folder/OpenBLAS-and-libgfortran.txt"
cp "$tetgen/LICENSE" "$folder/TetGen-AGPL-3.0.txt"
cat >"$folder/README.txt" <<'END'
libsoftrig: Softrig, GPL-3.0-or-later. It contains
  AMD, COLAMD            BSD-3-Clause, of SuiteSparse
  CHOLMOD                Core and Cholesky LGPL-2.1-or-later, Supernodal GPL-2.0-or-later, of SuiteSparse
softrig-tetgen: TetGen, AGPL-3.0, and a door of ours to it, GPL-3.0-or-later; a program of its own. Its source is
  Debian's source package tetgen 1.5.0 and Softrig's folder native/helper
libscipy_openblas: OpenBLAS, BSD-3-Clause, with LAPACK, BSD-3-Clause-Open-MPI
libgfortran: GPL-3.0 with the GCC Runtime Library Exception
libquadmath: LGPL-2.1-or-later
END
