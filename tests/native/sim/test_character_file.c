// SPDX-License-Identifier: GPL-3.0-or-later
//
// A stored character is the prepared one to the bit, and bytes that are none are refused with a sentence,
// however well they hash.

#include "support/support.h"

#include "core/hash.h"
#include "sim/character_file.h"
#include "sim/simulation.h"
#include "support/scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 8
#define DEFAULT_FUZZ_RUNS 3000

// where the format says that things are (docs/character-format.md)
enum {
    orderOffset = 8,
    versionOffset = 12,
    sizeOffset = 16,
    hashOffset = 24,
    hashedFrom = 32,
    tableOffset = 64,
    entrySize = 32
};

typedef struct File {
    unsigned char* bytes;
    size_t size;
} File;

static srTestScene barScene;
static srTestScene tailScene;
static srCharacter bar;
static srCharacter tail;

static float* paint(int32_t count, float lowest, float highest) {
    float* values = malloc(sizeof(float) * (size_t)count);
    for (int32_t v = 0; values != NULL && v < count; ++v) {
        values[v] = lowest + (highest - lowest) * (float)v / (float)count;
    }
    return values;
}

static bool prepare(const srTestScene* scene, srCharacter* out) {
    srSource source;
    bool isMade = srCopySource(&scene->def, &source) == sr_success;
    isMade = isMade && srPrepareCharacter(&source, NULL, out) == sr_success;
    srDestroySource(&source);
    return isMade;
}

static int prepareAll(void** state) {
    (void)state;
    bool isMade = srTestCreateBarScene(&barScene) && srTestCreateTailScene(&tailScene);
    tailScene.def.maps.stiffness = paint(tailScene.def.skinVertexCount, 0.3f, 3.0f);
    tailScene.def.maps.pin = paint(tailScene.def.skinVertexCount, 0.0f, 1.0f);
    return isMade && prepare(&barScene, &bar) && prepare(&tailScene, &tail) ? 0 : -1;
}

static int forgetAll(void** state) {
    srDestroyCharacterRest(&bar);
    srDestroyCharacterRest(&tail);
    free((void*)tailScene.def.maps.stiffness);
    free((void*)tailScene.def.maps.pin);
    srTestDestroyScene(&barScene);
    srTestDestroyScene(&tailScene);
    return srTestNothingLeaked(state);
}

static File store(const srCharacter* character) {
    File file = {.size = srGetCharacterFileSize(character)};
    file.bytes = malloc(file.size);
    assert_non_null(file.bytes);
    memset(file.bytes, 0xa5, file.size);
    srWriteCharacterFile(character, file.bytes);
    return file;
}

static uint64_t simulate(const srCharacter* character, const srTestScene* scene) {
    srShotDef def = {.firstFrame = 1, .frameCount = FRAMES, .frameRate = SR_TEST_FRAME_RATE};
    def.params = (srShotParams){.structSize = sizeof(srShotParams),
                                .frequency = 2.0f,
                                .settleFrames = 24.0f,
                                .poissonRatio = 0.45f,
                                .density = 1000.0f,
                                .substeps = 3};
    srSimulation* simulation = NULL;
    uint64_t hash = 0;
    float* rows = malloc(sizeof(float) * (size_t)srTestScene_GetRowFloatCount(scene) * FRAMES);
    assert_non_null(rows);
    srTestScene_WriteRows(scene, srTestShake, 0, FRAMES, rows);
    assert_success(srCreateSimulation(character, &def, &simulation));
    assert_success(srSimulation_WriteTape(simulation, 1, FRAMES, rows, NULL));
    assert_success(srSimulation_WaitFrame(simulation, FRAMES, -1.0));
    assert_success(srSimulation_GetHash(simulation, FRAMES, &hash));
    srDestroySimulation(simulation);
    free(rows);
    return hash;
}

static void checkRoundTrip(const srCharacter* character, const srTestScene* scene) {
    File file = store(character);
    // at no multiple of anything, as a host may hand them over
    unsigned char* shifted = malloc(file.size + 3);
    assert_non_null(shifted);
    memcpy(shifted + 3, file.bytes, file.size);
    srCharacter opened;
    assert_success(srReadCharacterFile(shifted + 3, file.size, &opened));
    memset(shifted, 0, file.size + 3);
    free(shifted);

    File again = store(&opened);
    assert_int_equal(again.size, file.size);
    assert_memory_equal(again.bytes, file.bytes, file.size);
    srCharacterReport expected = character->report;
    expected.surfaceSeconds = expected.cageSeconds = expected.embeddingSeconds = 0.0f;
    expected.weightsSeconds = expected.holdSeconds = expected.mapsSeconds = expected.totalSeconds = 0.0f;
    expected.peakMegabytes = 0.0f;
    assert_memory_equal(&opened.report, &expected, sizeof(expected));
    assert_true(simulate(&opened, scene) == simulate(character, scene));
    srDestroyCharacterRest(&opened);
    free(file.bytes);
    free(again.bytes);
}

