// SPDX-License-Identifier: GPL-3.0-or-later

#include "complementary_data.h"

#include "mesh/boundary.h"
#include "rig/hold_poisson.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define MOST_HANDLES 512

// ---- the folder ----

typedef struct Raw {
    char files[4][64]; // mesh, handles, weights, animation
    srVec3* nodes;
    int32_t nodeCount;
    int32_t (*cells)[4];
    int32_t cellCount;
    double* weights; // column by column
    srVec3 handles[MOST_HANDLES];
    int32_t handleCount;
    double scale; // of the normalisation
    srVec3 centre;
} Raw;

static FILE* openIn(const char* folder, const char* name) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        fprintf(stderr, "%s cannot be opened\n", path);
    }
    return file;
}

static void readText(const char* json, const char* key, char* out) {
    const char* at = strstr(json, key);
    at = at == NULL ? NULL : strchr(at, ':');
    if (at == NULL || sscanf(at, ": \"%63[^\"]\"", out) != 1) {
        out[0] = '\0';
    }
}

static double readNumber(const char* json, const char* key) {
    const char* at = strstr(json, key);
    at = at == NULL ? NULL : strchr(at, ':');
    return at == NULL ? (double)NAN : strtod(at + 1, NULL);
}

static bool readSettings(const char* folder, Raw* raw, srBenchCharacter* character) {
    const char* name = strrchr(folder, '/') == NULL ? folder : strrchr(folder, '/') + 1;
    snprintf(character->name, sizeof(character->name), "%s", name);
    char file[80], json[4096] = {0};
    snprintf(file, sizeof(file), "%s.json", character->name);
    FILE* in = openIn(folder, file);
    if (in == NULL) {
        return false;
    }
    size_t size = fread(json, 1, sizeof(json) - 1, in);
    fclose(in);
    static const char* const KEYS[] = {"mesh_file", "handle_file", "weight_file", "anim_file"};
    for (int f = 0; f < 4; ++f) {
        readText(json, KEYS[f], raw->files[f]);
    }
    character->frameSeconds = readNumber(json, "\"dt\"");
    character->youngModulus = readNumber(json, "\"YM\"");
    character->poissonRatio = readNumber(json, "\"pr\"");
    return size > 0 && isfinite(character->frameSeconds) && isfinite(character->youngModulus);
}

static bool skipTo(FILE* in, const char* word) {
    char text[64];
    while (fscanf(in, "%63s", text) == 1) {
        if (strcmp(text, word) == 0) {
            return true;
        }
    }
    return false;
}

static bool readMesh(const char* folder, Raw* raw) {
    FILE* in = openIn(folder, raw->files[0]);
    bool isRead = in != NULL && skipTo(in, "Vertices") && fscanf(in, "%d", &raw->nodeCount) == 1;
    raw->nodes = isRead ? calloc((size_t)raw->nodeCount, sizeof(srVec3)) : NULL;
    for (int32_t i = 0; raw->nodes != NULL && isRead && i < raw->nodeCount; ++i) {
        srVec3* x = &raw->nodes[i];
        isRead = fscanf(in, "%lf %lf %lf %*s", &x->x, &x->y, &x->z) == 3;
    }
    isRead = isRead && skipTo(in, "Tetrahedra") && fscanf(in, "%d", &raw->cellCount) == 1;
    raw->cells = isRead ? calloc((size_t)raw->cellCount, sizeof(*raw->cells)) : NULL;
    for (int32_t i = 0; raw->cells != NULL && isRead && i < raw->cellCount; ++i) {
        int32_t* c = raw->cells[i];
        isRead = fscanf(in, "%d %d %d %d %*s", &c[0], &c[1], &c[2], &c[3]) == 4;
        for (int a = 0; a < 4; ++a) {
            --c[a];
        }
    }
    if (in != NULL) {
        fclose(in);
    }
    return isRead && raw->nodes != NULL && raw->cells != NULL;
}

// per axis the middle of the box; then all divided by the largest positive coordinate
static void normalise(Raw* raw) {
    srVec3 lower = raw->nodes[0], upper = lower;
    for (int32_t i = 0; i < raw->nodeCount; ++i) {
        lower = srMin(lower, raw->nodes[i]);
        upper = srMax(upper, raw->nodes[i]);
    }
    raw->centre = srScale(0.5, srAdd(lower, upper));
    srVec3 half = srSub(upper, raw->centre);
    raw->scale = fmax(half.x, fmax(half.y, half.z));
    for (int32_t i = 0; i < raw->nodeCount; ++i) {
        raw->nodes[i] = srScale(1.0 / raw->scale, srSub(raw->nodes[i], raw->centre));
    }
}

