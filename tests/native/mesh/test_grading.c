// SPDX-License-Identifier: GPL-3.0-or-later
//
// Cells of several sizes: that they fill space once, share whole faces, and can be cut anywhere.

#include "mesh/grading.h"

#include "mesh/boundary.h"
#include "mesh/quality.h"
#include "mesh/solids.h"
#include "mesh/stuffing.h"

#define CUBES 24 // along each axis

static srLattice makeLattice(void) {
    srLattice lattice;
    const srVec3 corner = {10.0, 10.0, 10.0};
    assert_true(srMakeLattice(srScale(-1.0, corner), corner, 0.0, 1.0, 1 << 20, &lattice));
    assert_int_equal(lattice.nx, CUBES);
    return lattice;
}

// Marks a share of the cubes of each level, away from the border.
static srGrading makeRandom(srArena* arena, int32_t levelCount, double share, uint64_t* seed) {
    srLattice lattice = makeLattice();
    srGrading grading;
    assert_success(srCreateGrading(&lattice, levelCount, arena, &grading));
    for (int32_t level = 1; level < levelCount; level++) {
        int32_t count = grading.counts[level][0], rim = level == levelCount - 1 ? 6 : 3;
        int32_t cube[3];
        for (cube[2] = rim; cube[2] < count - rim; cube[2]++) {
            for (cube[1] = rim; cube[1] < count - rim; cube[1]++) {
                for (cube[0] = rim; cube[0] < count - rim; cube[0]++) {
                    size_t place = (size_t)((cube[2] * count + cube[1]) * count + cube[0]);
                    grading.isCentred[level][place] = srTestRandom(seed) < share;
                }
            }
        }
    }
    srGrading_Close(&grading);
    return grading;
}

static double volumeOfTet(const srScaffold* scaffold, int32_t t) {
    const int32_t* tet = scaffold->tets[t];
    const srVec3* p = scaffold->points;
    srVec3 a = srSub(p[tet[1]], p[tet[0]]), b = srSub(p[tet[2]], p[tet[0]]), c = srSub(p[tet[3]], p[tet[0]]);
    return fabs(srDot(a, srCross(b, c))) / 6.0;
}

// Points of the lattice's outermost layers are out of reach.
static void fillEverywhere(const srLattice* lattice, double* phi) {
    for (int32_t p = 0; p < lattice->pointCount; p++) {
        srVec3 x = srLattice_Point(lattice, p);
        phi[p] = fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))) - 6.1;
    }
}

static srScaffold makeScaffold(srArena* arena, const srGrading* grading, const double* phi) {
    srScaffold scaffold;
    const srProgress nobody = {0};
    assert_success(srCreateGradedScaffold(grading, phi, 1e-300, arena, &nobody, &scaffold));
    return scaffold;
}

// As a cage the boundary of the tetrahedra is closed and encloses what they have; where faces did not match,
// they would lie within.
static void assertMatches(const srScaffold* scaffold) {
    srCage cage;
    srBoundary boundary;
    assert_success(srCreateCage(scaffold->points, scaffold->pointCount, (const int32_t (*)[4])scaffold->tets,
                                scaffold->tetCount, &cage));
    assert_int_equal(cage.cellCount, scaffold->tetCount);
    assert_success(srCreateBoundary(&cage, &boundary));
    double volume = 0.0, enclosed = 0.0;
    for (int32_t t = 0; t < scaffold->tetCount; t++) {
        volume += volumeOfTet(scaffold, t);
    }
    for (int32_t f = 0; f < boundary.faceCount; f++) {
        const int32_t* n = boundary.faces[f];
        enclosed += srDot(cage.nodes[n[0]], srCross(cage.nodes[n[1]], cage.nodes[n[2]])) / 6.0;
        for (int c = 0; c < 3; c++) {
            srVec3 x = cage.nodes[n[c]];
            assert_true(fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z))) > 6.0);
        }
    }
    // rounding of a million products
    assert_near(enclosed, volume, 1e-9 * volume);
    // every cube whose centre is within reach is full: 13^3, and no more than those around
    assert_true(volume > 2197.0 && volume < 8000.0);
    srDestroyBoundary(&boundary);
    srDestroyCage(&cage);
}

static void tetrahedra_of_several_sizes_fill_space_once_and_share_whole_faces(void** state) {
    (void)state;
    uint64_t seed = 7;
    const double shares[] = {0.0, 0.002, 0.05, 0.5, 1.0};
    for (int32_t levelCount = 1; levelCount <= SR_MAX_LEVELS; levelCount++) {
        for (int i = 0; i < 5; i++) {
            srArena* arena = srCreateArena(1 << 20);
            srGrading grading = makeRandom(arena, levelCount, shares[i], &seed);
            double* phi = SR_PUSH(arena, double, grading.lattice.pointCount, "phi");
            fillEverywhere(&grading.lattice, phi);
            srScaffold scaffold = makeScaffold(arena, &grading, phi);
            assertMatches(&scaffold);
            srDestroyArena(arena);
        }
    }
}

