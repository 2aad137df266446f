// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any bytes as a rig (docs/rig-format.md).

#include "read_text.h"

#define UNIT "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\n"

static const char* const words[] = {
    "softrig-rig 1", "fps ", "spaces ", "bones ", "bone ", "space ", "weights ", "v ",
    "frames ",       "m ",   "%20",     "%00",    "-1",    "1e38",   "nan",      "#",
    "\r\n",          UNIT,   "1000000", "100000", NULL};

static const char* const texts[] = {
    "softrig-rig 1\nfps 24\nspaces 1\nbones 2\nbone hip 0 -1 1 0 " UNIT "bone tail%20tip 0 0 0.5 1 " UNIT
    "space " UNIT "weights 3\nv 1 0 1\nv 2 0 0.25 1 0.75\nv 0\nframes 1 2\nm " UNIT "m " UNIT "m " UNIT
    "m " UNIT "m " UNIT "m " UNIT "m " UNIT "m " UNIT,
    "softrig-rig 1\nfps 23.976\nspaces 0\nbones 0\nweights 0\nframes -5 1\nm " UNIT,
    NULL,
};

static bool readRig(srCliText* text, srCliError* error) {
    srCliRig rig;
    bool isRead = srCliReadRig(text, &rig, error);
    if (isRead) {
        size_t bones = (size_t)rig.boneCount, vertices = (size_t)rig.vertexCount;
        srFuzzRequire(rig.boneRests.count == 16 * bones && rig.boneParents.count == bones);
        srFuzzRequire(rig.nameStarts.count == bones && rig.weightStarts.count == vertices + 1);
        srFuzzRequire(rig.weightStarts.items[vertices] == (int32_t)rig.weightBones.count);
        srFuzzRequire(rig.motion.count == 16 * (size_t)rig.frameCount * (size_t)srCliRig_GetRowLength(&rig));
        srFuzzRequireInRange(&rig.weightBones, rig.boneCount);
        srFuzzRequireInRange(&rig.boneSpaces, rig.spaceCount);
        for (int32_t bone = 0; bone < rig.boneCount; bone++) {
            srFuzzRequire(rig.boneParents.items[bone] >= -1 && rig.boneParents.items[bone] < bone);
            srFuzzRequire(strlen(srCliRig_GetBoneName(&rig, bone)) <= rig.names.count);
        }
    }
    srCliRig_Free(&rig);
    return isRead;
}

static bool run(const uint8_t* bytes, size_t size) {
    return srFuzzReadText(readRig, bytes, size);
}

static void visitSeeds(srFuzzSeedFcn* visit, void* context) {
    srFuzzVisitTexts(texts, visit, context);
}

const srFuzzTarget srFuzzTheTarget = {"read_rig", run, visitSeeds, words, 4096};