static void what_is_stored_is_simulated_to_the_same_bits(void** state) {
    (void)state;
    checkRoundTrip(&bar, &barScene);
    checkRoundTrip(&tail, &tailScene);
}

static void a_character_without_bones_can_be_stored(void** state) {
    (void)state;
    srTestScene bare = barScene;
    srCharacter character;
    bare.def.boneCount = 0;
    bare.def.spaceCount = 0;
    bare.def.weightStarts = NULL;
    assert_true(prepare(&bare, &character));
    checkRoundTrip(&character, &bare);
    srDestroyCharacterRest(&character);
}

static void preparing_twice_gives_the_same_file(void** state) {
    (void)state;
    srCharacter second;
    assert_true(prepare(&tailScene, &second));
    File one = store(&tail);
    File two = store(&second);
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.bytes, two.bytes, one.size);
    free(one.bytes);
    free(two.bytes);
    srDestroyCharacterRest(&second);
}

static void rehash(File* file) {
    uint64_t size = file->size;
    uint64_t hash = srHashBlock(file->bytes + hashedFrom, file->size - hashedFrom);
    memcpy(file->bytes + sizeOffset, &size, sizeof(size));
    memcpy(file->bytes + hashOffset, &hash, sizeof(hash));
}

static void expectRefused(const File* file, const char* word) {
    srCharacter opened;
    assert_result(srReadCharacterFile(file->bytes, file->size, &opened), sr_errorBadFile);
    assert_non_null(strstr(srGetErrorText(), word));
}

static void other_files_versions_and_machines_are_told_apart(void** state) {
    (void)state;
    File file = store(&bar);
    const struct {
        size_t offset;
        const char* word;
    } cases[] = {{0, "not a stored character"}, {orderOffset, "byte order"}, {versionOffset, "version"},
                 {sizeOffset, "cut"},           {hashOffset, "hash"},        {hashedFrom + 400, "hash"}};
    for (int i = 0; i < SR_ARRAY_COUNT(cases); ++i) {
        file.bytes[cases[i].offset] ^= 0x41;
        expectRefused(&file, cases[i].word);
        file.bytes[cases[i].offset] ^= 0x41;
    }
    free(file.bytes);
}

static void a_file_that_is_cut_anywhere_is_refused(void** state) {
    (void)state;
    File whole = store(&bar);
    for (size_t size = 0; size < whole.size; size += 1 + size / 16) {
        // a block of its own, so that a sanitizer sees what is read behind it
        File cut = {malloc(size + 1), size};
        srCharacter opened;
        memcpy(cut.bytes, whole.bytes, size);
        assert_result(srReadCharacterFile(cut.bytes, size, &opened), sr_errorBadFile);
        if (size >= tableOffset) {
            rehash(&cut);
            assert_result(srReadCharacterFile(cut.bytes, size, &opened), sr_errorBadFile);
        }
        free(cut.bytes);
    }
    free(whole.bytes);
}

// the entry of a section, by its four letters
static unsigned char* findEntry(const File* file, const char* tag) {
    for (size_t at = tableOffset; at < file->size; at += entrySize) {
        if (memcmp(file->bytes + at, tag, 4) == 0) {
            return file->bytes + at;
        }
    }
    fail_msg("no section %s", tag);
    return NULL;
}

static unsigned char* findSection(const File* file, const char* tag) {
    uint64_t offset;
    memcpy(&offset, findEntry(file, tag) + 16, sizeof(offset));
    return file->bytes + offset;
}

typedef struct Damage {
    const char* tag;
    size_t offset;
    const void* bytes;
    size_t size;
    const char* word;
} Damage;

