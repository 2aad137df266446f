// SPDX-License-Identifier: GPL-3.0-or-later
//
// One block of eight cells: shape and volume of a cell solved together. Part of solver_kernels.inl.
//
// symbols: F deformation gradient, G what it should be but for a rotation Q, C = F - Q G, J = det F, n = cof
// F its gradient, w_a inverse masses, g_a gradients of shape functions, V volume, h substep, mu and lambda
// Lame's
//
// A cell stores mu V |C|^2 + lambda V (J - det G)^2 / 2, so its compliances are a = 1 / (2 mu V h^2) for each
// entry of C and b = 1 / (lambda V h^2) for J. A change of the corners by x_a += w_a P g_a changes F by P W,
// W = sum w_a g_a g_a'. The multipliers of C (a matrix) and of J (sigma), P = Lambda + sigma n, satisfy
//   C + P W + a Lambda = 0,    J - det G + n : (P W) + b sigma = 0,
// and with K = W (W + a I)^-1, S = (W + a I)^-1, rho = a sigma:
//   rho = (n : (C K) - (J - det G)) / (n : (n K) + b / a),    P = (rho n - C) S.
// Axes at rest are such that W, K and S are diagonal: they scale columns.
// With several sweeps a substep, a Lambda so far is added to C, and b sigma so far to J - det G.

// Of a rotation's step, squared. In a block whose steps are all smaller, C follows to first order: what that
// leaves out is below 0.05 % of stretch, and goes away with the step.
#define SR_SMALL_SPIN 1e-3f
#define SR_FAR_TURN 0.3f          // of F : G over |G|^2, which is 1/3 for a turn by a right angle
#define SR_LEAST_SPIN_SHARE 1e-3f // of a determinant, below which its matrix is not to be trusted
#define SR_LEAST_SQUARE 1e-30f    // what keeps zero by zero away from the steps that are taken then

// the four corners of eight cells: offsets, and inverse masses in the fourth
typedef struct Corners {
    srFloatW rows[4][4];
} Corners;

SR_KERNEL Vec loadVec(const float x[3][SR_LANES_PER_BLOCK]) {
    return (Vec){srLoadFloatW(x[0]), srLoadFloatW(x[1]), srLoadFloatW(x[2])};
}

SR_KERNEL void storeVec(float out[3][SR_LANES_PER_BLOCK], Vec u) {
    srStoreFloatW(out[0], u.x);
    srStoreFloatW(out[1], u.y);
    srStoreFloatW(out[2], u.z);
}

SR_KERNEL Mat loadColumns(const float A[3][3][SR_LANES_PER_BLOCK]) {
    return (Mat){loadVec(A[0]), loadVec(A[1]), loadVec(A[2])};
}

SR_KERNEL void storeColumns(float out[3][3][SR_LANES_PER_BLOCK], const Mat* A) {
    storeVec(out[0], A->a);
    storeVec(out[1], A->b);
    storeVec(out[2], A->c);
}

SR_KERNEL Vec addVec(Vec u, Vec v) {
    return (Vec){u.x + v.x, u.y + v.y, u.z + v.z};
}

SR_KERNEL Vec subVec(Vec u, Vec v) {
    return (Vec){u.x - v.x, u.y - v.y, u.z - v.z};
}

SR_KERNEL Mat addMat(const Mat* A, const Mat* B) {
    return (Mat){addVec(A->a, B->a), addVec(A->b, B->b), addVec(A->c, B->c)};
}

SR_KERNEL Mat subMat(const Mat* A, const Mat* B) {
    return (Mat){subVec(A->a, B->a), subVec(A->b, B->b), subVec(A->c, B->c)};
}

SR_KERNEL srFloatW dotMat(const Mat* A, const Mat* B) {
    return dot(A->a, B->a) + dot(A->b, B->b) + dot(A->c, B->c);
}

