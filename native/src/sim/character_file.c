// SPDX-License-Identifier: GPL-3.0-or-later
//
// The sections of a stored character: one table serves size, writing and reading. What is in a section is
// checked in character_check.c, after all of them are there.

#include "sim/character_file.h"

#include "core/alloc.h"
#include "core/hash.h"
#include "sim/character_check.h"

#include <stdint.h>
#include <string.h>

#define MAGIC_SIZE 8
#define BYTE_ORDER_MARK 0x01020304u
#define VERSION 2
#define ALIGNMENT 64
#define ELEMENT_ALIGNMENT 8 // of the largest element: sections begin at multiples of 64
#define LARGEST_SECTION_COUNT 256
#define HASHED_FROM offsetof(Header, sectionCount)

// the last four bytes are changed by transfers that take a file for text
static const char MAGIC[MAGIC_SIZE] = {'S', 'R', 'C', 'H', '\r', '\n', 0x1a, '\n'};

typedef struct Header {
    char magic[MAGIC_SIZE];
    uint32_t byteOrderMark;
    uint32_t version;
    uint64_t byteCount; // of the whole file
    uint64_t hash;      // of all that follows
    uint32_t sectionCount;
    uint32_t reserved[7];
} Header;

typedef struct Entry {
    uint32_t tag;
    uint32_t elementSize;
    uint64_t elementCount;
    uint64_t offset; // from the start of the file
    uint64_t reserved;
} Entry;

_Static_assert(sizeof(Header) == 64 && sizeof(Entry) == 32, "the format has no padding");

// four letters, as they stand in the file on a machine of this byte order
#define TAG(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

// Where the view of a section is in a stored character.
typedef struct Section {
    uint32_t tag;
    uint32_t elementSize;
    size_t array; // of the pointer
    size_t count; // of the number of elements
    bool mayBeAbsent;
} Section;

