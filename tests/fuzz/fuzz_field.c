// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any soup of triangles as a surface, and its field asked at points near, far and on it: a surface is made or
// refused with a sentence, and where there is one, distance, winding number and field are finite.

#include "soup.h"
#include "target.h"

#include "core/alloc.h"
#include "mesh/field.h"

#include <math.h>

static const char* const words[] = {"\x80\x7f", "\xc0\x7f", "\xff\x7f", "\x01\x01", NULL};

static void ask(const srSurface* surface, const srBvh* bvh, srVec3 point) {
    srVec3 nearest;
    double distance = srBvh_Distance(bvh, point, &nearest);
    srFuzzRequire(isfinite(distance) && distance >= 0.0);
    srFuzzRequire(isfinite(nearest.x) && isfinite(nearest.y) && isfinite(nearest.z));
    srFuzzRequire(isfinite(srBvh_WindingNumber(bvh, point)));
    srField field = {bvh, 0.01 * surface->size};
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

static bool run(const uint8_t* bytes, size_t size) {
    srFuzzSoup soup = srFuzzReadSoup(bytes, size);
    srSurface surface;
    srSurfaceReport report;
    srBvh* bvh = NULL;
    srResult result =
        srCreateSurface(soup.points, soup.pointCount, soup.triangles, soup.triangleCount, &surface, &report);
    if (result != sr_success) {
        srFuzzRequire(result == sr_errorBadMesh && srGetErrorText()[0] != 0);
    } else {
        srFuzzRequire(srCreateBvh(&surface, &bvh) == sr_success);
        askEverywhere(&surface, bvh);
        srDestroyBvh(bvh);
        srDestroySurface(&surface);
    }
    srFuzzRequire(srGetByteCount() == 0);
    return result == sr_success;
}

const srFuzzTarget srFuzzTheTarget = {"field", run, srFuzzVisitSoups, words, 1024};
