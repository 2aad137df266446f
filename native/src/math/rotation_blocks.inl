// SPDX-License-Identifier: GPL-3.0-or-later
//
// Blocks of matrices through the wide kernels. Part of a kernel text: include it after rotation_kernels.inl,
// once for float and once for double.

#undef MatBlock
#undef TurnBlock
#undef SvdBlock
#undef TwistBlock
#if SR_DOUBLE
#define MatBlock srMat3Block
#define TurnBlock srTurnBlock
#define SvdBlock srSvdBlock
#define TwistBlock srTwistBlock
#else
#define MatBlock srMat3Blockf
#define TurnBlock srTurnBlockf
#define SvdBlock srSvdBlockf
#define TwistBlock srTwistBlockf
#endif

#define load SR_NAME(srLoad)
#define store SR_NAME(srStore)
#define loadMat SR_NAME(loadMat)
#define storeMat SR_NAME(storeMat)
#define loadTurn SR_NAME(loadTurn)
#define storeTurn SR_NAME(storeTurn)
#define findRotationsInBlocks SR_NAME(findRotationsInBlocks)
#define findTurnsInBlocks SR_NAME(findTurnsInBlocks)
#define turnRotationsInBlocks SR_NAME(turnRotationsInBlocks)
#define decomposeBlocks SR_NAME(decomposeBlocks)
#define findTwistsInBlocks SR_NAME(findTwistsInBlocks)

// a block holds this many wide matrices; wide matrix v starts at a lane of block v / SR_WIDES
#undef SR_WIDES
#undef SR_BLOCK
#undef SR_LANE
#define SR_WIDES (SR_BLOCK_LANES / SR_LANES)
#define SR_BLOCK(v) ((v) / SR_WIDES)
#define SR_LANE(v) ((v) % SR_WIDES * SR_LANES)

SR_KERNEL Mat loadMat(const MatBlock* F, int32_t lane) {
    return (Mat){{load(&F->m[0][0][lane]), load(&F->m[1][0][lane]), load(&F->m[2][0][lane])},
                 {load(&F->m[0][1][lane]), load(&F->m[1][1][lane]), load(&F->m[2][1][lane])},
                 {load(&F->m[0][2][lane]), load(&F->m[1][2][lane]), load(&F->m[2][2][lane])}};
}

SR_KERNEL void storeMat(MatBlock* out, int32_t lane, const Mat* F) {
    store(&out->m[0][0][lane], F->a.x), store(&out->m[1][0][lane], F->a.y),
        store(&out->m[2][0][lane], F->a.z);
    store(&out->m[0][1][lane], F->b.x), store(&out->m[1][1][lane], F->b.y),
        store(&out->m[2][1][lane], F->b.z);
    store(&out->m[0][2][lane], F->c.x), store(&out->m[1][2][lane], F->c.y),
        store(&out->m[2][2][lane], F->c.z);
}

SR_KERNEL Turn loadTurn(const TurnBlock* T, int32_t lane) {
    return (Turn){load(&T->t[0][lane]), load(&T->t[1][lane]), load(&T->t[2][lane]),
                  load(&T->t[3][lane]), load(&T->t[4][lane]), load(&T->t[5][lane])};
}

SR_KERNEL void storeTurn(TurnBlock* out, int32_t lane, const Turn* T) {
    store(&out->t[0][lane], T->xx), store(&out->t[1][lane], T->yy), store(&out->t[2][lane], T->zz);
    store(&out->t[3][lane], T->xy), store(&out->t[4][lane], T->yz), store(&out->t[5][lane], T->zx);
}

// `count` (a constant) wide matrices from number v
SR_KERNEL void SR_NAME(rotateSome)(const MatBlock* F, MatBlock* outR, int32_t v, const int count) {
    Mat A[SR_ROTATIONS_TOGETHER];
    Mat R[SR_ROTATIONS_TOGETHER];
    for (int i = 0; i < count; i++) {
        A[i] = loadMat(&F[SR_BLOCK(v + i)], SR_LANE(v + i));
    }
    nearestRotations(A, count, R);
    for (int i = 0; i < count; i++) {
        storeMat(&outR[SR_BLOCK(v + i)], SR_LANE(v + i), &R[i]);
    }
}

static void findRotationsInBlocks(const MatBlock* F, MatBlock* outR, int32_t blockCount) {
    int32_t v = 0;
    for (; v <= SR_WIDES * blockCount - SR_ROTATIONS_TOGETHER; v += SR_ROTATIONS_TOGETHER) {
        SR_NAME(rotateSome)(F, outR, v, SR_ROTATIONS_TOGETHER);
    }
    for (; v < SR_WIDES * blockCount; v++) {
        SR_NAME(rotateSome)(F, outR, v, 1);
    }
}