#define SECTION(a, b, c, d, name, mayBeAbsent)                                                               \
    {TAG(a, b, c, d), sizeof(*((srStoredCharacter*)0)->name), offsetof(srStoredCharacter, name),             \
     offsetof(srStoredCharacter, name##Count), mayBeAbsent}
#define MAP_SECTION(a, b, c, d, kind)                                                                        \
    {TAG(a, b, c, d), sizeof(float), offsetof(srStoredCharacter, maps) + (kind) * sizeof(float*),            \
     offsetof(srStoredCharacter, mapCounts) + (kind) * sizeof(int32_t), true}

static const Section SECTIONS[] = {
    SECTION('f', 'a', 'c', 't', facts, false),        SECTION('r', 'e', 'p', 't', report, false),
    SECTION('n', 'o', 'd', 'e', nodes, false),        SECTION('c', 'e', 'l', 'l', cells, false),
    SECTION('e', 'd', 'g', 'e', edges, false),        SECTION('p', 'n', 'o', 'd', pointNodes, false),
    SECTION('p', 'w', 'g', 't', pointWeights, false), SECTION('p', 'c', 'e', 'l', pointCells, false),
    SECTION('b', 'n', 'o', 'd', mapNodes, true),      SECTION('b', 'p', 'l', 'c', mapPlaces, true),
    SECTION('b', 's', 's', 't', slopeStarts, false),  SECTION('b', 's', 'l', 'p', slopes, true),
    SECTION('b', 'r', 'u', 'n', runs, true),          SECTION('b', 't', 'g', 't', targets, false),
    SECTION('b', 'p', 't', 's', places, false),       SECTION('b', 's', 'h', 'r', shares, true),
    SECTION('b', '1', '6', 'm', shortMaps, true),     SECTION('b', '3', '2', 'm', longMaps, true),
    SECTION('b', 'i', 'n', 'v', inverseRests, true),  SECTION('b', 's', 'p', 'c', boneSpaces, true),
    SECTION('b', 'a', 'x', 's', boneAxes, true),      SECTION('w', 's', 't', 'a', weightStarts, false),
    SECTION('w', 'b', 'o', 'n', weightBones, false),  SECTION('w', 'v', 'a', 'l', weightValues, false),
    SECTION('h', 'o', 'l', 'd', holds, false),        SECTION('d', 'i', 's', 't', boneDistances, false),
    SECTION('e', 'o', 'r', 'd', edgeOrder, false),    SECTION('e', 's', 't', 'a', edgeStarts, false),
    SECTION('c', 'o', 'r', 'd', cellOrder, false),    SECTION('c', 's', 't', 'a', cellStarts, false),
    MAP_SECTION('m', 's', 't', 'f', sr_mapStiffness), MAP_SECTION('m', 'm', 'a', 's', sr_mapMass),
    MAP_SECTION('m', 'd', 'm', 'p', sr_mapDamping),   MAP_SECTION('m', 'h', 'l', 'd', sr_mapHold),
    MAP_SECTION('m', 'p', 'i', 'n', sr_mapPin),
};

#define SECTION_COUNT ((int)(sizeof(SECTIONS) / sizeof(SECTIONS[0])))

static const void** arrayOf(const Section* section, srStoredCharacter* stored) {
    return (const void**)((char*)stored + section->array);
}

static int32_t* countOf(const Section* section, srStoredCharacter* stored) {
    return (int32_t*)((char*)stored + section->count);
}

// What is stored besides arrays. How long preparing took is not: the same character is the same file.
typedef struct Small {
    srStoredFacts facts;
    srCharacterReport report;
} Small;

static Small readSmall(const srCharacter* character) {
    srCharacterReport report = character->report;
    report.surfaceSeconds = report.cageSeconds = report.embeddingSeconds = 0.0f;
    report.weightsSeconds = report.holdSeconds = report.mapsSeconds = report.totalSeconds = 0.0f;
    report.peakMegabytes = 0.0f;
    srStoredFacts facts = {
        .largestWeightSum = character->embedding.largestWeightSum,
        .spaceCount = character->rig.spaceCount,
        .outsideCount = character->embedding.outsideCount,
        .rootMap = character->rootMap,
        .linearCount = character->blend.linearCount,
        .blendWeightSum = character->blend.largestWeightSum,
    };
    return (Small){facts, report};
}

// The views of a character; `small` must outlive them.
static srStoredCharacter viewCharacter(const srCharacter* character, const Small* small) {
    const srCage* cage = &character->cage;
    const srEmbedding* embedding = &character->embedding;
    const srBlend* blend = &character->blend;
    const srRig* rig = &character->rig;
    const srNodeWeights* weights = &character->weights;
    const srXpbdRest* body = &character->body;
    int32_t entryCount = weights->starts[weights->nodeCount];
    srStoredCharacter view = {
        .facts = &small->facts,
        .factsCount = 1,
        .report = (const uint32_t*)&small->report,
        .reportCount = (int32_t)(sizeof(srCharacterReport) / sizeof(uint32_t)),
        .nodes = cage->nodes,
        .nodesCount = cage->nodeCount,
        .cells = (const int32_t (*)[4])cage->cells,
        .cellsCount = cage->cellCount,
        .edges = (const int32_t (*)[2])cage->edges,
        .edgesCount = cage->edgeCount,
        .pointNodes = (const int32_t (*)[4])embedding->nodes,
        .pointNodesCount = embedding->pointCount,
        .pointWeights = (const float (*)[4])embedding->weights,
        .pointWeightsCount = embedding->pointCount,
        .pointCells = embedding->cells,
        .pointCellsCount = embedding->pointCount,
        .mapNodes = blend->mapNodes,
        .mapNodesCount = blend->mapCount,
        .mapPlaces = (const float (*)[4])blend->mapPlaces,
        .mapPlacesCount = blend->mapCount,
        .slopeStarts = blend->slopeStarts,
        .slopeStartsCount = blend->mapCount + 1,
        .slopes = blend->slopes,
        .slopesCount = blend->slopeStarts[blend->mapCount],
        .runs = blend->runs,
        .runsCount = blend->runCount,
        .targets = blend->targets,
        .targetsCount = blend->pointCount,
        .places = (const float (*)[3])blend->places,
        .placesCount = blend->pointCount,
        .shares = blend->shares,
        .sharesCount = (int32_t)blend->shareCount,
        .shortMaps = blend->shortMaps,
        .shortMapsCount = blend->shortMaps != NULL ? (int32_t)blend->shareCount : 0,
        .longMaps = blend->longMaps,
        .longMapsCount = blend->longMaps != NULL ? (int32_t)blend->shareCount : 0,
        .inverseRests = rig->inverseRests,
        .inverseRestsCount = rig->boneCount,
        .boneSpaces = rig->boneSpaces,
        .boneSpacesCount = rig->boneCount,
        .boneAxes = character->boneAxes,
        .boneAxesCount = character->boneAxes != NULL ? rig->boneCount : 0,
        .weightStarts = weights->starts,
        .weightStartsCount = weights->nodeCount + 1,
        .weightBones = weights->bones,
        .weightBonesCount = entryCount,
        .weightValues = weights->weights,
        .weightValuesCount = entryCount,
        .holds = body->holds,
        .holdsCount = body->nodeCount,
        .boneDistances = body->boneDistances,
        .boneDistancesCount = body->nodeCount,
        .edgeOrder = body->edgeChunks.order,
        .edgeOrderCount = body->edgeChunks.constraintCount,
        .edgeStarts = body->edgeChunks.starts,
        .edgeStartsCount = body->edgeChunks.chunkCount + 1,
        .cellOrder = body->cellChunks.order,
        .cellOrderCount = body->cellChunks.constraintCount,
        .cellStarts = body->cellChunks.starts,
        .cellStartsCount = body->cellChunks.chunkCount + 1,
    };
    for (int kind = 0; kind < sr_mapKindCount; ++kind) {
        view.maps[kind] = character->maps.values[kind];
        view.mapCounts[kind] = view.maps[kind] != NULL ? cage->nodeCount : 0;
    }
    return view;
}

static size_t alignUp(size_t size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// Fills the table and returns the size of the whole file.
static size_t layOut(srStoredCharacter* view, Entry* outEntries, uint32_t* outEntryCount) {
    uint32_t entryCount = 0;
    for (int i = 0; i < SECTION_COUNT; ++i) {
        int32_t count = *countOf(&SECTIONS[i], view);
        if (count > 0) {
            outEntries[entryCount++] =
                (Entry){SECTIONS[i].tag, SECTIONS[i].elementSize, (uint64_t)count, 0, 0};
        }
    }
    size_t offset = alignUp(sizeof(Header) + entryCount * sizeof(Entry));
    for (uint32_t i = 0; i < entryCount; ++i) {
        outEntries[i].offset = offset;
        offset = alignUp(offset + (size_t)outEntries[i].elementCount * outEntries[i].elementSize);
    }
    *outEntryCount = entryCount;
    return offset;
}

size_t srGetCharacterFileSize(const srCharacter* character) {
    Small small = readSmall(character);
    srStoredCharacter view = viewCharacter(character, &small);
    Entry entries[SECTION_COUNT];
    uint32_t entryCount;
    return layOut(&view, entries, &entryCount);
}

static uint64_t hashFile(const void* bytes, size_t byteCount) {
    return srHashBlock((const char*)bytes + HASHED_FROM, byteCount - HASHED_FROM);
}

void srWriteCharacterFile(const srCharacter* character, void* bytes) {
    Small small = readSmall(character);
    srStoredCharacter view = viewCharacter(character, &small);
    Entry entries[SECTION_COUNT];
    Header header = {.byteOrderMark = BYTE_ORDER_MARK, .version = VERSION};
    memcpy(header.magic, MAGIC, MAGIC_SIZE);
    size_t byteCount = layOut(&view, entries, &header.sectionCount);
    header.byteCount = byteCount;
    memset(bytes, 0, byteCount);
    memcpy((char*)bytes + sizeof(header), entries, header.sectionCount * sizeof(Entry));
    uint32_t entry = 0;
    for (int i = 0; i < SECTION_COUNT; ++i) {
        if (*countOf(&SECTIONS[i], &view) > 0) {
            size_t size = (size_t)entries[entry].elementCount * entries[entry].elementSize;
            memcpy((char*)bytes + entries[entry].offset, *arrayOf(&SECTIONS[i], &view), size);
            ++entry;
        }
    }
    memcpy(bytes, &header, sizeof(header)); // what is hashed first, then all with the hash
    header.hash = hashFile(bytes, byteCount);
    memcpy(bytes, &header, sizeof(header));
}

static srResult checkHeader(const Header* header, const void* bytes, size_t byteCount) {
    if (memcmp(header->magic, MAGIC, MAGIC_SIZE) != 0) {
        return srFail(sr_errorBadFile, "This is not a stored character.");
    }
    if (header->byteOrderMark != BYTE_ORDER_MARK) {
        return srFail(sr_errorBadFile,
                      "The stored character is of a machine with another byte order. Prepare it here.");
    }
    if (header->version != VERSION) {
        return srFail(sr_errorBadFile,
                      "The stored character is of version %u of the format, but this Softrig reads version "
                      "%d. Prepare it again.",
                      header->version, VERSION);
    }
    if (header->byteCount != byteCount) {
        return srFail(sr_errorBadFile, "The stored character is cut: it has %zu bytes instead of %llu.",
                      byteCount, (unsigned long long)header->byteCount);
    }
    if (header->hash != hashFile(bytes, byteCount)) {
        return srFail(sr_errorBadFile, "The stored character is damaged: its hash does not agree.");
    }
    return sr_success;
}

static const Section* findSection(uint32_t tag) {
    for (int i = 0; i < SECTION_COUNT; ++i) {
        if (SECTIONS[i].tag == tag) {
            return &SECTIONS[i];
        }
    }
    return NULL;
}

static srResult failTable(void) {
    return srFail(sr_errorBadFile, "The stored character is damaged: its table of sections is none.");
}

// One entry of the table becomes a view. Sections that we do not know are of a later minor change: passed
// over.
static srResult openSection(const char* bytes, size_t byteCount, const Entry* entry, srStoredCharacter* out) {
    size_t elementSize = entry->elementSize;
    bool isInside = elementSize > 0 && entry->offset <= byteCount && entry->offset % ALIGNMENT == 0 &&
                    entry->elementCount > 0 && entry->elementCount <= INT32_MAX / 2 &&
                    entry->elementCount <= (byteCount - entry->offset) / elementSize;
    const Section* section = findSection(entry->tag);
    if (!isInside || (section != NULL && section->elementSize != elementSize)) {
        return failTable();
    }
    if (section != NULL) {
        if (*arrayOf(section, out) != NULL) {
            return failTable();
        }
        *arrayOf(section, out) = bytes + entry->offset;
        *countOf(section, out) = (int32_t)entry->elementCount;
    }
    return sr_success;
}

static srResult openSections(const char* bytes, size_t byteCount, srStoredCharacter* out) {
    const Header* header = (const Header*)bytes;
    const Entry* entries = (const Entry*)(bytes + sizeof(Header));
    if (header->sectionCount > LARGEST_SECTION_COUNT ||
        header->sectionCount * sizeof(Entry) > byteCount - sizeof(Header)) {
        return failTable();
    }
    for (uint32_t i = 0; i < header->sectionCount; ++i) {
        SR_TRY(openSection(bytes, byteCount, &entries[i], out));
    }
    for (int i = 0; i < SECTION_COUNT; ++i) {
        if (!SECTIONS[i].mayBeAbsent && *arrayOf(&SECTIONS[i], out) == NULL) {
            return srFail(sr_errorBadFile, "The stored character is damaged: a section is missing.");
        }
    }
    return sr_success;
}

// Null for nothing, and then `isComplete` stays what it was.
static void* copyArray(const void* array, int32_t count, size_t elementSize, bool* isComplete) {
    void* copy = srAlloc((size_t)count, elementSize);
    if (copy != NULL) {
        memcpy(copy, array, (size_t)count * elementSize);
    }
    *isComplete = *isComplete && (copy != NULL || count == 0);
    return copy;
}

#define COPY(name) copyArray(s->name, s->name##Count, sizeof(*s->name), &isComplete)

static void copyBlend(const srStoredCharacter* s, srBlend* out, bool* outIsComplete) {
    bool isComplete = true;
    *out = (srBlend){
        .nodeCount = s->nodesCount,
        .mapCount = s->mapNodesCount,
        .mapNodes = COPY(mapNodes),
        .mapPlaces = COPY(mapPlaces),
        .slopeStarts = COPY(slopeStarts),
        .slopes = COPY(slopes),
        .pointCount = s->targetsCount,
        .runCount = s->runsCount,
        .targets = COPY(targets),
        .places = COPY(places),
        .shareCount = s->sharesCount,
        .shares = COPY(shares),
        .shortMaps = COPY(shortMaps),
        .longMaps = COPY(longMaps),
        .linearCount = s->facts->linearCount,
        .largestWeightSum = s->facts->blendWeightSum,
    };
    if (s->runsCount > 0) {
        memcpy(out->runs, s->runs, (size_t)s->runsCount * sizeof(srBlendRun));
    }
    if (out->slopeStarts == NULL) { // what frees them asks the starts how many slopes there are
        SR_FREE(out->slopes, s->slopesCount);
        out->slopes = NULL;
    }
    *outIsComplete = *outIsComplete && isComplete;
}

static srResult copyParts(const srStoredCharacter* s, srCharacter* out) {
    bool isComplete = true;
    out->cage = (srCage){COPY(nodes), s->nodesCount, COPY(cells), s->cellsCount, COPY(edges), s->edgesCount};
    out->embedding = (srEmbedding){.nodes = COPY(pointNodes),
                                   .weights = COPY(pointWeights),
                                   .cells = COPY(pointCells),
                                   .pointCount = s->pointNodesCount,
                                   .outsideCount = s->facts->outsideCount,
                                   .largestWeightSum = s->facts->largestWeightSum};
    copyBlend(s, &out->blend, &isComplete);
    out->rig = (srRig){COPY(inverseRests), COPY(boneSpaces), s->inverseRestsCount, s->facts->spaceCount};
    out->boneAxes = COPY(boneAxes);
    out->weights = (srNodeWeights){COPY(weightStarts), COPY(weightBones), COPY(weightValues), s->nodesCount};
    out->rootMap = s->facts->rootMap;
    out->maps.nodeCount = s->nodesCount;
    for (int kind = 0; kind < sr_mapKindCount; ++kind) {
        out->maps.values[kind] = copyArray(s->maps[kind], s->mapCounts[kind], sizeof(float), &isComplete);
    }
    out->audience = srCreateAudience();
    if (!isComplete || out->audience == NULL) {
        // what frees them asks the starts how many weights there are
        if (out->weights.starts == NULL) {
            SR_FREE(out->weights.bones, s->weightBonesCount);
            SR_FREE(out->weights.weights, s->weightValuesCount);
            out->weights = (srNodeWeights){0};
        }
        return srFailOutOfMemory("a stored character");
    }
    return sr_success;
}

// The rest of the solver is made from what was stored, as preparing makes it; only the order of the
// constraints, which takes longest, is taken over.
static srResult makeBody(const srStoredCharacter* s, srCharacter* out) {
    srChunks edgeChunks = {(int32_t*)s->edgeOrder, (int32_t*)s->edgeStarts, s->edgeStartsCount - 1,
                           s->edgeOrderCount};
    srChunks cellChunks = {(int32_t*)s->cellOrder, (int32_t*)s->cellStarts, s->cellStartsCount - 1,
                           s->cellOrderCount};
    srXpbdShape shape = {
        .nodes = out->cage.nodes,
        .nodeCount = out->cage.nodeCount,
        .edges = (const int32_t (*)[2])out->cage.edges,
        .edgeCount = out->cage.edgeCount,
        .cells = (const int32_t (*)[4])out->cage.cells,
        .cellCount = out->cage.cellCount,
        .holds = s->holds,
        .boneDistances = s->boneDistances,
        .edgeChunks = &edgeChunks,
        .cellChunks = &cellChunks,
    };
    srResult result = srCreateXpbdRest(&shape, &out->body);
    return result == sr_errorInvalidValue
               ? srFail(sr_errorBadFile, "The stored character is damaged: its order is none.")
               : result;
}

static srResult readReport(const srStoredCharacter* s, srCharacter* out) {
    size_t stored = (size_t)s->reportCount * sizeof(uint32_t);
    memcpy(&out->report, s->report, stored < sizeof(out->report) ? stored : sizeof(out->report));
    out->report.nodeCount = s->nodesCount;
    out->report.cellCount = s->cellsCount;
    out->report.edgeCount = s->edgesCount;
    out->report.vertexCount = s->pointNodesCount;
    out->report.boneCount = s->inverseRestsCount;
    out->report.spaceCount = s->facts->spaceCount;
    out->report.mesherNote[SR_MESHER_NOTE_SIZE - 1] = '\0';
    out->embedding.farCount = out->report.farVertexCount;
    srCharacter_CountHeld(out);
    return out->report.size > 0.0f
               ? sr_success
               : srFail(sr_errorBadFile, "The stored character is damaged: it has no size.");
}

static srResult readAligned(const char* bytes, size_t byteCount, srCharacter* outCharacter) {
    srStoredCharacter stored = {0};
    SR_TRY(checkHeader((const Header*)bytes, bytes, byteCount));
    SR_TRY(openSections(bytes, byteCount, &stored));
    SR_TRY(srCheckStoredCharacter(&stored));
    SR_TRY(copyParts(&stored, outCharacter));
    SR_TRY(makeBody(&stored, outCharacter));
    return readReport(&stored, outCharacter);
}

srResult srReadCharacterFile(const void* bytes, size_t byteCount, srCharacter* outCharacter) {
    *outCharacter = (srCharacter){0};
    if (byteCount < sizeof(Header)) {
        return srFail(sr_errorBadFile, "This is not a stored character: it has %zu bytes.", byteCount);
    }
    // read where they are; only bytes at an odd address are copied to an even one
    bool isAligned = (uintptr_t)bytes % ELEMENT_ALIGNMENT == 0;
    char* copy = isAligned ? NULL : SR_ALLOC(char, byteCount);
    if (!isAligned && copy == NULL) {
        return srFailOutOfMemory("a stored character");
    }
    if (!isAligned) {
        memcpy(copy, bytes, byteCount);
    }
    srResult result = readAligned(isAligned ? bytes : copy, byteCount, outCharacter);
    SR_FREE(copy, byteCount);
    if (result != sr_success) {
        srDestroyCharacterRest(outCharacter);
    }
    return result;
}
