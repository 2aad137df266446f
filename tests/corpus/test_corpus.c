// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every mesh becomes a cage that fits, or is told to have no inside: a sample of the corpus, or with
// SR_CORPUS_ALL=1 in the environment all of it.

#include "corpus/corpus.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

// every so many cases: one more than a damage has seeds, so that each damage is met, each with another seed
#define SAMPLE_STEP 23

static void every_mesh_becomes_a_cage_that_fits(void** state) {
    (void)state;
    const char* all = getenv("SR_CORPUS_ALL");
    int32_t step = all != NULL && all[0] == '1' ? 1 : SAMPLE_STEP, failed = 0, run = 0;
    for (int32_t i = 0; i < srCountCases(); i += step, run++) {
        srCase made = srMakeCase(i);
        srVerdict verdict = srRunCase(&made);
        if (!verdict.isAsExpected) {
            printf("%s: %s (%s)\n", made.name, srGetOutcomeName(verdict.outcome), verdict.text);
            failed++;
        }
        srDestroyCase(&made);
    }
    if (failed > 0) {
        fail_msg("%d of %d cases are not as they should be", failed, run);
    }
}

// Damages of other seeds whose cages once did not fit.
static void what_once_did_not_fit_does(void** state) {
    (void)state;
    static const struct {
        int32_t firstSeed;
        const char* name;
    } cases[] = {
        {22, "cube, holes, seed 28, 400 nodes"},         // a third of the skin is missing
        {22, "cube, several, seed 36, 200 nodes"},       // open: cones over the holes say too little
        {44, "solid plane, crumbs, seed 44, 200 nodes"}, // crumbs in the middle of tetrahedra
        {44, "cone, crumbs, seed 52, 700 nodes"},
        {44, "hand, crumbs, seed 53, 200 nodes"},            // a finer lattice has as many nodes
        {7000, "thighs, double skin, seed 7001, 200 nodes"}, // a sixth of the cells was pinched off
    };
    for (int32_t c = 0; c < SR_ARRAY_COUNT(cases); c++) {
        bool isFound = false;
        for (int32_t i = srCountCases() - 1; i >= 0 && !isFound; i--) {
            srCase made = srMakeCaseOf(i, cases[c].firstSeed);
            isFound = strcmp(made.name, cases[c].name) == 0;
            srVerdict verdict = {.isAsExpected = true};
            if (isFound) {
                verdict = srRunCase(&made);
            }
            srDestroyCase(&made);
            if (!verdict.isAsExpected) {
                fail_msg("%s: %s (%s)", cases[c].name, srGetOutcomeName(verdict.outcome), verdict.text);
            }
        }
        assert_true(isFound);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mesh_becomes_a_cage_that_fits),
        cmocka_unit_test(what_once_did_not_fit_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