// sum over corners of (x_a - x_0) g_a'
SR_KERNEL Mat gradientOf(const Corners* x, const float g[3][3][SR_LANES_PER_BLOCK]) {
    Mat F;
    for (int corner = 1; corner < 4; corner++) {
        Vec d = {x->rows[corner][0] - x->rows[0][0], x->rows[corner][1] - x->rows[0][1],
                 x->rows[corner][2] - x->rows[0][2]};
        Vec ga = loadVec(g[corner - 1]);
        if (corner == 1) {
            F = (Mat){scaled(ga.x, d), scaled(ga.y, d), scaled(ga.z, d)};
        } else {
            F = (Mat){addScaled(F.a, ga.x, d), addScaled(F.b, ga.y, d), addScaled(F.c, ga.z, d)};
        }
    }
    return F;
}

SR_KERNEL Mat cofactor(const Mat* F) {
    return (Mat){cross(F->b, F->c), cross(F->c, F->a), cross(F->a, F->b)};
}

typedef struct Quaternion {
    srFloatW w;
    Vec v;
} Quaternion;

// (Q - I) G for a quaternion of any length; exactly zero for Q = I
SR_KERNEL Mat turnedMat(const Quaternion* q, const Mat* G) {
    srFloatW f = 2.0f / (q->w * q->w + dot(q->v, q->v));
    Vec v = q->v, s = scaled(f, v);
    srFloatW wx = q->w * s.x, wy = q->w * s.y, wz = q->w * s.z;
    srFloatW xx = v.x * s.x, yy = v.y * s.y, zz = v.z * s.z;
    srFloatW xy = v.x * s.y, yz = v.y * s.z, zx = v.z * s.x;
    const srFloatW zero = {0};
    Mat N = {{zero - (yy + zz), xy + wz, zx - wy},
             {xy - wz, zero - (zz + xx), yz + wx},
             {zx + wy, yz - wx, zero - (xx + yy)}};
    return (Mat){mulMat(&N, G->a), mulMat(&N, G->b), mulMat(&N, G->c)};
}

// The rotation that brings Y = Q G nearer to F = Y + C. With tau the sum of Y_k x F_k over columns and B the
// symmetric part of sum F_k Y_k', tr(Q' F G') grows fastest by (tr B I - B)^-1 tau; here the matrix is taken
// for the multiple of I with the same trace, which it is where G is hardly stretched. A third of the mean of
// |F|^2 and |G|^2 bounds it from below: cells turned inside out do not go round for ever. C may stand for F
// in tau, which keeps it exactly zero at rest.
SR_KERNEL Vec findTorque(const Mat* Y, const Mat* C) {
    return (Vec){(Y->a.y * C->a.z - Y->a.z * C->a.y) + (Y->b.y * C->b.z - Y->b.z * C->b.y) +
                     (Y->c.y * C->c.z - Y->c.z * C->c.y),
                 (Y->a.z * C->a.x - Y->a.x * C->a.z) + (Y->b.z * C->b.x - Y->b.x * C->b.z) +
                     (Y->c.z * C->c.x - Y->c.x * C->c.z),
                 (Y->a.x * C->a.y - Y->a.y * C->a.x) + (Y->b.x * C->b.y - Y->b.y * C->b.x) +
                     (Y->c.x * C->c.y - Y->c.y * C->c.x)};
}

SR_KERNEL Vec findSpin(const Mat* Y, const Mat* F, const Mat* C, srFloatW squares) {
    srFloatW least = 0.1666667f * (squares + dotMat(F, F)) + SR_LEAST_SQUARE;
    return scaled(1.0f / srMaxW(0.6666667f * dotMat(Y, F), least), findTorque(Y, C));
}

// Likewise without the mean, which only large steps need
SR_KERNEL Vec findQuickSpin(const Mat* Y, const Mat* F, const Mat* C, srFloatW squares) {
    srFloatW least = 0.1666667f * squares + SR_LEAST_SQUARE;
    return scaled(1.0f / srMaxW(0.6666667f * dotMat(Y, F), least), findTorque(Y, C));
}

