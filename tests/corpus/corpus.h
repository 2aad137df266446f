// SPDX-License-Identifier: GPL-3.0-or-later
//
// The corpus: clean shapes, meshes that enclose nothing, damaged ones from seeds, and files. Each case is run
// through the public door in a process of its own, so that a crash or a hang is an outcome like others. Lives
// here: the cases, how they are run, what is expected of each. Does not: the judgement (fits.h).

#pragma once

#include "corpus/damage.h"
#include "corpus/fits.h"

typedef enum srExpectation {
    sr_expectFit,
    sr_expectFitOrNothing, ///< A sheet: a cage that gives it a thickness, or "no inside".
    sr_expectNothing,      ///< "No inside", or "bad mesh" where no triangle with an area is left.
} srExpectation;

typedef enum srFamily {
    sr_familyClean,
    sr_familyNothing,
    sr_familyDamaged,
    sr_familyFile,
} srFamily;

typedef struct srCase {
    char name[96];
    char damage[32]; ///< Or what else puts it beside others.
    srFamily family;
    srExpectation expectation;
    srPatient patient;
    srFitLimits limits;
    int32_t wantedNodes;
    double aparts[8][6];
    double leastPaths[8];
    int32_t apartCount;
} srCase;

typedef enum srOutcome {
    sr_outcomeFits,
    sr_outcomeMisfits,
    sr_outcomeNoInside,
    sr_outcomeRefused,
    sr_outcomeCrash,
    sr_outcomeHang,
    sr_outcomeLeak,
    sr_outcomeCount
} srOutcome;

typedef struct srVerdict {
    srOutcome outcome;
    bool isAsExpected;
    srFitReport fit;   ///< Of a cage.
    double seconds;    ///< Preparing.
    double cpuSeconds; ///< Of the process until then.
    char text[200];    ///< What is wrong: misfits, the sentence of a failure, or a signal.
} srVerdict;

/// How many there are without files.
int32_t srCountCases(void);

/// The n-th; the first ones are clean, the damaged ones come last.
srCase srMakeCase(int32_t index);

/// The same, but that the seeds of damages begin at another one: other damages, shapes and counts of nodes.
srCase srMakeCaseOf(int32_t index, int32_t firstSeed);

/// A file as a case. False, with a sentence on stderr, when it cannot be read.
bool srMakeFileCase(const char* path, srCase* outCase);

void srDestroyCase(srCase* testCase);

/// Runs one case. Starts a process; no thread of the library may be alive in this one.
srVerdict srRunCase(const srCase* testCase);

/// What stands under it: runs `body` in a process of its own, which ends when it has used that much of a
/// processor.
typedef void srCaseFcn(const srCase* testCase, srVerdict* verdict);
srVerdict srRunApart(srCaseFcn* body, const srCase* testCase, int32_t cpuSeconds);

/// Writes every clean shape as an OBJ file into a folder. False, with a sentence on stderr, when it cannot.
bool srExportShapes(const char* folder);

const char* srGetOutcomeName(srOutcome outcome);
