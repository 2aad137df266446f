// SPDX-License-Identifier: GPL-3.0-or-later
//
// The map of weights/skin_map, with what it needs at hand.

#include "sim/skin_follower.h"

#include "core/alloc.h"
#include "weights/skin_map.h"

#include <string.h>

struct srSkinFollower {
    const srCharacter* character;
    srSkinMap map;
    void* scratch;
    size_t scratchSize;
    srVec3* places;
    srVec3f* nodes;
    float* rest;
    int32_t nodeCount;
    int32_t vertexCount;
};

static srResult createParts(srSkinFollower* follower, const float* restPositions) {
    const srCharacter* character = follower->character;
    srVec3* vertices = SR_ALLOC(srVec3, follower->vertexCount);
    follower->places = SR_ALLOC(srVec3, follower->nodeCount);
    follower->nodes = SR_ALLOC(srVec3f, follower->nodeCount);
    follower->rest = SR_ALLOC(float, 3 * (size_t)follower->vertexCount);
    srResult result = sr_success;
    if (vertices == NULL || follower->places == NULL || follower->nodes == NULL || follower->rest == NULL) {
        result = srFailOutOfMemory("the followed skin");
    }
    for (int32_t v = 0; v < follower->vertexCount && result == sr_success; ++v) {
        const float* x = restPositions + 3 * (size_t)v;
        vertices[v] = (srVec3){(double)x[0], (double)x[1], (double)x[2]};
    }
    if (result == sr_success) {
        memcpy(follower->rest, restPositions, 3 * (size_t)follower->vertexCount * sizeof(float));
        result = srCreateSkinMap(&character->cage, &character->embedding, vertices, &follower->map);
    }
    SR_FREE(vertices, follower->vertexCount);
    SR_TRY(result);
    follower->scratchSize = srSkinMap_GetScratchSize(&follower->map);
    follower->scratch = srAlloc(follower->scratchSize, 1);
    return follower->scratch != NULL ? sr_success : srFailOutOfMemory("the followed skin");
}

srResult srCreateSkinFollower(const srCharacter* character, const float* restPositions,
                              srSkinFollower** outFollower) {
    srSkinFollower* follower = SR_ALLOC_ZERO(srSkinFollower, 1);
    if (follower == NULL) {
        return srFailOutOfMemory("the followed skin");
    }
    follower->character = character;
    follower->nodeCount = character->cage.nodeCount;
    follower->vertexCount = character->embedding.pointCount;
    srResult result = createParts(follower, restPositions);
    if (result != sr_success) {
        srDestroySkinFollower(follower);
        return result;
    }
    *outFollower = follower;
    return sr_success;
}

void srDestroySkinFollower(srSkinFollower* follower) {
    if (follower == NULL) {
        return;
    }
    srDestroySkinMap(&follower->map);
    if (follower->scratch != NULL) {
        srFree(follower->scratch, follower->scratchSize, 1);
    }
    SR_FREE(follower->places, follower->nodeCount);
    SR_FREE(follower->nodes, follower->nodeCount);
    SR_FREE(follower->rest, 3 * (size_t)follower->vertexCount);
    SR_FREE(follower, 1);
}

const srVec3f* srSkinFollower_Place(srSkinFollower* follower, const float* positions) {
    const srVec3* places = follower->places;
    // what the map makes of the rest is the rest but for rounding
    if (memcmp(positions, follower->rest, 3 * (size_t)follower->vertexCount * sizeof(float)) == 0) {
        places = follower->character->cage.nodes;
    } else {
        srSkinMap_PlaceNodes(&follower->map, positions, follower->scratch, follower->places, NULL);
    }
    for (int32_t i = 0; i < follower->nodeCount; ++i) {
        follower->nodes[i] = srToFloat(places[i]);
    }
    return follower->nodes;
}
