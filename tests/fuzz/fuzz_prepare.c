// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any soup of triangles to a cage through the public door, the smallest there is: a character is prepared, or
// there is a result and a sentence; nothing is held afterwards.

#include "soup.h"
#include "target.h"

#include "softrig/softrig.h"

#include <math.h>

static const char* const words[] = {"\x80\x7f", "\xc0\x7f", "\xff\x7f", "\x01\x01", NULL};

// what a byte of the input wishes of the inside
static void wish(uint8_t byte, srCharacterDef* def) {
    def->largestHole = 0.2f * (float)(byte & 3);
    def->sheetThickness = 0.01f * (float)(byte >> 2 & 3);
    def->fillsHollows = (byte & 16) != 0;
    def->joinsTouching = (byte & 32) != 0;
}

static bool prepare(const srFuzzSoup* soup, uint8_t wishes) {
    srCharacterDef def = srDefaultCharacterDef();
    wish(wishes, &def);
    def.skinPositions = soup->points;
    def.skinVertexCount = soup->pointCount;
    def.skinTriangles = soup->triangles;
    def.skinTriangleCount = soup->triangleCount;
    def.targetNodeCount = 50;
    srCharacterId id = {0};
    srCharacterReport report;
    bool isReady = srCreateCharacter(&def, &id) == sr_success && srCharacter_Wait(id, -1.0) == sr_success;
    if (isReady) {
        srFuzzRequire(srCharacter_GetReport(id, &report) == sr_success);
        srFuzzRequire(report.nodeCount >= 4 && report.cellCount >= 1 && isfinite(report.volume));
    } else {
        srFuzzRequire(srGetErrorText()[0] != 0);
    }
    return isReady;
}

static bool run(const uint8_t* bytes, size_t size) {
    srFuzzSoup soup = srFuzzReadSoup(bytes, size);
    srFuzzRequire(srSetWorkerCount(1) == sr_success);
    bool isReady = prepare(&soup, size > 0 ? bytes[size - 1] : 5);
    srShutdown();
    srFuzzRequire(srGetByteCount() == 0);
    return isReady;
}

const srFuzzTarget srFuzzTheTarget = {"prepare", run, srFuzzVisitSoups, words, 1024};
