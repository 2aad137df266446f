// SPDX-License-Identifier: GPL-3.0-or-later
//
// `softrig info`: what library this is; what a file holds and what is odd about it.

#include "cli/verbs.h"

#include "cli/files.h"
#include "cli/options.h"
#include "cli/survey.h"
#include "cli/table.h"

#include "softrig/softrig.h"

#include <math.h>
#include <stdio.h>

static const char usage[] = "Usage: softrig info [FILE]\n"
                            "\n"
                            "Without FILE: version and settings of the library. With a skin (OBJ, OFF), a "
                            "cage (MEDIT .mesh) or a rig\n"
                            "(docs/rig-format.md): what it holds and what is odd about it.\n";

static void printLibrary(void) {
    srVersion version = srGetVersion();
    srAbiInfo abi = srGetAbiInfo();
    srCliPrintHeading("Softrig");
    srCliPrintValue("version", "%d.%d.%d", version.major, version.minor, version.patch);
    srCliPrintValue("ABI", "%d", abi.abiVersion);
    srCliPrintValue("public structs", "%d, sizes %016llx", abi.structCount,
                    (unsigned long long)abi.structSizesHash);
    srCliPrintValue("workers", "%d", srGetWorkerCount());
}

static void printBounds(const srCliFloats* points) {
    srCliBounds bounds = srCliMeasureBounds(points);
    double squares = 0.0;
    for (int c = 0; c < 3; ++c) {
        squares += (bounds.high[c] - bounds.low[c]) * (bounds.high[c] - bounds.low[c]);
    }
    srCliPrintValue("from", "%.6g %.6g %.6g", bounds.low[0], bounds.low[1], bounds.low[2]);
    srCliPrintValue("to", "%.6g %.6g %.6g", bounds.high[0], bounds.high[1], bounds.high[2]);
    srCliPrintValue("size (diagonal)", "%.6g", sqrt(squares));
    srCliPrintCount("points not finite", bounds.nonFiniteCount, "they get no offset");
}

static bool printSurface(const srCliMesh* mesh, srCliError* error) {
    srCliSurfaceSurvey survey;
    if (!srCliSurveySurface(mesh, &survey, error)) {
        return false;
    }
    bool isClosed = survey.borderEdgeCount == 0 && survey.nonManifoldEdgeCount == 0;
    srCliPrintHeading("Surface");
    srCliPrintCount("vertices", srCliMesh_GetPointCount(mesh), NULL);
    srCliPrintCount("triangles", srCliMesh_GetTriangleCount(mesh), NULL);
    srCliPrintCount("pieces", survey.pieceCount, NULL);
    printBounds(&mesh->points);
    srCliPrintCount("border edges", survey.borderEdgeCount, "the surface has holes");
    srCliPrintCount("edges of over two triangles", survey.nonManifoldEdgeCount, NULL);
    srCliPrintCount("edges with a turned side", survey.flippedEdgeCount, "triangles disagree about outside");
    srCliPrintCount("degenerate triangles", survey.degenerateTriangleCount, NULL);
    srCliPrintCount("isolated vertices", survey.isolatedVertexCount, NULL);
    srCliPrintCount("vertices at a shared place", survey.sharedPlaceCount, "seams that are not welded?");
    srCliPrintValue(isClosed ? "volume" : "volume (as if closed)", "%.6g%s", survey.signedVolume,
                    survey.signedVolume < 0.0 ? "  inside out" : "");
    return true;
}

static bool printCage(const srCliMesh* mesh, srCliError* error) {
    srCliCageSurvey survey;
    if (!srCliSurveyCage(mesh, &survey, error)) {
        return false;
    }
    srCliPrintHeading("Cage");
    srCliPrintCount("nodes", srCliMesh_GetPointCount(mesh), NULL);
    srCliPrintCount("cells", srCliMesh_GetCellCount(mesh), NULL);
    printBounds(&mesh->points);
    srCliPrintCount("inverted cells", survey.invertedCellCount, NULL);
    srCliPrintCount("flat cells", survey.flatCellCount, NULL);
    srCliPrintCount("nodes of no cell", survey.unusedNodeCount, NULL);
    srCliPrintValue("volume", "%.6g", survey.volume);
    return true;
}

