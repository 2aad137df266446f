// SPDX-License-Identifier: GPL-3.0-or-later
//
// The sparse Cholesky factor, by CHOLMOD: always supernodal, so that there is one way through, its memory
// through our hooks, its messages switched off. The only file that names CHOLMOD.

#include "math/cholesky.h"

#include "core/alloc.h"
#include "core/hash.h"
#include "math/dense.h"

#include <cholmod.h>

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

struct srCholesky {
    cholmod_common common;
    cholmod_factor* L;
    int32_t size;
    uint64_t patternHash;
    bool hasValues;

    // workspace of solves, kept from one to the next
    cholmod_dense* solution;
    cholmod_dense* Y;
    cholmod_dense* E;
};

// CHOLMOD goes on when a block cannot be made smaller, and so on: we do not, or a test of failing allocations
// could not tell what happened. Per thread, because CHOLMOD's hooks carry no context.
static _Thread_local bool allocationFailed;

static void* noteFailure(void* block) {
    allocationFailed = allocationFailed || block == NULL;
    return block;
}

static void* hookMalloc(size_t size) {
    return noteFailure(srMallocForeign(size));
}

static void* hookCalloc(size_t count, size_t size) {
    return noteFailure(srCallocForeign(count, size));
}

static void* hookRealloc(void* block, size_t size) {
    return noteFailure(srReallocForeign(block, size));
}

static void setHooks(void) {
#if SUITESPARSE_MAIN_VERSION >= 6
    SuiteSparse_config_malloc_func_set(hookMalloc);
    SuiteSparse_config_calloc_func_set(hookCalloc);
    SuiteSparse_config_realloc_func_set(hookRealloc);
    SuiteSparse_config_free_func_set(srFreeForeign);
    SuiteSparse_config_printf_func_set(NULL);
#else
    SuiteSparse_config.malloc_func = hookMalloc;
    SuiteSparse_config.calloc_func = hookCalloc;
    SuiteSparse_config.realloc_func = hookRealloc;
    SuiteSparse_config.free_func = srFreeForeign;
    SuiteSparse_config.printf_func = NULL;
#endif
}

// The hooks are one set for the process: set once, before any block is asked for.
static void setHooksOnce(void) {
    enum {
        unset,
        busy,
        set
    };
    static atomic_int state = unset;
    int seen = atomic_load(&state);
    while (seen != set) {
        if (seen == unset && atomic_compare_exchange_strong(&state, &seen, busy)) {
            setHooks();
            atomic_store(&state, set);
        }
        seen = atomic_load(&state);
    }
}

static srResult translateStatus(const cholmod_common* common, const char* stage) {
    if (allocationFailed || common->status == CHOLMOD_OUT_OF_MEMORY) {
        return srFailOutOfMemory("a sparse factor");
    }
    if (common->status == CHOLMOD_TOO_LARGE) {
        return srFail(sr_errorTooLarge, "The sparse factor has more entries than 32-bit indices can count.");
    }
    if (common->status < CHOLMOD_OK) {
        return srFail(sr_errorInternal, "CHOLMOD refused the %s (status %d).", stage, common->status);
    }
    return sr_success;
}

static srResult checkShape(const srCsc* A) {
    if (A->rowCount != A->columnCount || A->columnCount < 1) {
        return srFail(sr_errorInvalidValue, "A matrix of %d x %d cannot be factored.", A->rowCount,
                      A->columnCount);
    }
    if (A->columnStarts[A->columnCount] == 0) {
        return srFail(sr_errorInvalidValue, "The matrix is not positive definite: column 0 fails first.");
    }
    return sr_success;
}

static srResult checkValues(const srCsc* A) {
    for (int32_t j = 0; j < A->columnCount; j++) {
        for (int32_t p = A->columnStarts[j]; p < A->columnStarts[j + 1]; p++) {
            if (!isfinite(A->values[p])) {
                return srFail(sr_errorNotFinite, "Column %d of the matrix holds a value that is not finite.",
                              j);
            }
        }
    }
    return sr_success;
}

static uint64_t hashPattern(const srCsc* A) {
    size_t columnCount = (size_t)A->columnCount;
    uint64_t hash = srHashBytes(SR_HASH_SEED, A->columnStarts, (columnCount + 1) * sizeof(int32_t));
    return srHashBytes(hash, A->rows, (size_t)A->columnStarts[columnCount] * sizeof(int32_t));
}

