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

static void printRepairs(const srCharacterReport* report) {
    srCliPrintHeading("Repaired");
    srCliPrintCount("pieces of the skin", report->skinPieceCount, NULL);
    srCliPrintCount("vertices welded", report->weldedVertexCount, NULL);
    srCliPrintCount("triangles given twice", report->duplicateTriangleCount, "left out");
    srCliPrintCount("triangles flipped", report->flippedTriangleCount, NULL);
    srCliPrintCount("patches inside out", report->turnedPatchCount, "turned");
    srCliPrintCount("holes closed", report->closedHoleCount, NULL);
    srCliPrintCount("rims left open", report->openRimCount, "large holes, and outlines of sheets");
    srCliPrintCount("sheets", report->sheetCount, "they got a thickness");
    srCliPrintCount("patches within flesh", report->swallowedPatchCount, "left out");
    srCliPrintCount("hollows", report->cavityCount, NULL);
}

// how many of all cells have which share of the best shape, by tenths, in per cent
static void printAspects(const srCharacterReport* report) {
    char text[8 * SR_ASPECT_BINS];
    int length = 0;
    for (int bin = 0; bin < SR_ASPECT_BINS; ++bin) {
        double share = 100.0 * (double)report->aspectCounts[bin] / (double)report->cellCount;
        length += snprintf(text + length, sizeof(text) - (size_t)length, "%s%.1f", bin > 0 ? " " : "",
                           report->cellCount > 0 ? share : 0.0);
    }
    srCliPrintValue("% of cells, by 0.1 shape", "%s", text);
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

static const char* nameMaker(const srCharacterReport* report) {
    static const char* const makers[] = {
        [sr_mesherAutomatic] = "given", [sr_mesherLattice] = "lattice", [sr_mesherTetgen] = "TetGen"};
    bool isKnown = report->mesher >= sr_mesherAutomatic && report->mesher <= sr_mesherTetgen;
    return isKnown ? makers[report->mesher] : "unknown";
}

static void printCage(const srCharacterReport* report) {
    srCliPrintHeading("Cage");
    srCliPrintValue("made by", "%s", nameMaker(report));
    if (report->mesherNote[0] != '\0') {
        srCliPrintValue("why", "%s", report->mesherNote);
    }
    srCliPrintCount("nodes", report->nodeCount, NULL);
    if (report->leastNodeCount > 0) {
        srCliPrintCount("enough for this shape", report->leastNodeCount,
                        "nodes; these here do not keep to it, or are not near to what was asked");
    }
    srCliPrintCount("cells", report->cellCount, NULL);
    srCliPrintCount("edges", report->edgeCount, NULL);
    srCliPrintCount("nodes held by their bone", report->heldNodeCount, NULL);
    srCliPrintCount("vertices outside of the cage", report->outsideVertexCount,
                    "they follow the nearest cell");
    srCliPrintCount("farther out than a cell", report->farVertexCount,
                    "they lag behind: more --sheet-thickness or --nodes, or a rigid follower");
    srCliPrintCount("pieces", report->cagePieceCount, NULL);
    srCliPrintCount("cells copied", report->copyCount, "where flesh only touches");
    srCliPrintCount("cells left out", report->removedCellCount, "where the skin pinches itself");
    srCliPrintValue("cell size at the skin", "%.6g", (double)report->cellSize);
    srCliPrintValue("volume", "%.6g", (double)report->volume);
    srCliPrintValue("volume inside of the skin", "%.6g", (double)report->insideVolume);
    srCliPrintValue("smallest angle", "%.1f deg", (double)report->smallestAngleDegrees);
    srCliPrintValue("largest angle", "%.1f deg", (double)report->largestAngleDegrees);
    printAngles(report);
    printAspects(report);
}

void srCliPrintReport(const srCliInputs* inputs, const srCharacterReport* report) {
    printFindings(inputs, report);
    printRepairs(report);
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

// a name and a number of the report
#define COUNT(field) {#field, report->field}
#define VALUE(field) {#field, (double)report->field}

static void printCounts(const char* name, const int32_t* counts, int count) {
    printf(", \"%s\": [", name);
    for (int bin = 0; bin < count; ++bin) {
        printf("%s%d", bin > 0 ? ", " : "", counts[bin]);
    }
    printf("]");
}

void srCliPrintReportJson(const srCliInputs* inputs, const srCharacterReport* report) {
    const struct {
        const char* name;
        int32_t value;
    } counts[] = {
        COUNT(nonFiniteVertexCount),
        COUNT(degenerateTriangleCount),
        COUNT(borderEdgeCount),
        COUNT(nonManifoldEdgeCount),
        COUNT(isolatedVertexCount),
        COUNT(unweightedVertexCount),
        COUNT(nodeCount),
        COUNT(cellCount),
        COUNT(edgeCount),
        COUNT(heldNodeCount),
        COUNT(outsideVertexCount),
        COUNT(farVertexCount),
        COUNT(vertexCount),
        COUNT(boneCount),
        COUNT(spaceCount),
        COUNT(weldedVertexCount),
        COUNT(duplicateTriangleCount),
        COUNT(flippedTriangleCount),
        COUNT(turnedPatchCount),
        COUNT(closedHoleCount),
        COUNT(openRimCount),
        COUNT(sheetCount),
        COUNT(swallowedPatchCount),
        COUNT(cavityCount),
        COUNT(skinPieceCount),
        COUNT(cagePieceCount),
        COUNT(copyCount),
        COUNT(removedCellCount),
        COUNT(leastNodeCount),
    };
    const struct {
        const char* name;
        double value;
    } values[] = {
        VALUE(size),
        VALUE(volume),
        VALUE(insideVolume),
        VALUE(cellSize),
        VALUE(smallestAngleDegrees),
        VALUE(largestAngleDegrees),
        VALUE(surfaceSeconds),
        VALUE(cageSeconds),
        VALUE(embeddingSeconds),
        VALUE(weightsSeconds),
        VALUE(holdSeconds),
        VALUE(mapsSeconds),
        VALUE(totalSeconds),
        VALUE(peakMegabytes),
    };
    printf("{\"verb\": \"prepare\", \"triangleCount\": %d", srCliMesh_GetTriangleCount(&inputs->skin));
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); ++i) {
        printf(", \"%s\": %d", counts[i].name, counts[i].value);
    }
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); ++i) {
        printf(", \"%s\": %.9g", values[i].name, values[i].value);
    }
    printCounts("dihedralCounts", report->dihedralCounts, SR_DIHEDRAL_BINS);
    printCounts("aspectCounts", report->aspectCounts, SR_ASPECT_BINS);
    // a sentence of the library's own: nothing in it to be escaped
    printf(", \"mesher\": \"%s\", \"mesherNote\": \"%s\"}\n", nameMaker(report), report->mesherNote);
}
