// SPDX-License-Identifier: GPL-3.0-or-later

#include "mesh/mesher.h"

#include "core/parallel.h"
#include "mesh/boundary.h"
#include "mesh/cellgrid.h"
#include "mesh/touching.h"
#include "mesh/embedding.h"
#include "mesh/solids.h"
#include "mesh/sort.h"

#define PI 3.14159265358979323846

static srResult mesh(const srSurface* surface, int32_t target, srCage* outCage, srMesherReport* outReport) {
    const srMesherSettings settings = {.targetNodeCount = target};
    srMesh made = {0};
    SR_TRY(srMeshSurface(surface, &settings, &made, outReport));
    *outCage = made.cage;
    made.cage = (srCage){0};
    srDestroyMesh(&made);
    return sr_success;
}

// Every edge of the cage's skin belongs to two faces, which run through it in opposite directions.
static void checkSkinIsClosed(const srCage* cage) {
    srBoundary boundary;
    assert_success(srCreateBoundary(cage, &boundary));
    int32_t count = 3 * boundary.faceCount;
    srKeyed* edges = malloc(sizeof(srKeyed) * (size_t)count);
    srKeyed* scratch = malloc(sizeof(srKeyed) * (size_t)count);
    for (int32_t e = 0; e < count; e++) {
        int32_t from = boundary.faces[e / 3][e % 3], to = boundary.faces[e / 3][(e + 1) % 3];
        edges[e] = (srKeyed){srEdgeKey(from, to), from < to ? 1 : -1};
    }
    srSortKeyed(edges, scratch, count);
    assert_int_equal(count % 2, 0);
    for (int32_t e = 0; e < count; e += 2) {
        assert_true(edges[e].key == edges[e + 1].key);
        assert_int_equal(edges[e].value + edges[e + 1].value, 0);
        assert_true(e == 0 || edges[e].key != edges[e - 1].key);
    }
    free(edges);
    free(scratch);
    srDestroyBoundary(&boundary);
}

static void checkCage(const srCage* cage, const srMesherReport* report) {
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        assert_true(srCellVolume(cage, cell) > 0.0);
    }
    assert_true(report->minDihedralDegrees > 9.5 && report->maxDihedralDegrees < 164.8);
    assert_near(report->volume, sumVolumes(cage), 1e-10 * report->volume);
}

static int32_t countPieces(const srCage* cage) {
    int32_t* piece = findPieces(cage);
    int32_t count = 0;
    for (int32_t i = 0; i < cage->nodeCount; i++) {
        count += piece[i] == i;
    }
    free(piece);
    return count;
}

static double shareOutside(const srCage* cage, const srSurface* surface) {
    srEmbedding embedding;
    assert_success(srCreateEmbedding(cage, surface->points, NULL, surface->pointCount, &embedding));
    double share = embedding.outsideCount / (double)surface->pointCount;
    srDestroyEmbedding(&embedding);
    return share;
}

static void spheres_get_the_nodes_asked_for_and_their_volume(void** state) {
    (void)state;
    const int32_t targets[] = {100, 300, 1000, 4000};
    srSurface surface = makeSphere(3, 2.0);
    for (int i = 0; i < SR_ARRAY_COUNT(targets); i++) {
        srCage cage;
        srMesherReport report;
        assert_success(mesh(&surface, targets[i], &cage, &report));
        checkCage(&cage, &report);
        checkSkinIsClosed(&cage);
        assert_near(cage.nodeCount / (double)targets[i], 1.0, 0.15);
        assert_int_equal(countPieces(&cage), 1);

        // what is asked of a cage: not smaller than the sphere by 3 %, nor larger by 30 %
        double exact = 4.0 / 3.0 * PI * 8.0;
        assert_true(report.volume > 0.97 * exact && report.volume < 1.3 * exact);
        assert_true(shareOutside(&cage, &surface) < 0.3);
        srDestroyCage(&cage);
    }
    srDestroySurface(&surface);
}

static void inside_out_sphere_is_the_same_sphere(void** state) {
    (void)state;
    srSurface surface = makeSphere(2, -1.0);
    srCage cage;
    srMesherReport report;
    assert_success(mesh(&surface, 500, &cage, &report));
    checkCage(&cage, &report);
    assert_near(cage.nodeCount / 500.0, 1.0, 0.15);
    assert_true(report.volume > 4.0);
    srDestroyCage(&cage);
    srDestroySurface(&surface);
}