static void tetrahedra_have_angles_from_45_to_120_degrees(void** state) {
    (void)state;
    uint64_t seed = 11;
    srArena* arena = srCreateArena(1 << 20);
    srGrading grading = makeRandom(arena, 3, 0.01, &seed);
    double* phi = SR_PUSH(arena, double, grading.lattice.pointCount, "phi");
    fillEverywhere(&grading.lattice, phi);
    srScaffold scaffold = makeScaffold(arena, &grading, phi);
    srCage cage;
    double least, most, volume;
    assert_success(srCreateCage(scaffold.points, scaffold.pointCount, (const int32_t (*)[4])scaffold.tets,
                                scaffold.tetCount, &cage));
    srMeasureCells(&cage, &least, &most, &volume);
    assert_near(least, 45.0, 1e-5);
    assert_true(most < 120.0 + 1e-6);
    srDestroyCage(&cage);
    srDestroyArena(arena);
}

static void cubes_differ_from_their_neighbours_by_one_level(void** state) {
    (void)state;
    uint64_t seed = 5;
    srArena* arena = srCreateArena(1 << 20);
    srGrading grading = makeRandom(arena, 3, 0.003, &seed);
    int32_t count = grading.counts[2][0], cube[3], markedCount = 0;
    for (cube[2] = 0; cube[2] < count; cube[2]++) {
        for (cube[1] = 0; cube[1] < count; cube[1]++) {
            for (cube[0] = 0; cube[0] < count; cube[0]++) {
                if (!srGrading_HasCentre(&grading, 2, cube)) {
                    continue;
                }
                markedCount++;
                const int32_t above[3] = {cube[0] / 2, cube[1] / 2, cube[2] / 2};
                assert_true(srGrading_HasCentre(&grading, 1, above));
            }
        }
    }
    assert_true(markedCount > 0);
    srDestroyArena(arena);
}

// Inside or outside at random, with cuts anywhere.
static void fillRandom(const srLattice* lattice, double insideShare, uint64_t* seed, double* phi) {
    for (int32_t point = 0; point < lattice->pointCount; point++) {
        srVec3 p = srLattice_Point(lattice, point);
        bool isOuter = fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))) > 7.2;
        double depth = 0.001 + 0.4 * pow(srTestRandom(seed), 3.0);
        phi[point] = !isOuter && srTestRandom(seed) < insideShare ? -depth : depth;
    }
}

static void random_fields_cut_cells_of_all_sizes_well(void** state) {
    (void)state;
    uint64_t seed = 3;
    const double shares[] = {0.1, 0.5, 0.8, 0.95};
    double worst = 180.0, widest = 0.0;
    for (int i = 0; i < 12; i++) {
        srArena* arena = srCreateArena(1 << 20);
        const srProgress nobody = {0};
        const srField unused = {0};
        srGrading grading = makeRandom(arena, 2 + i % 2, 0.02, &seed);
        double* phi = SR_PUSH(arena, double, grading.lattice.pointCount, "phi");
        fillRandom(&grading.lattice, shares[i % 4], &seed, phi);
        srScaffold scaffold = makeScaffold(arena, &grading, phi);
        srWarp warp;
        srRawCells cells;
        assert_success(srCreateWarp(&scaffold, &unused, scaffold.phi, arena, &nobody, &warp));
        assert_success(srStuff(&warp, arena, &nobody, &cells));
        srCage cage;
        srBoundary boundary;
        assert_success(srCreateCage(cells.nodes, cells.nodeCount, (const int32_t (*)[4])cells.cells,
                                    cells.cellCount, &cage));
        assert_int_equal(cage.cellCount, cells.cellCount);
        double least, most, volume, enclosed = 0.0;
        srMeasureCells(&cage, &least, &most, &volume);
        worst = fmin(worst, least);
        widest = fmax(widest, most);
        assert_success(srCreateBoundary(&cage, &boundary));
        for (int32_t f = 0; f < boundary.faceCount; f++) {
            const int32_t* n = boundary.faces[f];
            enclosed += srDot(cage.nodes[n[0]], srCross(cage.nodes[n[1]], cage.nodes[n[2]])) / 6.0;
        }
        assert_near(enclosed, volume, 1e-9 * volume);
        srDestroyBoundary(&boundary);
        srDestroyCage(&cage);
        srDestroyArena(arena);
    }
    printf("angles from %.2f to %.2f\n", worst, widest);
    // seen with these seeds: 3.2 and 170.3, where cuts come at random from all sides; skins give better
    assert_true(worst > 3.0 && widest < 171.0);
}

static srResult makeAndDestroy(void* context) {
    (void)context;
    srArena* arena = srCreateArena(1 << 12);
    if (arena == NULL) {
        return srFailOutOfMemory("a test");
    }
    srLattice lattice = makeLattice();
    srGrading grading;
    srScaffold scaffold;
    const srProgress nobody = {0};
    srResult result = srCreateGrading(&lattice, 3, arena, &grading);
    double* phi = result == sr_success ? SR_PUSH(arena, double, lattice.pointCount, "phi") : NULL;
    if (phi != NULL) {
        fillEverywhere(&lattice, phi);
        result = srCreateGradedScaffold(&grading, phi, 0.1, arena, &nobody, &scaffold);
    } else if (result == sr_success) {
        result = srFailOutOfMemory("a test");
    }
    srDestroyArena(arena);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srTestEveryAllocationFails(makeAndDestroy, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(tetrahedra_of_several_sizes_fill_space_once_and_share_whole_faces,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(tetrahedra_have_angles_from_45_to_120_degrees, srTestNothingLeaked),
        cmocka_unit_test_teardown(cubes_differ_from_their_neighbours_by_one_level, srTestNothingLeaked),
        cmocka_unit_test_teardown(random_fields_cut_cells_of_all_sizes_well, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/grading", tests, NULL, NULL);
}
