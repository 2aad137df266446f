// SPDX-License-Identifier: GPL-3.0-or-later

// children that are left, and processes that count from 1
#define _GNU_SOURCE

#include "mesh/tetgen.h"

#include "core/hash.h"
#include "core/process.h"
#include "core/thread.h"
#include "mesh/boundary.h"
#include "mesh/helper.h"
#include "mesh/solids.h"
#include "mesh/tetgen_protocol.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const srTetgenLimits usual = {NULL, 30.0, 2000.0};

typedef struct Run {
    srArena* arena;
    srTetgenFate fate;
    srTetgenMesh mesh;
} Run;

static srTetgenInput inputOf(const srSurface* surface) {
    return (srTetgenInput){
        .points = surface->points,
        .pointCount = surface->pointCount,
        .triangles = (const int32_t (*)[3])surface->triangles,
        .triangleCount = surface->triangleCount,
        .radiusEdge = 1.4,
    };
}

static Run runOn(const srTetgenInput* input, srTetgenLimits limits, const char* program) {
    limits.program = program;
    Run run = {.arena = srCreateArena(1 << 16)};
    assert_non_null(run.arena);
    assert_success(srRunTetgen(input, &limits, NULL, run.arena, &run.fate, &run.mesh));
    assert_int_equal(run.mesh.cellCount > 0, run.fate == sr_tetgenMade);
    // no zombie, whatever happened
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    return run;
}

static srSurface ball(void) {
    Soup soup = {0};
    addSphere(&soup, 2, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    freeSoup(&soup);
    return surface;
}

static double volumeOfCells(const srTetgenMesh* mesh, double* outLeast) {
    double sum = 0.0;
    *outLeast = HUGE_VAL;
    for (int32_t i = 0; i < mesh->cellCount; i++) {
        const int32_t* n = mesh->cells[i];
        srVec3 a = mesh->nodes[n[0]];
        double volume = srDot(srSub(mesh->nodes[n[1]], a),
                              srCross(srSub(mesh->nodes[n[2]], a), srSub(mesh->nodes[n[3]], a))) /
                        6.0;
        *outLeast = fmin(*outLeast, volume);
        sum += volume;
    }
    return sum;
}

static double volumeWithin(const srSurface* surface) {
    double sum = 0.0;
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        const int32_t* n = surface->triangles[t];
        sum += srDot(surface->points[n[0]], srCross(surface->points[n[1]], surface->points[n[2]])) / 6.0;
    }
    return sum;
}

static bool hasNode(const srTetgenMesh* mesh, srVec3 point) {
    for (int32_t n = 0; n < mesh->nodeCount; n++) {
        srVec3 x = mesh->nodes[n];
        if (x.x == point.x && x.y == point.y && x.z == point.z) {
            return true;
        }
    }
    return false;
}

static void cells_fill_the_surface_and_keep_its_points(void** state) {
    (void)state;
    needHelper();
    srSurface surface = ball();
    srTetgenInput input = inputOf(&surface);
    Run run = runOn(&input, usual, helperPath);
    assert_int_equal(run.fate, sr_tetgenMade);
    double least;
    // both are sums of exact volumes of the same body: rounding alone
    assert_near(volumeOfCells(&run.mesh, &least), volumeWithin(&surface), 1e-12);
    assert_true(least > 0.0);
    for (int32_t p = 0; p < surface.pointCount; p++) {
        assert_true(hasNode(&run.mesh, surface.points[p]));
    }
    srDestroyArena(run.arena);
    srDestroySurface(&surface);
}

static void points_inside_become_nodes(void** state) {
    (void)state;
    needHelper();
    srSurface surface = ball();
    const srVec3 extras[3] = {{0.1, 0.2, 0.3}, {-0.5, 0.01, 0.0}, {0.0, 0.0, -0.6}};
    srTetgenInput input = inputOf(&surface);
    input.extras = extras;
    input.extraCount = 3;
    Run run = runOn(&input, usual, helperPath);
    assert_int_equal(run.fate, sr_tetgenMade);
    for (int i = 0; i < 3; i++) {
        assert_true(hasNode(&run.mesh, extras[i]));
    }
    srDestroyArena(run.arena);
    srDestroySurface(&surface);
}

