// SPDX-License-Identifier: GPL-3.0-or-later

#include "math/factor_layout.h"

#include "core/alloc.h"
#include "core/file.h"
#include "math/solve.h"
#include "matrices.h"

#include <stddef.h>
#include <stdio.h>

enum {
    bothKinds = sr_factorFloat | sr_factorDouble,
    mutationCount = 20000
};

static srFactor makeFactor(int32_t nx, int32_t ny, int32_t nz, int kinds) {
    srCsc A = makeGrid(nx, ny, nz, 0.1, NULL);
    srCholesky* cholesky;
    srFactor f;
    assert_success(srCreateCholesky(&A, &cholesky));
    assert_success(srCreateFactor(cholesky, kinds, &f));
    srDestroyCholesky(cholesky);
    srDestroyCsc(&A);
    return f;
}

static void solveBoth(const srFactor* f, float* xFloat, double* x) {
    double* b = makeNumbers(3 * (size_t)f->size, 3);
    size_t size = srFactor_GetScratchSize(f);
    void* scratch = srAlloc(size, 1);
    for (int32_t i = 0; i < 3 * f->size; i++) {
        xFloat[i] = (float)b[i];
    }
    assert_success(srFactor_SolveFloat(f, xFloat, xFloat, scratch));
    assert_success(srFactor_SolveDouble(f, b, x, scratch));
    srFree(scratch, size, 1);
    free(b);
}

static void stored_factor_solves_with_the_same_bits(void** state) {
    (void)state;
    enum {
        count = 3 * 7 * 8 * 9
    };
    static float xFloat[count], yFloat[count];
    static double x[count], y[count];
    srFactor f = makeFactor(7, 8, 9, bothKinds), g;

    // to a file and back
    char path[600];
    srFileWriter* writer;
    srTestPath("factor.bin", path, sizeof(path));
    assert_success(srOpenFileWriter(path, &writer));
    assert_success(srFileWriter_Write(writer, f.bytes, f.byteCount));
    assert_success(srFileWriter_Commit(writer));
    char* bytes = srAlloc(f.byteCount + SR_FACTOR_ALIGNMENT, 1);
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, f.byteCount, file), f.byteCount);
    fclose(file);

    assert_success(srOpenFactor(bytes, f.byteCount, &g));
    assert_ptr_equal(g.bytes, bytes); // in place
    assert_null(g.ownedBytes);
    solveBoth(&f, xFloat, x);
    solveBoth(&g, yFloat, y);
    assert_memory_equal(x, y, sizeof(x));
    assert_memory_equal(xFloat, yFloat, sizeof(xFloat));
    srDestroyFactor(&g);

    // from where it is not aligned, with something behind it
    memmove(bytes + 4, bytes, f.byteCount);
    assert_success(srOpenFactor(bytes + 4, f.byteCount + 60, &g));
    assert_non_null(g.ownedBytes);
    assert_int_equal(g.byteCount, f.byteCount);
    solveBoth(&g, yFloat, y);
    assert_memory_equal(x, y, sizeof(x));
    srDestroyFactor(&g);
    srFree(bytes, f.byteCount + SR_FACTOR_ALIGNMENT, 1);
    srDestroyFactor(&f);
}

static void kind_that_is_not_there_takes_no_bytes(void** state) {
    (void)state;
    srFactor both = makeFactor(9, 9, 9, bothKinds);
    srFactor floats = makeFactor(9, 9, 9, sr_factorFloat), doubles = makeFactor(9, 9, 9, sr_factorDouble);
    assert_true(floats.byteCount < doubles.byteCount && doubles.byteCount < both.byteCount);
    assert_null(floats.doublePanels);
    assert_null(doubles.floatPanels);
    srDestroyFactor(&both);
    srDestroyFactor(&floats);
    srDestroyFactor(&doubles);
}

static void every_truncation_is_refused(void** state) {
    (void)state;
    srFactor f = makeFactor(3, 4, 5, bothKinds), g;
    char* bytes = srAlloc(f.byteCount, 1);
    for (size_t size = 0; size < f.byteCount; size++) {
        // at the end of the block, so that AddressSanitizer sees who reads on
        char* at = bytes + (f.byteCount - size);
        memcpy(at, f.bytes, size);
        assert_result(srOpenFactor(at, size, &g), sr_errorInvalidValue);
    }
    srFree(bytes, f.byteCount, 1);
    srDestroyFactor(&f);
}

// Opens what may be damaged; what opens must solve to numbers or say that it cannot. True when it opened.
static bool useHarmlessly(const void* bytes, size_t size) {
    srFactor g;
    srSetErrorText("");
    srResult result = srOpenFactor(bytes, size, &g);
    if (result != sr_success) {
        assert_int_equal(result, sr_errorInvalidValue);
        assert_true(srGetErrorText()[0] != '\0');
        return false;
    }
    size_t scratchSize = srFactor_GetScratchSize(&g), count = 3 * (size_t)g.size;
    void* scratch = srAlloc(scratchSize, 1);
    double *b = makeNumbers(count, 3), *x = malloc(count * sizeof(double));
    float* xFloat = calloc(count, sizeof(float));
    if (g.doublePanels != NULL) {
        result = srFactor_SolveDouble(&g, b, x, scratch);
        assert_true(result == sr_success || result == sr_errorNotFinite);
        for (size_t i = 0; i < count; i++) {
            assert_true(isfinite(x[i]));
        }
    }
    if (g.floatPanels != NULL) {
        result = srFactor_SolveFloat(&g, xFloat, xFloat, scratch);
        assert_true(result == sr_success || result == sr_errorNotFinite);
    }
    free(b);
    free(x);
    free(xFloat);
    srFree(scratch, scratchSize, 1);
    srDestroyFactor(&g);
    return true;
}