// The same by the whole matrix, for what fibres stretch; where that is no minimum, as above
SR_KERNEL Vec findWholeSpin(const Mat* Y, const Mat* F, const Mat* C, srFloatW squares) {
    srFloatW xx = F->a.x * Y->a.x + F->b.x * Y->b.x + F->c.x * Y->c.x;
    srFloatW yy = F->a.y * Y->a.y + F->b.y * Y->b.y + F->c.y * Y->c.y;
    srFloatW zz = F->a.z * Y->a.z + F->b.z * Y->b.z + F->c.z * Y->c.z;
    srFloatW xy = -0.5f * (F->a.x * Y->a.y + F->a.y * Y->a.x + F->b.x * Y->b.y + F->b.y * Y->b.x +
                           F->c.x * Y->c.y + F->c.y * Y->c.x);
    srFloatW yz = -0.5f * (F->a.y * Y->a.z + F->a.z * Y->a.y + F->b.y * Y->b.z + F->b.z * Y->b.y +
                           F->c.y * Y->c.z + F->c.z * Y->c.y);
    srFloatW zx = -0.5f * (F->a.z * Y->a.x + F->a.x * Y->a.z + F->b.z * Y->b.x + F->b.x * Y->b.z +
                           F->c.z * Y->c.x + F->c.x * Y->c.z);
    Vec rows[3] = {{yy + zz, xy, zx}, {xy, zz + xx, yz}, {zx, yz, xx + yy}};
    Mat inverse = {cross(rows[1], rows[2]), cross(rows[2], rows[0]), cross(rows[0], rows[1])};
    srFloatW determinant = dot(rows[0], inverse.a);
    srFloatW size = 0.1666667f * (squares + dotMat(F, F)) + SR_LEAST_SQUARE;
    srFloatW least = SR_LEAST_SPIN_SHARE * (size * size * size);
    Vec tau = findTorque(Y, C), plain = findSpin(Y, F, C, squares);
    const srFloatW zero = {0};
    srFloatW scale = 1.0f / srMaxW(determinant, least);
    Vec whole = scaled(scale, mulMat(&inverse, tau));
    srFloatW second = rows[0].x * rows[1].y - xy * xy;
    return (Vec){srSelect((determinant > least) & (rows[0].x > zero) & (second > zero), whole.x, plain.x),
                 srSelect((determinant > least) & (rows[0].x > zero) & (second > zero), whole.y, plain.y),
                 srSelect((determinant > least) & (rows[0].x > zero) & (second > zero), whole.z, plain.z)};
}

// (1, omega / 2) q. Small steps leave its length about what it is: 1.2 times as long after a thousand.
SR_KERNEL Quaternion spin(const Quaternion* q, Vec omega) {
    Vec half = scaled((srFloatW){0} + 0.5f, omega);
    return (Quaternion){q->w - dot(half, q->v), addVec(addScaled(q->v, q->w, half), cross(half, q->v))};
}

// brought back to about unit length
SR_KERNEL Quaternion shortened(const Quaternion* q) {
    srFloatW shorten = 1.5f - 0.5f * (q->w * q->w + dot(q->v, q->v));
    shorten = srMaxW(shorten, (srFloatW){0} + 0.25f);
    return (Quaternion){q->w * shorten, scaled(shorten, q->v)};
}

SR_KERNEL void storeTurn(srCellTurn* out, const Quaternion* q) {
    srStoreFloatW(out->q[0], q->w);
    storeVec(out->q + 1, q->v);
}

