// SPDX-License-Identifier: GPL-3.0-or-later
//
// The sparse Cholesky factor, by CHOLMOD: approximate minimum degree ordering, supernodal where it pays, its
// memory through our hooks, its messages switched off. The only file that names CHOLMOD.

#include "math/cholesky.h"

#include "core/alloc.h"
#include "math/dense.h"

#include <cholmod.h>

#include <math.h>
#include <stdatomic.h>
#include <string.h>

struct srCholesky {
    cholmod_common common;
    cholmod_factor* L;
    int32_t size;

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

static srResult checkMatrix(const srCsc* A) {
    if (A->rowCount != A->columnCount || A->columnCount < 1) {
        return srFail(sr_errorInvalidValue, "A matrix of %d x %d cannot be factored.", A->rowCount,
                      A->columnCount);
    }
    if (A->columnStarts[A->columnCount] == 0) {
        return srFail(sr_errorInvalidValue, "The matrix is not positive definite: column 0 fails first.");
    }
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

static void chooseMethods(cholmod_common* common) {
    cholmod_start(common);
    common->print = 0;
    common->error_handler = NULL;
    common->try_catch = 1;
    common->nmethods = 1;
    common->method[0].ordering = CHOLMOD_AMD;
    common->postorder = 1;
    common->supernodal = CHOLMOD_AUTO;
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

static srResult factorMatrix(srCholesky* f, const srCsc* A) {
    cholmod_sparse view = viewLower(A);
    f->L = cholmod_analyze(&view, &f->common);
    SR_TRY(translateStatus(&f->common, "ordering"));
    cholmod_factorize(&view, f->L, &f->common);
    SR_TRY(translateStatus(&f->common, "factorisation"));
    if (f->common.status == CHOLMOD_NOT_POSDEF || f->L->minor < f->L->n) {
        const int32_t* order = f->L->Perm;
        return srFail(sr_errorInvalidValue, "The matrix is not positive definite: column %d fails first.",
                      order[f->L->minor]);
    }

    // what over- or underflowed on the way shows on the diagonal
    double rcond = cholmod_rcond(f->L, &f->common);
    if (!(rcond > 0.0)) {
        return srFail(sr_errorInvalidValue, "The matrix is singular to working precision.");
    }
    return sr_success;
}

srResult srCreateCholesky(const srCsc* A, srCholesky** outFactor) {
    SR_TRY(srCheckDense());
    SR_TRY(checkMatrix(A));
    setHooksOnce();
    srCholesky* f = SR_ALLOC_ZERO(srCholesky, 1);
    if (f == NULL) {
        return srFailOutOfMemory("a sparse factor");
    }
    f->size = A->columnCount;
    allocationFailed = false;
    chooseMethods(&f->common);
    srResult result = factorMatrix(f, A);
    if (result != sr_success) {
        srDestroyCholesky(f);
        return result;
    }
    *outFactor = f;
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
    size_t rows = f->L->is_super ? f->L->maxesize : 0;
    cholmod_ensure_dense(&f->solution, size, columnCount, size, CHOLMOD_REAL, &f->common);
    SR_TRY(translateStatus(&f->common, "workspace"));
    cholmod_ensure_dense(&f->Y, size, columnCount, size, CHOLMOD_REAL, &f->common);
    SR_TRY(translateStatus(&f->common, "workspace"));
    cholmod_ensure_dense(&f->E, columnCount, rows, columnCount, CHOLMOD_REAL, &f->common);
    return translateStatus(&f->common, "workspace");
}

srResult srCholesky_Solve(srCholesky* f, double* X, int32_t columnCount) {
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