static void mutate(unsigned char* bytes, size_t size, uint64_t* seed) {
    int count = 1 + (int)(4.0 * srTestRandom(seed));
    // half of them in the header and the first arrays, where counts and rows are
    size_t range = srTestRandom(seed) < 0.5 ? size / 8 : size;
    for (int k = 0; k < count; k++) {
        size_t at = (size_t)((double)range * srTestRandom(seed));
        if (srTestRandom(seed) < 0.5) {
            bytes[at] = (unsigned char)(256.0 * srTestRandom(seed));
        } else {
            bytes[at] ^= (unsigned char)(1 << (int)(8.0 * srTestRandom(seed)));
        }
    }
}

static void damaged_bytes_are_refused(void** state) {
    (void)state;
    srFactor f = makeFactor(3, 4, 5, bothKinds);
    unsigned char* bytes = srAlloc(f.byteCount, 1);
    uint64_t seed = 99;
    for (int i = 0; i < mutationCount; i++) {
        memcpy(bytes, f.bytes, f.byteCount);
        mutate(bytes, f.byteCount, &seed);
        bool isSame = memcmp(bytes, f.bytes, f.byteCount) == 0;
        assert_true(useHarmlessly(bytes, f.byteCount) == isSame);
    }
    srFree(bytes, f.byteCount, 1);
    srDestroyFactor(&f);
}

static void damaged_bytes_with_a_right_checksum_are_refused_or_harmless(void** state) {
    (void)state;
    srFactor f = makeFactor(3, 4, 5, bothKinds);
    unsigned char* bytes = srAlloc(f.byteCount, 1);
    uint64_t seed = 1234;
    int openedCount = 0;
    for (int i = 0; i < mutationCount; i++) {
        memcpy(bytes, f.bytes, f.byteCount);
        mutate(bytes, f.byteCount, &seed);
        srFactorHeader header;
        memcpy(&header, bytes, sizeof(header));
        if (header.byteCount == f.byteCount) {
            srSignFactor(bytes);
        }
        openedCount += useHarmlessly(bytes, f.byteCount);
    }
    // values may be anything, so many open; counts, rows and the order may not, so many do not
    assert_in_range(openedCount, mutationCount / 10, mutationCount - mutationCount / 10);
    srFree(bytes, f.byteCount, 1);
    srDestroyFactor(&f);
}

static void expectSentence(const srFactor* f, size_t at, unsigned char flip, const char* words) {
    unsigned char* bytes = srAlloc(f->byteCount, 1);
    srFactor g;
    memcpy(bytes, f->bytes, f->byteCount);
    bytes[at] ^= flip;
    assert_result(srOpenFactor(bytes, f->byteCount, &g), sr_errorInvalidValue);
    assert_non_null(strstr(srGetErrorText(), words));
    srFree(bytes, f->byteCount, 1);
}

static void sentence_says_what_is_wrong(void** state) {
    (void)state;
    srFactor f = makeFactor(3, 4, 5, sr_factorFloat);
    expectSentence(&f, 0, 0x20, "not a stored factor");
    expectSentence(&f, offsetof(srFactorHeader, version), 1, "version 3");
    expectSentence(&f, offsetof(srFactorHeader, byteOrder), 5, "byte order");
    expectSentence(&f, offsetof(srFactorHeader, byteCount) + 4, 1, "cut short");
    expectSentence(&f, offsetof(srFactorHeader, size), 1, "damaged");
    expectSentence(&f, f.byteCount - 1, 1, "checksum");
    srDestroyFactor(&f);
}

static srResult openUnaligned(void* context) {
    const srFactor* f = context;
    static char bytes[100000];
    char* at = (char*)(((uintptr_t)bytes + 63) / 64 * 64) + 8;
    if (f->byteCount > sizeof(bytes) - 128) {
        return sr_errorInternal;
    }
    memcpy(at, f->bytes, f->byteCount);
    srFactor g;
    SR_TRY(srOpenFactor(at, f->byteCount, &g));
    srDestroyFactor(&g);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srFactor f = makeFactor(3, 4, 5, bothKinds);
    srTestEveryAllocationFails(openUnaligned, &f);
    srDestroyFactor(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(stored_factor_solves_with_the_same_bits, srTestNothingLeaked),
        cmocka_unit_test_teardown(kind_that_is_not_there_takes_no_bytes, srTestNothingLeaked),
        cmocka_unit_test_teardown(every_truncation_is_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(damaged_bytes_are_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(damaged_bytes_with_a_right_checksum_are_refused_or_harmless,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(sentence_says_what_is_wrong, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("math/factor_layout", tests, NULL, NULL);
}
