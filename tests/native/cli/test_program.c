// SPDX-License-Identifier: GPL-3.0-or-later
//
// The program itself, end to end, on a bar with two bones: what it writes, prints and answers.

#include "cli/folder.h"

#include "cli/files.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define RING_COUNT 17
#define RING_LENGTH 8
#define VERTEX_COUNT (RING_COUNT * RING_LENGTH + 2)
#define FRAME_COUNT 30
#define PC2_HEADER_BYTES 32

// a bar from y = 0 to y = 4, one unit thick, closed
static void writeBar(const srTestFolder* folder) {
    static const int square[RING_LENGTH][2] = {{-1, -1}, {0, -1}, {1, -1}, {1, 0},
                                               {1, 1},   {0, 1},  {-1, 1}, {-1, 0}};
    FILE* file = fopen(srTestFolder_Path(folder, "bar.obj"), "wb");
    assert_non_null(file);
    for (int ring = 0; ring < RING_COUNT; ++ring) {
        for (int i = 0; i < RING_LENGTH; ++i) {
            fprintf(file, "v %g %g %g\n", 0.5 * square[i][0], 0.25 * ring, 0.5 * square[i][1]);
        }
    }
    fprintf(file, "v 0 0 0\nv 0 4 0\n");
    for (int i = 0; i < RING_LENGTH; ++i) {
        int next = (i + 1) % RING_LENGTH;
        for (int ring = 0; ring + 1 < RING_COUNT; ++ring) {
            int below = 1 + ring * RING_LENGTH;
            int above = below + RING_LENGTH;
            fprintf(file, "f %d %d %d %d\n", below + i, above + i, above + next, below + next);
        }
        int top = 1 + (RING_COUNT - 1) * RING_LENGTH;
        fprintf(file, "f %d %d %d\n", VERTEX_COUNT - 1, 1 + i, 1 + next);
        fprintf(file, "f %d %d %d\n", VERTEX_COUNT, top + next, top + i);
    }
    fclose(file);
}

static void writeMatrix(FILE* file, double x, double y) {
    fprintf(file, " 1 0 0 0 0 1 0 0 0 0 1 0 %.9g %.9g 0 1\n", x, y);
}

// both bones run along y; the whole armature goes one unit along x and stops, scaled by `travel`
static void writeRig(const srTestFolder* folder, const char* name, int frameCount, double travel) {
    FILE* file = fopen(srTestFolder_Path(folder, name), "wb");
    assert_non_null(file);
    fprintf(file, "softrig-rig 1\nfps 24\nspaces 1\nbones 2\nbone Low 0 -1 2 0");
    writeMatrix(file, 0.0, 0.0);
    fprintf(file, "bone High%%20end 0 0 2 0");
    writeMatrix(file, 0.0, 2.0);
    fprintf(file, "space");
    writeMatrix(file, 0.0, 0.0);
    fprintf(file, "weights %d\n", VERTEX_COUNT);
    for (int v = 0; v < VERTEX_COUNT; ++v) {
        double y = v < VERTEX_COUNT - 2 ? 0.25 * (v / RING_LENGTH) : 4.0 * (v - (VERTEX_COUNT - 2));
        double high = fmin(1.0, fmax(0.0, y - 1.5));
        fprintf(file, "v 2 0 %.9g 1 %.9g\n", 1.0 - high, high);
    }
    fprintf(file, "frames 1 %d\n", frameCount);
    for (int frame = 0; frame < frameCount; ++frame) {
        double x = travel * fmin(1.0, frame / 6.0);
        for (int matrix = 0; matrix < 4; ++matrix) {
            fprintf(file, "m");
            writeMatrix(file, matrix >= 2 ? x : 0.0, matrix == 3 ? 2.0 : 0.0);
        }
    }
    fclose(file);
}

static srTestFolder makeBarFolder(double travel) {
    srTestFolder folder = srTestMakeFolder();
    writeBar(&folder);
    writeRig(&folder, "bar.rig", FRAME_COUNT, travel);
    return folder;
}

