// SPDX-License-Identifier: GPL-3.0-or-later
//
// A wide of cells from and to memory: corners of points to edges, matrices of blocks to lanes, forces back to
// corners. Part of a kernel text: include it after rotation_kernels.inl, once for float and once for double.

#define loadCellMat SR_NAME(loadCellMat)
#define loadSymmetric SR_NAME(loadSymmetric)
#define mulMats SR_NAME(mulMats)
#define mulSymmetric SR_NAME(mulSymmetric)
#define edgesOf SR_NAME(edgesOf)
#define scatterCorners SR_NAME(scatterCorners)
#define addForces SR_NAME(addForces)
#define fetchLines SR_NAME(fetchLines)
#define weighedDifference SR_NAME(weighedDifference)

#undef MatBlock
#undef SymmetricBlock
#undef LoadW
#undef GatherRows
#undef ScatterRows
#undef SR_WIDES
#undef SR_BLOCK
#undef SR_LANE
#if SR_DOUBLE
#define MatBlock srMat3Block
#define SymmetricBlock srTurnBlock
#define LoadW srLoadDoubleW
#define GatherRows srGatherRowsDouble
#define ScatterRows srScatterRowsDouble
#else
#define MatBlock srMat3Blockf
#define SymmetricBlock srTurnBlockf
#define LoadW srLoadFloatW
#define GatherRows srGatherRowsFloat
#define ScatterRows srScatterRowsFloat
#endif

// a block holds this many wides; wide v starts at a lane of block v / SR_WIDES
#define SR_WIDES (SR_BLOCK_LANES / SR_LANES)
#define SR_BLOCK(v) ((v) / SR_WIDES)
#define SR_LANE(v) ((v) % SR_WIDES * SR_LANES)

// Asks for what will be read soon: the processor does not guess beyond a page, and a block takes lines of
// five arrays. It may lie behind the last block.
SR_KERNEL void fetchLines(const void* at, const size_t size) {
    for (size_t k = 0; k < size; k += 64) {
        __builtin_prefetch((const char*)at + k);
    }
}

SR_KERNEL Mat loadCellMat(const MatBlock* A, int32_t lane) {
    return (Mat){{LoadW(&A->m[0][0][lane]), LoadW(&A->m[1][0][lane]), LoadW(&A->m[2][0][lane])},
                 {LoadW(&A->m[0][1][lane]), LoadW(&A->m[1][1][lane]), LoadW(&A->m[2][1][lane])},
                 {LoadW(&A->m[0][2][lane]), LoadW(&A->m[1][2][lane]), LoadW(&A->m[2][2][lane])}};
}

SR_KERNEL Turn loadSymmetric(const SymmetricBlock* S, int32_t lane) {
    return (Turn){LoadW(&S->t[0][lane]), LoadW(&S->t[1][lane]), LoadW(&S->t[2][lane]),
                  LoadW(&S->t[3][lane]), LoadW(&S->t[4][lane]), LoadW(&S->t[5][lane])};
}

// A B
SR_KERNEL Mat mulMats(const Mat* A, const Mat* B) {
    return (Mat){mulMat(A, B->a), mulMat(A, B->b), mulMat(A, B->c)};
}

// A S
SR_KERNEL Mat mulSymmetric(const Mat* A, const Turn* S) {
    return (Mat){mulMat(A, (Vec){S->xx, S->xy, S->zx}), mulMat(A, (Vec){S->xy, S->yy, S->yz}),
                 mulMat(A, (Vec){S->zx, S->yz, S->zz})};
}

// [x1 - x0, x2 - x0, x3 - x0]
SR_KERNEL Mat edgesOf(const SR_T* points, const srCellCorners* corners, int32_t lane) {
    SR_V x[4][3];
    for (int c = 0; c < 4; c++) {
        GatherRows(points, &corners->nodes[c][lane], x[c]);
    }
    return (Mat){{x[1][0] - x[0][0], x[1][1] - x[0][1], x[1][2] - x[0][2]},
                 {x[2][0] - x[0][0], x[2][1] - x[0][1], x[2][2] - x[0][2]},
                 {x[3][0] - x[0][0], x[3][1] - x[0][1], x[3][2] - x[0][2]}};
}

// Adds lanes to the rows of their corners: corner by corner, of doubles half a block at a time, because nodes
// that cells share must add up in the same order on every path.
SR_KERNEL void scatterCorners(SR_T* rows, const srCellCorners* corners, int32_t lane, SR_V columns[4][3]) {
#if SR_DOUBLE && SR_LANES == 8
    SR_V pairs[4][4];
    for (int c = 0; c < 4; c++) {
        srToRowsDouble(columns[c], pairs[c]);
    }
    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < 4; i++) {
            srAddToRowDouble(rows, corners->nodes[c][lane + i], SR_LOWER_ROW(pairs[c][i]));
        }
    }
    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < 4; i++) {
            srAddToRowDouble(rows, corners->nodes[c][lane + 4 + i], SR_UPPER_ROW(pairs[c][i]));
        }
    }
#else
    for (int c = 0; c < 4; c++) {
        ScatterRows(rows, &corners->nodes[c][lane], columns[c]);
    }
#endif
}

// What P does to the corners: columns of P B' to the last three, minus their sum to the first
SR_KERNEL void addForces(SR_T* forces, const srCellCorners* corners, int32_t lane, const Mat* P,
                         const Mat* B) {
    Mat f = mulTransposed(P, B);
    SR_V columns[4][3] = {{-(f.a.x + f.b.x + f.c.x), -(f.a.y + f.b.y + f.c.y), -(f.a.z + f.b.z + f.c.z)},
                          {f.a.x, f.a.y, f.a.z},
                          {f.b.x, f.b.y, f.b.z},
                          {f.c.x, f.c.y, f.c.z}};
    scatterCorners(forces, corners, lane, columns);
}

// w (A - B)
SR_KERNEL Mat weighedDifference(SR_V w, const Mat* A, const Mat* B) {
    return (Mat){{w * (A->a.x - B->a.x), w * (A->a.y - B->a.y), w * (A->a.z - B->a.z)},
                 {w * (A->b.x - B->b.x), w * (A->b.y - B->b.y), w * (A->b.z - B->b.z)},
                 {w * (A->c.x - B->c.x), w * (A->c.y - B->c.y), w * (A->c.z - B->c.z)}};
}
