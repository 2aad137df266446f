// SPDX-License-Identifier: GPL-3.0-or-later
//
// Linear blend skinning from a rig file.
//
//   x = sum_b w_b M_b X / sum_b w_b + A(object) u,   M_b = space pose rest^-1 space^-1 object
//
// X undeformed vertex in skin space, w_b weight of bone b, u offset in skin space, A linear part. A vertex
// without weights has M = object.

#include "cli/pose.h"

#include <math.h>

// an affine map: the upper three rows of its matrix
typedef struct srCliAffine {
    double m[3][4];
} srCliAffine;

static srCliAffine loadAffine(const float* columns) {
    srCliAffine a;
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 4; ++column) {
            a.m[row][column] = (double)columns[4 * column + row];
        }
    }
    return a;
}

static srCliAffine multiplyAffine(const srCliAffine* a, const srCliAffine* b) {
    srCliAffine c;
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 4; ++column) {
            double sum = column == 3 ? a->m[row][3] : 0.0;
            for (int k = 0; k < 3; ++k) {
                sum += a->m[row][k] * b->m[k][column];
            }
            c.m[row][column] = sum;
        }
    }
    return c;
}

static bool invertAffine(const srCliAffine* a, srCliAffine* outInverse) {
    srCliAffine inverse;
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column) {
            int r1 = (column + 1) % 3;
            int r2 = (column + 2) % 3;
            int c1 = (row + 1) % 3;
            int c2 = (row + 2) % 3;
            inverse.m[row][column] = a->m[r1][c1] * a->m[r2][c2] - a->m[r1][c2] * a->m[r2][c1];
        }
    }
    double determinant =
        a->m[0][0] * inverse.m[0][0] + a->m[0][1] * inverse.m[1][0] + a->m[0][2] * inverse.m[2][0];
    if (!(fabs(determinant) > 0.0) || !isfinite(1.0 / determinant)) {
        return false;
    }
    for (int row = 0; row < 3; ++row) {
        double shift = 0.0;
        for (int column = 0; column < 3; ++column) {
            inverse.m[row][column] /= determinant;
            shift -= inverse.m[row][column] * a->m[column][3];
        }
        inverse.m[row][3] = shift;
    }
    *outInverse = inverse;
    return true;
}

// M of every bone in this frame
static bool computeBoneMaps(const srCliRig* rig, int32_t frameIndex, srCliAffine* outMaps,
                            srCliError* error) {
    const float* row = rig->motion.items + 16 * (size_t)srCliRig_GetRowLength(rig) * (size_t)frameIndex;
    srCliAffine object = loadAffine(row);
    for (int32_t bone = 0; bone < rig->boneCount; ++bone) {
        int32_t spaceIndex = rig->boneSpaces.items[bone];
        srCliAffine space = loadAffine(row + 16 * (size_t)(1 + spaceIndex));
        srCliAffine pose = loadAffine(row + 16 * (size_t)(1 + rig->spaceCount + bone));
        srCliAffine rest = loadAffine(rig->boneRests.items + 16 * (size_t)bone);
        srCliAffine restInverse;
        srCliAffine spaceInverse;
        if (!invertAffine(&rest, &restInverse)) {
            return srCliFail(error, "The rest matrix of bone '%.60s' has no inverse.",
                             srCliRig_GetBoneName(rig, bone));
        }
        if (!invertAffine(&space, &spaceInverse)) {
            return srCliFail(error, "The matrix of space %d in frame %d has no inverse.", spaceIndex,
                             rig->firstFrame + frameIndex);
        }
        srCliAffine left = multiplyAffine(&space, &pose);
        srCliAffine right = multiplyAffine(&spaceInverse, &object);
        left = multiplyAffine(&left, &restInverse);
        outMaps[bone] = multiplyAffine(&left, &right);
    }
    return true;
}

// the weighted mean of a vertex's maps; `fallback` when it has no weights
static srCliAffine blendMaps(const srCliRig* rig, int32_t vertex, const srCliAffine* maps,
                             const srCliAffine* fallback) {
    srCliAffine blend = {{{0}}};
    double sum = 0.0;
    bool isWeighted = rig->boneCount > 0;
    int32_t begin = isWeighted ? rig->weightStarts.items[vertex] : 0;
    int32_t end = isWeighted ? rig->weightStarts.items[vertex + 1] : 0;
    for (int32_t i = begin; i < end; ++i) {
        const double* map = &maps[rig->weightBones.items[i]].m[0][0];
        double w = (double)rig->weightValues.items[i];
        sum += w;
        for (int k = 0; k < 12; ++k) {
            (&blend.m[0][0])[k] += w * map[k];
        }
    }
    if (!(sum > 0.0)) {
        return *fallback;
    }
    for (int k = 0; k < 12; ++k) {
        (&blend.m[0][0])[k] /= sum;
    }
    return blend;
}

bool srCliPlaceSkin(const srCliRig* rig, int32_t frameIndex, const srCliMesh* skin, const float* offsets,
                    float* outPositions, srCliError* error) {
    srCliAffine* maps = srCliResize(NULL, sizeof(srCliAffine) * (size_t)(rig->boneCount + 1));
    if (maps == NULL) {
        return srCliFailMemory(error);
    }
    if (!computeBoneMaps(rig, frameIndex, maps, error)) {
        srCliResize(maps, 0);
        return false;
    }
    size_t rowFloats = 16 * (size_t)srCliRig_GetRowLength(rig);
    srCliAffine object = loadAffine(rig->motion.items + rowFloats * (size_t)frameIndex);
    int32_t vertexCount = srCliMesh_GetPointCount(skin);
    for (int32_t v = 0; v < vertexCount; ++v) {
        const float* X = skin->points.items + 3 * (size_t)v;
        const float* u = offsets + 3 * (size_t)v;
        srCliAffine map = blendMaps(rig, v, maps, &object);
        for (int c = 0; c < 3; ++c) {
            double x = map.m[c][3];
            for (int k = 0; k < 3; ++k) {
                x += map.m[c][k] * (double)X[k] + object.m[c][k] * (double)u[k];
            }
            outPositions[3 * (size_t)v + (size_t)c] = (float)x;
        }
    }
    srCliResize(maps, 0);
    return true;
}
