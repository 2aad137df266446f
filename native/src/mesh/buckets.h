// SPDX-License-Identifier: GPL-3.0-or-later
//
// Grouping what belongs together (points at one place, triangles on the same corners, sides of one edge): a
// sort in linear time, in parallel, the same on any number of workers.

#pragma once

#include "mesh/progress.h"
#include "mesh/sort.h"

/// Items of bucket b are starts[b] .. starts[b + 1] - 1, ascending by key, equal keys in order of `value`.
typedef struct srBuckets {
    int32_t* starts;
    srKeyed* items; ///< `value` is the index that the item was given with.
    int32_t bucketCount;
    int32_t itemCount; ///< As given: items of no bucket leave room at the end.
} srBuckets;

/// Item i goes to bucket `buckets[i]`; to none when that is negative.
SR_MUST_USE srResult srSortIntoBuckets(const int32_t* buckets, const uint64_t* keys, int32_t itemCount,
                                       int32_t bucketCount, const srProgress* progress,
                                       srBuckets* outBuckets);

/// Accepts zeroed buckets.
void srDestroyBuckets(srBuckets* buckets);

/// One after the last item that has the key of item `first`, in bucket `bucket`.
int32_t srEndOfRun(const srBuckets* buckets, int32_t bucket, int32_t first);

/// The first item of `bucket` with that key; the bucket's end when there is none.
int32_t srFindInBucket(const srBuckets* buckets, int32_t bucket, uint64_t key);
