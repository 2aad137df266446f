// SPDX-License-Identifier: GPL-3.0-or-later

#include "pbd_plain.h"

#include "math/vec3.h"

#include <math.h>
#include <stddef.h>

static srVec3f readRow(const float* rows, int32_t place) {
    const float* row = rows + place;
    return (srVec3f){row[0], row[1], row[2]};
}

static float weightOf(const float* rows, int32_t place) {
    return rows[place + 3];
}

static void moveRow(float* rows, int32_t place, float scale, srVec3f d) {
    float* row = rows + place;
    row[0] += scale * d.x;
    row[1] += scale * d.y;
    row[2] += scale * d.z;
}

void srPlainDistances(srDistanceBlock* blocks, int32_t count, float* rows) {
    for (int32_t k = 0; k < 8 * count; ++k) {
        srDistanceBlock* block = &blocks[k / 8];
        int lane = k % 8;
        int32_t i = block->places[0][lane];
        int32_t j = block->places[1][lane];
        srVec3f d = srSubF(readRow(rows, i), readRow(rows, j));
        float length = srLengthF(d);
        float weighted = weightOf(rows, i) + weightOf(rows, j);
        if (!(length > 0.0f) || !(weighted > 0.0f)) {
            continue;
        }
        float alpha = block->compliances[lane];
        float change =
            (block->lengths[lane] - length - alpha * block->multipliers[lane]) / (weighted + alpha);
        block->multipliers[lane] += change;
        float scale = change / length;
        moveRow(rows, i, weightOf(rows, i) * scale, d);
        moveRow(rows, j, -weightOf(rows, j) * scale, d);
    }
}

void srPlainVolumes(srVolumeBlock* blocks, int32_t count, float* rows) {
    for (int32_t k = 0; k < 8 * count; ++k) {
        srVolumeBlock* block = &blocks[k / 8];
        int lane = k % 8;
        srVec3f x[4];
        for (int c = 0; c < 4; ++c) {
            x[c] = readRow(rows, block->places[c][lane]);
        }
        srVec3f e1 = srSubF(x[1], x[0]);
        srVec3f e2 = srSubF(x[2], x[0]);
        srVec3f e3 = srSubF(x[3], x[0]);
        srVec3f g[4];
        g[1] = srCrossF(e2, e3);
        g[2] = srCrossF(e3, e1);
        g[3] = srCrossF(e1, e2);
        g[0] = srScaleF(-1.0f, srAddF(srAddF(g[1], g[2]), g[3]));
        float weighted = 0.0f;
        for (int c = 0; c < 4; ++c) {
            weighted += weightOf(rows, block->places[c][lane]) * srDotF(g[c], g[c]);
        }
        if (!(weighted > 0.0f)) {
            continue;
        }
        float alpha = block->compliances[lane];
        float C = srDotF(e1, g[1]) - block->sixVolumes[lane];
        float change = (-C - alpha * block->multipliers[lane]) / (weighted + alpha);
        block->multipliers[lane] += change;
        for (int c = 0; c < 4; ++c) {
            int32_t place = block->places[c][lane];
            moveRow(rows, place, weightOf(rows, place) * change, g[c]);
        }
    }
}

typedef struct Cell {
    srVec3f F[3]; // columns, as are the others
    srVec3f C[3];
    srVec3f G[3];
    float q[4];
} Cell;

// (Q - I) u
static srVec3f turnedBy(const float q[4], srVec3f u) {
    srVec3f v = {q[1], q[2], q[3]};
    srVec3f t = srScaleF(2.0f, srCrossF(v, u));
    return srAddF(srScaleF(q[0], t), srCrossF(v, t));
}

