// SPDX-License-Identifier: GPL-3.0-or-later
//
// Flesh under refinement, of its cage and of its step: what it converges to, and how fast.

#include "flesh_body.h"

#include "solver/fem.h"

#define LENGTH 0.5
#define THICKNESS 0.25

// the mean sideways offset of the end, under its own weight sideways
static double meanAtEnd(const srCage* cage, const double* x) {
    double sum = 0.0;
    double count = 0.0;
    for (int32_t i = 0; i < cage->nodeCount; ++i) {
        if (cage->nodes[i].y > LENGTH - 1e-6) {
            sum += x[3 * i];
            count += 1.0;
        }
    }
    return sum / count;
}

static double bendFlesh(int32_t side) {
    const int32_t counts[3] = {side, 2 * side, side};
    FleshBody body;
    fleshCreate(&body, counts, THICKNESS / side, 1.0f, 0);
    srFleshDials dials = fleshDials(1e5, 0.3);
    dials.sweeps = 16 * side;
    dials.dampingRate = 20.0;
    dials.viscosity = 1.0;
    fleshTune(&body, &dials);
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        body.loads[i].x = 0.02f;
    }
    for (int frame = 0; frame < 60; ++frame) {
        fleshStep(&body);
    }
    double* x = calloc(3 * (size_t)(uint32_t)body.cage.nodeCount, sizeof(double));
    assert_non_null(x);
    for (int32_t i = 0; i < body.cage.nodeCount; ++i) {
        x[3 * i] = (double)body.state.offsets[i].x;
    }
    double end = meanAtEnd(&body.cage, x);
    free(x);
    fleshDestroy(&body);
    return end;
}

static double bendElements(int32_t side) {
    const int32_t counts[3] = {side, 2 * side, side};
    srCage cage;
    assert_success(srTestCreateBarCage(counts, THICKNESS / side, &cage));
    bool* isHeld = calloc((size_t)(uint32_t)cage.nodeCount, sizeof(bool));
    double* moduli = calloc(2 * (size_t)(uint32_t)cage.cellCount, sizeof(double));
    double* x = calloc(3 * (size_t)(uint32_t)cage.nodeCount, sizeof(double));
    assert_true(isHeld != NULL && moduli != NULL && x != NULL);
    for (int32_t k = 0; k < cage.cellCount; ++k) {
        moduli[k] = 1e5 / 2.6;
        moduli[cage.cellCount + k] = 1e5 * 0.3 / (1.3 * 0.4);
    }
    for (int32_t i = 0; i < cage.nodeCount; ++i) {
        isHeld[i] = cage.nodes[i].y < 1e-6;
    }
    Fem fem;
    femCreate(&cage, isHeld, moduli, moduli + cage.cellCount, 1000.0, &fem);
    for (int32_t i = 0; i < cage.nodeCount; ++i) {
        x[3 * i] = 0.02 * fem.masses[i];
    }
    femSolve(&fem, x);
    double end = meanAtEnd(&cage, x);
    femDestroy(&fem);
    free(isHeld);
    free(moduli);
    free(x);
    srDestroyCage(&cage);
    return end;
}

// Against the limit drawn on from finite elements of 8 and 12 cubes' thickness. Linear cells bend too stiffly
// while few of them stand across the bar, so that the order comes up to its two only with them.
static void flesh_converges_under_refinement(void** state) {
    (void)state;
    double eight = bendElements(8);
    double twelve = bendElements(12);
    double limit = twelve + (twelve - eight) / (2.25 - 1.0);
    double errors[4];
    for (int k = 0; k < 4; ++k) {
        errors[k] = 1.0 - bendFlesh(1 << k) / limit;
        print_message("%d cubes thick: %.1f %% too stiff\n", 1 << k, 100.0 * errors[k]);
    }
    double orders[3];
    for (int k = 0; k < 3; ++k) {
        orders[k] = log2(errors[k] / errors[k + 1]);
    }
    print_message("order of convergence: %.2f, %.2f, %.2f\n", orders[0], orders[1], orders[2]);
    assert_true(orders[0] > 0.5 && orders[1] > 1.0 && orders[2] > 1.4 && orders[2] < 2.3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flesh_converges_under_refinement),
    };
    return cmocka_run_group_tests_name("solver/flesh_convergence", tests, NULL, srTestNothingLeaked);
}