static void chooseMethods(cholmod_common* common, bool hasOrder) {
    cholmod_start(common);
    common->print = 0;
    common->error_handler = NULL;
    common->try_catch = 1;
    common->nmethods = hasOrder ? 2 : 1;
    common->method[0].ordering = CHOLMOD_AMD;
    common->method[1].ordering = CHOLMOD_GIVEN;
    common->postorder = 1;
    common->supernodal = CHOLMOD_SUPERNODAL;
#if CHOLMOD_MAIN_VERSION >= 5
    common->nthreads_max = 1; // where it was built with OpenMP; older ones know no such switch
#endif
    common->final_ll = 1; // L L', not L D L': only that fails on a matrix that is not positive definite
}

static cholmod_sparse viewLower(const srCsc* A) {
    return (cholmod_sparse){
        .nrow = (size_t)A->rowCount,
        .ncol = (size_t)A->columnCount,
        .nzmax = (size_t)A->columnStarts[A->columnCount],
        .p = A->columnStarts,
        .i = A->rows,
        .x = A->values,
        .stype = -1,
        .itype = CHOLMOD_INT,
        .xtype = CHOLMOD_REAL,
        .dtype = CHOLMOD_DOUBLE,
        .sorted = 1,
        .packed = 1,
    };
}

// CHOLMOD takes an order for granted.
static srResult checkOrder(const int32_t* order, int32_t size) {
    uint8_t* isSeen = SR_ALLOC_ZERO(uint8_t, size);
    if (isSeen == NULL) {
        return srFailOutOfMemory("a sparse factor");
    }
    srResult result = sr_success;
    for (int32_t k = 0; k < size && result == sr_success; k++) {
        if (order[k] < 0 || order[k] >= size || isSeen[order[k]]) {
            result =
                srFail(sr_errorInvalidValue, "The order of a factor is not a permutation (place %d).", k);
        } else {
            isSeen[order[k]] = 1;
        }
    }
    SR_FREE(isSeen, size);
    return result;
}

static srResult analyze(srCholesky* f, const srCsc* A, const int32_t* order) {
    cholmod_sparse view = viewLower(A);
    // CHOLMOD reads the order only
    f->L = cholmod_analyze_p(&view, (int32_t*)order, NULL, 0, &f->common);
    SR_TRY(translateStatus(&f->common, "ordering"));
    return f->L != NULL ? sr_success : srFail(sr_errorInternal, "CHOLMOD refused the ordering.");
}

srResult srAnalyzeCholesky(const srCsc* A, const int32_t* order, srCholesky** outCholesky) {
    SR_TRY(srCheckDense());
    SR_TRY(checkShape(A));
    if (order != NULL) {
        SR_TRY(checkOrder(order, A->columnCount));
    }
    setHooksOnce();
    srCholesky* f = SR_ALLOC_ZERO(srCholesky, 1);
    if (f == NULL) {
        return srFailOutOfMemory("a sparse factor");
    }
    f->size = A->columnCount;
    f->patternHash = hashPattern(A);
    allocationFailed = false;
    chooseMethods(&f->common, order != NULL);
    srResult result = analyze(f, A, order);
    if (result != sr_success) {
        srDestroyCholesky(f);
        return result;
    }
    *outCholesky = f;
    return sr_success;
}

static double diagonalOf(const srCsc* A, int32_t column) {
    for (int32_t p = A->columnStarts[column]; p < A->columnStarts[column + 1]; p++) {
        if (A->rows[p] == column) {
            return A->values[p];
        }
    }
    return 0.0;
}

// What is left of a diagonal entry after elimination carries rounding errors of the entry's own size, more of
// them the more columns went before. A pivot that small is noise, and so would be the solution. Looks at the
// columns that CHOLMOD finished: all, or those before the one that stopped it.
static srResult checkPivots(const srCholesky* f, const srCsc* A) {
    const cholmod_factor* L = f->L;
    const int32_t *columnStarts = L->super, *rowStarts = L->pi, *valueStarts = L->px, *order = L->Perm;
    double noise = (32.0 + 4.0 * sqrt((double)f->size)) * DBL_EPSILON;
    for (size_t s = 0; s < L->nsuper; s++) {
        size_t height = (size_t)(rowStarts[s + 1] - rowStarts[s]);
        const double* values = (const double*)L->x + valueStarts[s];
        for (int32_t c = columnStarts[s]; c < columnStarts[s + 1] && (size_t)c < L->minor; c++) {
            double root = values[(size_t)(c - columnStarts[s]) * (height + 1)];
            double share = root * (root / diagonalOf(A, order[c]));
            if (!(share > noise && share <= 2.0)) {
                return srFail(sr_errorInvalidValue,
                              "The matrix is singular to working precision: column %d fails first.",
                              order[c]);
            }
        }
    }
    return sr_success;
}