static void turnCell(Cell* cell) {
    srVec3f tau = {0.0f, 0.0f, 0.0f};
    float trace = 0.0f;
    float squares = 1e-30f;
    for (int k = 0; k < 3; ++k) {
        srVec3f Y = srAddF(cell->G[k], turnedBy(cell->q, cell->G[k]));
        tau = srAddF(tau, srCrossF(Y, cell->F[k]));
        trace += srDotF(Y, cell->F[k]);
        squares += srDotF(Y, Y) + srDotF(cell->F[k], cell->F[k]);
    }
    srVec3f h = srScaleF(0.5f / fmaxf(0.6666667f * trace, 0.1666667f * squares), tau);
    const float* q = cell->q;
    srVec3f v = {q[1], q[2], q[3]};
    srVec3f spun = srAddF(srMulAddF(v, q[0], h), srCrossF(h, v));
    float w = q[0] - srDotF(h, v);
    float inverse = 1.0f / sqrtf(w * w + srDotF(spun, spun));
    cell->q[0] = w * inverse;
    cell->q[1] = spun.x * inverse;
    cell->q[2] = spun.y * inverse;
    cell->q[3] = spun.z * inverse;
    for (int k = 0; k < 3; ++k) {
        cell->C[k] = srSubF(srSubF(cell->F[k], cell->G[k]), turnedBy(cell->q, cell->G[k]));
    }
}

static void correctCell(const Cell* cell, const srCellMaterial* material, int lane, float target,
                        srVec3f P[3]) {
    srVec3f n[3] = {srCrossF(cell->F[1], cell->F[2]), srCrossF(cell->F[2], cell->F[0]),
                    srCrossF(cell->F[0], cell->F[1])};
    float upper = target - srDotF(cell->F[0], n[0]);
    float divisor = material->volumeCompliance[lane];
    for (int k = 0; k < 3; ++k) {
        upper += material->K[k][lane] * srDotF(n[k], cell->C[k]);
        divisor += material->K[k][lane] * srDotF(n[k], n[k]);
    }
    float rho = divisor > 0.0f ? upper / divisor : 0.0f;
    for (int k = 0; k < 3; ++k) {
        P[k] = srScaleF(material->S[k][lane], srSubF(srScaleF(rho, n[k]), cell->C[k]));
    }
}

static void solvePlainCell(const srCellSweep* sweep, int32_t b, int lane) {
    const srCellBlock* block = &sweep->blocks[b];
    Cell cell = {.q = {0.0f}};
    srVec3f g[3];
    srVec3f u0 = readRow(sweep->rows, block->places[0][lane]);
    srVec3f d[3];
    for (int c = 0; c < 3; ++c) {
        g[c] = (srVec3f){block->gradients[c][0][lane], block->gradients[c][1][lane],
                         block->gradients[c][2][lane]};
        d[c] = srSubF(readRow(sweep->rows, block->places[c + 1][lane]), u0);
    }
    for (int k = 0; k < 3; ++k) {
        const float (*G)[SR_LANES_PER_BLOCK] = sweep->poses[b].G[k];
        cell.G[k] = (srVec3f){G[0][lane], G[1][lane], G[2][lane]};
        cell.F[k] = cell.G[k];
        for (int c = 0; c < 3; ++c) {
            cell.F[k] = srMulAddF(cell.F[k], (&g[c].x)[k], d[c]);
        }
    }
    for (int k = 0; k < 4; ++k) {
        cell.q[k] = sweep->turns[b].q[k][lane];
    }
    turnCell(&cell);
    for (int k = 0; k < 4; ++k) {
        sweep->turns[b].q[k][lane] = cell.q[k];
    }
    srVec3f P[3];
    correctCell(&cell, &sweep->materials[b], lane, sweep->poses[b].determinant[lane], P);
    srVec3f sum = {0.0f, 0.0f, 0.0f};
    for (int c = 0; c < 3; ++c) {
        int32_t place = block->places[c + 1][lane];
        srVec3f move = srMulAddF(srMulAddF(srScaleF(g[c].x, P[0]), g[c].y, P[1]), g[c].z, P[2]);
        sum = srAddF(sum, move);
        moveRow(sweep->rows, place, weightOf(sweep->rows, place), move);
    }
    int32_t place = block->places[0][lane];
    moveRow(sweep->rows, place, -weightOf(sweep->rows, place), sum);
}

void srPlainCells(const srCellSweep* sweep, int32_t count) {
    for (int32_t k = 0; k < 8 * count; ++k) {
        solvePlainCell(sweep, k / 8, k % 8);
    }
}