// The quaternion of a rotation, by the largest of its four squares
SR_COLD static void writeQuaternion(const srMat3f* R, srCellTurn* out, int lane) {
    const float (*m)[3] = R->m;
    float squares[4] = {m[0][0] + m[1][1] + m[2][2], m[0][0] - m[1][1] - m[2][2], m[1][1] - m[2][2] - m[0][0],
                        m[2][2] - m[0][0] - m[1][1]};
    int k = 0;
    for (int i = 1; i < 4; i++) {
        k = squares[i] > squares[k] ? i : k;
    }
    float q[4];
    if (k == 0) {
        q[0] = 1.0f + squares[0];
        q[1] = m[2][1] - m[1][2];
        q[2] = m[0][2] - m[2][0];
        q[3] = m[1][0] - m[0][1];
    } else {
        int i = k - 1, j = k % 3, l = (k + 1) % 3;
        q[0] = m[l][j] - m[j][l];
        q[1 + i] = 1.0f + squares[k];
        q[1 + j] = m[i][j] + m[j][i];
        q[1 + l] = m[i][l] + m[l][i];
    }
    float inverse = 1.0f / srSqrtFloat(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) {
        out->q[i][lane] = inverse * q[i];
    }
}

// The rotations of these lanes anew, by a closed form: half a turn away, steps from no rotation find no way
SR_COLD static void restartTurns(const Mat* F, const Mat* G, int32_t lanes, srCellTurn* turn) {
    float f[9][SR_LANES_PER_BLOCK], g[9][SR_LANES_PER_BLOCK];
    storeColumns((float (*)[3][SR_LANES_PER_BLOCK])f, F);
    storeColumns((float (*)[3][SR_LANES_PER_BLOCK])g, G);
    for (int lane = 0; lane < SR_LANES_PER_BLOCK; lane++) {
        if ((lanes >> lane & 1) == 0) {
            continue;
        }
        srMat3f A;
        for (int k = 0; k < 9; k++) {
            int i = k / 3, j = k % 3;
            A.m[i][j] =
                f[i][lane] * g[j][lane] + f[3 + i][lane] * g[3 + j][lane] + f[6 + i][lane] * g[6 + j][lane];
        }
        srMat3f R = srFindRotationF(&A);
        writeQuaternion(&R, turn, lane);
    }
}

// what a cell is: how it is stretched and turned
typedef struct Stretch {
    Mat F;
    Mat C;
    Quaternion q;
} Stretch;

SR_KERNEL Stretch findStretch(const srCellSweep* sweep, int32_t block, const Mat* dF, const Mat* G,
                              const int32_t turnSteps) {
    Stretch s;
    Mat difference = *dF; // F - G
    if (sweep->poseErrors != NULL) {
        Mat A = loadColumns(sweep->poseErrors[block].A);
        difference = subMat(&difference, &A);
    }
    s.F = addMat(G, &difference);
    srFloatW squares = srLoadFloatW(sweep->poses[block].squares);
    const srCellTurn* turn = &sweep->turns[block];
    if (turnSteps > 1) {
        int32_t lanes = SR_NAME(srBitsOfMask)(dotMat(&s.F, G) < SR_FAR_TURN * squares);
        if (lanes != 0) {
            restartTurns(&s.F, G, lanes, &sweep->turns[block]);
        }
    }
    s.q = (Quaternion){srLoadFloatW(turn->q[0]), loadVec(turn->q + 1)};
    Mat T = turnedMat(&s.q, G);
    s.C = subMat(&difference, &T);
    for (int32_t step = 0; step < turnSteps; step++) {
        Mat Y = addMat(G, &T);
        Vec omega = sweep->hasFibres ? findWholeSpin(&Y, &s.F, &s.C, squares)
                                     : findQuickSpin(&Y, &s.F, &s.C, squares);
        if (SR_NAME(srBitsOfMask)(dot(omega, omega) > SR_SMALL_SPIN) == 0) {
            Mat turned = {cross(omega, Y.a), cross(omega, Y.b), cross(omega, Y.c)};
            s.C = subMat(&s.C, &turned);
            s.q = spin(&s.q, omega);
            break;
        }
        omega = sweep->hasFibres ? omega : findSpin(&Y, &s.F, &s.C, squares);
        s.q = spin(&s.q, omega);
        s.q = shortened(&s.q);
        T = turnedMat(&s.q, G);
        s.C = subMat(&difference, &T);
    }
    return s;
}

