// SPDX-License-Identifier: GPL-3.0-or-later
//
// The library goes while work that nobody waits for is still in it: unloading waits for that work, for its
// code is about to be gone.

#include "support/support.h"

#include "core/thread.h"
#include "softrig/softrig.h"
#include "support/scenes.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define MOMENT_COUNT 6

// not the library that this test is linked with
typedef struct Loaded {
    void* library;
    srResult (*create)(const srCharacterDef* def, srCharacterId* outCharacter);
    srResult (*wait)(srCharacterId character, double seconds);
    srResult (*destroy)(srCharacterId character);
} Loaded;

static void find(const Loaded* loaded, const char* name, void* outFunction) {
    void* symbol = dlsym(loaded->library, name);
    assert_non_null(symbol);
    memcpy(outFunction, &symbol, sizeof(symbol));
}

static Loaded load(void) {
    Loaded loaded = {.library = dlopen(SR_SHARED_LIBRARY, RTLD_NOW | RTLD_LOCAL)};
    if (loaded.library == NULL) {
        fail_msg("%s", dlerror());
    }
    find(&loaded, "srCreateCharacter", (void*)&loaded.create);
    find(&loaded, "srCharacter_Wait", (void*)&loaded.wait);
    find(&loaded, "srDestroyCharacter", (void*)&loaded.destroy);
    return loaded;
}

static bool isMapped(void) {
    char line[4096];
    bool isFound = false;
    FILE* maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        isFound = isFound || strstr(line, SR_SHARED_LIBRARY) != NULL;
    }
    fclose(maps);
    return isFound;
}

static void cancelled_work_ends_before_the_library_is_unloaded(void** state) {
    (void)state;
    srTestScene scene;
    assert_true(srTestCreateTailScene(&scene));
    scene.def.targetNodeCount = 20000;
    for (int moment = 0; moment < MOMENT_COUNT; moment++) {
        Loaded loaded = load();
        srCharacterId character;
        assert_int_equal(loaded.create(&scene.def, &character), sr_success);
        srResult result = loaded.wait(character, 0.08 * moment);
        assert_true(result == sr_success || result == sr_errorNotReady);
        assert_int_equal(loaded.destroy(character), sr_success);
        assert_true(isMapped());
        assert_int_equal(dlclose(loaded.library), 0);
        if (isMapped()) {
            // some systems and sanitizers keep what was loaded: then there is nothing to show
            print_message("the library stays\n");
        }
    }
    srTestDestroyScene(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelled_work_ends_before_the_library_is_unloaded),
    };
    return cmocka_run_group_tests_name("api/unload", tests, NULL, srTestNothingLeaked);
}