static pid_t startProgram(const srTestFolder* folder, const char* line) {
    static char copy[512];
    char* arguments[40] = {(char[]){SR_CLI_PROGRAM}};
    int count = 1;
    snprintf(copy, sizeof(copy), "%s", line);
    for (char* at = strtok(copy, " "); at != NULL; at = strtok(NULL, " ")) {
        arguments[count++] = at;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int errors = -1;
        bool isReady = chdir(folder->path) == 0;
        int output = open("out.txt", O_CREAT | O_TRUNC | O_WRONLY, 0666);
        errors = open("err.txt", O_CREAT | O_TRUNC | O_WRONLY, 0666);
        isReady = isReady && dup2(output, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0;
        if (isReady) {
            execv(SR_CLI_PROGRAM, arguments);
        }
        _exit(99);
    }
    assert_true(child > 0);
    return child;
}

static int waitForExit(pid_t child) {
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int runProgram(const srTestFolder* folder, const char* line) {
    return waitForExit(startProgram(folder, line));
}

static void runFine(const srTestFolder* folder, const char* line) {
    int exitCode = runProgram(folder, line);
    if (exitCode != 0) {
        size_t size = 0;
        fail_msg("%s: exit %d: %s", line, exitCode, srTestFolder_Read(folder, "err.txt", &size));
    }
}

static bool printed(const srTestFolder* folder, const char* name, const char* part) {
    size_t size = 0;
    char* bytes = srTestFolder_Read(folder, name, &size);
    bool isThere = strstr(bytes, part) != NULL;
    if (!isThere) {
        print_message("'%s' is not in: %s\n", part, bytes);
    }
    free(bytes);
    return isThere;
}

// fails unless the program ends with the code and a sentence that holds `part`
static void assertFails(const srTestFolder* folder, const char* line, int exitCode, const char* part) {
    assert_int_equal(runProgram(folder, line), exitCode);
    assert_true(printed(folder, "err.txt", part));
}

static float* readOffsets(const srTestFolder* folder, const char* name, int32_t frameCount) {
    size_t size = 0;
    char* bytes = srTestFolder_Read(folder, name, &size);
    int32_t version = 0;
    int32_t vertexCount = 0;
    float firstFrame = 0.0f;
    float step = 0.0f;
    int32_t sampleCount = 0;
    assert_int_equal(size, PC2_HEADER_BYTES + sizeof(float) * 3 * VERTEX_COUNT * (size_t)frameCount);
    assert_memory_equal(bytes, "POINTCACHE2\0", 12);
    memcpy(&version, bytes + 12, 4);
    memcpy(&vertexCount, bytes + 16, 4);
    memcpy(&firstFrame, bytes + 20, 4);
    memcpy(&step, bytes + 24, 4);
    memcpy(&sampleCount, bytes + 28, 4);
    assert_int_equal(version, 1);
    assert_int_equal(vertexCount, VERTEX_COUNT);
    assert_true(firstFrame >= 0.0f && firstFrame <= 0.0f);
    assert_true(step >= 1.0f && step <= 1.0f);
    assert_int_equal(sampleCount, frameCount);
    float* offsets = malloc(size - PC2_HEADER_BYTES);
    assert_non_null(offsets);
    memcpy(offsets, bytes + PC2_HEADER_BYTES, size - PC2_HEADER_BYTES);
    free(bytes);
    return offsets;
}

static float findLargest(const float* values, size_t count) {
    float largest = 0.0f;
    for (size_t i = 0; i < count; ++i) {
        assert_true(isfinite(values[i]));
        largest = fmaxf(largest, fabsf(values[i]));
    }
    return largest;
}

static void a_bar_that_stops_swings_and_comes_to_rest(void** state) {
    (void)state;
    srTestFolder folder = makeBarFolder(1.0);
    writeRig(&folder, "bar.rig", 120, 1.0);
    runFine(&folder, "simulate bar.obj --rig bar.rig -o bar.pc2 --nodes 200");
    assert_true(printed(&folder, "out.txt", "1 to 120"));
    float* offsets = readOffsets(&folder, "bar.pc2", 120);
    const size_t row = 3 * VERTEX_COUNT;
    float start = findLargest(offsets, row);
    float swing = findLargest(offsets + 3 * row, 20 * row);
    float end = findLargest(offsets + 110 * row, 10 * row);
    print_message("offsets: start %g, swing %g, end %g\n", (double)start, (double)swing, (double)end);
    assert_true(start <= 0.0f);
    assert_true(swing > 0.01f);
    assert_true(end < 0.05f * swing);
    free(offsets);
    srTestFolder_Remove(&folder);
}

static void a_still_bar_has_no_offsets_at_all(void** state) {
    (void)state;
    srTestFolder folder = makeBarFolder(0.0);
    runFine(&folder, "simulate bar.obj --rig bar.rig -o bar.pc2 --nodes 200");
    float* offsets = readOffsets(&folder, "bar.pc2", FRAME_COUNT);
    assert_true(findLargest(offsets, 3 * (size_t)VERTEX_COUNT * FRAME_COUNT) <= 0.0f);
    free(offsets);
    srTestFolder_Remove(&folder);
}

static void the_number_of_workers_changes_no_bit(void** state) {
    (void)state;
    srTestFolder folder = makeBarFolder(1.0);
    static const char* const lines[] = {
        "simulate bar.obj --rig bar.rig -o 0.pc2 --workers 1 --hash",
        "simulate bar.obj --rig bar.rig -o 1.pc2 --workers 2 --hash",
        "simulate bar.obj --rig bar.rig -o 2.pc2 --workers 4 --hash",
    };
    char hashes[3][32] = {{0}};
    float* offsets[3];
    for (int32_t i = 0; i < 3; ++i) {
        char name[16];
        size_t size = 0;
        runFine(&folder, lines[i]);
        char* output = srTestFolder_Read(&folder, "out.txt", &size);
        const char* hash = strstr(output, "\n  hash ");
        assert_non_null(hash);
        assert_int_equal(sscanf(hash, " hash %31s", hashes[i]), 1);
        assert_int_equal(strlen(hashes[i]), 16);
        free(output);
        snprintf(name, sizeof(name), "%d.pc2", i);
        offsets[i] = readOffsets(&folder, name, FRAME_COUNT);
    }
    const size_t bytes = sizeof(float) * 3 * VERTEX_COUNT * FRAME_COUNT;
    for (int32_t i = 1; i < 3; ++i) {
        assert_string_equal(hashes[i], hashes[0]);
        assert_memory_equal(offsets[i], offsets[0], bytes);
    }

    // and another setting changes it, so the hash says something
    runFine(&folder, "simulate bar.obj --rig bar.rig -o 0.pc2 --workers 1 --frequency 3 --hash");
    size_t size = 0;
    char* output = srTestFolder_Read(&folder, "out.txt", &size);
    assert_null(strstr(output, hashes[0]));
    free(output);
    for (int32_t i = 0; i < 3; ++i) {
        free(offsets[i]);
    }
    srTestFolder_Remove(&folder);
}

static void surfaces_are_the_pose_plus_the_offsets(void** state) {
    (void)state;
    srTestFolder folder = makeBarFolder(1.0);
    runFine(&folder, "simulate bar.obj --rig bar.rig -o bar.pc2 --nodes 200 --obj frames");
    float* offsets = readOffsets(&folder, "bar.pc2", FRAME_COUNT);
    srCliMesh skin;
    srCliError error;
    assert_true(srCliReadSkinFile(srTestFolder_Path(&folder, "bar.obj"), &skin, &error));
    for (int32_t frame = 1; frame <= FRAME_COUNT; ++frame) {
        char name[64];
        srCliMesh posed;
        snprintf(name, sizeof(name), "frames/frame_%04d.obj", frame);
        assert_true(srCliReadSkinFile(srTestFolder_Path(&folder, name), &posed, &error));
        assert_int_equal(posed.points.count, skin.points.count);
        assert_int_equal(posed.triangles.count, skin.triangles.count);
        double travel = fmin(1.0, (frame - 1) / 6.0);
        for (size_t i = 0; i < skin.points.count; ++i) {
            double offset = (double)offsets[(size_t)(frame - 1) * skin.points.count + i];
            double wanted = (double)skin.points.items[i] + (i % 3 == 0 ? travel : 0.0) + offset;
            // weights and positions are rounded to float, a few units at most
            assert_near((double)posed.points.items[i], wanted, 2e-6);
        }
        srCliMesh_Free(&posed);
        remove(srTestFolder_Path(&folder, name));
    }
    free(offsets);
    srCliMesh_Free(&skin);
    srTestFolder_Remove(&folder);
}

static void a_prepared_cage_can_be_used_again(void** state) {
    (void)state;
    srTestFolder folder = makeBarFolder(1.0);
    runFine(&folder, "prepare bar.obj -o bar.softrig --cage bar.mesh --rig bar.rig --nodes 200");
    assert_true(printed(&folder, "out.txt", "nodes"));
    assert_true(printed(&folder, "out.txt", "of angles"));
    assert_true(printed(&folder, "out.txt", "most memory"));
    srCliMesh cage;
    srCliError error;
    assert_true(srCliReadCageFile(srTestFolder_Path(&folder, "bar.mesh"), &cage, &error));
    int32_t nodeCount = srCliMesh_GetPointCount(&cage);
    srCliMesh_Free(&cage);
    runFine(&folder, "simulate bar.obj --rig bar.rig --cage bar.mesh -o bar.pc2 --json");
    char part[64];
    snprintf(part, sizeof(part), "\"nodes\": %d,", nodeCount);
    assert_true(printed(&folder, "out.txt", part));
    runFine(&folder, "info bar.mesh");
    assert_true(printed(&folder, "out.txt", "inverted cells"));
    srTestFolder_Remove(&folder);
}

// from `"hash": "` on, of the line that a simulation printed
// a tube whose two ends are open: each hole is about a third of the size
static void writeTube(const srTestFolder* folder) {
    FILE* file = fopen(srTestFolder_Path(folder, "tube.obj"), "wb");
    assert_non_null(file);
    for (int ring = 0; ring < RING_COUNT; ++ring) {
        for (int i = 0; i < 16; ++i) {
            double angle = 2.0 * 3.14159265358979 * i / 16.0;
            fprintf(file, "v %g %g %g\n", 0.5 * cos(angle), 0.25 * ring, 0.5 * sin(angle));
        }
    }
    for (int ring = 0; ring + 1 < RING_COUNT; ++ring) {
        for (int i = 0; i < 16; ++i) {
            int below = 1 + 16 * ring;
            int next = (i + 1) % 16;
            fprintf(file, "f %d %d %d %d\n", below + i, below + 16 + i, below + 16 + next, below + next);
        }
    }
    fclose(file);
}

static void wishes_for_the_inside_reach_the_library(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    writeTube(&folder);
    runFine(&folder, "prepare tube.obj -o a.srch --nodes 200 --largest-hole 40 --json");
    assert_true(printed(&folder, "out.txt", "\"closedHoleCount\": 2, \"openRimCount\": 0,"));
    runFine(&folder, "prepare tube.obj -o a.srch --nodes 200 --largest-hole=30 --json");
    assert_true(printed(&folder, "out.txt", "\"closedHoleCount\": 0, \"openRimCount\": 2,"));
    srTestFolder_Write(&folder, "sheet.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
    runFine(&folder, "prepare sheet.obj -o a.srch --nodes 100 --sheet-thickness 5");
    assertFails(&folder, "prepare sheet.obj -o a.srch --sheet-thickness 0", 1, "give sheets a thickness");
    assertFails(&folder, "prepare tube.obj -o a.srch --largest-hole -1", 1, "largestHole");
    assertFails(&folder, "prepare tube.obj -o a.srch --sheet-thickness 101", 1, "sheetThickness");
    assertFails(&folder, "prepare tube.obj -o a.srch --largest-hole wide", 2, "number");
    srTestFolder_Remove(&folder);
}

static void report_tells_what_the_cage_does_not_reach(void** state) {
    (void)state;
    srTestFolder folder = makeBarFolder(0.0);
    FILE* file = fopen(srTestFolder_Path(&folder, "bar.obj"), "ab");
    assert_non_null(file);
    fprintf(file, "v 9 0 0\nv 10 0 0\nv 10 1 0\nv 9 1 0\nf -4 -3 -2 -1\n");
    fclose(file);
    runFine(&folder, "prepare bar.obj -o a.srch --nodes 200 --sheet-thickness 0");
    assert_true(printed(&folder, "out.txt", "4  they lag behind: more --sheet-thickness"));
    runFine(&folder, "prepare bar.obj -o a.srch --nodes 200 --sheet-thickness 0 --json");
    assert_true(printed(&folder, "out.txt", "\"farVertexCount\": 4,"));
    runFine(&folder, "prepare bar.obj -o a.srch --nodes 200");
    assert_false(printed(&folder, "out.txt", "lag behind"));
    srTestFolder_Remove(&folder);
}

static void report_says_who_made_the_cage_and_why(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    writeTube(&folder);
    runFine(&folder, "prepare tube.obj -o a.srch --nodes 200 --mesher lattice");
    assert_true(printed(&folder, "out.txt", "lattice") && printed(&folder, "out.txt", "was asked for"));
    // its ends are too wide to be closed
    runFine(&folder, "prepare tube.obj -o a.srch --nodes 200 --largest-hole 30 --json");
    assert_true(printed(&folder, "out.txt",
                        "\"mesher\": \"lattice\", \"mesherNote\": \"The skin is open. The lattice"));
    srTestFolder_Remove(&folder);
}

static void readHash(const srTestFolder* folder, char outHash[17]) {
    size_t size = 0;
    char* line = srTestFolder_Read(folder, "out.txt", &size);
    char* key = strstr(line, "\"hash\": \"");
    assert_non_null(key);
    memcpy(outHash, key + 9, 16);
    outHash[16] = 0;
    free(line);
}

static void a_stored_character_is_simulated_as_if_it_were_prepared(void** state) {
    (void)state;
    srTestFolder folder = makeBarFolder(1.0);
    char expected[17];
    char hash[17];
    runFine(&folder, "simulate bar.obj --rig bar.rig --nodes 200 -o bar.pc2 --json");
    readHash(&folder, expected);
    runFine(&folder, "prepare bar.obj -o bar.softrig --rig bar.rig --nodes 200 --workers 1");
    runFine(&folder, "simulate bar.obj --rig bar.rig --prepared bar.softrig -o again.pc2 --json");
    readHash(&folder, hash);
    assert_string_equal(hash, expected);
    float* first = readOffsets(&folder, "bar.pc2", FRAME_COUNT);
    float* second = readOffsets(&folder, "again.pc2", FRAME_COUNT);
    assert_memory_equal(first, second, sizeof(float) * 3 * 138 * FRAME_COUNT);
    free(first);
    free(second);

    // what does not belong together, or is no character
    srTestFolder_Write(&folder, "flat.obj", "v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n");
    srTestFolder_Write(&folder, "empty.softrig", "");
    const char* const lines[][2] = {
        {"simulate bar.obj --rig bar.rig --prepared bar.obj -o no.pc2", "bar.obj: This is not a stored"},
        {"simulate bar.obj --rig bar.rig --prepared empty.softrig -o no.pc2", "has 0 bytes"},
        {"simulate bar.obj --rig bar.rig --prepared none.softrig -o no.pc2", "could not be opened"},
        {"simulate bar.obj --rig bar.rig --prepared bar.softrig -o bar.softrig", "overwritten"},
    };
    for (int32_t i = 0; i < SR_ARRAY_COUNT(lines); ++i) {
        assertFails(&folder, lines[i][0], 1, lines[i][1]);
    }
    runFine(&folder, "prepare bar.obj -o bare.softrig --nodes 200");
    assertFails(&folder, "simulate bar.obj --rig bar.rig --prepared bare.softrig -o no.pc2", 1, "0 bones");
    assertFails(&folder, "simulate bar.obj --rig bar.rig --prepared bar.softrig --cage x -o no.pc2", 2,
                "--cage");
    srTestFolder_Remove(&folder);
}

static void what_is_left_to_the_animation_may_be_chosen(void** state) {
    (void)state;
    srTestFolder folder = makeBarFolder(1.0);
    static const char* const lines[] = {
        "simulate bar.obj --rig bar.rig -o a.pc2 --nodes 200 --complement bones",
        "simulate bar.obj --rig bar.rig -o b.pc2 --nodes 200 --complement motion",
        "simulate bar.obj --rig bar.rig -o c.pc2 --nodes 200 --complement nothing",
        "simulate bar.obj --rig bar.rig -o d.pc2 --nodes 200",
    };
    float* offsets[SR_ARRAY_COUNT(lines)];
    const size_t count = 3 * VERTEX_COUNT * (size_t)FRAME_COUNT;
    for (int32_t i = 0; i < SR_ARRAY_COUNT(lines); ++i) {
        char name[6] = {(char)('a' + i), '.', 'p', 'c', '2', '\0'};
        runFine(&folder, lines[i]);
        offsets[i] = readOffsets(&folder, name, FRAME_COUNT);
        assert_true(findLargest(offsets[i], count) > 0.01f);
    }
    // this rig has bones, and they are the default
    assert_memory_equal(offsets[0], offsets[3], sizeof(float) * count);
    assert_memory_not_equal(offsets[0], offsets[1], sizeof(float) * count);
    assert_memory_not_equal(offsets[1], offsets[2], sizeof(float) * count);
    for (int32_t i = 0; i < SR_ARRAY_COUNT(lines); ++i) {
        free(offsets[i]);
    }
    assertFails(&folder, "simulate bar.obj --rig bar.rig -o e.pc2 --complement rig", 2, "--complement is");
    srTestFolder_Remove(&folder);
}

static void one_line_for_machines_is_all_that_is_printed(void** state) {
    (void)state;
    srTestFolder folder = makeBarFolder(1.0);
    runFine(&folder, "simulate bar.obj --rig bar.rig -o a\"b\\c.pc2 --nodes 200 --json --substeps 5");
    size_t size = 0;
    char* line = srTestFolder_Read(&folder, "out.txt", &size);
    assert_true(size > 2 && line[0] == '{' && strcmp(line + size - 2, "}\n") == 0);
    assert_ptr_equal(strchr(line, '\n'), line + size - 1);
    static const char* const keys[] = {"verb",    "vertices",      "nodes", "frameCount", "simulationSeconds",
                                       "workers", "largestOffset", "hash"};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(keys); ++i) {
        char key[64];
        snprintf(key, sizeof(key), "\"%s\": ", keys[i]);
        assert_non_null(strstr(line, key));
    }
    assert_non_null(strstr(line, "\"output\": \"a\\\"b\\\\c.pc2\""));
    free(line);
    char* errors = srTestFolder_Read(&folder, "err.txt", &size);
    assert_string_equal(errors, "");
    free(errors);
    srTestFolder_Remove(&folder);
}

static void info_says_what_a_file_holds(void** state) {
    (void)state;
    srTestFolder folder = makeBarFolder(1.0);
    runFine(&folder, "info");
    assert_true(printed(&folder, "out.txt", "ABI"));
    runFine(&folder, "info bar.obj");
    assert_true(printed(&folder, "out.txt", "138"));
    runFine(&folder, "info bar.rig");
    assert_true(printed(&folder, "out.txt", "bones"));
    srTestFolder_Remove(&folder);
}

static void help_is_there_for_every_verb(void** state) {
    (void)state;
    srTestFolder folder = srTestMakeFolder();
    static const char* const lines[] = {"help", "--help", "info --help", "prepare --help", "simulate --help"};
    for (int32_t i = 0; i < SR_ARRAY_COUNT(lines); ++i) {
        runFine(&folder, lines[i]);
        assert_true(printed(&folder, "out.txt", "Usage: softrig"));
    }
    srTestFolder_Remove(&folder);
}

static void a_wrong_command_line_ends_with_two(void** state) {
    (void)state;
    srTestFolder folder = makeBarFolder(0.0);
    assertFails(&folder, "", 2, "Usage");
    assertFails(&folder, "fly", 2, "no verb 'fly'");
    assertFails(&folder, "info a b", 2, "'b'");
    assertFails(&folder, "prepare", 2, "-o");
    assertFails(&folder, "prepare bar.obj", 2, "-o");
    assertFails(&folder, "simulate bar.obj -o bar.pc2", 2, "--rig");
    assertFails(&folder, "simulate bar.obj --rig bar.rig -o bar.pc2 --loud", 2, "'--loud'");
    assertFails(&folder, "simulate bar.obj --rig bar.rig -o bar.pc2 --frequency fast", 2, "'fast'");
    assertFails(&folder, "simulate bar.obj --rig bar.rig -o bar.pc2 --workers 1000", 2, "1000");
    assertFails(&folder, "prepare bar.obj -o bar.mesh --workers 0", 2, "0");
    assert_int_equal(srTestFolder_CountFiles(&folder), 4);
    srTestFolder_Remove(&folder);
}

static void what_cannot_be_done_ends_with_one_and_a_sentence(void** state) {
    (void)state;
    srTestFolder folder = makeBarFolder(0.0);
    srTestFolder_Write(&folder, "bad.obj", "v 0 0 0\nf 1 2 3\n");
    srTestFolder_Write(&folder, "flat.obj", "v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n");
    srTestFolder_Write(&folder, "cloud.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    srTestFolder_Write(&folder, "none.rig",
                       "softrig-rig 1\nfps 24\nspaces 0\nbones 0\nweights 0\nframes 1 0\n");
    assertFails(&folder, "info none.obj", 1, "none.obj");
    assertFails(&folder, "info bad.obj", 1, "bad.obj:2: There is no vertex");
    assertFails(&folder, "prepare bad.obj -o bad.mesh", 1, "bad.obj:2:");
    assertFails(&folder, "prepare flat.obj -o flat.mesh", 1, "Preparing failed: ");
    assertFails(&folder, "prepare cloud.obj -o cloud.mesh", 1, "cloud.obj has vertices but no faces");
    assertFails(&folder, "prepare bar.obj -o none/bar.mesh", 1, "none/bar.mesh");
    assertFails(&folder, "prepare bar.obj -o bar.obj", 1, "also an input");
    assertFails(&folder, "prepare bar.obj -o bar.mesh --nodes 7", 1, "Preparing failed: ");
    assertFails(&folder, "prepare bar.obj -o bar.mesh --nodes 0", 1, "Preparing failed: ");
    assertFails(&folder, "simulate bar.obj --rig bar.rig -o none/bar.pc2", 1, "none/bar.pc2");
    assertFails(&folder, "simulate bar.obj --rig bar.rig -o /dev/null", 1, "not a plain file");
    assertFails(&folder, "simulate bar.obj --rig none.rig -o bar.pc2", 1, "no frames");
    assertFails(&folder, "simulate flat.obj --rig bar.rig -o bar.pc2", 1, "weights 138 vertices");
    assertFails(&folder, "simulate bar.obj --rig bar.rig -o bar.pc2 --frequency 1000", 1, "failed: ");
    assertFails(&folder, "simulate bar.obj --rig bar.rig -o bar.pc2 --obj none/frames", 1, "none/frames");

    // nothing but inputs and what was printed
    assert_int_equal(srTestFolder_CountFiles(&folder), 8);
    srTestFolder_Remove(&folder);
}

static void copyFile(const srTestFolder* folder, const char* from, const char* to) {
    size_t size = 0;
    char* bytes = srTestFolder_Read(folder, from, &size);
    srTestFolder_Write(folder, to, bytes);
    free(bytes);
}

static void no_output_overwrites_an_input_or_another_output(void** state) {
    (void)state;
    srTestFolder folder = makeBarFolder(1.0);
    assert_int_equal(mkdir(srTestFolder_Path(&folder, "in"), 0777), 0);
    copyFile(&folder, "bar.obj", "in/frame_0005.obj");
    copyFile(&folder, "bar.obj", "in/frame_0006.obj.partial");
    copyFile(&folder, "bar.rig", "rig.pc2.partial");
    static const char* const lines[] = {
        "simulate in/frame_0005.obj --rig bar.rig -o bar.pc2 --obj in",
        "simulate in/frame_0005.obj --rig bar.rig -o bar.pc2 --obj ./in/../in",
        "simulate in/frame_0006.obj.partial --rig bar.rig -o bar.pc2 --obj in",
        "simulate bar.obj --rig rig.pc2.partial -o rig.pc2",
        "prepare bar.obj --rig rig.pc2.partial -o rig.pc2",
        "prepare bar.obj -o bar.softrig --cage bar.softrig",
        "simulate bar.obj --rig bar.rig -o new/frame_0007.obj --obj new",
        "simulate bar.obj --rig bar.rig -o new/frame_0007.obj.partial --obj new",
    };
    for (int32_t i = 0; i < SR_ARRAY_COUNT(lines); ++i) {
        assertFails(&folder, lines[i], 1, "would be overwritten");
    }
    assertFails(&folder, "simulate bar.obj --rig bar.rig -o new --obj new", 1, "not a plain file");

    // inputs, the folder of two of them, what was printed
    assert_int_equal(srTestFolder_CountFiles(&folder), 6);
    remove(srTestFolder_Path(&folder, "in/frame_0005.obj"));
    remove(srTestFolder_Path(&folder, "in/frame_0006.obj.partial"));
    srTestFolder_Remove(&folder);
}

// `signalNumber` in the middle of a bake
static void interrupt(int signalNumber) {
    srTestFolder folder = makeBarFolder(1.0);
    writeRig(&folder, "bar.rig", 20000, 1.0);
    pid_t child = startProgram(&folder, "simulate bar.obj --rig bar.rig -o bar.pc2 --substeps 100");

    // the bake has begun when its partial file is there
    struct timespec moment = {.tv_nsec = 20000000};
    for (int i = 0; i < 3000 && access(srTestFolder_Path(&folder, "bar.pc2.partial"), F_OK) != 0; ++i) {
        nanosleep(&moment, NULL);
    }
    assert_int_equal(access(srTestFolder_Path(&folder, "bar.pc2.partial"), F_OK), 0);
    kill(child, signalNumber);
    assert_int_equal(waitForExit(child), 1);
    assert_true(printed(&folder, "err.txt", "Interrupted."));
    assert_int_equal(srTestFolder_CountFiles(&folder), 4);
    srTestFolder_Remove(&folder);
}

static void an_interrupt_leaves_nothing_behind(void** state) {
    (void)state;
    interrupt(SIGINT);
}

static void a_request_to_end_leaves_nothing_behind(void** state) {
    (void)state;
    interrupt(SIGTERM);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bar_that_stops_swings_and_comes_to_rest),
        cmocka_unit_test(a_still_bar_has_no_offsets_at_all),
        cmocka_unit_test(the_number_of_workers_changes_no_bit),
        cmocka_unit_test(surfaces_are_the_pose_plus_the_offsets),
        cmocka_unit_test(a_prepared_cage_can_be_used_again),
        cmocka_unit_test(wishes_for_the_inside_reach_the_library),
        cmocka_unit_test(report_tells_what_the_cage_does_not_reach),
        cmocka_unit_test(report_says_who_made_the_cage_and_why),
        cmocka_unit_test(a_stored_character_is_simulated_as_if_it_were_prepared),
        cmocka_unit_test(what_is_left_to_the_animation_may_be_chosen),
        cmocka_unit_test(one_line_for_machines_is_all_that_is_printed),
        cmocka_unit_test(info_says_what_a_file_holds),
        cmocka_unit_test(help_is_there_for_every_verb),
        cmocka_unit_test(a_wrong_command_line_ends_with_two),
        cmocka_unit_test(what_cannot_be_done_ends_with_one_and_a_sentence),
        cmocka_unit_test(no_output_overwrites_an_input_or_another_output),
        cmocka_unit_test(an_interrupt_leaves_nothing_behind),
        cmocka_unit_test(a_request_to_end_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
