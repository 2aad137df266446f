// SPDX-License-Identifier: GPL-3.0-or-later
//
// What `prepare` and `simulate` share: reading skin, rig and cage, and preparing a character from them.

#pragma once

#include "cli/files.h"
#include "cli/system.h"

#include "softrig/softrig.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct srCliInputs {
    const char* skinPath;
    const char* rigPath;      ///< Null: a skin without bones.
    const char* cagePath;     ///< Null: the library makes the cage.
    const char* preparedPath; ///< A stored character: nothing is prepared then. Or null.
    int32_t nodeCount;        ///< Wanted size of the cage.
    float largestHolePercent; ///< Of the skin's diagonal, as the next.
    float sheetThicknessPercent;
    bool fillsHollows;
    bool joinsTouching;
    const char* mesherName;               ///< "auto", "lattice" or "tetgen"; null: auto.
    int32_t mesher;                       ///< An `srMesher`, filled by that.
    char tetgenProgram[SR_CLI_PATH_SIZE]; ///< Likewise: beside this program.
    srCliMesh skin;
    srCliRig rig;
    srCliMesh cage;
} srCliInputs;

/// No files yet, and the library's defaults.
srCliInputs srCliDefaultInputs(void);

/// Understands the mesher's name, and finds what it needs.
bool srCliInputs_ReadMesher(srCliInputs* inputs, srCliError* error);

/// Reads the files that the paths name, and checks that they belong together.
bool srCliInputs_Read(srCliInputs* inputs, srCliError* error);
void srCliInputs_Free(srCliInputs* inputs);

/// Writes the prepared character as it is; half of it never stands under its name.
bool srCliStoreCharacter(srCharacterId character, const char* path, srCliError* error);

/// Opens the stored character, or prepares and waits, with progress. The caller destroys the character, also
/// after a failure.
bool srCliPrepareCharacter(const srCliInputs* inputs, srCharacterId* outCharacter,
                           srCharacterReport* outReport, srCliError* error);

/// Says on stdout what was found and made, and how long it took.
void srCliPrintReport(const srCliInputs* inputs, const srCharacterReport* report);

/// The same as one line of JSON: every number of the report by its name.
void srCliPrintReportJson(const srCliInputs* inputs, const srCharacterReport* report);
