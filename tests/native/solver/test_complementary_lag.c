// SPDX-License-Identifier: GPL-3.0-or-later
//
// How flesh under the default hold map follows a bone that wags: the less it lags the slower the wag, by a
// law in the part's own frequency, which is measured here. Rows of the bones and rows of a space that was
// fitted to the wag keep it alike.

#include "bone_bar.h"
#include "math/span.h"
#include "rig/hold.h"

typedef struct Part {
    const char* name;
    int32_t counts[3]; // of the bar's cubes
    double spacing;
    int32_t boneCount;
    float looseTip; // of the last two bones
    double young;
    double pull; // Hz
} Part;

// the last bone turns about its head
static void wagTo(Flesh* f, const Part* part, double angle) {
    double length = part->counts[1] * part->spacing;
    srVec3 head = {0.5 * part->counts[0] * part->spacing, length * (f->boneCount - 1) / f->boneCount, 0.0};
    f->maps[f->boneCount - 1] = bendAbout(head, angle);
}

// what wags of up to a tenth are made of, with masses by volume
static void fitPart(Flesh* f, const Part* part, const double* masses, srSpan* span) {
    assert_success(srCreateSpan(masses, f->cage.nodeCount, span));
    srSpan_FixAffine(span, f->cage.nodes);
    for (int k = -5; k <= 5; ++k) {
        wagTo(f, part, 0.02 * k);
        placeFlesh(f, f->places[0]);
        srSpan_AddPlaces(span, f->places[0], 1e-12, 1e30);
    }
    srSpan_Finish(span, 0.01);
    wagTo(f, part, 0.0);
    placeFlesh(f, f->places[0]);
}

// a bar on bones along its axis, held as the library holds characters
static void makePart(Flesh* f, const Part* part, bool isFitted) {
    shapeFlesh(f, part->counts, part->spacing, part->boneCount, hold_none);
    size_t n = (size_t)f->cage.nodeCount;
    double length = part->counts[1] * part->spacing, middle = 0.5 * part->counts[0] * part->spacing;
    double* masses = calloc(n, sizeof(double));
    float *holds = calloc(n, sizeof(float)), *distances = calloc(n, sizeof(float));
    srVec3 heads[8], tails[8];
    int32_t parents[8];
    float looseTips[8];
    for (int32_t k = 0; k < part->boneCount; ++k) {
        heads[k] = (srVec3){middle, length * k / part->boneCount, middle};
        tails[k] = (srVec3){middle, length * (k + 1) / part->boneCount, middle};
        parents[k] = k - 1;
        looseTips[k] = k > 0 ? part->looseTip : 0.0f;
    }
    for (int32_t cell = 0; cell < f->cage.cellCount; ++cell) {
        for (int c = 0; c < 4; ++c) {
            masses[f->cage.cells[cell][c]] += 1.0; // all cells are of one size
        }
    }
    srNodeWeights weights = {f->starts, f->bones, f->weights, f->cage.nodeCount};
    srBoneSegments bones = {heads, tails, parents, looseTips, part->boneCount};
    assert_success(srComputeHold(f->cage.nodes, masses, &weights, &bones, holds, distances));
    for (size_t i = 0; i < n; ++i) {
        f->holds[i] = (double)holds[i];
    }
    srSpan span = {0};
    if (isFitted) {
        double volume = part->spacing * part->spacing * part->spacing / 24.0;
        for (size_t i = 0; i < n; ++i) {
            masses[i] *= volume;
        }
        fitPart(f, part, masses, &span);
        f->shape.vectors = span.vectors;
        f->shape.vectorCount = span.vectorCount;
    }
    prepareFlesh(f);
    srDestroySpan(&span);
    free(masses);
    free(holds);
    free(distances);
}

static void tunePart(Flesh* f, const Part* part, double dampingRate) {
    srComplementaryDials dials = fleshDials();
    dials.material = srMakeMaterial(part->young / 1.3, 0.0, 1000.0);
    dials.frequency = part->pull;
    dials.dampingRate = dampingRate;
    dials.substeps = 2;
    tuneFlesh(f, &dials);
    resetFlesh(f);
}

static bool isOfLastBone(const Flesh* f, int32_t i) {
    for (int32_t e = f->starts[i]; e < f->starts[i + 1]; ++e) {
        if (f->bones[e] == f->boneCount - 1 && f->weights[e] >= 0.5) {
            return true;
        }
    }
    return false;
}

// how far the offsets go along those that were plucked
static double shareOf(const Flesh* f, const srVec3* pluck) {
    double sum = 0.0, whole = 0.0;
    for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
        sum += f->rest.nodeVolumes[i] * srDot(pluck[i], f->state.offsets[i]);
        whole += f->rest.nodeVolumes[i] * srDot(pluck[i], pluck[i]);
    }
    return sum / whole;
}

