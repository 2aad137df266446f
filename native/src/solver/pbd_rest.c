// SPDX-License-Identifier: GPL-3.0-or-later
//
// Building the published family's constraints: rest lengths and volumes, nearest bones.

#include "core/alloc.h"
#include "solver/pbd_parts.h"

#include <math.h>
#include <string.h>

srVec3f srPbd_FindNearest(srVec3f x, srVec3f a, srVec3f b) {
    srVec3f bone = srSubF(b, a);
    float squared = srDotF(bone, bone);
    float t = squared > 0.0f ? srDotF(srSubF(x, a), bone) / squared : 0.0f;
    t = t > 0.0f ? (t < 1.0f ? t : 1.0f) : 0.0f;
    return srMulAddF(a, t, bone);
}

static srResult checkShape(const srPbdShape* shape) {
    for (int32_t i = 0; i < shape->nodeCount; ++i) {
        srVec3 x = shape->nodes[i];
        if (!isfinite(x.x) || !isfinite(x.y) || !isfinite(x.z)) {
            return srFail(sr_errorBadMesh, "Node %d is not finite.", i);
        }
    }
    for (int32_t k = 0; k < 2 * shape->edgeCount; ++k) {
        int32_t node = shape->edges[k / 2][k % 2];
        if (node < 0 || node >= shape->nodeCount) {
            return srFail(sr_errorBadMesh, "Edge %d names node %d, but there are %d nodes.", k / 2, node,
                          shape->nodeCount);
        }
    }
    for (int32_t k = 0; k < 4 * shape->cellCount; ++k) {
        int32_t node = shape->cells[k / 4][k % 4];
        if (node < 0 || node >= shape->nodeCount) {
            return srFail(sr_errorBadMesh, "Cell %d names node %d, but there are %d nodes.", k / 4, node,
                          shape->nodeCount);
        }
    }
    return sr_success;
}

static double sixVolumes(const srPbdShape* shape, int32_t cell) {
    const int32_t* n = shape->cells[cell];
    srVec3 a = shape->nodes[n[0]];
    return srDot(srSub(shape->nodes[n[1]], a),
                 srCross(srSub(shape->nodes[n[2]], a), srSub(shape->nodes[n[3]], a)));
}

static void fillDistances(const srPbdShape* shape, srPbd* pbd) {
    for (int32_t k = 0; k < SR_LANES_PER_BLOCK * pbd->edges.batchCount; ++k) {
        srDistanceBlock* block = &pbd->distances[k / SR_LANES_PER_BLOCK];
        int lane = k % SR_LANES_PER_BLOCK;
        int32_t j = pbd->edges.members[k / SR_LANES_PER_BLOCK][lane];
        bool isReal = j != SR_NULL_INDEX && shape->edges[j][0] != shape->edges[j][1];
        for (int c = 0; c < 2; ++c) {
            block->places[c][lane] = SR_ROW_FLOATS * (isReal ? shape->edges[j][c] : shape->nodeCount);
        }
        if (isReal) {
            block->lengths[lane] =
                (float)srDistance(shape->nodes[shape->edges[j][0]], shape->nodes[shape->edges[j][1]]);
        }
    }
}

static void fillVolumes(const srPbdShape* shape, srPbd* pbd) {
    for (int32_t k = 0; k < SR_LANES_PER_BLOCK * pbd->cells.batchCount; ++k) {
        srVolumeBlock* block = &pbd->volumes[k / SR_LANES_PER_BLOCK];
        int lane = k % SR_LANES_PER_BLOCK;
        int32_t j = pbd->cells.members[k / SR_LANES_PER_BLOCK][lane];
        for (int c = 0; c < 4; ++c) {
            block->places[c][lane] =
                SR_ROW_FLOATS * (j != SR_NULL_INDEX ? shape->cells[j][c] : shape->nodeCount);
        }
        if (j != SR_NULL_INDEX) {
            block->sixVolumes[lane] = (float)sixVolumes(shape, j);
        }
    }
}

void srPbd_SetMass(srPbd* pbd, int32_t node, float mass) {
    pbd->rows[4 * (size_t)node + 3] = mass > 0.0f && isfinite(1.0f / mass) ? 1.0f / mass : 0.0f;
}

static void fillNodes(const srPbdShape* shape, srPbd* pbd) {
    for (int32_t i = 0; i < shape->nodeCount; ++i) {
        float mass = shape->masses != NULL ? shape->masses[i] : 1.0f;
        pbd->starts[i] = srToFloat(shape->nodes[i]);
        srPbd_SetMass(pbd, i, mass);
        float best = (float)INFINITY;
        for (int32_t bone = 0; bone < shape->boneCount; ++bone) {
            srVec3f a = srToFloat(shape->boneEnds[2 * (size_t)bone]);
            srVec3f b = srToFloat(shape->boneEnds[2 * (size_t)bone + 1]);
            float distance = srLengthF(srSubF(pbd->starts[i], srPbd_FindNearest(pbd->starts[i], a, b)));
            if (distance < best) {
                best = distance;
                pbd->bonds[i] = (srPbdBond){.bone = bone, .distance = distance};
            }
        }
    }
}