SR_KERNEL int32_t SR_NAME(findSomeTurns)(const MatBlock* F, MatBlock* outR, TurnBlock* outT, int32_t v,
                                         const int count) {
    Mat A[SR_ROTATIONS_TOGETHER];
    Mat R[SR_ROTATIONS_TOGETHER];
    Turn T[SR_ROTATIONS_TOGETHER];
    for (int i = 0; i < count; i++) {
        A[i] = loadMat(&F[SR_BLOCK(v + i)], SR_LANE(v + i));
    }
    int32_t cutCount = nearestTurns(A, count, R, T);
    for (int i = 0; i < count; i++) {
        storeMat(&outR[SR_BLOCK(v + i)], SR_LANE(v + i), &R[i]);
        storeTurn(&outT[SR_BLOCK(v + i)], SR_LANE(v + i), &T[i]);
    }
    return cutCount;
}

static int32_t findTurnsInBlocks(const MatBlock* F, MatBlock* outR, TurnBlock* outT, int32_t blockCount) {
    int32_t cutCount = 0;
    int32_t v = 0;
    for (; v <= SR_WIDES * blockCount - SR_ROTATIONS_TOGETHER; v += SR_ROTATIONS_TOGETHER) {
        cutCount += SR_NAME(findSomeTurns)(F, outR, outT, v, SR_ROTATIONS_TOGETHER);
    }
    for (; v < SR_WIDES * blockCount; v++) {
        cutCount += SR_NAME(findSomeTurns)(F, outR, outT, v, 1);
    }
    return cutCount;
}

static void turnRotationsInBlocks(const MatBlock* R, const TurnBlock* T, const MatBlock* dF, MatBlock* outDR,
                                  int32_t blockCount) {
    for (int32_t v = 0; v < SR_WIDES * blockCount; v++) {
        int32_t block = SR_BLOCK(v), lane = SR_LANE(v);
        Mat A = loadMat(&R[block], lane);
        Turn B = loadTurn(&T[block], lane);
        Mat C = loadMat(&dF[block], lane);
        Mat D = turnNearest(&A, &B, &C);
        storeMat(&outDR[block], lane, &D);
    }
}

SR_KERNEL void SR_NAME(decomposeSome)(const MatBlock* F, SvdBlock* out, int32_t v, const int count) {
    Mat A[SR_SVDS_TOGETHER];
    Svd svds[SR_SVDS_TOGETHER];
    for (int i = 0; i < count; i++) {
        A[i] = loadMat(&F[SR_BLOCK(v + i)], SR_LANE(v + i));
    }
    decomposeMats(A, count, svds);
    for (int i = 0; i < count; i++) {
        SvdBlock* block = &out[SR_BLOCK(v + i)];
        int32_t lane = SR_LANE(v + i);
        storeMat(&block->U, lane, &svds[i].U);
        storeMat(&block->V, lane, &svds[i].V);
        store(&block->s[0][lane], svds[i].s1);
        store(&block->s[1][lane], svds[i].s2);
        store(&block->s[2][lane], svds[i].s3);
    }
}

static void decomposeBlocks(const MatBlock* F, SvdBlock* outSvds, int32_t blockCount) {
    int32_t v = 0;
    for (; v <= SR_WIDES * blockCount - SR_SVDS_TOGETHER; v += SR_SVDS_TOGETHER) {
        SR_NAME(decomposeSome)(F, outSvds, v, SR_SVDS_TOGETHER);
    }
    for (; v < SR_WIDES * blockCount; v++) {
        SR_NAME(decomposeSome)(F, outSvds, v, 1);
    }
}

static void findTwistsInBlocks(const SvdBlock* svds, TwistBlock* outTwists, int32_t blockCount) {
    for (int32_t v = 0; v < SR_WIDES * blockCount; v++) {
        const SvdBlock* block = &svds[SR_BLOCK(v)];
        TwistBlock* out = &outTwists[SR_BLOCK(v)];
        int32_t lane = SR_LANE(v);
        Svd svd = {.U = loadMat(&block->U, lane),
                   .V = loadMat(&block->V, lane),
                   .s1 = load(&block->s[0][lane]),
                   .s2 = load(&block->s[1][lane]),
                   .s3 = load(&block->s[2][lane])};
        Mat Q[3];
        SR_V eigenvalues[3];
        twistsOf(&svd, Q, eigenvalues);
        for (int i = 0; i < 3; i++) {
            storeMat(&out->Q[i], lane, &Q[i]);
            store(&out->eigenvalues[i][lane], eigenvalues[i]);
        }
    }
}