SR_KERNEL Mat findCorrection(const srCellMaterial* material, const Stretch* s, srFloatW targetVolume,
                             srCellMultiplier* multiplier) {
    Vec K = loadVec(material->K), S = loadVec(material->S);
    const srFloatW zero = {0};
    srFloatW compliance = srLoadFloatW(material->volumeCompliance);
    Mat n = cofactor(&s->F);
    srFloatW excess = dot(s->F.a, n.a) - targetVolume;
    Mat C = s->C, L;
    if (multiplier != NULL) {
        L = loadColumns((const float (*)[3][SR_LANES_PER_BLOCK])multiplier->L);
        C = addMat(&C, &L);
        excess = excess + srLoadFloatW(multiplier->volume);
    }
    srFloatW divisor = (K.x * dot(n.a, n.a) + K.y * dot(n.b, n.b)) + (K.z * dot(n.c, n.c) + compliance);
    srFloatW wanted = (K.x * dot(n.a, C.a) + K.y * dot(n.b, C.b)) + (K.z * dot(n.c, C.c) - excess);
    srFloatW rho = wanted / divisor;
    rho = srSelect(divisor > zero, rho, zero);
    Mat M = {subVec(scaled(rho, n.a), C.a), subVec(scaled(rho, n.b), C.b), subVec(scaled(rho, n.c), C.c)};
    Mat P = {scaled(S.x, M.a), scaled(S.y, M.b), scaled(S.z, M.c)};
    if (multiplier != NULL) {
        srFloatW a = srLoadFloatW(material->compliance);
        Mat change = {subVec(scaled(a, P.a), scaled(rho, n.a)), subVec(scaled(a, P.b), scaled(rho, n.b)),
                      subVec(scaled(a, P.c), scaled(rho, n.c))};
        L = addMat(&L, &change);
        storeColumns(multiplier->L, &L);
        srStoreFloatW(multiplier->volume, srLoadFloatW(multiplier->volume) + compliance * rho);
    }
    return P;
}

// P g_a of corners 0 to 3
SR_KERNEL void spreadOver(const Mat* P, const float g[3][3][SR_LANES_PER_BLOCK], Vec out[4]) {
    for (int corner = 1; corner < 4; corner++) {
        out[corner] = mulMat(P, loadVec(g[corner - 1]));
    }
    Vec sum = addVec(addVec(out[1], out[2]), out[3]);
    const srFloatW zero = {0};
    out[0] = (Vec){zero - sum.x, zero - sum.y, zero - sum.z};
}

SR_KERNEL void solveBlock(const srCellSweep* sweep, int32_t block, const int32_t turnSteps) {
    const srCellBlock* cells = &sweep->blocks[block];
    const srCellPose* pose = &sweep->poses[block];
    Corners u;
    for (int corner = 0; corner < 4; corner++) {
        gatherPlaces(sweep->rows, cells->places[corner], u.rows[corner]);
    }
    Mat dF = gradientOf(&u, cells->gradients);
    Mat G = loadColumns(pose->G);
    Stretch s = findStretch(sweep, block, &dF, &G, turnSteps);
    storeTurn(&sweep->turns[block], &s.q);
    srCellMultiplier* multiplier = sweep->multipliers != NULL ? &sweep->multipliers[block] : NULL;
    Mat P = findCorrection(&sweep->materials[block], &s, srLoadFloatW(pose->determinant), multiplier);

    Vec moves[4];
    spreadOver(&P, cells->gradients, moves);
    for (int corner = 0; corner < 4; corner++) {
        srFloatW weight = u.rows[corner][3];
        u.rows[corner][0] = u.rows[corner][0] + weight * moves[corner].x;
        u.rows[corner][1] = u.rows[corner][1] + weight * moves[corner].y;
        u.rows[corner][2] = u.rows[corner][2] + weight * moves[corner].z;
        storePlaces(sweep->rows, cells->places[corner], u.rows[corner]);
    }
}