int64_t srCholesky_CountEntries(const srCholesky* f) {
    return (int64_t)f->L->xsize;
}

srResult srCholesky_Factor(srCholesky* f, const srCsc* A) {
    f->hasValues = false;
    SR_TRY(checkShape(A));
    if (A->columnCount != f->size || hashPattern(A) != f->patternHash) {
        return srFail(sr_errorInvalidValue, "The matrix has another pattern than the one that was analysed.");
    }
    SR_TRY(checkValues(A));
    allocationFailed = false;
    cholmod_sparse view = viewLower(A);
    cholmod_factorize(&view, f->L, &f->common);
    SR_TRY(translateStatus(&f->common, "factorisation"));
    SR_TRY(checkPivots(f, A)); // noise left by a singular column may be what stopped it later
    if (f->common.status == CHOLMOD_NOT_POSDEF || f->L->minor < f->L->n) {
        const int32_t* order = f->L->Perm;
        return srFail(sr_errorInvalidValue, "The matrix is not positive definite: column %d fails first.",
                      order[f->L->minor]);
    }
    f->hasValues = true;
    return sr_success;
}

srResult srCreateCholesky(const srCsc* A, srCholesky** outCholesky) {
    srCholesky* f = NULL;
    SR_TRY(srAnalyzeCholesky(A, NULL, &f));
    srResult result = srCholesky_Factor(f, A);
    if (result != sr_success) {
        srDestroyCholesky(f);
        return result;
    }
    *outCholesky = f;
    return sr_success;
}

static srResult checkReady(const srCholesky* f) {
    return f->hasValues ? sr_success : srFail(sr_errorNotReady, "The sparse factor has no values yet.");
}

srResult srCholesky_GetSupernodes(const srCholesky* f, srSupernodes* outSupernodes) {
    SR_TRY(checkReady(f));
    *outSupernodes = (srSupernodes){
        .size = f->size,
        .count = (int32_t)f->L->nsuper,
        .columnStarts = f->L->super,
        .rowStarts = f->L->pi,
        .valueStarts = f->L->px,
        .rows = f->L->s,
        .values = f->L->x,
        .order = f->L->Perm,
    };
    return sr_success;
}

void srDestroyCholesky(srCholesky* f) {
    if (f == NULL) {
        return;
    }
    cholmod_free_dense(&f->solution, &f->common);
    cholmod_free_dense(&f->Y, &f->common);
    cholmod_free_dense(&f->E, &f->common);
    cholmod_free_factor(&f->L, &f->common);
    cholmod_finish(&f->common);
    SR_FREE(f, 1);
}

// CHOLMOD 5 does not look whether it got its workspace before it writes there: so it is made here, large
// enough.
static srResult ensureWorkspace(srCholesky* f, size_t columnCount) {
    size_t size = (size_t)f->size;
    size_t rows = f->L->maxesize;
    cholmod_ensure_dense(&f->solution, size, columnCount, size, CHOLMOD_REAL, &f->common);
    SR_TRY(translateStatus(&f->common, "workspace"));
    cholmod_ensure_dense(&f->Y, size, columnCount, size, CHOLMOD_REAL, &f->common);
    SR_TRY(translateStatus(&f->common, "workspace"));
    cholmod_ensure_dense(&f->E, columnCount, rows, columnCount, CHOLMOD_REAL, &f->common);
    return translateStatus(&f->common, "workspace");
}

srResult srCholesky_Solve(srCholesky* f, double* X, int32_t columnCount) {
    SR_TRY(checkReady(f));
    if (columnCount < 1) {
        return sr_success;
    }
    size_t size = (size_t)f->size;
    cholmod_dense B = {
        .nrow = size,
        .ncol = (size_t)columnCount,
        .nzmax = size * (size_t)columnCount,
        .d = size,
        .x = X,
        .xtype = CHOLMOD_REAL,
        .dtype = CHOLMOD_DOUBLE,
    };
    allocationFailed = false;
    SR_TRY(ensureWorkspace(f, (size_t)columnCount));
    int done = cholmod_solve2(CHOLMOD_A, f->L, &B, NULL, &f->solution, NULL, &f->Y, &f->E, &f->common);
    SR_TRY(translateStatus(&f->common, "solve"));
    if (!done) {
        return srFail(sr_errorInternal, "CHOLMOD refused the solve (status %d).", f->common.status);
    }
    memcpy(X, f->solution->x, size * (size_t)columnCount * sizeof(double));
    return sr_success;
}
