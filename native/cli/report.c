// SPDX-License-Identifier: GPL-3.0-or-later
//
// What preparing found, made and took, as a table.

#include "cli/character.h"

#include "cli/table.h"

#include <stdio.h>

static void printFindings(const srCliInputs* inputs, const srCharacterReport* report) {
    srCliPrintHeading("Skin");
    srCliPrintCount("vertices", srCliMesh_GetPointCount(&inputs->skin), NULL);
    srCliPrintCount("triangles", srCliMesh_GetTriangleCount(&inputs->skin), NULL);
    srCliPrintValue("size (diagonal)", "%.6g", (double)report->size);
    srCliPrintCount("vertices not finite", report->nonFiniteVertexCount, "left out, they get no offset");
    srCliPrintCount("degenerate triangles", report->degenerateTriangleCount, "left out");
    srCliPrintCount("border edges", report->borderEdgeCount, "holes, closed by the inside field");
    srCliPrintCount("edges of over two triangles", report->nonManifoldEdgeCount, "fine for the inside field");
    srCliPrintCount("isolated vertices", report->isolatedVertexCount, "they follow the nearest cell");
    if (inputs->rig.boneCount > 0) {
        srCliPrintCount("bones", inputs->rig.boneCount, NULL);
        srCliPrintCount("vertices without weights", report->unweightedVertexCount,
                        "they stay with the object");
    }
}

// how many of all angles are in each ten degrees, in per cent
static void printAngles(const srCharacterReport* report) {
    double all = 6.0 * (double)report->cellCount;
    char text[8 * SR_DIHEDRAL_BINS];
    int length = 0;
    for (int bin = 0; bin < SR_DIHEDRAL_BINS; ++bin) {
        double share = all > 0.0 ? 100.0 * (double)report->dihedralCounts[bin] / all : 0.0;
        length += snprintf(text + length, sizeof(text) - (size_t)length, "%s%.1f", bin > 0 ? " " : "", share);
    }
    srCliPrintValue("% of angles, by 10 deg", "%s", text);
}

static void printCage(const srCharacterReport* report) {
    static const char* const makers[] = {
        [sr_mesherAutomatic] = "given", [sr_mesherLattice] = "lattice", [sr_mesherTetgen] = "TetGen"};
    bool isKnown = report->mesher >= sr_mesherAutomatic && report->mesher <= sr_mesherTetgen;
    srCliPrintHeading("Cage");
    srCliPrintValue("made by", "%s", isKnown ? makers[report->mesher] : "unknown");
    if (report->mesherNote[0] != '\0') {
        srCliPrintValue("why", "%s", report->mesherNote);
    }
    srCliPrintCount("nodes", report->nodeCount, NULL);
    srCliPrintCount("cells", report->cellCount, NULL);
    srCliPrintCount("edges", report->edgeCount, NULL);
    srCliPrintCount("nodes held by their bone", report->heldNodeCount, NULL);
    srCliPrintCount("vertices outside of the cage", report->outsideVertexCount,
                    "they follow the nearest cell");
    srCliPrintValue("volume", "%.6g", (double)report->volume);
    srCliPrintValue("smallest angle", "%.1f deg", (double)report->smallestAngleDegrees);
    srCliPrintValue("largest angle", "%.1f deg", (double)report->largestAngleDegrees);
    printAngles(report);
}

void srCliPrintReport(const srCliInputs* inputs, const srCharacterReport* report) {
    printFindings(inputs, report);
    printCage(report);
    if (inputs->preparedPath != NULL) {
        return; // it took no time worth telling
    }
    srCliPrintHeading("Time");
    srCliPrintValue("surface", "%.3f s", (double)report->surfaceSeconds);
    srCliPrintValue("cage", "%.3f s", (double)report->cageSeconds);
    srCliPrintValue("embedding", "%.3f s", (double)report->embeddingSeconds);
    srCliPrintValue("weights", "%.3f s", (double)report->weightsSeconds);
    srCliPrintValue("hold map", "%.3f s", (double)report->holdSeconds);
    srCliPrintValue("painted maps", "%.3f s", (double)report->mapsSeconds);
    srCliPrintValue("all", "%.3f s", (double)report->totalSeconds);
    srCliPrintValue("most memory", "%.1f MB", (double)report->peakMegabytes);
}
