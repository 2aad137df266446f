// SPDX-License-Identifier: GPL-3.0-or-later
//
// Counting, scattering, and sorting each bucket on its own.

#include "mesh/buckets.h"

#include "core/alloc.h"

#include <string.h>

// Up to here a bucket is sorted by insertion.
#define SMALL_BUCKET 24

// Items between two looks at the progress, and buckets of a block and of a batch in parallel: a few ms each
#define SERIAL_BATCH (1 << 17)
#define BLOCK_SIZE 2048
#define BATCH_SIZE (1 << 17)

static void sortSmall(srKeyed* items, int32_t count) {
    for (int32_t i = 1; i < count; i++) {
        srKeyed item = items[i];
        int32_t j = i;
        for (; j > 0 && items[j - 1].key > item.key; j--) {
            items[j] = items[j - 1];
        }
        items[j] = item;
    }
}

typedef struct Sorting {
    const int32_t* bucketOf;
    const uint64_t* keys;
    srBuckets* buckets;
    srKeyed* scratch;
} Sorting;

static void sortBuckets(int32_t begin, int32_t end, int32_t worker, void* context) {
    (void)worker;
    const Sorting* sorting = context;
    const int32_t* starts = sorting->buckets->starts;
    for (int32_t b = begin; b < end; b++) {
        srKeyed* items = &sorting->buckets->items[starts[b]];
        int32_t count = starts[b + 1] - starts[b];
        if (count <= SMALL_BUCKET) {
            sortSmall(items, count);
        } else {
            srSortKeyed(items, &sorting->scratch[starts[b]], count);
        }
    }
}

// starts[b + 2] counts bucket b, then starts[b + 1] says where its next item goes.
static srResult scatter(const Sorting* sorting, int32_t itemCount, const srProgress* progress) {
    int32_t* starts = sorting->buckets->starts;
    int32_t bucketCount = sorting->buckets->bucketCount;
    srKeyed* items = sorting->buckets->items;
    memset(starts, 0, ((size_t)bucketCount + 2) * sizeof(int32_t));
    for (int32_t i = 0; i < itemCount; i++) {
        if (i % SERIAL_BATCH == 0) {
            SR_TRY(srReportProgress(progress, 0.3 * i / itemCount));
        }
        if (sorting->bucketOf[i] >= 0) {
            starts[sorting->bucketOf[i] + 2]++;
        }
    }
    for (int32_t b = 2; b < bucketCount + 2; b++) {
        starts[b] += starts[b - 1];
    }
    for (int32_t i = 0; i < itemCount; i++) {
        if (i % SERIAL_BATCH == 0) {
            SR_TRY(srReportProgress(progress, 0.3 + 0.3 * i / itemCount));
        }
        if (sorting->bucketOf[i] >= 0) {
            items[starts[sorting->bucketOf[i] + 1]++] = (srKeyed){sorting->keys[i], i};
        }
    }
    return sr_success;
}

srResult srSortIntoBuckets(const int32_t* bucketOf, const uint64_t* keys, int32_t itemCount,
                           int32_t bucketCount, const srProgress* progress, srBuckets* outBuckets) {
    srResult result = sr_success;
    srBuckets buckets = {.bucketCount = bucketCount, .itemCount = itemCount};
    Sorting sorting = {bucketOf, keys, &buckets, SR_ALLOC(srKeyed, itemCount)};
    srProgress scattering = srPartOfProgress(progress, 0.0, 0.6);
    srProgress rest = srPartOfProgress(progress, 0.6, 1.0);
    buckets.starts = SR_ALLOC(int32_t, bucketCount + 2);
    buckets.items = SR_ALLOC(srKeyed, itemCount);
    if (sorting.scratch == NULL || buckets.starts == NULL || buckets.items == NULL) {
        result = srFailOutOfMemory("the edges of the surface");
        goto cleanup;
    }
    SR_TRY_CLEANUP(scatter(&sorting, itemCount, &scattering));
    SR_TRY_CLEANUP(
        srParallelForWithProgress(sortBuckets, bucketCount, BLOCK_SIZE, BATCH_SIZE, &sorting, &rest));
    *outBuckets = buckets;

cleanup:
    SR_FREE(sorting.scratch, itemCount);
    if (result != sr_success) {
        srDestroyBuckets(&buckets);
    }
    return result;
}

void srDestroyBuckets(srBuckets* buckets) {
    SR_FREE(buckets->starts, buckets->bucketCount + 2);
    SR_FREE(buckets->items, buckets->itemCount);
    *buckets = (srBuckets){0};
}

int32_t srEndOfRun(const srBuckets* buckets, int32_t bucket, int32_t first) {
    int32_t end = first + 1;
    while (end < buckets->starts[bucket + 1] && buckets->items[end].key == buckets->items[first].key) {
        end++;
    }
    return end;
}

int32_t srFindInBucket(const srBuckets* buckets, int32_t bucket, uint64_t key) {
    int32_t low = buckets->starts[bucket], end = buckets->starts[bucket + 1], high = end;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (buckets->items[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < end && buckets->items[low].key == key ? low : end;
}