static void solveCells(const srCellSweep* sweep, int32_t begin, int32_t end, int32_t turnSteps) {
    if (sweep->poseErrors == NULL && sweep->multipliers == NULL && !sweep->hasFibres) {
        // the common case, without its branches
        srCellSweep plain = *sweep;
        plain.poseErrors = NULL;
        plain.multipliers = NULL;
        plain.hasFibres = false;
        for (int32_t block = begin; block < end; block++) {
            solveBlock(&plain, block, turnSteps);
        }
        return;
    }
    for (int32_t block = begin; block < end; block++) {
        solveBlock(sweep, block, turnSteps);
    }
}

SR_KERNEL void addBlockForces(const srCellSweep* sweep, int32_t block) {
    const srCellBlock* cells = &sweep->blocks[block];
    const srCellPose* pose = &sweep->poses[block];
    Corners u;
    for (int corner = 0; corner < 4; corner++) {
        gatherPlaces(sweep->rows, cells->places[corner], u.rows[corner]);
    }
    Mat dF = gradientOf(&u, cells->gradients);
    Mat G = loadColumns(pose->G);
    Stretch s = findStretch(sweep, block, &dF, &G, 1);

    // minus the first Piola-Kirchhoff stress, times V h^2
    const srCellForceMaterial* material = &sweep->forceMaterials[block];
    Mat n = cofactor(&s.F);
    srFloatW excess = dot(s.F.a, n.a) - srLoadFloatW(pose->determinant);
    srFloatW shape = srLoadFloatW(material->shape);
    srFloatW pressure = srLoadFloatW(material->volume) * excess;
    const srFloatW zero = {0};
    Mat P = {addScaled(scaled(shape, s.C.a), pressure, n.a), addScaled(scaled(shape, s.C.b), pressure, n.b),
             addScaled(scaled(shape, s.C.c), pressure, n.c)};
    P = (Mat){subVec((Vec){zero, zero, zero}, P.a), subVec((Vec){zero, zero, zero}, P.b),
              subVec((Vec){zero, zero, zero}, P.c)};
    Vec forces[4];
    spreadOver(&P, cells->gradients, forces);
    for (int corner = 0; corner < 4; corner++) {
        srFloatW lanes[3] = {forces[corner].x, forces[corner].y, forces[corner].z};
        addToPlaces(sweep->forces, cells->places[corner], lanes);
    }
}

static void addForces(const srCellSweep* sweep, int32_t begin, int32_t end) {
    if (sweep->poseErrors == NULL && !sweep->hasFibres) {
        srCellSweep plain = *sweep;
        plain.poseErrors = NULL;
        plain.hasFibres = false;
        for (int32_t block = begin; block < end; block++) {
            addBlockForces(&plain, block);
        }
        return;
    }
    for (int32_t block = begin; block < end; block++) {
        addBlockForces(sweep, block);
    }
}

static void poseCells(const srCellBlock* blocks, const float* rows, srCellPose* outPoses, int32_t begin,
                      int32_t end) {
    for (int32_t block = begin; block < end; block++) {
        Corners p;
        for (int corner = 0; corner < 4; corner++) {
            gatherPlaces(rows, blocks[block].places[corner], p.rows[corner]);
        }
        Mat F = gradientOf(&p, blocks[block].gradients);
        storeColumns(outPoses[block].G, &F);
        Mat n = cofactor(&F);
        srStoreFloatW(outPoses[block].determinant, dot(F.a, n.a));
        srStoreFloatW(outPoses[block].squares, dotMat(&F, &F));
    }
}
