// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any soup of triangles as a surface and as a solid, and their fields asked at points near, far and on them:
// a surface is made or refused with a sentence, and where there is one, distance, winding number and field
// are finite. A solid has an inside or a sentence; the ways to ask its field agree.

#include "soup.h"
#include "target.h"

#include "core/alloc.h"
#include "mesh/field.h"
#include "mesh/solid.h"
#include "softrig/softrig.h"

#include <math.h>

static const char* const words[] = {"\x80\x7f", "\xc0\x7f", "\xff\x7f", "\x01\x01", NULL};

static void ask(const srSurface* surface, const srBvh* bvh, srVec3 point) {
    srVec3 nearest;
    double distance = srBvh_Distance(bvh, point, &nearest);
    srFuzzRequire(isfinite(distance) && distance >= 0.0);
    srFuzzRequire(isfinite(nearest.x) && isfinite(nearest.y) && isfinite(nearest.z));
    srFuzzRequire(isfinite(srBvh_WindingNumber(bvh, point)));
    srField field = {.bvh = bvh, .offset = 0.01 * surface->size};
    srFuzzRequire(isfinite(srField_Value(&field, point)));
}

static void askEverywhere(const srSurface* surface, const srBvh* bvh) {
    srVec3 extent = srSub(surface->upper, surface->lower);
    for (int i = 0; i < 8; i++) {
        srVec3 corner = {(i & 1) != 0 ? 0.9 : 0.1, (i & 2) != 0 ? 0.7 : 0.3, (i & 4) != 0 ? 1.5 : 0.5};
        srVec3 step = {corner.x * extent.x, corner.y * extent.y, corner.z * extent.z};
        ask(surface, bvh, srAdd(surface->lower, step));
    }
    ask(surface, bvh, surface->points[surface->triangles[0][0]]);
    const int32_t* corners = surface->triangles[surface->triangleCount - 1];
    ask(surface, bvh, srScale(0.5, srAdd(surface->points[corners[0]], surface->points[corners[1]])));
}

// All ways to ask give finite answers, and where nothing is open the same one.
static void askSolid(const srField* field, srVec3 point, srFieldMemory* memory) {
    double value = srField_Value(field, point), near = srField_ValueNear(field, point, memory);
    srFieldLook look = srField_Look(field, point, memory);
    srFuzzRequire(isfinite(value) && isfinite(near));
    srFuzzRequire(look.distance >= 0.0 && look.sheetDistance >= 0.0 && isfinite(look.winding));
    srFuzzRequire(field->bvh == NULL || (isfinite(look.distance) && look.triangle >= 0));
    if (field->isWatertight) {
        srFuzzRequire(near == value);
        srFuzzRequire(look.isInside == (value < 0.0) || value == 0.0);
    }
}

// A grid that the solid fills a part of, at once and point by point.
static void sampleSolid(const srField* field, const srSurface* surface) {
    enum {
        count = 4
    };
    double values[count * count * count];
    srVec3 extent = srSub(surface->upper, surface->lower);
    double spacing = 0.5 * fmax(extent.x, fmax(extent.y, extent.z));
    srSampleBox box = {srMulAdd(surface->lower, -0.2, extent), spacing, count, count, count, 0.6 * spacing};
    srFieldMemory memory = {0};
    srField_SampleBox(field, &box, values);
    for (int i = 0; i < count * count * count; i++) {
        srVec3 steps = {i % count, i / count % count, i / (count * count)};
        srFuzzRequire(isfinite(values[i]));
        askSolid(field, srMulAdd(box.origin, spacing, steps), &memory);
    }
}

static void solidify(const srSurface* surface) {
    const srSolidSettings settings = srDefaultSolidSettings();
    srProgress nobody = {0};
    srSolid solid;
    srSolidReport report;
    srResult result = srCreateSolid(surface, &settings, &nobody, &solid, &report);
    if (result != sr_success) {
        srFuzzRequire(result == sr_errorNoInside && srGetErrorText()[0] != 0);
        return;
    }
    srFuzzRequire(isfinite(solid.volume) && isfinite(solid.area));
    srField field = srMakeField(&solid, 0.0);
    srFieldMemory memory = {0};
    sampleSolid(&field, surface);
    for (int32_t t = 0; t < surface->triangleCount; t++) {
        const int32_t* corners = surface->triangles[t];
        askSolid(&field, surface->points[corners[0]], &memory);
        askSolid(&field, srScale(0.5, srAdd(surface->points[corners[1]], surface->points[corners[2]])),
                 &memory);
    }
    srDestroySolid(&solid);
}

static bool run(const uint8_t* bytes, size_t size) {
    srFuzzSoup soup = srFuzzReadSoup(bytes, size);
    srSurface surface;
    srSurfaceReport report;
    srBvh* bvh = NULL;
    srFuzzRequire(srSetWorkerCount(1) == sr_success);
    srResult result =
        srCreateSurface(soup.points, soup.pointCount, soup.triangles, soup.triangleCount, &surface, &report);
    if (result != sr_success) {
        srFuzzRequire(result == sr_errorBadMesh && srGetErrorText()[0] != 0);
    } else {
        srFuzzRequire(srCreateBvh(&surface, &bvh) == sr_success);
        askEverywhere(&surface, bvh);
        srDestroyBvh(bvh);
        solidify(&surface);
        srDestroySurface(&surface);
    }
    srShutdown();
    srFuzzRequire(srGetByteCount() == 0);
    return result == sr_success;
}

const srFuzzTarget srFuzzTheTarget = {"field", run, srFuzzVisitSoups, words, 1024};
