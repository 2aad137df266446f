// SPDX-License-Identifier: GPL-3.0-or-later
//
// One matrix through the kernels. Part of rotation.c, once for float and once for double.

#include "math/simd_element.inl"
#include "math/mat3_kernels.inl"
#include "math/svd_kernels.inl"
#include "math/rotation_kernels.inl"

#undef PlainMat
#undef PlainTurn
#undef PlainSvd
#undef PlainTwists
#undef SR_PUBLIC
#if SR_DOUBLE
#define PlainMat srMat3
#define PlainTurn srTurn
#define PlainSvd srSvd
#define PlainTwists srTwists
#define SR_PUBLIC(name) name
#else
#define PlainMat srMat3f
#define PlainTurn srTurnf
#define PlainSvd srSvdf
#define PlainTwists srTwistsf
#define SR_PUBLIC(name) name##F
#endif

#define columnsOf SR_NAME(columnsOf)
#define rowsOf SR_NAME(rowsOf)

static Mat columnsOf(const PlainMat* A) {
    return (Mat){{A->m[0][0], A->m[1][0], A->m[2][0]},
                 {A->m[0][1], A->m[1][1], A->m[2][1]},
                 {A->m[0][2], A->m[1][2], A->m[2][2]}};
}

static PlainMat rowsOf(const Mat* A) {
    return (PlainMat){{{A->a.x, A->b.x, A->c.x}, {A->a.y, A->b.y, A->c.y}, {A->a.z, A->b.z, A->c.z}}};
}

PlainMat SR_PUBLIC(srFindRotation)(const PlainMat* F) {
    Mat A = columnsOf(F);
    Mat R;
    nearestRotations(&A, 1, &R);
    return rowsOf(&R);
}

bool SR_PUBLIC(srFindTurn)(const PlainMat* F, PlainMat* outR, PlainTurn* outT) {
    Mat A = columnsOf(F);
    Mat R;
    Turn T;
    int32_t cutCount = nearestTurns(&A, 1, &R, &T);
    *outR = rowsOf(&R);
    *outT = (PlainTurn){{T.xx, T.yy, T.zz, T.xy, T.yz, T.zx}};
    return cutCount != 0;
}

PlainMat SR_PUBLIC(srTurnRotation)(const PlainMat* R, const PlainTurn* T, const PlainMat* dF) {
    Mat A = columnsOf(R);
    Mat B = columnsOf(dF);
    Turn C = {T->t[0], T->t[1], T->t[2], T->t[3], T->t[4], T->t[5]};
    Mat dR = turnNearest(&A, &C, &B);
    return rowsOf(&dR);
}

PlainSvd SR_PUBLIC(srDecompose)(const PlainMat* F) {
    Mat A = columnsOf(F);
    Svd svd;
    decomposeMats(&A, 1, &svd);
    return (PlainSvd){rowsOf(&svd.U), rowsOf(&svd.V), {svd.s1, svd.s2, svd.s3}};
}

PlainTwists SR_PUBLIC(srFindTwists)(const PlainSvd* svd) {
    Svd columns = {columnsOf(&svd->U), columnsOf(&svd->V), svd->s[0], svd->s[1], svd->s[2]};
    Mat Q[3];
    PlainTwists twists;
    twistsOf(&columns, Q, twists.eigenvalues);
    for (int i = 0; i < 3; i++) {
        twists.Q[i] = rowsOf(&Q[i]);
    }
    return twists;
}
