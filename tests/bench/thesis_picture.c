// SPDX-License-Identifier: GPL-3.0-or-later
//
// Curves over time as a scalable picture, written by hand.

#include "thesis_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 860
#define HEIGHT 420
#define LEFT 60
#define RIGHT 250 // for the names
#define EDGE 30
#define DIVISIONS 5
#define PATH_SIZE 512

static const char* const COLORS[] = {"#000000", "#1f77b4", "#2ca02c", "#d62728", "#ff7f0e",
                                     "#9467bd", "#8c564b", "#7f7f7f", "#17becf"};

typedef struct Frame {
    double low;
    double high;
    double seconds;
} Frame;

static double readPlace(const srThesisCurve* curve, int32_t frame) {
    const srThesisScene* scene = curve->scene;
    srVec3 x = srToDouble(scene->starts[scene->shownNode]);
    if (frame > 0) {
        x = curve->path[(size_t)(frame - 1) * (size_t)scene->shape.nodeCount + (size_t)scene->shownNode];
    }
    return scene->shownAxis == 0 ? x.x : scene->shownAxis == 1 ? x.y : x.z;
}

static Frame findFrame(const srThesisCurve* curves, int32_t curveCount) {
    const srThesisScene* scene = curves->scene;
    Frame frame = {INFINITY, -INFINITY, scene->frameCount / FRAMES_A_SECOND};
    for (int32_t k = 0; k < curveCount; ++k) {
        for (int32_t at = 0; at <= scene->frameCount; ++at) {
            double place = readPlace(&curves[k], at);
            frame.low = fmin(frame.low, place);
            frame.high = fmax(frame.high, place);
        }
    }
    return frame;
}

static double toX(const Frame* frame, double seconds) {
    return LEFT + (WIDTH - LEFT - RIGHT) * seconds / frame->seconds;
}

static double toY(const Frame* frame, double place) {
    return EDGE + (HEIGHT - 2 * EDGE) * (frame->high - place) / (frame->high - frame->low);
}

static void drawAxes(FILE* file, const srThesisScene* scene, const Frame* frame) {
    fprintf(file, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", WIDTH, HEIGHT);
    for (int k = 0; k <= DIVISIONS; ++k) {
        double place = frame->low + (frame->high - frame->low) * k / DIVISIONS;
        double seconds = frame->seconds * k / DIVISIONS;
        double y = toY(frame, place);
        double x = toX(frame, seconds);
        fprintf(file, "<path d=\"M%d %.1fH%d\" stroke=\"#dddddd\"/>\n", LEFT, y, WIDTH - RIGHT);
        fprintf(file, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.2f</text>\n", LEFT - 6, y + 4.0,
                place);
        fprintf(file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.1f s</text>\n", x, HEIGHT - 10,
                seconds);
    }
    fprintf(file, "<text x=\"%d\" y=\"18\">%s: %c of one node, m</text>\n", LEFT, scene->name,
            "xyz"[scene->shownAxis]);
}

void srThesisDraw(const srThesisCurve* curves, int32_t curveCount, const char* fileName) {
    const srThesisScene* scene = curves->scene;
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", SR_BENCH_IMAGES, fileName);
    FILE* file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "bench_thesis: cannot write %s; no picture of this scene\n", path);
        return;
    }
    Frame frame = findFrame(curves, curveCount);
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n",
            WIDTH, HEIGHT);
    drawAxes(file, scene, &frame);
    for (int32_t k = 0; k < curveCount; ++k) {
        fprintf(file, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" points=\"", COLORS[k],
                k == 0 ? "2.5" : "1.5");
        for (int32_t at = 0; at <= scene->frameCount; ++at) {
            double place = readPlace(&curves[k], at);
            fprintf(file, "%.1f,%.1f ", toX(&frame, at / FRAMES_A_SECOND), toY(&frame, place));
        }
        int y = EDGE + 12 + 20 * k;
        fprintf(file, "\"/>\n<path d=\"M%d %dh24\" stroke=\"%s\" stroke-width=\"2\"/>", WIDTH - RIGHT + 14,
                y - 4, COLORS[k]);
        fprintf(file, "<text x=\"%d\" y=\"%d\">%s</text>\n", WIDTH - RIGHT + 44, y, curves[k].name);
    }
    fprintf(file, "</svg>\n");
    fclose(file);
}