static bool readHandles(const char* folder, Raw* raw) {
    FILE* in = openIn(folder, raw->files[1]);
    srVec3 x;
    while (in != NULL && raw->handleCount < MOST_HANDLES &&
           fscanf(in, "%*d %lf %lf %lf", &x.x, &x.y, &x.z) == 3) {
        raw->handles[raw->handleCount++] = srScale(1.0 / raw->scale, srSub(x, raw->centre));
    }
    if (in != NULL) {
        fclose(in);
    }
    return raw->handleCount > 0;
}

static bool readWeights(const char* folder, Raw* raw) {
    FILE* in = openIn(folder, raw->files[2]);
    int columns = 0, rows = 0;
    bool isRead = in != NULL && fscanf(in, "%d %d", &columns, &rows) == 2 && columns == raw->handleCount &&
                  rows == raw->nodeCount;
    size_t count = (size_t)columns * (size_t)rows;
    raw->weights = isRead ? calloc(count, sizeof(double)) : NULL;
    for (size_t k = 0; raw->weights != NULL && isRead && k < count; ++k) {
        isRead = fscanf(in, "%lf", &raw->weights[k]) == 1;
    }
    if (in != NULL) {
        fclose(in);
    }
    return isRead && raw->weights != NULL;
}

// q = Rz Ry Rx
static void rotate(srVec3 degrees, double q[3][3]) {
    double a = degrees.x * PI / 180.0, b = degrees.y * PI / 180.0, c = degrees.z * PI / 180.0;
    double ca = cos(a), sa = sin(a), cb = cos(b), sb = sin(b), cc = cos(c), sc = sin(c);
    const double rows[3][3] = {{cc * cb, cc * sb * sa - sc * ca, cc * sb * ca + sc * sa},
                               {sc * cb, sc * sb * sa + cc * ca, sc * sb * ca - cc * sa},
                               {-sb, cb * sa, cb * ca}};
    memcpy(q, rows, sizeof(rows));
}

// x' = R (x - c) + c + (t - t_rest) / s, R = R_rest' q
static void fillMap(const Raw* raw, int32_t handle, const srVec3 rest[2], const srVec3 key[2],
                    double map[12]) {
    double r[3][3], q[3][3];
    rotate(rest[1], r);
    rotate(key[1], q);
    srVec3 centre = raw->handles[handle], shift = srScale(1.0 / raw->scale, srSub(key[0], rest[0]));
    const double c[3] = {centre.x, centre.y, centre.z}, t[3] = {shift.x, shift.y, shift.z};
    for (int i = 0; i < 3; ++i) {
        map[4 * i + 3] = c[i] + t[i];
        for (int j = 0; j < 3; ++j) {
            map[4 * i + j] = r[0][i] * q[0][j] + r[1][i] * q[1][j] + r[2][i] * q[2][j];
            map[4 * i + 3] -= map[4 * i + j] * c[j];
        }
    }
}

static bool readPoint(FILE* in, srVec3* out) {
    return fscanf(in, "%lf %lf %lf", &out->x, &out->y, &out->z) == 3;
}

static bool readAnimation(const char* folder, const Raw* raw, srBenchCharacter* character) {
    FILE* in = openIn(folder, raw->files[3]);
    int32_t handleCount = 0;
    bool isRead = in != NULL && fscanf(in, "%d %d", &handleCount, &character->frameCount) == 2 &&
                  handleCount == raw->handleCount;
    size_t count = (size_t)handleCount * ((size_t)character->frameCount + 1);
    character->maps = isRead ? calloc(count, sizeof(*character->maps)) : NULL;
    srVec3 rests[MOST_HANDLES][2], key[2];
    for (int32_t h = 0; isRead && h < handleCount; ++h) {
        isRead = readPoint(in, &rests[h][0]) && readPoint(in, &rests[h][1]);
    }
    for (int32_t h = 0; isRead && character->maps != NULL && h < handleCount; ++h) {
        fillMap(raw, h, rests[h], rests[h], character->maps[h]); // frame 0 is the rest pose
    }
    for (int32_t f = 1; isRead && character->maps != NULL && f <= character->frameCount; ++f) {
        for (int32_t h = 0; isRead && h < handleCount; ++h) {
            isRead = readPoint(in, &key[0]) && readPoint(in, &key[1]);
            fillMap(raw, h, rests[h], key, character->maps[f * handleCount + h]);
        }
    }
    if (in != NULL) {
        fclose(in);
    }
    character->boneCount = handleCount;
    return isRead && character->maps != NULL;
}