static void each_array_is_checked_although_it_hashes_right(void** state) {
    (void)state;
    const int32_t minus = -1, many = 1 << 30, zero = 0, two = 2;
    const double nan = NAN, huge = 1e300, negative = -0.5;
    const float nanFloat = NAN, over = 1.5f, far = 50.0f, below = -1.0f;
    const Damage damages[] = {
        {"fact", 8, &minus, 4, "facts"},      {"fact", 0, &nan, 8, "facts"},
        {"fact", 12, &minus, 4, "facts"},     {"rept", 8, &nanFloat, 4, "report"},
        {"node", 16, &nan, 8, "place"},       {"node", 0, &huge, 8, "place"},
        {"cell", 20, &minus, 4, "corner"},    {"cell", 4, &many, 4, "corner"},
        {"edge", 0, &minus, 4, "edge"},       {"edge", 12, &zero, 4, "edges"},
        {"pnod", 0, &many, 4, "vertex"},      {"pnod", 12, &minus, 4, "vertex"},
        {"pwgt", 4, &far, 4, "weight"},       {"pwgt", 4, &nanFloat, 4, "weight"},
        {"binv", 24, &nan, 8, "bone"},        {"bspc", 4, &two, 4, "bone"},
        {"wsta", 4, &many, 4, "weight"},      {"wsta", 0, &two, 4, "weight"},
        {"wbon", 0, &many, 4, "weight"},      {"wval", 0, &nan, 8, "sum"},
        {"wval", 8, &negative, 8, "sum"},     {"hold", 0, &over, 4, "hold"},
        {"hold", 4, &nanFloat, 4, "hold"},    {"dist", 0, &below, 4, "hold"},
        {"eord", 0, &many, 4, "order"},       {"esta", 0, &two, 4, "order"},
        {"cord", 4, &minus, 4, "order"},      {"csta", 4, &many, 4, "order"},
        {"mpin", 8, &over, 4, "painted"},     {"mstf", 0, &zero, 4, "painted"},
        {"mstf", 0, &nanFloat, 4, "painted"}, {"baxs", 8, &nan, 8, "direction"},
        {"baxs", 24, &huge, 8, "direction"},
    };
    File file = store(&tail);
    for (int i = 0; i < SR_ARRAY_COUNT(damages); ++i) {
        const Damage* damage = &damages[i];
        unsigned char kept[16];
        unsigned char* at = findSection(&file, damage->tag) + damage->offset;
        memcpy(kept, at, damage->size);
        memcpy(at, damage->bytes, damage->size);
        rehash(&file);
        expectRefused(&file, damage->word);
        memcpy(at, kept, damage->size);
    }
    free(file.bytes);
}

static void a_table_that_lies_is_refused(void** state) {
    (void)state;
    File file = store(&tail);
    const uint64_t counts[] = {0, 1, 7, (uint64_t)1 << 31, (uint64_t)1 << 62, UINT64_MAX};
    const uint64_t offsets[] = {1, 63, (uint64_t)1 << 40, UINT64_MAX - 63, UINT64_MAX};
    const char* tags[] = {"node", "cell", "edge", "pnod", "pwgt", "wsta", "wval", "esta", "cord", "mpin"};
    for (int t = 0; t < SR_ARRAY_COUNT(tags); ++t) {
        unsigned char* entry = findEntry(&file, tags[t]);
        unsigned char kept[entrySize];
        memcpy(kept, entry, entrySize);
        for (int i = 0; i < SR_ARRAY_COUNT(counts); ++i) {
            if (memcmp(kept + 8, &counts[i], 8) != 0) {
                memcpy(entry + 8, &counts[i], 8);
                rehash(&file);
                expectRefused(&file, "damaged");
            }
        }
        memcpy(entry, kept, entrySize);
        for (int i = 0; i < SR_ARRAY_COUNT(offsets); ++i) {
            memcpy(entry + 16, &offsets[i], 8);
            rehash(&file);
            expectRefused(&file, "damaged");
        }
        // twice the same section
        memcpy(entry, findEntry(&file, "fact"), entrySize);
        rehash(&file);
        expectRefused(&file, "damaged");
        memcpy(entry, kept, entrySize);
    }
    free(file.bytes);
}

static void sections_of_a_later_change_are_passed_over(void** state) {
    (void)state;
    File file = store(&tail);
    srCharacter opened;
    memcpy(findEntry(&file, "mpin"), "zzzz", 4);
    rehash(&file);
    assert_success(srReadCharacterFile(file.bytes, file.size, &opened));
    assert_null(opened.maps.values[sr_mapPin]);
    assert_non_null(opened.maps.values[sr_mapStiffness]);
    srDestroyCharacterRest(&opened);
    free(file.bytes);
}