static void thin_plate_of_any_direction_is_kept_whole(void** state) {
    (void)state;
    uint64_t seed = 61;
    for (int i = 0; i < 6; i++) {
        Soup soup = {0};
        const double lower[3] = {-1.0, -1.0, -0.0005}, size[3] = {2.0, 2.0, 0.001};
        addBox(&soup, lower, size);
        double turn = PI * srTestRandom(&seed), tilt = i == 0 ? 0.0 : PI * srTestRandom(&seed);
        for (int32_t v = 0; v < soup.pointCount; v++) {
            float* p = soup.points + 3 * v;
            double x = (double)p[0], y = (double)p[1], z = (double)p[2];
            double y2 = cos(tilt) * y - sin(tilt) * z;
            p[0] = (float)(cos(turn) * x - sin(turn) * y2);
            p[1] = (float)(sin(turn) * x + cos(turn) * y2);
            p[2] = (float)(sin(tilt) * y + cos(tilt) * z);
        }
        srSurface surface = makeSurface(&soup);
        srCage cage;
        srMesherReport report;
        assert_success(mesh(&surface, 300, &cage, &report));
        checkCage(&cage, &report);
        assert_int_equal(countPieces(&cage), 1);
        assert_near(cage.nodeCount / 300.0, 1.0, 0.15);
        // half of the slab that the offset makes, 0.8 cubes thick, under all four square metres
        assert_true(report.volume > 4.0 * 0.4 * report.spacing);
        srDestroyCage(&cage);
        srDestroySurface(&surface);
        freeSoup(&soup);
    }
}