// ---- both kinds ----

bool srBenchAllocatePlaces(srBenchCharacter* character) {
    size_t count = (size_t)character->cage.nodeCount;
    bool isWhole = true;
    for (int k = 0; k < 3; ++k) {
        character->places[k] = calloc(count, sizeof(srVec3));
        isWhole = isWhole && character->places[k] != NULL;
    }
    character->jump = calloc(count, sizeof(srVec3));
    character->holds = calloc(count, sizeof(double));
    int32_t* starts = calloc(count + 1, sizeof(int32_t));
    int32_t* bones = calloc(count * (size_t)character->boneCount, sizeof(int32_t));
    double* weights = calloc(count * (size_t)character->boneCount, sizeof(double));
    character->weights = (srRigWeights){starts, bones, weights, character->boneCount};
    return isWhole && character->jump && character->holds && starts && bones && weights;
}

static void addWeight(srBenchCharacter* character, int32_t node, int32_t bone, double weight) {
    int32_t* starts = (int32_t*)character->weights.starts;
    int32_t at = starts[node + 1];
    ((int32_t*)character->weights.bones)[at] = bone;
    ((double*)character->weights.weights)[at] = weight;
    starts[node + 1] = at + 1;
}

// before the first weight of a node
static void beginNode(srBenchCharacter* character, int32_t node) {
    int32_t* starts = (int32_t*)character->weights.starts;
    starts[node + 1] = starts[node];
}

static void place(const srBenchCharacter* character, int32_t frame, srVec3* out) {
    const srRigWeights* weights = &character->weights;
    for (int32_t i = 0; i < character->cage.nodeCount; ++i) {
        srVec3 X = character->cage.nodes[i];
        double p[3] = {0.0, 0.0, 0.0};
        for (int32_t e = weights->starts[i]; e < weights->starts[i + 1]; ++e) {
            const double* m = character->maps[frame * character->boneCount + weights->bones[e]];
            for (int r = 0; r < 3; ++r) {
                p[r] += weights->weights[e] *
                        (m[4 * r] * X.x + m[4 * r + 1] * X.y + m[4 * r + 2] * X.z + m[4 * r + 3]);
            }
        }
        out[i] = (srVec3){p[0], p[1], p[2]};
    }
}

srComplementaryMotion srBenchMoveTo(srBenchCharacter* character, int32_t frame) {
    if (frame == 1) {
        place(character, 0, character->places[1]);
        place(character, 0, character->places[2]);
    } else {
        srVec3* oldest = character->places[2];
        character->places[2] = character->places[1];
        character->places[1] = character->places[0];
        character->places[0] = oldest;
    }
    place(character, frame, character->places[0]);
    for (int32_t i = 0; i < character->cage.nodeCount; ++i) {
        srVec3 now = srSub(character->places[0][i], character->places[1][i]);
        srVec3 before = srSub(character->places[1][i], character->places[2][i]);
        character->jump[i] = srScale(1.0 / character->frameSeconds, srSub(now, before));
    }
    return (srComplementaryMotion){
        character->places[1], character->places[0], character->jump, NULL, NULL, 0.0};
}

void srBenchFreeCharacter(srBenchCharacter* character) {
    srDestroyCage(&character->cage);
    free((void*)character->weights.starts);
    free((void*)character->weights.bones);
    free((void*)character->weights.weights);
    free(character->holds);
    free(character->maps);
    for (int k = 0; k < 3; ++k) {
        free(character->places[k]);
    }
    free(character->jump);
    *character = (srBenchCharacter){0};
}

// ---- putting it together ----

typedef struct Numbered {
    srVec3 x;
    int32_t index;
} Numbered;

static int comparePoints(const void* a, const void* b) {
    const Numbered *p = a, *q = b;
    if (p->x.x != q->x.x) {
        return p->x.x < q->x.x ? -1 : 1;
    }
    if (p->x.y != q->x.y) {
        return p->x.y < q->x.y ? -1 : 1;
    }
    return p->x.z < q->x.z ? -1 : p->x.z > q->x.z;
}