static uint32_t random32(uint64_t* seed) {
    return (uint32_t)(4294967296.0 * srTestRandom(seed));
}

// what files are damaged by: bits, words that mean something, words from elsewhere, lost ends
static void mutate(File* file, uint64_t* seed) {
    static const uint32_t words[] = {0,          1,          0xffffffff, 0x7fffffff, 0x80000000,
                                     0x7f800000, 0x7fc00000, 0xff800000, 0x3f800000, 0x00000100};
    int count = 1 + (int)(random32(seed) % 4);
    for (int i = 0; i < count; ++i) {
        bool isHead = random32(seed) % 3 == 0;
        size_t range = isHead ? tableOffset + 24 * entrySize : file->size;
        range = range < file->size ? range : file->size;
        size_t at = random32(seed) % range;
        size_t word = at / 4 * 4;
        uint32_t value = words[random32(seed) % 10];
        switch (random32(seed) % 5) {
        case 0:
            file->bytes[at] ^= (unsigned char)(1u << random32(seed) % 8);
            break;
        case 1:
            file->bytes[at] = (unsigned char)random32(seed);
            break;
        case 2:
            memcpy(file->bytes + word, &value, 4);
            break;
        case 3:
            memcpy(file->bytes + word, file->bytes + random32(seed) % (file->size - 4) / 4 * 4, 4);
            break;
        default:
            file->size = random32(seed) % 64 == 0 ? file->size - at % 512 : file->size;
            break;
        }
    }
}

// Whatever is accepted must also be fit to be simulated.
static void damaged_files_are_refused_or_harmless(void** state) {
    (void)state;
    const char* wanted = getenv("SR_FUZZ_RUNS");
    long runs = wanted != NULL ? strtol(wanted, NULL, 10) : DEFAULT_FUZZ_RUNS;
    uint64_t seed = 4711;
    File whole = store(&bar);
    int32_t acceptedCount = 0;
    for (long run = 0; run < runs; ++run) {
        File file = {malloc(whole.size), whole.size};
        assert_non_null(file.bytes);
        memcpy(file.bytes, whole.bytes, whole.size);
        mutate(&file, &seed);
        if (run % 8 != 0 && file.size > tableOffset) {
            rehash(&file);
        }
        srCharacter opened;
        srResult result = srReadCharacterFile(file.bytes, file.size, &opened);
        free(file.bytes);
        if (result == sr_success) {
            ++acceptedCount;
            bool fits = opened.rig.boneCount == bar.rig.boneCount && opened.rig.spaceCount == 1;
            if (fits && acceptedCount % 16 == 1) {
                simulate(&opened, &barScene);
            }
            srDestroyCharacterRest(&opened);
        } else {
            assert_int_equal(result, sr_errorBadFile);
            assert_string_not_equal(srGetErrorText(), "");
        }
    }
    // padding, and low bits of places and weights, harm nobody; the rest must not get through
    assert_in_range(acceptedCount, runs / 100, runs * 3 / 4);
    free(whole.bytes);
}

static srResult openAndFree(void* context) {
    const File* file = context;
    srCharacter opened;
    SR_TRY(srReadCharacterFile(file->bytes, file->size, &opened));
    srDestroyCharacterRest(&opened);
    return sr_success;
}

static void every_failing_allocation_is_an_error_and_no_leak(void** state) {
    (void)state;
    File file = store(&tail);
    srDestroyCharacterRest(&bar);
    srDestroyCharacterRest(&tail);
    srTestEveryAllocationFails(openAndFree, &file);
    free(file.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_stored_is_simulated_to_the_same_bits),
        cmocka_unit_test(a_character_without_bones_can_be_stored),
        cmocka_unit_test(preparing_twice_gives_the_same_file),
        cmocka_unit_test(other_files_versions_and_machines_are_told_apart),
        cmocka_unit_test(a_file_that_is_cut_anywhere_is_refused),
        cmocka_unit_test(each_array_is_checked_although_it_hashes_right),
        cmocka_unit_test(a_table_that_lies_is_refused),
        cmocka_unit_test(sections_of_a_later_change_are_passed_over),
        cmocka_unit_test(damaged_files_are_refused_or_harmless),
        // the last: it wants nothing else to be alive
        cmocka_unit_test(every_failing_allocation_is_an_error_and_no_leak),
    };
    return cmocka_run_group_tests_name("sim/character_file", tests, prepareAll, forgetAll);
}
