// SPDX-License-Identifier: GPL-3.0-or-later
//
// `softrig simulate`: from a skin with a recorded rig to a point cache of offsets, and if asked for to a
// sequence of surfaces.

#include "cli/verbs.h"

#include "cli/character.h"
#include "cli/options.h"
#include "cli/pose.h"
#include "cli/progress.h"
#include "cli/system.h"
#include "cli/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define POLL_SECONDS 0.1

static const char usage[] =
    "Usage: softrig simulate MESH --rig RIG -o OUT.pc2 [options]\n"
    "\n"
    "Prepares a character, simulates all frames of its rig, and writes the offsets of its vertices from the\n"
    "pose, in the skin's own space, as a point cache.\n"
    "\n"
    "  MESH                  the skin, OBJ or OFF\n"
    "  --rig RIG             bones, weights and motion (docs/rig-format.md)\n"
    "  -o FILE               the point cache; replaced when the new one is whole\n"
    "  --cage CAGE.mesh      a cage of your own (MEDIT); else one is made\n"
    "  --prepared FILE       a character that `softrig prepare` stored: nothing is prepared\n"
    "  --nodes N             wanted size of the cage, 50 to 200,000 (default 1,000)\n"
    "  --obj DIR             also writes posed skin plus offsets, in world space: DIR/frame_0001.obj ...\n"
    "  --frequency HZ        how fast free flesh swings, 0.1 to 50 (default 2)\n"
    "  --settle FRAMES       until a swing is below 2 %, 1 to 10,000 (default 24)\n"
    "  --poisson RATIO       how strongly volume is kept, 0 to 0.5 (default 0.45)\n"
    "  --young PA            stiffness, 0 to 1e9; 0 chooses it from frequency and size (default)\n"
    "  --density KG/M3       1 to 100,000 (default 1,000)\n"
    "  --pose-correction X   0: a held pose is left as it is (default); 1: elasticity pulls too\n"
    "  --solver NAME         what moves the flesh: complementary (default), flesh (the fast one) or edges\n"
    "  --complement NAME     what the complementary solver leaves to the animation: bones, motion (whatever "
    "is\n"
    "                        recorded), nothing, or automatic (default): bones where there are any, else "
    "motion\n"
    "  --material NAME       of the complementary solver: rigid (as possible, default), corotated, "
    "neo-hookean or\n"
    "                        stvk; held poses are left as they are by the first alone\n"
    "  --fibres X            of the fast solver: so many times as stiff along the bones, 0.01 to 100 "
    "(default "
    "1)\n"
    "  --stretch X           of the fast solver: nothing gets longer than so many times its length in the "
    "pose,\n"
    "                        1 to 10; 0 for no limit (default)\n"
    "  --swings NAME         of the fast solver: quick ones fade (default), last, or keep all of their "
    "energy "
    "(keep)\n"
    "  --substeps N          how finely a frame is divided, 1 to 100 (default 10)\n"
    "  --workers N           threads, 1 to 64; the result does not depend on it\n"
    "  --hash                also prints a hash of the last frame's state\n"
    "  --json                prints one line for machines instead of the table\n";

typedef struct srSimulation {
    srCliInputs inputs;
    const char* outputPath;
    const char* objFolder; ///< Null: none.
    int32_t workerCount;
    bool wantsHash;
    bool wantsJson;
    const char* solverName; ///< Null: the default. Likewise:
    const char* complementName;
    const char* materialName;
    const char* swingsName;
    srShotParams params;

    srCharacterId character;
    srShotId shot;
    srBakeId bake;
    srCharacterReport report;
    srShotStatus status;
    float largestOffset;
    int32_t largestVertex;
    int32_t largestFrame;
    uint64_t hash; ///< Of the last frame's state.
} srSimulation;

static bool nameSurface(const srSimulation* simulation, int32_t frameIndex, char outPath[SR_CLI_PATH_SIZE],
                        srCliError* error) {
    int length = snprintf(outPath, SR_CLI_PATH_SIZE, "%s/frame_%04d.obj", simulation->objFolder,
                          simulation->inputs.rig.firstFrame + frameIndex);
    bool isNamed = length > 0 && length < SR_CLI_PATH_SIZE;
    return isNamed || srCliFail(error, "The path of the folder for OBJ files is too long.");
}

