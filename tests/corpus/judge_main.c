// SPDX-License-Identifier: GPL-3.0-or-later
//
// corpus_judge SKIN CAGE WANTED-NODES: judges a cage in a MEDIT file by the skin that it was made for. Exit
// code 0 when it fits, 1 when it does not, 2 when that cannot be told.

#include "corpus/corpus.h"

#include "cli/files.h"

#include <stdio.h>
#include <stdlib.h>

static void print(const srFitReport* report, int32_t wantedNodes) {
    char misfits[200];
    srDescribeMisfits(report->misfits, misfits, sizeof(misfits));
    printf("%s\n", report->misfits == 0 ? "fits" : misfits);
    printf("nodes %d of %d, cells %d, faces at the boundary %d\n", report->nodeCount, wantedNodes,
           report->cellCount, report->boundaryFaceCount);
    printf("cells not positive %d, bad faces %d, bad edges %d, bad vertices %d\n", report->flatCellCount,
           report->badFaceCount, report->badEdgeCount, report->badVertexCount);
    printf("volume %g, inside %g to %g\n", report->volume, report->insideLeast, report->insideMost);
    printf("boundary from skin %.2f cells, skin from boundary %.2f cells\n", report->outsideCells,
           report->missingCells);
    printf("dihedral angles %.1f to %.1f degrees, worst aspect %.1f\n", report->smallestAngleDegrees,
           report->largestAngleDegrees, report->worstAspect);
    printf("dihedral angles, by ten degrees:");
    for (int i = 0; i < srAngleBins; i++) {
        printf(" %d", report->angles[i]);
    }
    printf("\naspect ratios, up to 1.5 2 3 4 6 8 12 16 32 and more:");
    for (int i = 0; i < srAspectBins; i++) {
        printf(" %d", report->aspects[i]);
    }
    printf("\n");
}

int main(int argc, char** argv) {
    srCase made;
    srCliMesh cage;
    srCliError error = {{0}};
    int32_t wantedNodes = argc == 4 ? (int32_t)strtol(argv[3], NULL, 10) : 0;
    if (wantedNodes <= 0) {
        fprintf(stderr, "usage: corpus_judge SKIN.obj CAGE.mesh WANTED-NODES\n");
        return 2;
    }
    if (!srMakeFileCase(argv[1], &made)) {
        return 2;
    }
    if (!srCliReadCageFile(argv[2], &cage, &error)) {
        fprintf(stderr, "%s\n", error.text);
        srDestroyCase(&made);
        return 2;
    }
    const srFitGoal goal = {
        .skin = &made.patient.skin, .repaired = &made.patient.repaired, .wantedNodes = wantedNodes};
    srFitReport report;
    bool fits = srJudgeFit(cage.points.items, srCliMesh_GetPointCount(&cage), cage.cells.items,
                           srCliMesh_GetCellCount(&cage), &goal, &made.limits, &report);
    print(&report, wantedNodes);
    srCliMesh_Free(&cage);
    srDestroyCase(&made);
    return fits ? 0 : 1;
}