// of the node that has most; counted in the scratch for moves
static void countConstraints(const srPbdShape* shape, srPbd* pbd) {
    for (int32_t k = 0; k < 2 * shape->edgeCount; ++k) {
        pbd->moves[shape->edges[k / 2][k % 2]] += 1.0f;
    }
    for (int32_t k = 0; k < 4 * shape->cellCount; ++k) {
        pbd->moves[shape->cells[k / 4][k % 4]] += 1.0f;
    }
    pbd->mostConstraints = 1;
    for (int32_t i = 0; i < shape->nodeCount; ++i) {
        int32_t count = (int32_t)pbd->moves[i];
        pbd->mostConstraints = count > pbd->mostConstraints ? count : pbd->mostConstraints;
    }
}

static bool allocate(const srPbdShape* shape, srPbd* pbd) {
    float** rows[] = {&pbd->rows,       &pbd->last,           &pbd->lastLast,
                      &pbd->velocities, &pbd->lastVelocities, &pbd->moves};
    bool isComplete = true;
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); ++k) {
        *rows[k] = SR_ALLOC_ZERO(float, 4 * (size_t)pbd->rowCount);
        isComplete = isComplete && *rows[k] != NULL;
    }
    pbd->bonds = SR_ALLOC_ZERO(srPbdBond, shape->nodeCount);
    pbd->starts = SR_ALLOC_ZERO(srVec3f, shape->nodeCount);
    isComplete = isComplete && pbd->bonds != NULL && pbd->starts != NULL;
    if (shape->edgeCount > 0) {
        pbd->distances = SR_ALLOC_ZERO(srDistanceBlock, pbd->edges.batchCount);
        pbd->edgeFactors = SR_ALLOC(float, shape->edgeCount);
        isComplete = isComplete && pbd->distances != NULL && pbd->edgeFactors != NULL;
    }
    if (shape->cellCount > 0) {
        pbd->volumes = SR_ALLOC_ZERO(srVolumeBlock, pbd->cells.batchCount);
        pbd->cellFactors = SR_ALLOC(float, shape->cellCount);
        isComplete = isComplete && pbd->volumes != NULL && pbd->cellFactors != NULL;
    }
    return isComplete;
}

static srResult build(const srPbdShape* shape, srPbd* pbd) {
    pbd->nodeCount = shape->nodeCount;
    pbd->rowCount = shape->nodeCount + 1; // the last one is for lanes that do nothing
    pbd->boneCount = shape->boneCount;
    const int32_t* edges = shape->edgeCount > 0 ? shape->edges[0] : NULL;
    const int32_t* cells = shape->cellCount > 0 ? shape->cells[0] : NULL;
    SR_TRY(srCreateBatches(edges, 2, shape->edgeCount, shape->nodeCount, &pbd->edges));
    SR_TRY(srCreateBatches(cells, 4, shape->cellCount, shape->nodeCount, &pbd->cells));
    if (!allocate(shape, pbd)) {
        return srFailOutOfMemory("the simulation");
    }
    for (int32_t j = 0; j < shape->edgeCount; ++j) {
        pbd->edgeFactors[j] = shape->edgeCompliances != NULL ? shape->edgeCompliances[j] : 1.0f;
    }
    for (int32_t j = 0; j < shape->cellCount; ++j) {
        pbd->cellFactors[j] = shape->cellCompliances != NULL ? shape->cellCompliances[j] : 1.0f;
    }
    fillDistances(shape, pbd);
    fillVolumes(shape, pbd);
    countConstraints(shape, pbd);
    fillNodes(shape, pbd);
    srPbd_Place(pbd, pbd->starts);
    return sr_success;
}

srResult srCreatePbd(const srPbdShape* shape, srPbd** outPbd) {
    *outPbd = NULL;
    SR_TRY(checkShape(shape));
    srPbd* pbd = SR_ALLOC_ZERO(srPbd, 1);
    if (pbd == NULL) {
        return srFailOutOfMemory("the simulation");
    }
    srResult result = build(shape, pbd);
    if (result != sr_success) {
        srDestroyPbd(pbd);
        return result;
    }
    *outPbd = pbd;
    return sr_success;
}

void srDestroyPbd(srPbd* pbd) {
    if (pbd == NULL) {
        return;
    }
    float* rows[] = {pbd->rows, pbd->last, pbd->lastLast, pbd->velocities, pbd->lastVelocities, pbd->moves};
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); ++k) {
        SR_FREE(rows[k], 4 * (size_t)pbd->rowCount);
    }
    SR_FREE(pbd->bonds, pbd->nodeCount);
    SR_FREE(pbd->starts, pbd->nodeCount);
    SR_FREE(pbd->distances, pbd->edges.batchCount);
    SR_FREE(pbd->volumes, pbd->cells.batchCount);
    SR_FREE(pbd->edgeFactors, pbd->edges.constraintCount);
    SR_FREE(pbd->cellFactors, pbd->cells.constraintCount);
    srDestroyBatches(&pbd->edges);
    srDestroyBatches(&pbd->cells);
    SR_FREE(pbd, 1);
}