// the cage's numbers are new ones: a node is found again by where it lies
static bool matchNodes(const Raw* raw, const srCage* cage, int32_t* outOld) {
    Numbered* old = calloc((size_t)raw->nodeCount, sizeof(Numbered));
    Numbered* now = calloc((size_t)cage->nodeCount, sizeof(Numbered));
    bool isMatched = old != NULL && now != NULL && raw->nodeCount == cage->nodeCount;
    for (int32_t i = 0; isMatched && i < raw->nodeCount; ++i) {
        old[i] = (Numbered){raw->nodes[i], i};
        now[i] = (Numbered){cage->nodes[i], i};
    }
    if (isMatched) {
        qsort(old, (size_t)raw->nodeCount, sizeof(Numbered), comparePoints);
        qsort(now, (size_t)raw->nodeCount, sizeof(Numbered), comparePoints);
    }
    for (int32_t i = 0; isMatched && i < raw->nodeCount; ++i) {
        outOld[now[i].index] = old[i].index;
        isMatched = comparePoints(&old[i], &now[i]) == 0;
    }
    free(old);
    free(now);
    return isMatched;
}

static bool holdInside(srBenchCharacter* character) {
    const srCage* cage = &character->cage;
    bool* isOnBoundary = calloc((size_t)cage->nodeCount, sizeof(bool));
    srBoundary boundary = {0};
    bool isHeld = isOnBoundary != NULL && srCreateBoundary(cage, &boundary) == sr_success;
    for (int32_t f = 0; isHeld && f < boundary.faceCount; ++f) {
        for (int c = 0; c < 3; ++c) {
            isOnBoundary[boundary.faces[f][c]] = true;
        }
    }
    isHeld = isHeld && srComputePoissonHold(cage->nodes, cage->nodeCount, (const int32_t (*)[4])cage->cells,
                                            cage->cellCount, isOnBoundary, character->holds) == sr_success;
    srDestroyBoundary(&boundary);
    free(isOnBoundary);
    return isHeld;
}

static bool takeOver(const Raw* raw, srBenchCharacter* character) {
    int32_t* old = calloc((size_t)raw->nodeCount, sizeof(int32_t));
    bool isTaken = old != NULL &&
                   srCreateCage(raw->nodes, raw->nodeCount, (const int32_t (*)[4])raw->cells, raw->cellCount,
                                &character->cage) == sr_success &&
                   matchNodes(raw, &character->cage, old) && srBenchAllocatePlaces(character);
    for (int32_t i = 0; isTaken && i < raw->nodeCount; ++i) {
        beginNode(character, i);
        for (int32_t h = 0; h < raw->handleCount; ++h) {
            addWeight(character, i, h, raw->weights[(size_t)h * (size_t)raw->nodeCount + (size_t)old[i]]);
        }
    }
    free(old);
    return isTaken && holdInside(character);
}

bool srBenchReadCharacter(const char* folder, srBenchCharacter* outCharacter) {
    Raw raw = {0};
    *outCharacter = (srBenchCharacter){0};
    bool isRead = readSettings(folder, &raw, outCharacter) && readMesh(folder, &raw);
    if (isRead) {
        normalise(&raw);
        isRead = readHandles(folder, &raw) && readWeights(folder, &raw) &&
                 readAnimation(folder, &raw, outCharacter) && takeOver(&raw, outCharacter);
    }
    free(raw.nodes);
    free(raw.cells);
    free(raw.weights);
    if (!isRead) {
        fprintf(stderr, "%s: not a character in the format of complementary dynamics\n", folder);
        srBenchFreeCharacter(outCharacter);
    }
    return isRead;
}

// ---- the bar ----

static int32_t nodeAt(int32_t across, int32_t x, int32_t y, int32_t z) {
    return (z * (across + 1) + y) * (across + 1) + x;
}

// six cells around the diagonal, one for each order of the axes
static void fillCube(int32_t across, const int32_t corner[3], int32_t (*cells)[4]) {
    static const int ORDERS[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int order = 0; order < 6; ++order) {
        int32_t at[3] = {corner[0], corner[1], corner[2]};
        cells[order][0] = nodeAt(across, at[0], at[1], at[2]);
        for (int k = 0; k < 3; ++k) {
            at[ORDERS[order][k]] += 1;
            cells[order][k + 1] = nodeAt(across, at[0], at[1], at[2]);
        }
    }
}