static bool printRig(const srCliRig* rig, srCliError* error) {
    srCliRigSurvey survey;
    if (!srCliSurveyRig(rig, &survey, error)) {
        return false;
    }
    srCliPrintHeading("Rig");
    srCliPrintCount("armatures", rig->spaceCount, NULL);
    srCliPrintCount("bones", rig->boneCount, NULL);
    srCliPrintCount("root bones", survey.rootCount, NULL);
    srCliPrintCount("bones with a loose tip", survey.looseBoneCount, NULL);
    srCliPrintCount("bones of no length", survey.zeroLengthBoneCount, NULL);
    srCliPrintCount("bones without weights", survey.weightlessBoneCount, NULL);
    srCliPrintCount("vertices", rig->vertexCount, NULL);
    srCliPrintCount("weights", (int64_t)rig->weightBones.count, NULL);
    srCliPrintCount("vertices without weights", survey.unweightedVertexCount, "they stay with the object");
    srCliPrintCount("vertices whose sum is not 1", survey.unnormalizedVertexCount, "normalised in use");
    srCliPrintValue("first frame", "%d", rig->firstFrame);
    srCliPrintCount("frames", rig->frameCount, NULL);
    srCliPrintValue("frames a second", "%.6g", rig->frameRate);
    srCliPrintCount("frames equal to the one before", survey.stillFrameCount, NULL);
    srCliPrintCount("mirrored matrices", survey.mirroredMatrixCount, NULL);
    srCliPrintCount("matrices without an inverse", survey.singularMatrixCount, "they cannot be simulated");
    srCliPrintCount("matrices that are not affine", survey.projectiveMatrixCount, "written by rows?");
    return true;
}

static bool printMesh(srCliText* text, srCliFileKind kind, srCliError* error) {
    srCliMesh mesh;
    bool isFine = false;
    if (kind == sr_cliFileMedit) {
        isFine = srCliReadMedit(text, &mesh, error) && printCage(&mesh, error);
    } else if (kind == sr_cliFileOff) {
        isFine = srCliReadOff(text, &mesh, error) && printSurface(&mesh, error);
    } else {
        isFine = srCliReadObj(text, &mesh, error) && printSurface(&mesh, error);
    }
    srCliMesh_Free(&mesh);
    return isFine;
}

static bool printFile(const char* path, srCliError* error) {
    srCliText text;
    bool isFine = srCliOpenText(path, &text, error);
    srCliFileKind kind = isFine ? srCliDetectKind(&text) : sr_cliFileObj;
    if (isFine && kind == sr_cliFileRig) {
        srCliRig rig;
        isFine = srCliReadRig(&text, &rig, error) && printRig(&rig, error);
        srCliRig_Free(&rig);
    } else if (isFine) {
        isFine = printMesh(&text, kind, error);
    }
    srCliText_Close(&text);
    return isFine;
}

int srCliRunInfo(int argumentCount, char** arguments) {
    const char* path = NULL;
    bool wantsHelp = false;
    const srCliOption table[] = {{"--help", sr_cliOptionFlag, &wantsHelp}};
    srCliOptions options = {table, 1, &path, 1, 0};
    srCliError error = {{0}};
    if (!srCliParseOptions(&options, argumentCount, arguments, &error)) {
        return srCliReportUsage("info", error.text);
    }
    if (wantsHelp) {
        fputs(usage, stdout);
    } else if (path == NULL) {
        printLibrary();
    } else if (!printFile(path, &error)) {
        return srCliReportFailure("info", error.text);
    }
    return SR_CLI_EXIT_FINE;
}