// all that will be written against all that is read and against one another
static bool checkFiles(const srSimulation* simulation, srCliError* error) {
    srCliKept kept = {0};
    srCliKeepInput(&kept, simulation->inputs.skinPath);
    srCliKeepInput(&kept, simulation->inputs.rigPath);
    srCliKeepInput(&kept, simulation->inputs.cagePath);
    srCliKeepInput(&kept, simulation->inputs.preparedPath);
    bool isFine = srCliCheckOutput(simulation->outputPath, &kept, error);
    srCliKeepOutput(&kept, simulation->outputPath);
    int32_t surfaceCount = simulation->objFolder != NULL ? simulation->inputs.rig.frameCount : 0;
    for (int32_t i = 0; isFine && i < surfaceCount; ++i) {
        char path[SR_CLI_PATH_SIZE];
        isFine = nameSurface(simulation, i, path, error) && srCliCheckOutput(path, &kept, error);
    }
    return isFine;
}

static bool checkPaths(const srSimulation* simulation, srCliError* error) {
    bool isNew = false;
    if (simulation->objFolder != NULL && !srCliMakeFolder(simulation->objFolder, &isNew, error)) {
        return false;
    }
    bool isFine = checkFiles(simulation, error);
    if (!isFine && isNew) {
        remove(simulation->objFolder);
    }
    return isFine;
}

static bool startShot(srSimulation* simulation, srCliError* error) {
    const srCliRig* rig = &simulation->inputs.rig;
    if (rig->frameCount == 0) {
        return srCliFail(error, "%s: The rig has no frames.", simulation->inputs.rigPath);
    }
    srShotDef def = srDefaultShotDef();
    def.character = simulation->character;
    def.firstFrame = rig->firstFrame;
    def.frameCount = rig->frameCount;
    def.frameRate = rig->frameRate;
    def.params = simulation->params;
    if (srCreateShot(&def, &simulation->shot) != sr_success) {
        return srCliFailLibrary(error, "Simulating");
    }
    if (srShot_WriteTape(simulation->shot, rig->firstFrame, rig->frameCount, rig->motion.items,
                         (int64_t)rig->motion.count, NULL) != sr_success) {
        return srCliFailLibrary(error, "Recording the rig's motion");
    }
    return true;
}

static bool bake(srSimulation* simulation, srCliError* error) {
    srBakeDef def = srDefaultBakeDef();
    def.shot = simulation->shot;
    def.path = simulation->outputPath;
    def.firstFrame = simulation->inputs.rig.firstFrame;
    def.frameCount = simulation->inputs.rig.frameCount;
    if (srStartBake(&def, &simulation->bake) != sr_success) {
        return srCliFailLibrary(error, "Writing the point cache");
    }
    srCliProgress progress = srCliBeginProgress("simulating");
    srResult result = sr_errorNotReady;
    while (result == sr_errorNotReady && !srCliWasInterrupted()) {
        srJobStatus status = {0};
        if (srBake_GetStatus(simulation->bake, &status) == sr_success) {
            srCliProgress_Show(&progress, status.progress);
        }
        result = srBake_Wait(simulation->bake, POLL_SECONDS);
    }
    srCliProgress_End(&progress);
    if (result == sr_errorNotReady) {
        return srCliFail(error, "Interrupted.");
    }
    return result == sr_success || srCliFailLibrary(error, "Simulating");
}