static void hollows_stay_empty(void** state) {
    (void)state;
    needHelper();
    Soup soup = {0};
    addSphere(&soup, 2, 1.0, 0.0, 0.0, 0.0);
    addSphere(&soup, 1, -0.4, 0.1, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    const srVec3 hole = {0.1, 0.0, 0.0};
    srTetgenInput input = inputOf(&surface);
    // filled, it is no cage of this surface
    Run filled = runOn(&input, usual, helperPath);
    assert_int_equal(filled.fate, sr_tetgenGarbled);
    input.holes = &hole;
    input.holeCount = 1;
    Run hollow = runOn(&input, usual, helperPath);
    assert_int_equal(hollow.fate, sr_tetgenMade);
    srDestroyArena(filled.arena);
    srDestroyArena(hollow.arena);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

// how many nodes lie left and right
static void countSides(const srTetgenMesh* mesh, int32_t outCounts[2]) {
    outCounts[0] = outCounts[1] = 0;
    for (int32_t n = 0; n < mesh->nodeCount; n++) {
        outCounts[mesh->nodes[n].x > 0.0]++;
    }
}

static void cells_are_as_small_as_the_grid_of_sizes_says(void** state) {
    (void)state;
    needHelper();
    Soup soup = {0};
    addSphere(&soup, 3, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    float sizes[8];
    int32_t previous = 0;
    for (int halving = 0; halving < 3; halving++) {
        double size = 0.6 / (1 << halving);
        for (int i = 0; i < 8; i++) {
            sizes[i] = (float)size;
        }
        srTetgenInput input = inputOf(&surface);
        input.sizes = (srSizeGrid){{-1.0, -1.0, -1.0}, 2.0, {2, 2, 2}, sizes};
        Run run = runOn(&input, usual, helperPath);
        assert_int_equal(run.fate, sr_tetgenMade);
        assert_true(run.mesh.nodeCount > previous);
        previous = run.mesh.nodeCount;
        srDestroyArena(run.arena);
    }
    for (int i = 0; i < 8; i++) {
        sizes[i] = i % 2 == 0 ? 0.5f : 0.06f;
    }
    srTetgenInput input = inputOf(&surface);
    input.sizes = (srSizeGrid){{-1.0, -1.0, -1.0}, 2.0, {2, 2, 2}, sizes};
    Run run = runOn(&input, usual, helperPath);
    int32_t counts[2];
    countSides(&run.mesh, counts);
    assert_true(counts[1] > 2 * counts[0]);
    srDestroyArena(run.arena);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

// Points by sums and products alone: the surfaces are the same on every machine themselves.
static void dent(Soup* soup, double flat) {
    for (int32_t p = 0; p < soup->pointCount; p++) {
        float* x = soup->points + 3 * p;
        double a = (double)x[0], b = (double)x[1], c = (double)x[2];
        double grow = 1.0 + 0.3 * a * b - 0.25 * c * c * a + 0.2 * b * b * b;
        x[0] = (float)(a * grow);
        x[1] = (float)(b * grow);
        x[2] = (float)(c * grow * flat);
    }
}

// A slab of cubes, all of whose corners are on the outside.
static void addSlab(Soup* soup) {
    srCage slab;
    srBoundary outside;
    makeBlock(8, 5, 1, 0.25, &slab);
    assert_success(srCreateBoundary(&slab, &outside));
    for (int32_t i = 0; i < slab.nodeCount; i++) {
        addPoint(soup, slab.nodes[i].x, slab.nodes[i].y, slab.nodes[i].z);
    }
    for (int32_t f = 0; f < outside.faceCount; f++) {
        addTriangle(soup, outside.faces[f][0], outside.faces[f][1], outside.faces[f][2]);
    }
    srDestroyBoundary(&outside);
    srDestroyCage(&slab);
}

enum {
    sameBall,       // of even sizes
    sameDented,     // no two edges alike, small on one side, points of bones inside
    sameFlat,       // thin: many cells at the limits of quality
    sameSlab,       // faces of one plane, points of one sphere: exact arithmetic decides
    sameHollow,     // a hole in it
    sameNeighbours, // parts
    sameCount
};

// nodes and cells, to the bit
static uint64_t hashSame(int which) {
    static const srVec3 extras[3] = {{0.1, 0.2, 0.05}, {-0.5, 0.01, 0.0}, {0.0, 0.05, -0.1}};
    const srVec3 hole = {0.1, 0.0, 0.0};
    float sizes[8];
    for (int i = 0; i < 8; i++) {
        sizes[i] = which == sameDented                      ? (i % 2 == 0 ? 0.2f : 0.06f)
                   : which == sameFlat || which == sameSlab ? 0.15f
                                                            : 0.3f;
    }
    Soup soup = {0};
    if (which == sameSlab) {
        addSlab(&soup);
    } else {
        addSphere(&soup, which == sameFlat || which == sameDented ? 3 : 2, 1.0, 0.0, 0.0, 0.0);
    }
    if (which == sameDented || which == sameFlat) {
        dent(&soup, which == sameFlat ? 0.08 : 1.0);
    } else if (which == sameHollow) {
        addSphere(&soup, 1, -0.4, 0.1, 0.0, 0.0);
    } else if (which == sameNeighbours) {
        addSphere(&soup, 2, 0.7, 1.9, 0.3, 0.2);
    }
    srSurface surface = makeSurface(&soup);
    srTetgenInput input = inputOf(&surface);
    input.sizes = (srSizeGrid){{-2.0, -2.0, -2.0}, 5.0, {2, 2, 2}, sizes};
    input.extras = extras;
    input.extraCount = which == sameDented ? 3 : 0;
    input.holes = &hole;
    input.holeCount = which == sameHollow;
    Run run = runOn(&input, usual, helperPath);
    assert_int_equal(run.fate, sr_tetgenMade);
    uint64_t hash = srHashBytes(SR_HASH_SEED, run.mesh.nodes, (size_t)run.mesh.nodeCount * sizeof(srVec3));
    hash = srHashBytes(hash, run.mesh.cells, (size_t)run.mesh.cellCount * sizeof(run.mesh.cells[0]));
    print_message("surface %d: %d nodes, %d cells, %016llx\n", which, run.mesh.nodeCount, run.mesh.cellCount,
                  (unsigned long long)hash);
    srDestroyArena(run.arena);
    srDestroySurface(&surface);
    freeSoup(&soup);
    return hash;
}

static void same_surfaces_give_the_same_bits(void** state) {
    (void)state;
    needHelper();
    // from TetGen 1.5.0, by whatever compiler, C library and processor: nothing in it is the machine's
    static const uint64_t expected[sameCount] = {
        [sameBall] = 0x873511f4709e3054,   [sameDented] = 0x0cd6f0aaaf31e72b,
        [sameFlat] = 0x7a3fc888cfda50ce,   [sameSlab] = 0x1551d051be07f4d5,
        [sameHollow] = 0xf38b6f1760289596, [sameNeighbours] = 0xa9b9b0b7f18e2f77,
    };
    for (int which = 0; which < sameCount; which++) {
        uint64_t hash = hashSame(which);
        assert_int_equal(hashSame(which), hash);
        if (SR_TETGEN_IS_1_5_0) {
            assert_int_equal(hash, expected[which]);
        }
    }
}

static void bad_surfaces_are_refused_or_end_the_helper_alone(void** state) {
    (void)state;
    needHelper();
    const double lower[3] = {0.2, 0.1, 0.0}, size[3] = {3.0, 0.2, 0.3};
    for (int kind = 0; kind < 6; kind++) {
        Soup soup = {0};
        addSphere(&soup, 1, 1.0, 0.0, 0.0, 0.0);
        if (kind == 0) { // pierced
            addBox(&soup, lower, size);
        } else if (kind == 1) { // open
            soup.triangleCount -= 5;
        } else if (kind == 2) { // twice
            addSphere(&soup, 1, 1.0, 0.0, 0.0, 0.0);
        } else if (kind == 3) { // flat
            for (int32_t p = 0; p < soup.pointCount; p++) {
                soup.points[3 * p + 2] = 0.0f;
            }
        } else if (kind == 4) { // overlapping
            addSphere(&soup, 1, 1.0, 0.3, 0.1, 0.0);
        }
        srSurface surface = makeSurface(&soup);
        if (kind == 5) {
            surface.points[3] = (srVec3){(double)NAN, 0.0, 0.0};
        }
        srTetgenInput input = inputOf(&surface);
        Run run = runOn(&input, usual, helperPath);
        assert_int_not_equal(run.fate, sr_tetgenMade);
        assert_int_not_equal(run.fate, sr_tetgenMissing);
        srDestroyArena(run.arena);
        srDestroySurface(&surface);
        freeSoup(&soup);
    }
}

static void every_misfortune_has_its_name(void** state) {
    (void)state;
    needHelper();
    static const struct {
        const char* line;
        srTetgenFate fate;
    } cases[] = {
        {"cat >/dev/null; sleep 60", sr_tetgenStalled},
        {"sleep 60", sr_tetgenStalled},
        {"kill -STOP $$", sr_tetgenStalled},
        {"kill -KILL $$", sr_tetgenCrashed},
        {"cat >/dev/null; kill -SEGV $$", sr_tetgenCrashed},
        {"exit 1", sr_tetgenStarved},
        {"exit 2", sr_tetgenCrashed},
        {"exit 3", sr_tetgenRefused},
        // at every stage: before, amidst and after the order, at work, amidst and after the answer
        {"dd bs=1 count=100 >/dev/null; kill -KILL $$", sr_tetgenCrashed},
        {"cat >/dev/null; kill -KILL $$", sr_tetgenCrashed},
        {"%s >/dev/null; kill -KILL $$", sr_tetgenCrashed},
        {"%s | head -c 1000; kill -KILL $$", sr_tetgenCrashed},
        {"%s; kill -KILL $$", sr_tetgenCrashed},
        {"%s; sleep 60", sr_tetgenStalled},
        {"{ printf old; dd bs=1 skip=3; } | %s", sr_tetgenForeign},
        {"head -c 1000000 /dev/urandom", sr_tetgenGarbled},
        {"exit 99", sr_tetgenGarbled},
        {"exit 0", sr_tetgenGarbled},
        {"echo hello; exit 0", sr_tetgenGarbled},
        {"exec cat", sr_tetgenGarbled},
        {"%s | head -c 1000", sr_tetgenGarbled},
        {"%s | tail -c +2", sr_tetgenGarbled},
        {"%s; printf x", sr_tetgenGarbled},
        // one bit of the first node's last digits
        {"%s | { dd bs=1 count=24; dd bs=1 count=1 >/dev/null; printf '\\001'; cat; }", sr_tetgenGarbled},
        {"%s | tr '\\077' '\\076'", sr_tetgenGarbled},
        {"%s", sr_tetgenMade},
    };
    srSurface surface = ball();
    srTetgenInput input = inputOf(&surface);
    srTetgenLimits limits = {NULL, 1.5, 2000.0};
    for (int i = 0; i < SR_ARRAY_COUNT(cases); i++) {
        char path[300];
        makeStandIn("helper", cases[i].line, path);
        Run run = runOn(&input, limits, path);
        if (run.fate != cases[i].fate) {
            fail_msg("'%s' %s", cases[i].line, srDescribeTetgenFate(run.fate));
        }
        srDestroyArena(run.arena);
    }
    srDestroySurface(&surface);
}

static void missing_helper_is_said(void** state) {
    (void)state;
    srSurface surface = ball();
    srTetgenInput input = inputOf(&surface);
    const char* const paths[] = {NULL, "", "/no/such/helper", "/tmp"};
    for (int i = 0; i < 4; i++) {
        Run run = runOn(&input, usual, paths[i]);
        assert_int_equal(run.fate, sr_tetgenMissing);
        srDestroyArena(run.arena);
    }
    srDestroySurface(&surface);
}

// Tens of millions of cells.
static srSizeGrid tinySizes(void) {
    static const float sizes[8] = {0.004f, 0.004f, 0.004f, 0.004f, 0.004f, 0.004f, 0.004f, 0.004f};
    return (srSizeGrid){{-1.0, -1.0, -1.0}, 2.0, {2, 2, 2}, sizes};
}

static void helper_keeps_within_its_memory_and_time(void** state) {
    (void)state;
    needHelper();
    Soup soup = {0};
    addSphere(&soup, 4, 1.0, 0.0, 0.0, 0.0);
    srSurface surface = makeSurface(&soup);
    srTetgenInput input = inputOf(&surface);
    input.sizes = tinySizes();
    Run starved = runOn(&input, (srTetgenLimits){NULL, 60.0, 30.0}, helperPath);
    assert_int_equal(starved.fate, sr_tetgenStarved);
    double begin = srGetSeconds();
    Run stalled = runOn(&input, (srTetgenLimits){NULL, 0.5, 4000.0}, helperPath);
    assert_int_equal(stalled.fate, sr_tetgenStalled);
    assert_true(srGetSeconds() - begin < 5.0);
    srDestroyArena(starved.arena);
    srDestroyArena(stalled.arena);
    srDestroySurface(&surface);
    freeSoup(&soup);
}

static int runHelperFor(const char* host) {
    const char* arguments[] = {host, NULL};
    srProcessOrder order = {
        .program = helperPath, .arguments = arguments, .mostOutput = 100, .mostSeconds = 20.0};
    srProcessAnswer answer;
    assert_success(srRunProcess(&order, &answer));
    assert_int_equal(answer.fate, sr_processEnded);
    int code = answer.code;
    srDestroyProcessAnswer(&answer);
    return code;
}

static void helper_of_a_host_that_went_does_not_begin(void** state) {
    (void)state;
    needHelper();
    char host[24];
    snprintf(host, sizeof(host), "%ld", (long)getpid());
    // it reads, and finds no order
    assert_int_equal(runHelperFor(host), sr_tetgenExitOrder);
    assert_int_equal(runHelperFor(NULL), sr_tetgenExitOrder);
    assert_int_equal(runHelperFor("1"), sr_tetgenExitPipe);
}

// What a child process of ours does as the host; its answer is the fate.
static pid_t forkHost(const srTetgenInput* input, bool isProcess1) {
    pid_t host = fork();
    if (host != 0) {
        return host;
    }
    if (isProcess1) {
        if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
            _exit(sr_tetgenFateCount);
        }
        pid_t first = fork();
        if (first != 0) {
            int status = 0;
            waitpid(first, &status, 0);
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 100);
        }
    }
    srTetgenLimits limits = usual;
    limits.program = helperPath;
    srTetgenFate fate;
    srTetgenMesh mesh;
    srResult result = srRunTetgen(input, &limits, NULL, srCreateArena(1 << 16), &fate, &mesh);
    _exit(result != sr_success || isProcess1 != (getpid() == 1) ? 101 : (int)fate);
}

static void helper_works_for_process_1_as_well(void** state) {
    (void)state;
    needHelper();
    srSurface surface = ball();
    srTetgenInput input = inputOf(&surface);
    int status = 0;
    pid_t host = forkHost(&input, true);
    assert_int_equal(waitpid(host, &status, 0), host);
    srDestroySurface(&surface);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == sr_tetgenFateCount) {
        print_message("skipped: a process may not have numbers of its own here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), sr_tetgenMade);
}

static void helper_ends_with_a_host_that_is_killed(void** state) {
    (void)state;
    needHelper();
    srSurface surface = ball();
    srTetgenInput input = inputOf(&surface);
    input.sizes = tinySizes();
    // orphans come to us
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    pid_t host = forkHost(&input, false);
    double begin = srGetSeconds();
    int status = 0;
    while (srGetSeconds() - begin < 0.5) {
        // at work, host and helper
        assert_int_equal(waitpid(-1, &status, WNOHANG), 0);
        usleep(50000);
    }
    kill(host, SIGKILL);
    assert_int_equal(waitpid(host, &status, 0), host);
    pid_t helper = waitpid(-1, &status, 0);
    assert_true(helper > 0 && helper != host);
    assert_true(srGetSeconds() - begin < 5.0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
    srDestroySurface(&surface);
}

static bool refuseAtOnce(float fraction, void* context) {
    (void)fraction;
    (void)context;
    return false;
}

static void cancel_ends_the_helper(void** state) {
    (void)state;
    char path[300];
    makeStandIn("sleeper", "sleep 60", path);
    srSurface surface = ball();
    srTetgenInput input = inputOf(&surface);
    srTetgenLimits limits = {path, 50.0, 2000.0};
    srProgress progress = {refuseAtOnce, NULL, 0.0f, 1.0f};
    srArena* arena = srCreateArena(1 << 16);
    srTetgenFate fate;
    srTetgenMesh mesh;
    double begin = srGetSeconds();
    assert_result(srRunTetgen(&input, &limits, &progress, arena, &fate, &mesh), sr_errorCancelled);
    assert_true(srGetSeconds() - begin < 10.0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    srDestroyArena(arena);
    srDestroySurface(&surface);
}

static srResult fillBall(void* context) {
    srTetgenInput input = inputOf(context);
    srTetgenLimits limits = usual;
    limits.program = helperPath;
    srArena* arena = srCreateArena(1 << 10);
    if (arena == NULL) {
        return srFailOutOfMemory("the test");
    }
    srTetgenFate fate;
    srTetgenMesh mesh;
    srResult result = srRunTetgen(&input, &limits, NULL, arena, &fate, &mesh);
    srDestroyArena(arena);
    return result;
}

static void failing_allocations_leak_nothing(void** state) {
    (void)state;
    needHelper();
    srSurface surface = ball();
    srTestEveryAllocationFails(fillBall, &surface);
    srDestroySurface(&surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(cells_fill_the_surface_and_keep_its_points, srTestNothingLeaked),
        cmocka_unit_test_teardown(points_inside_become_nodes, srTestNothingLeaked),
        cmocka_unit_test_teardown(hollows_stay_empty, srTestNothingLeaked),
        cmocka_unit_test_teardown(cells_are_as_small_as_the_grid_of_sizes_says, srTestNothingLeaked),
        cmocka_unit_test_teardown(same_surfaces_give_the_same_bits, srTestNothingLeaked),
        cmocka_unit_test_teardown(bad_surfaces_are_refused_or_end_the_helper_alone, srTestNothingLeaked),
        cmocka_unit_test_teardown(every_misfortune_has_its_name, srTestNothingLeaked),
        cmocka_unit_test_teardown(missing_helper_is_said, srTestNothingLeaked),
        cmocka_unit_test_teardown(helper_keeps_within_its_memory_and_time, srTestNothingLeaked),
        cmocka_unit_test_teardown(helper_of_a_host_that_went_does_not_begin, srTestNothingLeaked),
        cmocka_unit_test_teardown(helper_works_for_process_1_as_well, srTestNothingLeaked),
        cmocka_unit_test_teardown(helper_ends_with_a_host_that_is_killed, srTestNothingLeaked),
        cmocka_unit_test_teardown(cancel_ends_the_helper, srTestNothingLeaked),
        cmocka_unit_test_teardown(failing_allocations_leak_nothing, srTestNothingLeaked),
    };
    return cmocka_run_group_tests_name("mesh/tetgen", tests, NULL, NULL);
}