static bool makeBarCage(int32_t across, int32_t along, srCage* cage) {
    int32_t nodeCount = (across + 1) * (across + 1) * (along + 1), cubeCount = across * across * along;
    srVec3* nodes = calloc((size_t)nodeCount, sizeof(srVec3));
    int32_t (*cells)[4] = calloc(6 * (size_t)cubeCount, sizeof(*cells));
    bool isMade = nodes != NULL && cells != NULL;
    double spacing = 1.0 / across;
    for (int32_t i = 0; isMade && i < nodeCount; ++i) {
        int32_t row = i / (across + 1);
        nodes[i] = (srVec3){spacing * (i % (across + 1)) - 0.5, spacing * (row % (across + 1)) - 0.5,
                            spacing * (row / (across + 1))};
    }
    for (int32_t k = 0; isMade && k < cubeCount; ++k) {
        const int32_t corner[3] = {k % across, k / across % across, k / across / across};
        fillCube(across, corner, cells + 6 * (size_t)k);
    }
    isMade = isMade &&
             srCreateCage(nodes, nodeCount, (const int32_t (*)[4])cells, 6 * cubeCount, cage) == sr_success;
    free(nodes);
    free(cells);
    return isMade;
}

// bone k turns about the x axis in its own joint, after all bones below it
void srBenchSwingBar(srBenchCharacter* character, double length, double swing) {
    int32_t count = character->boneCount;
    double part = length / count;
    for (int32_t f = 1; f <= character->frameCount; ++f) {
        double angle = swing / count * sin(2.0 * PI * 1.5 * f * character->frameSeconds);
        double joint[3] = {0.0, 0.0, 0.0};
        for (int32_t k = 0; k < count; ++k) {
            double total = angle * (k + 1), c = cos(total), s = sin(total), z = part * k;
            const double map[12] = {1, 0, 0, 0, 0, c, -s, joint[1] + s * z, 0, s, c, joint[2] - c * z};
            memcpy(character->maps[f * count + k], map, sizeof(map));
            joint[1] -= s * part;
            joint[2] += c * part;
        }
    }
    for (int32_t k = 0; k < count; ++k) {
        const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        memcpy(character->maps[k], identity, sizeof(identity));
    }
}

static double smoothStep(double t) {
    t = fmin(fmax(t, 0.0), 1.0);
    return t * t * (3.0 - 2.0 * t);
}

// each node between the bones whose middles are around it; held near the axis
static void weighBar(srBenchCharacter* character, double length) {
    int32_t count = character->boneCount;
    for (int32_t i = 0; i < character->cage.nodeCount; ++i) {
        srVec3 x = character->cage.nodes[i];
        double at = fmin(fmax(x.z / length * count - 0.5, 0.0), count - 1.0);
        int32_t k = at >= count - 1.0 ? count - 1 : (int32_t)at;
        double share = smoothStep(at - k);
        beginNode(character, i);
        addWeight(character, i, k, 1.0 - share);
        if (share > 0.0) {
            addWeight(character, i, k + 1, share);
        }
        character->holds[i] = smoothStep((0.3 - sqrt(x.x * x.x + x.y * x.y)) / 0.2);
    }
}

bool srBenchMakeBar(int32_t across, int32_t along, int32_t boneCount, int32_t frameCount,
                    srBenchCharacter* outCharacter) {
    *outCharacter = (srBenchCharacter){
        .boneCount = boneCount,
        .frameCount = frameCount,
        .frameSeconds = 1.0 / 24.0,
        .youngModulus = 2e5,
        .poissonRatio = 0.4,
    };
    outCharacter->maps = calloc((size_t)boneCount * ((size_t)frameCount + 1), sizeof(*outCharacter->maps));
    if (outCharacter->maps == NULL || !makeBarCage(across, along, &outCharacter->cage) ||
        !srBenchAllocatePlaces(outCharacter)) {
        srBenchFreeCharacter(outCharacter);
        return false;
    }
    double length = (double)along / across;
    snprintf(outCharacter->name, sizeof(outCharacter->name), "bar, %d nodes", outCharacter->cage.nodeCount);
    srBenchSwingBar(outCharacter, length, SR_BENCH_SWING);
    weighBar(outCharacter, length);
    return true;
}
