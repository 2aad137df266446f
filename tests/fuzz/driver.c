// SPDX-License-Identifier: GPL-3.0-or-later
//
// A fuzzer that needs nothing but a compiler: it mutates inputs, keeps those that reach code which none
// before reached (where the compiler tells: gcc's -fsanitize-coverage=trace-pc), and leaves the input of a
// crash or a hang in a file. Deterministic for a seed.

#include "target.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    poolCapacity = 4096,
    placeCount = 1 << 16,
    leastRuns = 25, // besides the seeds, however short the time
    hangSeconds = 10
};

typedef struct srInput {
    uint8_t* bytes;
    size_t size;
} srInput;

// What the signal handlers and the compiler's callback must reach: there is one driver in a program.
static struct {
    uint8_t isBlockSeen[placeCount];
    uint8_t isStepSeen[placeCount]; // from one block to another: what inputs are kept for
    int32_t blockCount;
    int32_t stepCount;
    uint32_t lastBlock;
    srInput current;
    volatile int64_t executionCount;
    int64_t countAtAlarm;
    char crashPath[256];
} driver;

typedef struct srPool {
    srInput inputs[poolCapacity];
    int32_t count;
    uint64_t random;
} srPool;

typedef struct srOptions {
    int64_t runs;
    double seconds;
    uint64_t seed;
    const char* seedFolder;  // write the seeds there and end
    const char* replayPath;  // run this one input and end
    const char* crashFolder; // where inputs of crashes go
} srOptions;

// ---- coverage --------------------------------------------------------------------------------------------

// called by every block of the code under test; two blocks may share a place, so the count is a lower bound.
// It took more than half of all time while it was checked by the sanitizers itself
void __sanitizer_cov_trace_pc(void);
__attribute__((no_sanitize("address", "undefined"))) void __sanitizer_cov_trace_pc(void) {
    uint64_t address = (uint64_t)(uintptr_t)__builtin_return_address(0);
    uint32_t place = (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 48);
    uint32_t step = place ^ driver.lastBlock >> 1;
    driver.lastBlock = place;
    if (driver.isBlockSeen[place] & driver.isStepSeen[step]) {
        return;
    }
    driver.blockCount += !driver.isBlockSeen[place];
    driver.isBlockSeen[place] = 1;
    driver.stepCount += !driver.isStepSeen[step];
    driver.isStepSeen[step] = 1;
}

// ---- crashes and hangs -----------------------------------------------------------------------------------

static void keepCurrent(void) {
    FILE* file = fopen(driver.crashPath, "wb");
    if (file != NULL) {
        fwrite(driver.current.bytes, 1, driver.current.size, file);
        fclose(file);
    }
    fprintf(stderr, "%s: after %lld executions; the input is in %s\n", srFuzzTheTarget.name,
            (long long)driver.executionCount, driver.crashPath);
}

static void onCrash(int number) {
    keepCurrent();
    signal(number, SIG_DFL);
    raise(number);
}

static void onAlarm(int number) {
    (void)number;
    if (driver.executionCount == driver.countAtAlarm) {
        fprintf(stderr, "%s: one execution takes more than %d s\n", srFuzzTheTarget.name, hangSeconds);
        keepCurrent();
        _exit(1);
    }
    driver.countAtAlarm = driver.executionCount;
}

// of the sanitizers, where they are linked
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

