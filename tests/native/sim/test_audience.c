// SPDX-License-Identifier: GPL-3.0-or-later
//
// Everybody stands still while the change is made, whoever comes and goes meanwhile.

#include "support/support.h"

#include "core/thread.h"
#include "sim/audience.h"

#include <stdatomic.h>

typedef struct Reader {
    srListener listener;
    int hushedCount;
    int resumedCount;
} Reader;

static void hush(void* context) {
    Reader* reader = context;
    assert_int_equal(reader->hushedCount, reader->resumedCount);
    ++reader->hushedCount;
}

static void resume(void* context) {
    ++((Reader*)context)->resumedCount;
}

static void join(srAudience* audience, Reader* reader) {
    *reader = (Reader){.listener = {.hush = hush, .resume = resume, .context = reader}};
    srAudience_Hold(audience);
    srAudience_Join(audience, &reader->listener);
    srAudience_Release(audience);
}

static void all_who_joined_hear_of_it_once_and_nobody_else(void** state) {
    (void)state;
    srAudience* audience = srCreateAudience();
    Reader readers[5];
    for (int i = 0; i < 5; ++i) {
        join(audience, &readers[i]);
    }
    // from the middle, the end and the beginning of the list
    const int leaving[] = {2, 0, 4};
    for (int gone = 0; gone < 3; ++gone) {
        srAudience_Leave(audience, &readers[leaving[gone]].listener);
        srAudience_Hush(audience);
        srAudience_Resume(audience);
    }
    const int expected[] = {1, 3, 0, 3, 2};
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(readers[i].hushedCount, expected[i]);
        assert_int_equal(readers[i].resumedCount, expected[i]);
    }
    srAudience_Leave(audience, &readers[1].listener);
    srAudience_Leave(audience, &readers[3].listener);
    srDestroyAudience(audience);
}

static void who_never_joined_may_leave(void** state) {
    (void)state;
    srAudience* audience = srCreateAudience();
    Reader there;
    srListener stranger = {0};
    join(audience, &there);
    srAudience_Leave(audience, &stranger);
    srAudience_Hush(audience);
    srAudience_Resume(audience);
    assert_int_equal(there.hushedCount, 1);
    srAudience_Leave(audience, &there.listener);
    srDestroyAudience(audience);
    srDestroyAudience(NULL);
}

typedef struct Leaving {
    srAudience* audience;
    Reader reader;
    atomic_bool hasLeft;
} Leaving;

static void leave(void* context) {
    Leaving* leaving = context;
    srAudience_Leave(leaving->audience, &leaving->reader.listener);
    atomic_store(&leaving->hasLeft, true);
}

static void leaving_waits_for_the_change(void** state) {
    (void)state;
    Leaving leaving = {.audience = srCreateAudience()};
    srThread* thread = NULL;
    join(leaving.audience, &leaving.reader);
    srAudience_Hush(leaving.audience);
    assert_success(srStartThread(leave, &leaving, &thread));
    double end = srGetSeconds() + 0.02;
    while (srGetSeconds() < end) {
        assert_false(atomic_load(&leaving.hasLeft));
        srYield();
    }
    srAudience_Resume(leaving.audience);
    srJoinThread(thread);
    assert_true(atomic_load(&leaving.hasLeft));
    srDestroyAudience(leaving.audience);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_who_joined_hear_of_it_once_and_nobody_else),
        cmocka_unit_test(who_never_joined_may_leave),
        cmocka_unit_test(leaving_waits_for_the_change),
    };
    return cmocka_run_group_tests_name("sim/audience", tests, NULL, srTestNothingLeaked);
}