static void noteLargest(srSimulation* simulation, int32_t frame, const float* offsets) {
    int32_t vertexCount = srCliMesh_GetPointCount(&simulation->inputs.skin);
    for (int32_t v = 0; v < vertexCount; ++v) {
        const float* u = offsets + 3 * (size_t)v;
        float length = sqrtf(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        if (length > simulation->largestOffset) {
            simulation->largestOffset = length;
            simulation->largestVertex = v;
            simulation->largestFrame = frame;
        }
    }
}

static bool writeSurface(const srSimulation* simulation, int32_t frameIndex, const float* offsets,
                         float* positions, srCliError* error) {
    const srCliInputs* inputs = &simulation->inputs;
    char path[SR_CLI_PATH_SIZE];
    return nameSurface(simulation, frameIndex, path, error) &&
           srCliPlaceSkin(&inputs->rig, frameIndex, &inputs->skin, offsets, positions, error) &&
           srCliWriteObj(path, positions, srCliMesh_GetPointCount(&inputs->skin),
                         inputs->skin.triangles.items, srCliMesh_GetTriangleCount(&inputs->skin), error);
}

// every frame's offsets: the largest is noted, surfaces are written if asked for
static bool visitFrames(srSimulation* simulation, float* offsets, float* positions, srCliError* error) {
    const srCliRig* rig = &simulation->inputs.rig;
    int32_t vertexCount = srCliMesh_GetPointCount(&simulation->inputs.skin);
    srCliProgress progress = srCliBeginProgress("reading frames");
    bool isFine = true;
    for (int32_t i = 0; isFine && i < rig->frameCount; ++i) {
        int32_t frame = rig->firstFrame + i;
        srCliProgress_Show(&progress, (float)i / (float)rig->frameCount);
        if (srCliWasInterrupted()) {
            isFine = srCliFail(error, "Interrupted.");
        } else if (srShot_ReadOffsets(simulation->shot, (double)frame, offsets, vertexCount) != sr_success) {
            isFine = srCliFailLibrary(error, "Reading the offsets");
        } else {
            noteLargest(simulation, frame, offsets);
            isFine = simulation->objFolder == NULL || writeSurface(simulation, i, offsets, positions, error);
        }
    }
    srCliProgress_End(&progress);
    return isFine;
}

static bool collectResults(srSimulation* simulation, srCliError* error) {
    size_t bytes = sizeof(float) * simulation->inputs.skin.points.count;
    float* offsets = srCliResize(NULL, bytes);
    float* positions = srCliResize(NULL, bytes);
    bool isFine = (offsets != NULL && positions != NULL) || srCliFailMemory(error);
    isFine = isFine && visitFrames(simulation, offsets, positions, error);
    srCliResize(offsets, 0);
    srCliResize(positions, 0);
    int32_t lastFrame = simulation->inputs.rig.firstFrame + simulation->inputs.rig.frameCount - 1;
    if (isFine && (srShot_GetStateHash(simulation->shot, lastFrame, &simulation->hash) != sr_success ||
                   srShot_GetStatus(simulation->shot, &simulation->status) != sr_success)) {
        isFine = srCliFailLibrary(error, "Reading the state");
    }
    return isFine;
}

static void printTable(const srSimulation* simulation) {
    const srCliRig* rig = &simulation->inputs.rig;
    double seconds = (double)simulation->status.simulationSeconds;
    double share = simulation->report.size > 0.0f
                       ? 100.0 * (double)simulation->largestOffset / (double)simulation->report.size
                       : 0.0;
    srCliPrintReport(&simulation->inputs, &simulation->report);
    srCliPrintHeading("Simulation");
    srCliPrintValue("frames", "%d to %d", rig->firstFrame, rig->firstFrame + rig->frameCount - 1);
    srCliPrintValue("frames a second", "%.6g", rig->frameRate);
    srCliPrintValue("time", "%.3f s", seconds);
    srCliPrintValue("time a frame", "%.2f ms", 1000.0 * seconds / rig->frameCount);
    if (simulation->status.motionShapeCount > 0) {
        srCliPrintValue("shapes of the motion", "%d  leave %.2g %% of its deformation",
                        simulation->status.motionShapeCount,
                        100.0 * (double)simulation->status.motionShapesLeft);
    }
    srCliPrintCount("nodes held back", simulation->status.limitedNodeCount,
                    "moved further than the character is large");
    srCliPrintValue("largest offset", "%.6g  %.2f %% of the size, vertex %d, frame %d",
                    (double)simulation->largestOffset, share, simulation->largestVertex,
                    simulation->largestFrame);
    srCliPrintValue("written", "%s", simulation->outputPath);
    if (simulation->wantsHash) {
        srCliPrintValue("hash", "%016llx", (unsigned long long)simulation->hash);
    }
}

static void printJson(const srSimulation* simulation) {
    const srCliRig* rig = &simulation->inputs.rig;
    const srCharacterReport* report = &simulation->report;
    printf("{\"verb\": \"simulate\", \"vertices\": %d, \"triangles\": %d, \"bones\": %d, \"nodes\": %d, "
           "\"cells\": %d, \"size\": %.9g",
           srCliMesh_GetPointCount(&simulation->inputs.skin),
           srCliMesh_GetTriangleCount(&simulation->inputs.skin), rig->boneCount, report->nodeCount,
           report->cellCount, (double)report->size);
    printf(", \"firstFrame\": %d, \"frameCount\": %d, \"frameRate\": %.17g, \"workers\": %d", rig->firstFrame,
           rig->frameCount, rig->frameRate, srGetWorkerCount());
    printf(", \"prepareSeconds\": %.6f, \"simulationSeconds\": %.6f, \"limitedNodeCount\": %d",
           (double)report->totalSeconds, (double)simulation->status.simulationSeconds,
           simulation->status.limitedNodeCount);
    printf(", \"motionShapeCount\": %d, \"motionShapesLeft\": %.9g", simulation->status.motionShapeCount,
           (double)simulation->status.motionShapesLeft);
    printf(", \"largestOffset\": %.9g, \"largestVertex\": %d, \"largestFrame\": %d",
           (double)simulation->largestOffset, simulation->largestVertex, simulation->largestFrame);
    printf(", \"hash\": \"%016llx\", \"output\": \"", (unsigned long long)simulation->hash);
    srCliPrintJsonText(simulation->outputPath);
    printf("\"}\n");
}

static int simulate(srSimulation* simulation) {
    srCliError error = {{0}};
    bool isDone =
        srCliInputs_Read(&simulation->inputs, &error) && checkPaths(simulation, &error) &&
        srCliPrepareCharacter(&simulation->inputs, &simulation->character, &simulation->report, &error) &&
        startShot(simulation, &error) && bake(simulation, &error) && collectResults(simulation, &error);
    if (isDone && simulation->wantsJson) {
        printJson(simulation);
    } else if (isDone) {
        printTable(simulation);
    }
    srDestroyBake(simulation->bake);
    srDestroyShot(simulation->shot);
    srDestroyCharacter(simulation->character);
    srCliInputs_Free(&simulation->inputs);
    return isDone ? SR_CLI_EXIT_FINE : srCliReportFailure("simulate", error.text);
}

// sets `outChoice` to the place of the name; false when it is none of them. No name leaves it as it is
static bool choose(const char* name, const char* const* names, int32_t nameCount, int32_t* outChoice) {
    for (int32_t i = 0; name != NULL && i < nameCount; ++i) {
        if (strcmp(name, names[i]) == 0) {
            *outChoice = i;
            return true;
        }
    }
    return name == NULL;
}

static bool chooseSolver(srSimulation* simulation) {
    static const char* const names[] = {"edges", "flesh", "complementary"}; // in the order of srSolver
    return choose(simulation->solverName, names, 3, &simulation->params.solver);
}

static bool chooseComplement(srSimulation* simulation) {
    // in the order of srComplement
    static const char* const names[] = {"automatic", "bones", "motion", "nothing"};
    return choose(simulation->complementName, names, 4, &simulation->params.complement);
}

static bool chooseMaterial(srSimulation* simulation) {
    // in the order of srMaterialKind
    static const char* const names[] = {"rigid", "corotated", "neo-hookean", "stvk"};
    return choose(simulation->materialName, names, 4, &simulation->params.material);
}

static bool chooseSwings(srSimulation* simulation) {
    static const char* const names[] = {"fade", "last", "keep"}; // in the order of srSwings
    return choose(simulation->swingsName, names, 3, &simulation->params.swings);
}

// fills the simulation from the command line; answers false when there is nothing to simulate, and the exit
// code for it
static bool readArguments(srSimulation* simulation, int argumentCount, char** arguments, int* outExitCode) {
    bool wantsHelp = false;
    srCliInputs* inputs = &simulation->inputs;
    srShotParams* params = &simulation->params;
    const srCliOption table[] = {
        {"-o", sr_cliOptionText, &simulation->outputPath},
        {"--rig", sr_cliOptionText, &inputs->rigPath},
        {"--cage", sr_cliOptionText, &inputs->cagePath},
        {"--prepared", sr_cliOptionText, &inputs->preparedPath},
        {"--nodes", sr_cliOptionInteger, &inputs->nodeCount},
        {"--obj", sr_cliOptionText, &simulation->objFolder},
        {"--frequency", sr_cliOptionNumber, &params->frequency},
        {"--settle", sr_cliOptionNumber, &params->settleFrames},
        {"--poisson", sr_cliOptionNumber, &params->poissonRatio},
        {"--young", sr_cliOptionNumber, &params->youngModulus},
        {"--density", sr_cliOptionNumber, &params->density},
        {"--pose-correction", sr_cliOptionNumber, &params->poseCorrection},
        {"--solver", sr_cliOptionText, &simulation->solverName},
        {"--complement", sr_cliOptionText, &simulation->complementName},
        {"--material", sr_cliOptionText, &simulation->materialName},
        {"--swings", sr_cliOptionText, &simulation->swingsName},
        {"--fibres", sr_cliOptionNumber, &params->fibreStiffness},
        {"--stretch", sr_cliOptionNumber, &params->stretchLimit},
        {"--substeps", sr_cliOptionInteger, &params->substeps},
        {"--workers", sr_cliOptionInteger, &simulation->workerCount},
        {"--hash", sr_cliOptionFlag, &simulation->wantsHash},
        {"--json", sr_cliOptionFlag, &simulation->wantsJson},
        {"--help", sr_cliOptionFlag, &wantsHelp},
    };
    srCliOptions options = {table, sizeof(table) / sizeof(table[0]), &inputs->skinPath, 1, 0};
    srCliError error = {{0}};
    *outExitCode = SR_CLI_EXIT_FINE;
    if (!srCliParseOptions(&options, argumentCount, arguments, &error)) {
        *outExitCode = srCliReportUsage("simulate", error.text);
    } else if (wantsHelp) {
        fputs(usage, stdout);
    } else if (inputs->skinPath == NULL || inputs->rigPath == NULL || simulation->outputPath == NULL) {
        *outExitCode = srCliReportUsage("simulate", "A MESH, --rig RIG and -o OUT.pc2 are needed.");
    } else if (inputs->preparedPath != NULL && inputs->cagePath != NULL) {
        *outExitCode = srCliReportUsage("simulate", "A prepared character has a cage: leave out --cage.");
    } else if (!chooseSolver(simulation)) {
        *outExitCode = srCliReportUsage("simulate", "--solver is edges, flesh or complementary.");
    } else if (!chooseComplement(simulation)) {
        *outExitCode = srCliReportUsage("simulate", "--complement is automatic, bones, motion or nothing.");
    } else if (!chooseMaterial(simulation)) {
        *outExitCode = srCliReportUsage("simulate", "--material is rigid, corotated, neo-hookean or stvk.");
    } else if (!chooseSwings(simulation)) {
        *outExitCode = srCliReportUsage("simulate", "--swings is fade, last or keep.");
    } else if (srSetWorkerCount(simulation->workerCount) != sr_success) {
        *outExitCode = srCliReportUsage("simulate", srGetErrorText());
    } else {
        return true;
    }
    return false;
}

int srCliRunSimulate(int argumentCount, char** arguments) {
    srSimulation simulation = {.params = srDefaultShotParams(), .workerCount = srGetWorkerCount()};
    simulation.inputs = srCliDefaultInputs();
    int exitCode = SR_CLI_EXIT_FINE;
    srCliError error = {{0}};
    if (!readArguments(&simulation, argumentCount, arguments, &exitCode)) {
        return exitCode;
    }
    if (!srCliInputs_ReadMesher(&simulation.inputs, &error)) { // the same cage as `prepare` makes
        return srCliReportFailure("simulate", error.text);
    }
    return simulate(&simulation);
}