// `signal` may forget the handler once it was called
static void handle(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void watch(const srOptions* options) {
    snprintf(driver.crashPath, sizeof(driver.crashPath), "%s/crash-%s", options->crashFolder,
             srFuzzTheTarget.name);
    if (__sanitizer_set_death_callback != NULL) {
        __sanitizer_set_death_callback(keepCurrent);
    } else {
        handle(SIGSEGV, onCrash);
        handle(SIGFPE, onCrash);
        handle(SIGBUS, onCrash);
    }
    handle(SIGABRT, onCrash);
    handle(SIGVTALRM, onAlarm);

    // in time of this process, so that a busy machine hangs nothing
    const struct itimerval interval = {{hangSeconds, 0}, {hangSeconds, 0}};
    setitimer(ITIMER_VIRTUAL, &interval, NULL);
}

// ---- mutation --------------------------------------------------------------------------------------------

static uint64_t nextRandom(srPool* pool) {
    pool->random ^= pool->random << 13;
    pool->random ^= pool->random >> 7;
    pool->random ^= pool->random << 17;
    return pool->random * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

static size_t below(srPool* pool, size_t limit) {
    return limit == 0 ? 0 : (size_t)(nextRandom(pool) % limit);
}

// Puts `count` bytes at `at`, over what is there or between it.
static void place(srInput* input, size_t at, const void* bytes, size_t count, bool isInserted) {
    size_t room = srFuzzTheTarget.maxSize;
    if (isInserted && input->size + count <= room) {
        memmove(input->bytes + at + count, input->bytes + at, input->size - at);
        input->size += count;
        memcpy(input->bytes + at, bytes, count);
    } else if (at + count <= input->size) {
        memmove(input->bytes + at, bytes, count);
    }
}

static void placeWord(srPool* pool, srInput* input, size_t at) {
    size_t count = 0;
    while (srFuzzTheTarget.words[count] != NULL) {
        count++;
    }
    const char* word = srFuzzTheTarget.words[below(pool, count)];
    place(input, at, word, strlen(word), below(pool, 2) == 0);
}

static void addToNumber(srPool* pool, srInput* input, size_t at) {
    uint32_t number = 0;
    size_t width = (size_t)1 << below(pool, 3);
    if (at + width <= input->size) {
        memcpy(&number, input->bytes + at, width);
        number += (uint32_t)below(pool, 33) - 16;
        memcpy(input->bytes + at, &number, width);
    }
}

// A piece of another input, from anywhere to anywhere.
static void splice(srPool* pool, srInput* input, size_t at) {
    const srInput* other = &pool->inputs[below(pool, (size_t)pool->count)];
    size_t from = below(pool, other->size), count = below(pool, other->size - from + 1);
    place(input, at, other->bytes + from, count, below(pool, 2) == 0);
}

static void erase(srPool* pool, srInput* input, size_t at) {
    size_t count = below(pool, (input->size - at < 64 ? input->size - at : 64) + 1);
    memmove(input->bytes + at, input->bytes + at + count, input->size - at - count);
    input->size -= count;
}

static void mutate(srPool* pool, srInput* input) {
    size_t changes = (size_t)1 << below(pool, 4);
    for (size_t i = 0; i < changes; i++) {
        size_t at = below(pool, input->size + 1);
        uint8_t byte = (uint8_t)below(pool, 256);
        bool isInside = at < input->size;
        switch (below(pool, 8)) {
        case 0:
            if (isInside) {
                input->bytes[at] ^= (uint8_t)(1u << (byte & 7));
            }
            break;
        case 1:
            place(input, at, &byte, 1, false);
            break;
        case 2:
            place(input, at, &byte, 1, true);
            break;
        case 3:
            erase(pool, input, at);
            break;
        case 4:
            placeWord(pool, input, at);
            break;
        case 5:
            splice(pool, input, at);
            break;
        case 6:
            addToNumber(pool, input, at);
            break;
        default:
            // a digit for a digit, or whatever else stands in texts
            place(input, at, &"0123456789.- \n"[byte % 14], 1, (byte& 128) != 0);
            break;
        }
    }
}

// ---- the loop --------------------------------------------------------------------------------------------

static void* allocate(size_t size) {
    void* block = malloc(size > 0 ? size : 1);
    if (block == NULL) {
        fprintf(stderr, "fuzz: no memory\n");
        exit(2);
    }
    return block;
}

static void keep(srPool* pool, const void* bytes, size_t size) {
    // a full pool forgets one, but never a seed's neighbourhood altogether
    int32_t slot = pool->count < poolCapacity ? pool->count++ : 16 + (int32_t)below(pool, poolCapacity - 16);
    free(pool->inputs[slot].bytes);
    pool->inputs[slot] = (srInput){allocate(size), size};
    memcpy(pool->inputs[slot].bytes, bytes, size);
}

static void keepSeed(const void* bytes, size_t size, void* context) {
    keep(context, bytes, size);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Runs the bytes as a block of their own size, so that a sanitizer sees a read behind its end.
static bool execute(const uint8_t* bytes, size_t size) {
    driver.current = (srInput){allocate(size), size};
    memcpy(driver.current.bytes, bytes, size);
    bool isAccepted = srFuzzTheTarget.run(driver.current.bytes, size);
    free(driver.current.bytes);
    driver.current = (srInput){0};
    driver.executionCount++;
    return isAccepted;
}

static int fuzz(const srOptions* options, srPool* pool) {
    srInput input = {allocate(srFuzzTheTarget.maxSize), 0};
    int64_t acceptedCount = 0;
    double start = now();
    for (int32_t i = 0; i < pool->count; i++) {
        if (!execute(pool->inputs[i].bytes, pool->inputs[i].size)) {
            fprintf(stderr, "%s: seed %d is not accepted\n", srFuzzTheTarget.name, i);
            return 1;
        }
    }
    int64_t least = pool->count + leastRuns;
    while (driver.executionCount < options->runs &&
           (now() - start < options->seconds || driver.executionCount < least)) {
        const srInput* parent = &pool->inputs[below(pool, (size_t)pool->count)];
        input.size = parent->size;
        memcpy(input.bytes, parent->bytes, parent->size);
        mutate(pool, &input);
        int32_t stepsBefore = driver.stepCount;
        acceptedCount += execute(input.bytes, input.size);
        if (driver.stepCount > stepsBefore) {
            keep(pool, input.bytes, input.size);
        }
    }
    free(input.bytes);
    printf("%-12s %9lld executions in %6.1f s, %9lld accepted, %5d blocks and %5d "
           "steps between them reached, %4d inputs kept\n",
           srFuzzTheTarget.name, (long long)driver.executionCount, now() - start, (long long)acceptedCount,
           driver.blockCount, driver.stepCount, pool->count);

    // both ends are met, else nothing was tested
    return acceptedCount > 0 && acceptedCount < driver.executionCount ? 0 : 1;
}

// ---- the program -----------------------------------------------------------------------------------------

static int writeSeeds(const srPool* pool, const char* folder) {
    for (int32_t i = 0; i < pool->count; i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/seed-%d", folder, i);
        FILE* file = fopen(path, "wb");
        if (file == NULL) {
            perror(path);
            return 2;
        }
        fwrite(pool->inputs[i].bytes, 1, pool->inputs[i].size, file);
        fclose(file);
    }
    return 0;
}

static int replay(const char* path) {
    FILE* file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 2;
    }
    uint8_t* bytes = allocate((size_t)1 << 20);
    size_t size = fread(bytes, 1, (size_t)1 << 20, file);
    fclose(file);
    printf("%s: %s\n", path, execute(bytes, size) ? "accepted" : "refused");
    free(bytes);
    return 0;
}

static bool parse(int argc, char** argv, srOptions* options) {
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--runs") == 0) {
            options->runs = strtoll(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--seconds") == 0) {
            options->seconds = strtod(argv[i + 1], NULL);
        } else if (strcmp(argv[i], "--seed") == 0) {
            options->seed = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--write-seeds") == 0) {
            options->seedFolder = argv[i + 1];
        } else if (strcmp(argv[i], "--replay") == 0) {
            options->replayPath = argv[i + 1];
        } else if (strcmp(argv[i], "--crashes") == 0) {
            options->crashFolder = argv[i + 1];
        } else {
            return false;
        }
    }
    return argc % 2 == 1;
}

int main(int argc, char** argv) {
    srOptions options = {.runs = INT64_MAX, .seconds = 1e18, .seed = 1, .crashFolder = "."};
    if (!parse(argc, argv, &options)) {
        fprintf(stderr,
                "usage: %s [--runs N] [--seconds S] [--seed N] [--crashes DIR] [--write-seeds DIR] "
                "[--replay FILE]\n",
                argv[0]);
        return 2;
    }
    if (options.replayPath != NULL) {
        return replay(options.replayPath);
    }
    watch(&options);
    srPool* pool = calloc(1, sizeof(srPool));
    if (pool == NULL) {
        return 2;
    }
    pool->random = options.seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    srFuzzTheTarget.visitSeeds(keepSeed, pool);
    int code = options.seedFolder != NULL ? writeSeeds(pool, options.seedFolder) : fuzz(&options, pool);
    for (int32_t i = 0; i < pool->count; i++) {
        free(pool->inputs[i].bytes);
    }
    free(pool);
    return code;
}
