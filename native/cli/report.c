// SPDX-License-Identifier: GPL-3.0-or-later
//
// What preparing found, made and took, as a table.

#include "cli/character.h"

#include "cli/table.h"

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

static void printCage(const srCharacterReport* report) {
    srCliPrintHeading("Cage");
    srCliPrintCount("nodes", report->nodeCount, NULL);
    srCliPrintCount("cells", report->cellCount, NULL);
    srCliPrintCount("edges", report->edgeCount, NULL);
    srCliPrintCount("nodes held by their bone", report->heldNodeCount, NULL);
    srCliPrintCount("vertices outside of the cage", report->outsideVertexCount,
                    "they follow the nearest cell");
    srCliPrintValue("volume", "%.6g", (double)report->volume);
    srCliPrintValue("smallest angle", "%.1f deg", (double)report->smallestAngleDegrees);
    srCliPrintValue("largest angle", "%.1f deg", (double)report->largestAngleDegrees);
}

void srCliPrintReport(const srCliInputs* inputs, const srCharacterReport* report) {
    printFindings(inputs, report);
    printCage(report);
    srCliPrintHeading("Time");
    srCliPrintValue("surface", "%.3f s", (double)report->surfaceSeconds);
    srCliPrintValue("cage", "%.3f s", (double)report->cageSeconds);
    srCliPrintValue("embedding", "%.3f s", (double)report->embeddingSeconds);
    srCliPrintValue("weights", "%.3f s", (double)report->weightsSeconds);
    srCliPrintValue("hold map", "%.3f s", (double)report->holdSeconds);
}