// Hz of the part's swing in the direction of a wag: pulled aside as a wag's inertia does it, then let go
static double measureFrequency(Flesh* f, const Part* part) {
    size_t n = (size_t)f->cage.nodeCount;
    srVec3* forces = calloc(n, sizeof(srVec3));
    srVec3* pluck = calloc(n, sizeof(srVec3));
    tunePart(f, part, 2.0 * 2.0 * PI * part->pull);
    wagTo(f, part, 1e-3);
    placeFlesh(f, pluck);
    for (size_t i = 0; i < n; ++i) {
        forces[i] = srScale(1e4 * f->rest.nodeVolumes[i], srSub(pluck[i], f->cage.nodes[i]));
    }
    wagTo(f, part, 0.0);
    for (int frame = 0; frame < 150; ++frame) {
        stepFleshPulled(f, forces);
    }
    memcpy(pluck, f->state.offsets, n * sizeof(srVec3));
    srComplementaryDials dials = f->tuning.dials;
    dials.dampingRate = 0.0;
    dials.substeps = 8;
    tuneFlesh(f, &dials);
    double last = 1.0, first = 0.0, end = 0.0;
    int count = 0;
    for (int frame = 1; frame <= 72; ++frame) {
        stepFlesh(f);
        double now = shareOf(f, pluck);
        if ((now < 0.0) != (last < 0.0)) {
            end = (frame - 1 + last / (last - now)) * FRAME_SECONDS;
            first = count == 0 ? end : first;
            count += 1;
        }
        last = now;
    }
    assert_true(count >= 4);
    free(forces);
    free(pluck);
    return 0.5 * (count - 1) / (end - first);
}

// the longest offset of the part over the longest way of its wag, when it goes on for long
static double measureLag(Flesh* f, const Part* part, double hertz) {
    const double angle = 0.1;
    tunePart(f, part, 2.0 * log(50.0)); // settles in 24 frames
    double longest = 0.0, way = 0.0, seconds = fmax(3.0, 3.0 / hertz);
    for (int frame = 1; frame * FRAME_SECONDS < seconds; ++frame) {
        double t = frame * FRAME_SECONDS;
        wagTo(f, part, angle * fmin(1.0, t * hertz) * sin(2.0 * PI * hertz * t));
        stepFlesh(f);
        for (int32_t i = 0; i < f->cage.nodeCount && t > 0.6 * seconds; ++i) {
            if (isOfLastBone(f, i)) {
                longest = fmax(longest, srLength(f->state.offsets[i]));
                way = fmax(way, srDistance(f->places[0][i], f->cage.nodes[i]));
            }
        }
    }
    return longest / way;
}

// a bone that grips any node keeps rows
static void assertAllHaveRows(const Flesh* f) {
    int32_t gripCount = 0;
    for (int32_t k = 0; k < f->boneCount; ++k) {
        bool hasGrip = false, hasRow = false;
        for (int32_t i = 0; i < f->cage.nodeCount; ++i) {
            for (int32_t e = f->starts[i]; e < f->starts[i + 1]; ++e) {
                hasGrip = hasGrip || (f->bones[e] == k && f->weights[e] > 0.0 && f->holds[i] > 0.0);
            }
        }
        for (int c = 0; c < 4; ++c) {
            hasRow = hasRow || f->rest.rows.places[k][c] != SR_NULL_INDEX;
        }
        assert_true(hasRow || !hasGrip);
        gripCount += hasGrip;
    }
    assert_true(gripCount >= 2);
}

static void checkParts(bool isFitted) {
    const Part parts[] = {
        {"limb, stiff", {2, 8, 2}, 0.15, 2, 0.0f, 2e5, 2.0},
        {"limb, soft", {2, 8, 2}, 0.15, 2, 0.0f, 2e4, 2.0},
        {"limb of three bones", {2, 9, 2}, 0.15, 3, 0.0f, 5e4, 2.0},
        {"tail", {2, 9, 2}, 0.1, 3, 0.6f, 2e4, 2.0},
        {"tail, hardly pulled", {2, 9, 2}, 0.1, 3, 0.6f, 5e4, 0.5},
    };
    for (int p = 0; p < SR_ARRAY_COUNT(parts); ++p) {
        const Part* part = &parts[p];
        Flesh f;
        makePart(&f, part, isFitted);
        if (!isFitted) {
            assertAllHaveRows(&f);
        }
        double own = measureFrequency(&f, part);
        print_message("%s: %d rows, own frequency %.2f Hz\n", part->name, f.rest.rows.rowCount, own);
        double last = 1.0;
        for (int divisor = 3; divisor <= 12; divisor *= 2) {
            double hertz = own / divisor, lag = measureLag(&f, part, hertz);
            print_message("  %.3f Hz: lag %.5f, %.2f (f / f1)^2\n", hertz, lag, lag * divisor * divisor);
            assert_true(lag <= 1.5 / (divisor * divisor));
            assert_true(lag < last / 3.0);
            last = lag;
        }
        freeFlesh(&f);
    }
}

static void a_wag_lags_by_the_square_of_its_frequency(void** state) {
    (void)state;
    checkParts(false);
}

static void a_wag_that_was_recorded_lags_no_more(void** state) {
    (void)state;
    checkParts(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wag_lags_by_the_square_of_its_frequency),
        cmocka_unit_test(a_wag_that_was_recorded_lags_no_more),
    };
    return cmocka_run_group_tests_name("solver/complementary_lag", tests, NULL, srTestNothingLeaked);
}
