// SPDX-License-Identifier: GPL-3.0-or-later
//
// What every part of the contract stands on: the export macro, result codes and their texts, the version
// and the handshake, allocation hooks, and the number of workers. Knows no geometry.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SR_VERSION_MAJOR 0
#define SR_VERSION_MINOR 1
#define SR_VERSION_PATCH 0

/// Raised with every change of a public struct or signature. A host built against another number must not
/// call anything but `srGetAbiInfo`.
#define SR_ABI_VERSION 9

#if defined(_WIN32)
#if defined(SR_BUILD_SHARED)
#define SR_EXPORT __declspec(dllexport)
#else
#define SR_EXPORT
#endif
#else
#define SR_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
#define SR_API extern "C" SR_EXPORT
#else
#define SR_API extern SR_EXPORT
#endif

/// An index that points at nothing.
#define SR_NULL_INDEX (-1)

/// What a public function answers. Anything but `sr_success` leaves a sentence for people in
/// `srGetErrorText` of the calling thread, and leaves all outputs as they were unless the function says
/// otherwise.
typedef enum srResult {
    sr_success = 0,
    sr_errorNullArgument = 1, ///< A pointer that must not be null is.
    sr_errorStructSize =
        2, ///< `structSize` is not what this library expects: forgotten default, or another version.
    sr_errorInvalidValue = 3, ///< A number is outside of its documented range.
    sr_errorNotFinite = 4,    ///< An array holds a NaN or an infinity; the text names the first.
    sr_errorStaleId = 5,      ///< The id is null, or names what was destroyed.
    sr_errorOutOfMemory = 6,  ///< The allocator refused. Nothing was leaked and nothing was changed.
    sr_errorTooLarge = 7,     ///< A count does not fit, or a size would overflow.
    sr_errorBadMesh = 8,      ///< The mesh or the cells cannot be used; the report says where.
    sr_errorNoInside = 9,     ///< The surface encloses nothing that a cell could be put in.
    sr_errorNotReady = 10,    ///< The answer is still being computed, or the thing is in use.
    sr_errorCancelled = 11,   ///< Somebody cancelled the work.
    sr_errorFile = 12,        ///< A file could not be written; the text has the path and the system's reason.
    sr_errorDependency =
        13,                ///< The linear algebra that the library stands on does not compute correctly here.
    sr_errorInternal = 14, ///< A fault of ours. Please report the text.
    sr_errorBadFile = 15,  ///< Stored bytes are cut, damaged, or of another version or machine.
} srResult;

/// The name of a result code, such as "sr_errorStaleId". Never null; static.
SR_API const char* srGetResultName(srResult result);

/// The sentence that belongs to the last failed call of *this thread*: what happened, where, what to do.
/// UTF-8, never null, valid until this thread's next failing call. Empty before the first failure.
SR_API const char* srGetErrorText(void);

/// The version of the library that was loaded.
typedef struct srVersion {
    int32_t major;
    int32_t minor;
    int32_t patch;
} srVersion;

SR_API srVersion srGetVersion(void);

/// The handshake: a host compares this with what it was built against before it calls anything else.
/// The layout of this one struct never changes but at its end.
typedef struct srAbiInfo {
    int32_t abiVersion;       ///< `SR_ABI_VERSION` of the library.
    int32_t structCount;      ///< How many public structs there are.
    uint64_t structSizesHash; ///< FNV-1a over (name, size) of all public structs in the order of the headers.
    srVersion version;        ///< Same as `srGetVersion`.
} srAbiInfo;

SR_API srAbiInfo srGetAbiInfo(void);

/// The size in bytes that this library gives a public struct, by its name ("srShotParams"); 0 if there is
/// none of that name or `structName` is null. For the handshake's message and for tests.
SR_API size_t srGetStructSize(const char* structName);

/// Returns `size` bytes aligned to `alignment` (a power of two, at most 64), or null. Called from any thread.
typedef void* srAllocFcn(size_t size, size_t alignment, void* context);

/// Frees what `srAllocFcn` returned; `size` is what was asked for. Called from any thread.
typedef void srFreeFcn(void* block, size_t size, void* context);

typedef struct srAllocator {
    size_t structSize; ///< `sizeof(srAllocator)`.
    srAllocFcn* alloc;
    srFreeFcn* free;
    void* context; ///< Handed to both. May be null.
} srAllocator;

/// Replaces the allocator; null restores the system's. Refused with `sr_errorNotReady` while anything is
/// alive. Not thread-safe: call it before anything else.
SR_API srResult srSetAllocator(const srAllocator* allocator);

/// Bytes that the library holds now. Zero when nothing is alive: work that was cancelled by destroying what
/// it was for, and has not ended yet, is waited for.
SR_API size_t srGetByteCount(void);

/// How many threads share the work inside a step, the calling one included: 1 to 64. The default is the
/// number of cores, at most 4. Results are the same bits for any number. Refused while anything is alive.
SR_API srResult srSetWorkerCount(int32_t workerCount);
SR_API int32_t srGetWorkerCount(void);

/// Cancels and destroys everything that is alive, joins all threads, and returns how many characters, shots
/// and bakes there were. After it `srGetByteCount` is zero. The library can be used again. Not to be called
/// while another thread is inside a call of this library.
SR_API int32_t srShutdown(void);
