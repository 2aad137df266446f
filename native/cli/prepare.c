// SPDX-License-Identifier: GPL-3.0-or-later
//
// `softrig prepare`: from a skin to a prepared character on disk and a report.

#include "cli/verbs.h"

#include "cli/character.h"
#include "cli/options.h"
#include "cli/system.h"

#include <stdio.h>

static const char usage[] =
    "Usage: softrig prepare MESH -o CHARACTER [--rig RIG] [--nodes N] [--mesher NAME]\n"
    "                       [--largest-hole PERCENT] [--sheet-thickness PERCENT] [--fill-hollows]\n"
    "                       [--join-touching] [--cage CAGE.mesh] [--workers N] [--json]\n"
    "\n"
    "Fits a cage of tetrahedra to the inside of a surface, brings the rig to it, says what was found and\n"
    "made, and stores the prepared character (docs/character-format.md) for `softrig simulate --prepared`.\n"
    "\n"
    "  MESH           the skin, OBJ or OFF; holes, overlaps and several pieces are fine\n"
    "  -o FILE        the prepared character; replaced when the new one is whole\n"
    "  --rig RIG      bones and weights (docs/rig-format.md)\n"
    "  --nodes N      wanted size of the cage, 50 to 200,000 (default 1,000)\n"
    "  --mesher NAME  auto (default: tetgen for a closed, clean, fine skin, else lattice), lattice, or\n"
    "                 tetgen (follows the skin; where it fails, the lattice answers)\n"
    "  --largest-hole PERCENT     holes up to this share of the skin's size (the diagonal of its bounds) "
    "are\n"
    "                             closed (default 20); larger ones stay open\n"
    "  --sheet-thickness PERCENT  of the skin's size: what encloses nothing, such as fins, gets so thick; 0 "
    "to\n"
    "                             100, 0 leaves it out (default 1)\n"
    "  --fill-hollows             hollows within flesh are flesh too\n"
    "  --join-touching            parts that touch hang together; else they stay apart, as fingers must\n"
    "  --cage FILE    also writes the cage alone, in MEDIT's text format\n"
    "  --workers N    threads, 1 to 64; the result does not depend on it\n"
    "  --json         prints one line for machines instead of the table\n";

static bool writeCage(srCharacterId character, const srCharacterReport* report, const char* path,
                      srCliError* error) {
    float* nodes = srCliResize(NULL, 3 * sizeof(float) * (size_t)report->nodeCount);
    int32_t* cells = srCliResize(NULL, 4 * sizeof(int32_t) * (size_t)report->cellCount);
    bool isWritten = nodes != NULL && cells != NULL;
    if (!isWritten) {
        srCliFailMemory(error);
    } else if (srCharacter_ReadCage(character, nodes, report->nodeCount, cells, report->cellCount) !=
               sr_success) {
        isWritten = srCliFailLibrary(error, "Reading the cage");
    } else {
        isWritten = srCliWriteMedit(path, nodes, report->nodeCount, cells, report->cellCount, error);
    }
    srCliResize(nodes, 0);
    srCliResize(cells, 0);
    return isWritten;
}

static bool checkOutputs(const srCliInputs* inputs, const char* outputPath, const char* cagePath,
                         srCliError* error) {
    srCliKept kept = {0};
    srCliKeepInput(&kept, inputs->skinPath);
    srCliKeepInput(&kept, inputs->rigPath);
    if (!srCliCheckOutput(outputPath, &kept, error)) {
        return false;
    }
    srCliKeepOutput(&kept, outputPath);
    return cagePath == NULL || srCliCheckOutput(cagePath, &kept, error);
}

static bool prepare(srCliInputs* inputs, const char* outputPath, const char* cagePath, bool wantsJson,
                    srCliError* error) {
    srCharacterId character = {0};
    srCharacterReport report = {0};
    bool isDone = checkOutputs(inputs, outputPath, cagePath, error) && srCliInputs_Read(inputs, error) &&
                  srCliPrepareCharacter(inputs, &character, &report, error) &&
                  srCliStoreCharacter(character, outputPath, error) &&
                  (cagePath == NULL || writeCage(character, &report, cagePath, error));
    if (isDone && wantsJson) {
        srCliPrintReportJson(inputs, &report);
    } else if (isDone) {
        srCliPrintReport(inputs, &report);
    }
    srDestroyCharacter(character);
    srCliInputs_Free(inputs);
    return isDone;
}

int srCliRunPrepare(int argumentCount, char** arguments) {
    srCliInputs inputs = srCliDefaultInputs();
    const char* outputPath = NULL;
    const char* cagePath = NULL;
    int32_t workerCount = srGetWorkerCount();
    bool wantsJson = false;
    bool wantsHelp = false;
    const srCliOption table[] = {
        {"-o", sr_cliOptionText, &outputPath},
        {"--rig", sr_cliOptionText, &inputs.rigPath},
        {"--nodes", sr_cliOptionInteger, &inputs.nodeCount},
        {"--mesher", sr_cliOptionText, &inputs.mesherName},
        {"--largest-hole", sr_cliOptionNumber, &inputs.largestHolePercent},
        {"--sheet-thickness", sr_cliOptionNumber, &inputs.sheetThicknessPercent},
        {"--fill-hollows", sr_cliOptionFlag, &inputs.fillsHollows},
        {"--join-touching", sr_cliOptionFlag, &inputs.joinsTouching},
        {"--cage", sr_cliOptionText, &cagePath},
        {"--workers", sr_cliOptionInteger, &workerCount},
        {"--json", sr_cliOptionFlag, &wantsJson},
        {"--help", sr_cliOptionFlag, &wantsHelp},
    };
    srCliOptions options = {table, sizeof(table) / sizeof(table[0]), &inputs.skinPath, 1, 0};
    srCliError error = {{0}};
    if (!srCliParseOptions(&options, argumentCount, arguments, &error)) {
        return srCliReportUsage("prepare", error.text);
    }
    if (wantsHelp) {
        fputs(usage, stdout);
        return SR_CLI_EXIT_FINE;
    }
    if (inputs.skinPath == NULL || outputPath == NULL) {
        return srCliReportUsage("prepare", "A MESH and -o CHARACTER are needed.");
    }
    if (!srCliInputs_ReadMesher(&inputs, &error)) {
        return srCliReportUsage("prepare", error.text);
    }
    if (srSetWorkerCount(workerCount) != sr_success) {
        return srCliReportUsage("prepare", srGetErrorText());
    }
    return prepare(&inputs, outputPath, cagePath, wantsJson, &error)
               ? SR_CLI_EXIT_FINE
               : srCliReportFailure("prepare", error.text);
}
