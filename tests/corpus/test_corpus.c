// SPDX-License-Identifier: GPL-3.0-or-later
//
// Every mesh becomes a cage that fits, or is told to have no inside: a sample of the corpus, or with
// SR_CORPUS_ALL=1 in the environment all of it.

#include "corpus/corpus.h"
#include "support/support.h"

#include <stdlib.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_mesh_becomes_a_cage_that_fits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