static void separate_spheres_stay_separate_and_both_are_there(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 2, 1.0, 0.0, 0.0, 0.0);
    addSphere(&soup, 2, 0.5, 3.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    srCage cage;
    srMesherReport report;
    assert_success(mesh(&surface, 800, &cage, &report));
    checkCage(&cage, &report);
    checkSkinIsClosed(&cage);
    assert_int_equal(countPieces(&cage), 2);
    srDestroyCage(&cage);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void sphere_with_a_hole_is_closed_over_it(void** state) {
    (void)state;
    srSurface surface = makeSphere(3, 1.0);
    int32_t all = surface.triangleCount, kept = 0;
    for (int32_t t = 0; t < all; t++) {
        if (surface.points[surface.triangles[t][0]].z < 0.8) {
            memcpy(surface.triangles[kept++], surface.triangles[t], sizeof(surface.triangles[t]));
        }
    }
    surface.triangleCount = kept;
    srCage cage;
    srMesherReport report;
    assert_success(mesh(&surface, 1000, &cage, &report));
    checkCage(&cage, &report);
    assert_int_equal(countPieces(&cage), 1);
    assert_near(cage.nodeCount / 1000.0, 1.0, 0.15);
    // the cap that is missing is 3 % of the sphere
    assert_true(report.volume > 0.97 * 4.0 / 3.0 * PI);
    srDestroyCage(&cage);
    surface.triangleCount = all;
    srDestroySurface(&surface);
}

// A bent sheet of ten by ten points.
static void addSheet(Soup* sheet) {
    for (int i = 0; i < 100; i++) {
        addPoint(sheet, i % 10, i / 10, 0.1 * (i % 3));
    }
    for (int i = 0; i < 81; i++) {
        int32_t corner = i / 9 * 10 + i % 9;
        addTriangle(sheet, corner, corner + 1, corner + 11);
        addTriangle(sheet, corner, corner + 11, corner + 10);
    }
}

static void sheet_becomes_a_slab_unless_sheets_get_no_thickness(void** state) {
    (void)state;
    Soup soup = {0};
    addSheet(&soup);
    srSurface surface = makeSurface(&soup);
    srMesh made = {0};
    srMesherReport report;
    srSolidSettings thin = srDefaultSolidSettings();
    thin.sheetThickness = 0.0;
    const srMesherSettings settings[2] = {{.targetNodeCount = 500}, {.targetNodeCount = 500, .solid = &thin}};
    assert_success(srMeshSurface(&surface, &settings[0], &made, &report));
    checkCage(&made.cage, &report);
    assert_int_equal(report.pieceCount, 1);
    assert_int_equal(report.solid.sheetCount, 1);
    assert_near(made.cage.nodeCount / 500.0, 1.0, 0.15);
    srDestroyMesh(&made);
    assert_result(srMeshSurface(&surface, &settings[1], &made, &report), sr_errorNoInside);
    assert_null(made.cage.nodes);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void sphere_whose_faces_are_there_both_ways_round_is_a_sphere(void** state) {
    (void)state;
    Soup doubled = {0};
    addSphere(&doubled, 2, 1.0, 0.0, 0.0, 0.0);
    addSphere(&doubled, 2, -1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&doubled);
    srCage cage = {0};
    srMesherReport report;
    assert_success(mesh(&surface, 500, &cage, &report));
    checkCage(&cage, &report);
    assert_true(report.volume > 4.0);
    srDestroyCage(&cage);
    srDestroySurface(&surface);
    freeSoup(&doubled);
}

static void targets_out_of_range_are_refused(void** state) {
    (void)state;
    srSurface surface = makeSphere(1, 1.0);
    srCage cage;
    srMesherReport report;
    assert_result(mesh(&surface, 0, &cage, &report), sr_errorInvalidValue);
    assert_result(mesh(&surface, -5, &cage, &report), sr_errorInvalidValue);
    assert_result(mesh(&surface, INT32_MAX, &cage, &report), sr_errorInvalidValue);
    assert_success(mesh(&surface, 8, &cage, &report));
    checkCage(&cage, &report);
    srDestroyCage(&cage);
    srDestroySurface(&surface);
}

static void specks_far_apart_neither_hang_nor_crash(void** state) {
    (void)state;
    Soup soup = {0};
    addSphere(&soup, 0, 1e-3, 0.0, 0.0, 0.0);
    addSphere(&soup, 0, 1e-3, 1000.0, 1000.0, 1000.0);
    srSurface surface = makeSurface(&soup);
    srCage cage = {0};
    srMesherReport report;
    srResult result = mesh(&surface, 50, &cage, &report);
    assert_true(result == sr_success || result == sr_errorNoInside);
    assert_true(result != sr_success || report.latticePointCount <= 1 << 20);
    srDestroyCage(&cage);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

// The triangles of a needle enclose nothing, and its box is empty: neither may make the lattice large.
static void a_needle_is_no_reason_for_a_large_lattice(void** state) {
    (void)state;
    const int32_t targets[] = {50, 100, 200};
    for (int i = 0; i < SR_ARRAY_COUNT(targets); i++) {
        for (int leaves = 0; leaves < 3; leaves++) {
            const float points[15] = {0, 0, 0, 1000, 990, -1010, 0, 0.01f, 0, 0.01f, 0, 0, 0, 0, -0.01f};
            Soup soup = {0};
            for (int v = 0; v < 5; v++) {
                addPoint(&soup, (double)points[3 * v], (double)points[3 * v + 1], (double)points[3 * v + 2]);
            }
            for (int leaf = 0; leaf <= leaves; leaf++) {
                addTriangle(&soup, 0, 1, 2 + leaf);
            }
            srSurface surface = makeSurface(&soup);
            srCage cage;
            srMesherReport report;
            assert_success(mesh(&surface, targets[i], &cage, &report));
            checkCage(&cage, &report);
            assert_true(report.latticePointCount <= 4096 * targets[i]);
            assert_true(cage.nodeCount > 0.6 * targets[i]);
            assert_int_equal(countPieces(&cage), 1);
            srDestroyCage(&cage);
            srDestroySurface(&surface);
            freeSoup(&soup);
        }
    }
}

// Two skins enclose twice the volume by their triangles, and a coarse lattice samples a box by some per cent
// too large.
static void coarse_cages_of_boxes_are_not_too_large_where_the_skin_is_there_twice(void** state) {
    (void)state;
    const double lower[3] = {-1.0, -1.0, -1.0}, size[3] = {2.0, 2.0, 2.0};
    for (int32_t target = 60; target <= 240; target += 20) {
        const double moved[3] = {-1.0 + 1e-4, -1.0 - 1e-4, -1.0 + 5e-5};
        Soup soup = {0};
        addBox(&soup, lower, size);
        addBox(&soup, moved, size);
        srSurface surface = makeSurface(&soup);
        srCage cage;
        srMesherReport report;
        assert_success(mesh(&surface, target, &cage, &report));
        checkCage(&cage, &report);
        assert_true(report.volume > 0.97 * 8.0 && report.volume < 1.3 * 8.0);
        assert_int_equal(report.pieceCount, 1);
        assert_int_equal(report.copyCount, 0);
        srDestroyCage(&cage);
        srDestroySurface(&surface);
        freeSoup(&soup);
    }
}

static void shape_does_not_depend_on_size(void** state) {
    (void)state;
    // powers of two, so that the points are the same to the bit but for scale
    const int exponents[3] = {0, -80, 80};
    srCage cages[3];
    srMesherReport reports[3];
    for (int i = 0; i < 3; i++) {
        srSurface surface = makeSphere(2, ldexp(1.0, exponents[i]));
        assert_success(mesh(&surface, 400, &cages[i], &reports[i]));
        checkCage(&cages[i], &reports[i]);
        assert_int_equal(cages[i].nodeCount, cages[0].nodeCount);
        assert_int_equal(cages[i].cellCount, cages[0].cellCount);
        assert_near(ldexp(reports[i].spacing, -exponents[i]) / reports[0].spacing, 1.0, 1e-6);
        srDestroySurface(&surface);
    }
    for (int i = 0; i < 3; i++) {
        srDestroyCage(&cages[i]);
    }
}

static void any_number_of_workers_gives_the_same_bits(void** state) {
    (void)state;
    srSurface surface = makeSphere(3, 1.0);
    srCage cages[3];
    const int32_t workerCounts[3] = {1, 2, 4};
    int32_t before = srParallel_GetWorkerCount();
    for (int run = 0; run < 3; run++) {
        srMesherReport report;
        srParallel_SetWorkerCount(workerCounts[run]);
        assert_success(mesh(&surface, 1000, &cages[run], &report));
        assert_int_equal(cages[run].nodeCount, cages[0].nodeCount);
        assert_int_equal(cages[run].cellCount, cages[0].cellCount);
        assert_memory_equal(cages[run].nodes, cages[0].nodes, sizeof(srVec3) * (size_t)cages[0].nodeCount);
        assert_memory_equal(cages[run].cells, cages[0].cells,
                            4 * sizeof(int32_t) * (size_t)cages[0].cellCount);
    }
    srParallel_SetWorkerCount(before);
    for (int run = 0; run < 3; run++) {
        srDestroyCage(&cages[run]);
    }
    srDestroySurface(&surface);
}

// Every node of the cage's skin has one fan of faces around it: walking from face to face over edges at the
// node comes back to the start after all of them. Counted anew, face by face.
static void checkFans(const srCage* cage) {
    srBoundary boundary;
    assert_success(srCreateBoundary(cage, &boundary));
    int32_t* next = malloc(3 * sizeof(int32_t) * (size_t)boundary.faceCount);
    srKeyed* edges = malloc(3 * sizeof(srKeyed) * (size_t)boundary.faceCount);
    srKeyed* scratch = malloc(3 * sizeof(srKeyed) * (size_t)boundary.faceCount);
    int32_t* faceCounts = calloc((size_t)cage->nodeCount, sizeof(int32_t));
    int32_t* anyCorner = calloc((size_t)cage->nodeCount, sizeof(int32_t));
    int32_t count = 3 * boundary.faceCount;
    for (int32_t c = 0; c < count; c++) {
        int32_t node = boundary.faces[c / 3][c % 3];
        edges[c] = (srKeyed){srPairKey(node, boundary.faces[c / 3][(c + 1) % 3]), c};
        faceCounts[node]++;
        anyCorner[node] = c;
    }
    srSortKeyed(edges, scratch, count);

    // from a corner over the edge before it to the face that has this edge the other way round
    for (int32_t c = 0; c < count; c++) {
        int32_t node = boundary.faces[c / 3][c % 3], before = boundary.faces[c / 3][(c + 2) % 3];
        uint64_t key = srPairKey(node, before);
        int32_t low = 0, high = count;
        while (high - low > 1) {
            int32_t middle = (low + high) / 2;
            low = edges[middle].key <= key ? middle : low;
            high = edges[middle].key <= key ? high : middle;
        }
        assert_true(edges[low].key == key);
        next[c] = edges[low].value;
    }
    for (int32_t node = 0; node < cage->nodeCount; node++) {
        int32_t steps = 0;
        for (int32_t c = anyCorner[node]; faceCounts[node] > 0 && (steps == 0 || c != anyCorner[node]);
             c = next[c]) {
            steps++;
        }
        assert_int_equal(steps, faceCounts[node]);
    }
    free(next);
    free(edges);
    free(scratch);
    free(faceCounts);
    free(anyCorner);
    srDestroyBoundary(&boundary);
}

static int32_t findPart(int32_t* parts, int32_t node) {
    while (parts[node] != node) {
        node = parts[node];
    }
    return node;
}

// Parts of what is left of a cage when cells with a node outside of a box are taken away.
static int32_t* findParts(const srCage* cage, srVec3 lower, srVec3 upper) {
    int32_t* parts = malloc(sizeof(int32_t) * (size_t)cage->nodeCount);
    for (int32_t i = 0; i < cage->nodeCount; i++) {
        parts[i] = i;
    }
    for (int32_t cell = 0; cell < cage->cellCount; cell++) {
        bool isWithin = true;
        for (int c = 0; c < 4; c++) {
            srVec3 p = cage->nodes[cage->cells[cell][c]];
            isWithin = isWithin && p.x > lower.x && p.y > lower.y && p.z > lower.z && p.x < upper.x &&
                       p.y < upper.y && p.z < upper.z;
        }
        for (int c = 1; c < 4 && isWithin; c++) {
            int32_t a = findPart(parts, cage->cells[cell][0]), b = findPart(parts, cage->cells[cell][c]);
            parts[a > b ? a : b] = a > b ? b : a;
        }
    }
    return parts;
}

static int32_t partAt(const srCage* cage, int32_t* parts, srVec3 point) {
    srCellGrid* grid;
    double weights[4];
    assert_success(srCreateCellGrid(cage, &grid));
    int32_t cell = srCellGrid_Find(grid, point, weights);
    assert_true(cell != SR_NULL_INDEX);
    srDestroyCellGrid(grid);
    return findPart(parts, cage->cells[cell][0]);
}

static srMesh makeMesh(const Soup* soup, int32_t target, srMesherReport* report) {
    srSurface surface = makeSurface(soup);
    const srMesherSettings settings = {.targetNodeCount = target};
    srMesh mesh;
    assert_success(srMeshSurface(&surface, &settings, &mesh, report));
    assert_int_equal(mesh.pointCount, surface.pointCount);
    checkCage(&mesh.cage, report);
    checkSkinIsClosed(&mesh.cage);
    checkFans(&mesh.cage);
    srDestroySurface(&surface);
    return mesh;
}

// Gaps in cubes of the cage, about
static const double gapShares[] = {0.0, 0.1, 0.3};

static void no_cell_joins_two_fingers_above_the_knuckle(void** state) {
    (void)state;
    for (int g = 0; g < SR_ARRAY_COUNT(gapShares); g++) {
        Soup soup = {0};
        srMesherReport report;
        double gap = 0.6 * gapShares[g];
        addHand(&soup, 4, gap);
        srMesh mesh = makeMesh(&soup, 1000, &report);
        assert_true(report.copyCount > 0);
        assert_int_equal(report.pieceCount, 1);
        srVec3 lower = {-9.0, 3.0 + 2.0 * report.spacing, -9.0}, upper = {9.0, 9.0, 9.0};
        int32_t* parts = findParts(&mesh.cage, lower, upper);
        int32_t partOfFinger[4];
        for (int finger = 0; finger < 4; finger++) {
            srVec3 middle = {0.6 + finger * (1.2 + gap), 6.0, 0.6};
            partOfFinger[finger] = partAt(&mesh.cage, parts, middle);
            for (int before = 0; before < finger; before++) {
                assert_true(partOfFinger[before] != partOfFinger[finger]);
            }
        }

        // points of the skin where fingers meet: each has a cell of its own finger
        int32_t known = 0;
        for (int32_t p = 0; p < mesh.pointCount; p++) {
            const float* x = soup.points + 3 * p;
            int32_t cell = mesh.pointCells[p];
            int finger = p % 8 / 2; // planes along x: two a finger
            if (x[1] > 4.9f && cell != SR_NULL_INDEX) {
                assert_int_equal(findPart(parts, mesh.cage.cells[cell][0]), partOfFinger[finger]);
                known++;
            }
        }
        assert_true(known > 0);
        free(parts);
        srDestroyMesh(&mesh);
        freeSoup(&soup);
    }
}

static void no_cell_joins_the_lips_of_a_closed_mouth(void** state) {
    (void)state;
    for (int g = 0; g < SR_ARRAY_COUNT(gapShares); g++) {
        Soup soup = {0};
        srMesherReport report;
        addMouth(&soup, 0.4 * gapShares[g]);
        srMesh mesh = makeMesh(&soup, 2000, &report);
        double room = 1.5 * report.spacing;
        srVec3 lower = {1.0 + room, 2.0 + room, -9.0}, upper = {3.0 - room, 9.0, 9.0};
        int32_t* parts = findParts(&mesh.cage, lower, upper);
        int32_t upperLip = partAt(&mesh.cage, parts, (srVec3){2.0, 3.4, 2.8});
        int32_t lowerLip = partAt(&mesh.cage, parts, (srVec3){2.0, 3.4, 1.2});
        assert_true(upperLip != lowerLip);
        assert_int_equal(report.pieceCount, 1);
        free(parts);
        srDestroyMesh(&mesh);
        freeSoup(&soup);
    }
}

static void thighs_that_touch_or_cross_a_little_stay_two_and_deep_ones_are_one(void** state) {
    (void)state;
    const double overlaps[] = {0.0, 0.03, 1.0};
    for (int i = 0; i < 3; i++) {
        Soup soup = {0};
        srMesherReport report;
        addThigh(&soup, 0.0, 0.0);
        addThigh(&soup, 2.0 - overlaps[i], 0.1);
        srMesh mesh = makeMesh(&soup, 1000, &report);
        assert_int_equal(report.pieceCount, i < 2 ? 2 : 1);
        assert_int_equal(countPieces(&mesh.cage), report.pieceCount);
        srDestroyMesh(&mesh);
        freeSoup(&soup);
    }
}

static void blocks_that_lie_on_each_other_stay_as_many(void** state) {
    (void)state;
    const int32_t targets[] = {300, 1000, 3000};
    for (int k = 0; k < 3 * SR_ARRAY_COUNT(targets); k++) {
        Soup soup = {0};
        srMesherReport report;
        double shift = 0.1 * (k % 3);
        for (int b = 0; b < 3; b++) {
            addBox(&soup, (double[3]){b * shift, 0.0, b * 1.0}, (double[3]){2.0, 2.0, 1.0});
        }
        srMesh mesh = makeMesh(&soup, targets[k / 3], &report);
        assert_int_equal(report.pieceCount, 3);
        assert_int_equal(countPieces(&mesh.cage), 3);
        assert_true(report.volume > 0.97 * 12.0 && report.volume < 1.3 * 12.0);
        srDestroyMesh(&mesh);
        freeSoup(&soup);
    }
}

static void contacts_stay_glued_when_asked(void** state) {
    (void)state;
    Soup soup = {0};
    addHand(&soup, 3, 0.0);
    srSurface surface = makeSurface(&soup);
    const srMesherSettings settings = {.targetNodeCount = 800, .gluesContacts = true};
    srMesh mesh;
    srMesherReport report;
    assert_success(srMeshSurface(&surface, &settings, &mesh, &report));
    assert_int_equal(report.copyCount, 0);
    srDestroyMesh(&mesh);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static void finer_cages_come_nearer_to_the_volume(void** state) {
    (void)state;
    srSurface surface = makeSphere(4, 1.0);
    double before = HUGE_VAL, exact = 0.0;
    for (int32_t t = 0; t < surface.triangleCount; t++) {
        const int32_t* c = surface.triangles[t];
        exact += srDot(surface.points[c[0]], srCross(surface.points[c[1]], surface.points[c[2]])) / 6.0;
    }
    for (int32_t target = 250; target <= 16000; target *= 4) {
        srCage cage;
        srMesherReport report;
        assert_success(mesh(&surface, target, &cage, &report));
        double error = fabs(report.volume / exact - 1.0);
        // four times the nodes make cubes smaller by 1.6: the error, offset and cut-off caps, shrinks with
        // them
        assert_true(error < 0.8 * before);
        assert_near(report.insideVolume / exact, 1.0, 0.05);
        before = error;
        srDestroyCage(&cage);
    }
    assert_true(before < 0.04);
    srDestroySurface(&surface);
}

typedef struct Log {
    int calls;
    int cancelAt;
    float last;
} Log;

static bool listen(float fraction, void* context) {
    Log* log = context;
    assert_true(fraction >= log->last && fraction <= 1.0f);
    log->last = fraction;
    return ++log->calls != log->cancelAt;
}

static void progress_ascends_to_one_and_can_be_cancelled_at_any_call(void** state) {
    (void)state;
    srSurface surface = makeSphere(2, 1.0);
    Log log = {.cancelAt = -1};
    srMesherSettings settings = {.targetNodeCount = 300, .progress = listen, .progressContext = &log};
    srMesh made;
    srMesherReport report;
    assert_success(srMeshSurface(&surface, &settings, &made, &report));
    srDestroyMesh(&made);
    assert_true(log.last == 1.0f);
    assert_true(log.calls > 20);
    int calls = log.calls;
    for (int cancelAt = 1; cancelAt <= calls; cancelAt++) {
        log = (Log){.cancelAt = cancelAt};
        assert_result(srMeshSurface(&surface, &settings, &made, &report), sr_errorCancelled);
        assert_int_equal(log.calls, cancelAt);
    }
    srDestroySurface(&surface);
}

static srResult meshAndDestroy(void* context) {
    srCage cage;
    srMesherReport report;
    // so many nodes are met at once, so that one attempt is short
    SR_TRY(mesh(context, 120, &cage, &report));
    srDestroyCage(&cage);
    return sr_success;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    srSurface surface = makeSphere(0, 1.0);
    srTestEveryAllocationFails(meshAndDestroy, &surface);
    srDestroySurface(&surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(spheres_get_the_nodes_asked_for_and_their_volume, srTestNothingLeaked),
        cmocka_unit_test_teardown(inside_out_sphere_is_the_same_sphere, srTestNothingLeaked),
        cmocka_unit_test_teardown(thin_plate_of_any_direction_is_kept_whole, srTestNothingLeaked),
        cmocka_unit_test_teardown(separate_spheres_stay_separate_and_both_are_there, srTestNothingLeaked),
        cmocka_unit_test_teardown(sphere_with_a_hole_is_closed_over_it, srTestNothingLeaked),
        cmocka_unit_test_teardown(sheet_becomes_a_slab_unless_sheets_get_no_thickness, srTestNothingLeaked),
        cmocka_unit_test_teardown(sphere_whose_faces_are_there_both_ways_round_is_a_sphere,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(targets_out_of_range_are_refused, srTestNothingLeaked),
        cmocka_unit_test_teardown(specks_far_apart_neither_hang_nor_crash, srTestNothingLeaked),
        cmocka_unit_test_teardown(a_needle_is_no_reason_for_a_large_lattice, srTestNothingLeaked),
        cmocka_unit_test_teardown(coarse_cages_of_boxes_are_not_too_large_where_the_skin_is_there_twice,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(shape_does_not_depend_on_size, srTestNothingLeaked),
        cmocka_unit_test_teardown(any_number_of_workers_gives_the_same_bits, srTestNothingLeaked),
        cmocka_unit_test_teardown(progress_ascends_to_one_and_can_be_cancelled_at_any_call,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(no_cell_joins_two_fingers_above_the_knuckle, srTestNothingLeaked),
        cmocka_unit_test_teardown(no_cell_joins_the_lips_of_a_closed_mouth, srTestNothingLeaked),
        cmocka_unit_test_teardown(thighs_that_touch_or_cross_a_little_stay_two_and_deep_ones_are_one,
                                  srTestNothingLeaked),
        cmocka_unit_test_teardown(blocks_that_lie_on_each_other_stay_as_many, srTestNothingLeaked),
        cmocka_unit_test_teardown(contacts_stay_glued_when_asked, srTestNothingLeaked),
        cmocka_unit_test_teardown(finer_cages_come_nearer_to_the_volume, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/mesher", tests, NULL, NULL);
}
