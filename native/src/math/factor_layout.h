// SPDX-License-Identifier: GPL-3.0-or-later
//
// How a factor lies in its bytes: a header of counts, from which the place of every array follows, then the
// arrays, each at a multiple of 64. Inner to factor*.c and its tests.

#pragma once

#include "math/factor.h"

#define SR_FACTOR_VERSION 2
#define SR_FACTOR_ALIGNMENT 64

/// 64 bytes, in the byte order of the machine that wrote them.
typedef struct srFactorHeader {
    char magic[8];
    uint32_t version;
    uint32_t byteOrder;
    uint64_t byteCount; ///< With this header.
    uint64_t checksum;  ///< Of all other bytes.
    int32_t size;
    int32_t groupCount;
    int32_t slabCount;
    int32_t kinds;
    int64_t floatCount; ///< Entries of panels, zero without the kind.
    int64_t doubleCount;
} srFactorHeader;

/// Entries of a panel of `columnCount` columns and `rowCount` padded rows, in slabs of `slabRows`.
int64_t srCountPanel(int32_t columnCount, int32_t rowCount, int32_t slabRows);

/// The bytes a factor of these counts takes; SIZE_MAX when no block can be that large.
size_t srFactorHeader_GetByteCount(const srFactorHeader* header);

/// Points the factor's arrays into the bytes, which start with the header. Looks at nothing else.
void srPlaceFactor(const srFactorHeader* header, const void* bytes, srFactor* outFactor);

/// Writes the header of the factor's counts, with magic and byte order, without checksum.
void srStartFactorHeader(srFactorHeader* header);

/// Writes the checksum that fits the bytes.
void srSignFactor(void* bytes);

/// Finds the widest and the tallest group, and whether the scales are ordinary.
void srMeasureFactor(srFactor* factor);
