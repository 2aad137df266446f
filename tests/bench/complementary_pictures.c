// SPDX-License-Identifier: GPL-3.0-or-later
//
// Triangles into a buffer of depths, lit from where one looks and from above.

#include "complementary_pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 480 // of one of the two halves
#define HEIGHT 360
#define MARGIN 0.5 // around the rig's pose, in parts of it: physics goes further
#define BACKGROUND 245

static double at(srVec3 x, int axis) {
    return axis == 0 ? x.x : axis == 1 ? x.y : x.z;
}

static void findBox(const srVec3* places, int32_t count, srVec3* outLower, srVec3* outUpper) {
    *outLower = *outUpper = places[0];
    for (int32_t i = 1; i < count; ++i) {
        *outLower = srMin(*outLower, places[i]);
        *outUpper = srMax(*outUpper, places[i]);
    }
}

// the longest way to the right, the next upwards
static void chooseAxes(srVec3 extent, int axes[3]) {
    const double lengths[3] = {extent.x, extent.y, extent.z};
    for (int k = 0; k < 3; ++k) {
        axes[k] = k;
    }
    for (int pass = 0; pass < 2; ++pass) {
        for (int k = 0; k < 2; ++k) {
            if (lengths[axes[k]] < lengths[axes[k + 1]]) {
                int other = axes[k];
                axes[k] = axes[k + 1];
                axes[k + 1] = other;
            }
        }
    }
}

bool srBenchBeginPictures(srBenchCharacter* character, srBenchPictures* outPictures) {
    const srCage* cage = &character->cage;
    *outPictures = (srBenchPictures){.character = character};
    outPictures->depths = malloc(sizeof(double) * WIDTH * HEIGHT);
    outPictures->pixels = malloc(3 * 2 * WIDTH * HEIGHT);
    if (outPictures->depths == NULL || outPictures->pixels == NULL ||
        srCreateBoundary(cage, &outPictures->skin) != sr_success) {
        srBenchEndPictures(outPictures);
        return false;
    }
    srVec3 lower, upper, most = {0.0, 0.0, 0.0};
    findBox(cage->nodes, cage->nodeCount, &lower, &upper);
    chooseAxes(srSub(upper, lower), outPictures->axes);
    for (int32_t frame = 1; frame <= character->frameCount; ++frame) {
        srBenchMoveTo(character, frame);
        findBox(character->places[0], cage->nodeCount, &lower, &upper);
        most = srMax(most, srSub(upper, lower));
    }
    most = srScale(1.0 + MARGIN, most);
    outPictures->perUnit =
        fmin(WIDTH / at(most, outPictures->axes[0]), HEIGHT / at(most, outPictures->axes[1]));
    return true;
}

void srBenchEndPictures(srBenchPictures* pictures) {
    srDestroyBoundary(&pictures->skin);
    free(pictures->depths);
    free(pictures->pixels);
    *pictures = (srBenchPictures){0};
}

// right, down and towards the eye, in pixels
static srVec3 project(const srBenchPictures* pictures, srVec3 x) {
    srVec3 from = srScale(pictures->perUnit, srSub(x, pictures->middle));
    return (srVec3){0.5 * WIDTH + at(from, pictures->axes[0]), 0.5 * HEIGHT - at(from, pictures->axes[1]),
                    at(from, pictures->axes[2])};
}

static double clampTo(double x, double least, double most) {
    return x < least ? least : x > most ? most : x;
}

// x' of a triangle's corners in half a picture, which begins at `column`
static void fillTriangle(srBenchPictures* pictures, const srVec3 x[3], const double color[3], int column) {
    srVec3 lower = srMin(x[0], srMin(x[1], x[2])), upper = srMax(x[0], srMax(x[1], x[2]));
    double area = (x[1].x - x[0].x) * (x[2].y - x[0].y) - (x[2].x - x[0].x) * (x[1].y - x[0].y);
    if (!(fabs(area) > 1e-9)) {
        return;
    }
    int left = (int)clampTo(floor(lower.x), 0, WIDTH), right = (int)clampTo(ceil(upper.x), 0, WIDTH);
    int top = (int)clampTo(floor(lower.y), 0, HEIGHT), bottom = (int)clampTo(ceil(upper.y), 0, HEIGHT);
    for (int row = top; row < bottom; ++row) {
        for (int place = left; place < right; ++place) {
            double px = place + 0.5 - x[0].x, py = row + 0.5 - x[0].y;
            double b = (px * (x[2].y - x[0].y) - py * (x[2].x - x[0].x)) / area;
            double c = (py * (x[1].x - x[0].x) - px * (x[1].y - x[0].y)) / area;
            double depth = x[0].z + b * (x[1].z - x[0].z) + c * (x[2].z - x[0].z);
            if (b < 0.0 || c < 0.0 || b + c > 1.0 || depth <= pictures->depths[row * WIDTH + place]) {
                continue;
            }
            pictures->depths[row * WIDTH + place] = depth;
            for (int k = 0; k < 3; ++k) {
                pictures->pixels[3 * (row * 2 * WIDTH + column + place) + k] = (unsigned char)color[k];
            }
        }
    }
}

static void drawHalf(srBenchPictures* pictures, const srVec3* offsets, int column) {
    static const double TINTS[2][3] = {{0.72, 0.74, 0.78}, {0.95, 0.62, 0.38}};
    const srVec3* places = pictures->character->places[0];
    for (int k = 0; k < WIDTH * HEIGHT; ++k) {
        pictures->depths[k] = -HUGE_VAL;
    }
    for (int32_t f = 0; f < pictures->skin.faceCount; ++f) {
        srVec3 x[3];
        for (int c = 0; c < 3; ++c) {
            int32_t node = pictures->skin.faces[f][c];
            srVec3 place = offsets == NULL ? places[node] : srAdd(places[node], offsets[node]);
            x[c] = project(pictures, place);
        }
        srVec3 normal = srCross(srSub(x[1], x[0]), srSub(x[2], x[0]));
        double length = srLength(normal), light = 0.35;
        if (length > 0.0) {
            light += 0.45 * fabs(normal.z) / length + 0.2 * fabs(normal.y) / length;
        }
        const double* tint = TINTS[offsets != NULL];
        const double color[3] = {255.0 * tint[0] * light, 255.0 * tint[1] * light, 255.0 * tint[2] * light};
        fillTriangle(pictures, x, color, column);
    }
}

bool srBenchDrawFrame(srBenchPictures* pictures, const srVec3* offsets, const char* folder, int32_t frame) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s_%04d.ppm", folder, pictures->character->name, frame);
    srVec3 lower, upper;
    findBox(pictures->character->places[0], pictures->character->cage.nodeCount, &lower, &upper);
    pictures->middle = srScale(0.5, srAdd(lower, upper));
    memset(pictures->pixels, BACKGROUND, 3 * 2 * WIDTH * HEIGHT);
    drawHalf(pictures, NULL, 0);
    drawHalf(pictures, offsets, WIDTH);
    FILE* file = fopen(path, "wb");
    bool isWritten = file != NULL && fprintf(file, "P6\n%d %d\n255\n", 2 * WIDTH, HEIGHT) > 0 &&
                     fwrite(pictures->pixels, 3 * 2 * WIDTH, HEIGHT, file) == HEIGHT;
    isWritten = file != NULL && fclose(file) == 0 && isWritten;
    if (!isWritten) {
        fprintf(stderr, "%s cannot be written\n", path);
    }
    return isWritten;
}
