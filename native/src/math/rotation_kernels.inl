// SPDX-License-Identifier: GPL-3.0-or-later
//
// The nearest rotation of 3 x 3 matrices in closed form, and how it turns. Part of a kernel text: include it
// after svd_kernels.inl, once for each type. What the functions promise is said in rotation.h.
//
// A matrix is F = [a b c], columns. Its signed singular values s1 >= s2 >= |s3| have the sign of det F in s3,
// so F = R S with S = V diag(s) V', R the rotation that makes tr(R' F) largest, which is s1 + s2 + s3.

#define Invariants SR_NAME(Invariants)
#define Turn SR_NAME(Turn)
#define findInvariants SR_NAME(findInvariants)
#define boundRoot SR_NAME(boundRoot)
#define stepToRoot SR_NAME(stepToRoot)
#define closedForm SR_NAME(closedForm)
#define polish SR_NAME(polish)
#define quickRotations SR_NAME(quickRotations)
#define resizeRotation SR_NAME(resizeRotation)
#define repairRotation SR_NAME(repairRotation)
#define isEverywhere SR_NAME(isEverywhere)
#define nearestRotations SR_NAME(nearestRotations)
#define quickTurn SR_NAME(quickTurn)
#define nearestQuickTurns SR_NAME(nearestQuickTurns)
#define turnOfFrame SR_NAME(turnOfFrame)
#define repairTurn SR_NAME(repairTurn)
#define nearestTurns SR_NAME(nearestTurns)
#define cutLength SR_NAME(cutLength)
#define turnNearest SR_NAME(turnNearest)

// numbers that depend on the precision
#undef SR_LEAST_NORM
#undef SR_LARGEST_OFF
#if SR_DOUBLE
#define SR_LEAST_NORM 0x1p-100 // squares of sizes that the closed form does, and the inverse of that
#define SR_LARGEST_OFF 0x1p-26 // what polishing squares must vanish in rounding
#else
#define SR_LEAST_NORM 0x1p-20f
#define SR_LARGEST_OFF 0x1p-11f
#endif

// below this (s2 + s3) / s1 the rotation is found another way
#define SR_LEAST_GAP 0x1p-8f
// 2 do for what is near a rotation, 4 for all but 1 in 200 of random matrices
#define SR_ROOT_STEPS 4
// how many wide matrices go side by side; the lanes of a scalar one already do
#if defined(SR_SIMD_AVX2) || defined(SR_SIMD_NEON)
#define SR_ROTATIONS_TOGETHER 8
#else
#define SR_ROTATIONS_TOGETHER 1
#endif

// A symmetric matrix
typedef struct Turn {
    SR_V xx, yy, zz, xy, yz, zx;
} Turn;

// What the closed form needs of F
typedef struct Invariants {
    Vec cofA, cofB, cofC;        // columns of cof F
    SR_V aa, bb, cc, ab, bc, ca; // F' F
    SR_V n, d, c;                // |F|^2, det F, |cof F|^2
    SR_V d2, d8, c4;             // so many times d and c
} Invariants;

SR_KERNEL void findInvariants(const Mat* F, Invariants* out) {
    Vec a = F->a, b = F->b, c = F->c;
    Vec cofA = cross(b, c), cofB = cross(c, a), cofC = cross(a, b);
    out->d = dot(a, cofA);
    out->c = dot(cofA, cofA) + dot(cofB, cofB) + dot(cofC, cofC);
    out->cofA = cofA, out->cofB = cofB, out->cofC = cofC;
    out->d2 = out->d + out->d, out->d8 = (SR_T)8 * out->d, out->c4 = (SR_T)4 * out->c;
    SR_V aa = dot(a, a), bb = dot(b, b), cc = dot(c, c);
    out->n = aa + bb + cc;
    out->aa = aa, out->bb = bb, out->cc = cc;
    out->ab = dot(a, b), out->bc = dot(b, c), out->ca = dot(c, a);
}

// An upper bound of the root below: x^2 = n + 2 e with e = s1 s2 + s2 s3 + s3 s1 and e^2 = c + 2 d x, where x
// is between sqrt(n / 3) and sqrt(3 n).
SR_KERNEL SR_V boundRoot(const Invariants* I) {
    SR_V third = (SR_T)0.33333333333333333 * I->n;
    SR_V bound = srSqrt(srSelect(I->d > (SR_T)0, (SR_T)3 * I->n, third));
    SR_V e = srSqrt(srMaxW(I->c + I->d2 * bound, (SR_V){0}));
    return srSqrt(I->n + (e + e));
}

// The largest root x = s1 + s2 + s3 of P = h^2 - 8 d x - 4 c, h = x^2 - n (Markley 1993, equation 20). Its
// slope is 4 y, y = h x - 2 d, and its curvature 4 (3 x^2 - n). From above Halley's iteration x - 2 P P' /
// (2 P'^2 - P P'') comes down to it. Returns the step to take from x.
SR_KERNEL SR_V stepToRoot(const Invariants* I, SR_V x) {
    SR_V xx = x * x;
    SR_V h = xx - I->n;
    SR_V y = h * x - I->d2;
    SR_V P = h * h - (I->d8 * x + I->c4);
    return (P * (y + y)) / ((SR_T)8 * (y * y) - P * ((SR_T)3 * xx - I->n));
}

// Markley's FOAM: R = ((k + n) F + x cof F - F F' F) / z, k = s1 s2 + s2 s3 + s3 s1 = (x^2 - n) / 2, z = k x
// - d. The denominator z is (s1 + s2)(s2 + s3)(s3 + s1): where s2 is near -s3 all is lost. How R turns comes
// along: the inverse of tr(S) I - S, S = R' F, is T = (F' F + k I) / z, as (s1 + s2) (s3 + s1) = s1^2 + k; to
// what x was found to, which nothing polishes. Unless T is not wanted (null). Says where z / x^3 is large
// enough: it is at most 8/27, about (s2 + s3) / s1 where that is small, and what errors of R are divided by.
SR_KERNEL SR_MASK closedForm(const Mat* F, const Invariants* I, SR_V x, Mat* outR, Turn* outT) {
    SR_V k = (SR_T)0.5 * (x * x - I->n);
    SR_V z = k * x - I->d;
    SR_V inverse = (SR_T)1 / z;
    SR_V ab = I->ab * inverse, bc = I->bc * inverse, ca = I->ca * inverse;
    SR_V aa = (k + (I->bb + I->cc)) * inverse, bb = (k + (I->cc + I->aa)) * inverse;
    SR_V cc = (k + (I->aa + I->bb)) * inverse, xz = x * inverse;
    if (outT != NULL) {
        *outT = (Turn){(k + I->aa) * inverse, (k + I->bb) * inverse, (k + I->cc) * inverse, ab, bc, ca};
    }

    // column by column; F F' F = F (F' F)
    ab = -ab, bc = -bc, ca = -ca;
    Vec a = F->a, b = F->b, c = F->c;
    outR->a = addScaled(addScaled(addScaled(scaled(aa, a), ab, b), ca, c), xz, I->cofA);
    outR->b = addScaled(addScaled(addScaled(scaled(bb, b), bc, c), ab, a), xz, I->cofB);
    outR->c = addScaled(addScaled(addScaled(scaled(cc, c), ca, a), bc, b), xz, I->cofC);
    return z > (SR_T)SR_LEAST_GAP * (x * x * x);
}

// R <- R (3 I - R' R) / 2, Newton and Schulz: what errors of x and of rounding did to R' R goes away but for
// its square. Returns how far R' R was from I.
SR_KERNEL SR_V polish(Mat* R) {
    Vec a = R->a, b = R->b, c = R->c;
    SR_V aa = dot(a, a) - (SR_T)1, bb = dot(b, b) - (SR_T)1, cc = dot(c, c) - (SR_T)1;
    SR_V ab = (SR_T)-0.5 * dot(a, b), bc = (SR_T)-0.5 * dot(b, c), ca = (SR_T)-0.5 * dot(c, a);
    R->a = addScaled(addScaled(addScaled(a, (SR_T)-0.5 * aa, a), ab, b), ca, c);
    R->b = addScaled(addScaled(addScaled(b, (SR_T)-0.5 * bb, b), bc, c), ab, a);
    R->c = addScaled(addScaled(addScaled(c, (SR_T)-0.5 * cc, c), ca, a), bc, b);
    return srAbs(aa) + srAbs(bb) + srAbs(cc) + srAbs(ab) + srAbs(bc) + srAbs(ca);
}

// The closed form alone, for matrices of ordinary size and far enough from s2 = -s3, with how they turn
// unless `outT` is null. Says where each is good; NaN is never. Several at a time (at most
// SR_ROTATIONS_TOGETHER), because the way to the root is a chain of operations that wait for each other.
SR_KERNEL void quickRotations(const Mat* F, const int count, Mat* outR, Turn* outT, SR_MASK* outIsGood) {
    Invariants I[SR_ROTATIONS_TOGETHER];
    SR_V x[SR_ROTATIONS_TOGETHER];
    for (int i = 0; i < count; i++) {
        findInvariants(&F[i], &I[i]);
        x[i] = boundRoot(&I[i]);
    }
    for (int step = 0; step < SR_ROOT_STEPS; step++) {
        for (int i = 0; i < count; i++) {
            x[i] = x[i] - stepToRoot(&I[i], x[i]);
        }
    }
    for (int i = 0; i < count; i++) {
        SR_MASK hasGap = closedForm(&F[i], &I[i], x[i], &outR[i], outT != NULL ? &outT[i] : NULL);
        SR_V off = polish(&outR[i]);
        SR_V n = I[i].n;
        outIsGood[i] = hasGap & (off < (SR_T)SR_LARGEST_OFF) & (n > (SR_T)SR_LEAST_NORM) &
                       (n < (SR_T)1 / (SR_T)SR_LEAST_NORM);
    }
}

SR_KERNEL bool isEverywhere(SR_MASK mask) {
    return SR_NAME(srBitsOfMask)(mask) == (1 << SR_LANES) - 1;
}

// Where nothing but the size of F kept the closed form from being good: that of F times a power of two, which
// is exact. Says where R is good now.
SR_KERNEL SR_MASK resizeRotation(const Mat* F, SR_MASK isGood, Mat* R) {
    SR_V n = dot(F->a, F->a) + dot(F->b, F->b) + dot(F->c, F->c);
    SR_MASK isOrdinary = (n > (SR_T)SR_LEAST_NORM) & (n < (SR_T)1 / (SR_T)SR_LEAST_NORM);
    if (isEverywhere((isGood | isOrdinary) != 0)) {
        return isGood;
    }
    Mat B, resized;
    SR_MASK isFound;
    scaleToOne(F, &B);
    quickRotations(&B, 1, &resized, NULL, &isFound);
    *R = SR_SELECT_MAT(isGood, *R, resized);
    return isGood | (isFound & (isOrdinary == 0));
}

// Another size, or else U V', where the closed form was not good
static SR_COLD void repairRotation(const Mat* F, SR_MASK isGood, Mat* R) {
    isGood = resizeRotation(F, isGood, R);
    if (!isEverywhere(isGood)) {
        Svd svd;
        decomposeMats(F, 1, &svd);
        Mat repaired = mulTransposed(&svd.U, &svd.V);
        *R = SR_SELECT_MAT(isGood, *R, repaired);
    }
}

// The rotations of `count` matrices, at most SR_ROTATIONS_TOGETHER.
SR_KERNEL void nearestRotations(const Mat* F, const int count, Mat* outR) {
    SR_MASK isGood[SR_ROTATIONS_TOGETHER];
    quickRotations(F, count, outR, NULL, isGood);
    for (int i = 0; i < count; i++) {
        if (!isEverywhere(isGood[i])) {
            repairRotation(&F[i], isGood[i], &outR[i]);
        }
    }
}

// The inverse of G = tr(S) I - S, S = R' F, by its cofactors
SR_KERNEL Turn quickTurn(const Mat* F, const Mat* R) {
    SR_V sxx = dot(R->a, F->a), syy = dot(R->b, F->b), szz = dot(R->c, F->c);
    SR_V xx = syy + szz, yy = szz + sxx, zz = sxx + syy;
    SR_V xy = (SR_T)-0.5 * (dot(R->a, F->b) + dot(R->b, F->a));
    SR_V yz = (SR_T)-0.5 * (dot(R->b, F->c) + dot(R->c, F->b));
    SR_V zx = (SR_T)-0.5 * (dot(R->c, F->a) + dot(R->a, F->c));
    Turn T = {yy * zz - yz * yz, zz * xx - zx * zx, xx * yy - xy * xy,
              yz * zx - xy * zz, zx * xy - yz * xx, xy * yz - zx * yy};
    SR_V inverse = (SR_T)1 / (xx * T.xx + xy * T.xy + zx * T.zx);
    return (Turn){inverse * T.xx, inverse * T.yy, inverse * T.zz,
                  inverse * T.xy, inverse * T.yz, inverse * T.zx};
}

// t1 a a' + t2 b b' + t3 c c' for the columns of V
SR_KERNEL Turn turnOfFrame(const Mat* V, SR_V t1, SR_V t2, SR_V t3) {
    Vec a = scaled(t1, V->a), b = scaled(t2, V->b), c = scaled(t3, V->c);
    return (Turn){a.x * V->a.x + b.x * V->b.x + c.x * V->c.x, a.y * V->a.y + b.y * V->b.y + c.y * V->c.y,
                  a.z * V->a.z + b.z * V->b.z + c.z * V->c.z, a.x * V->a.y + b.x * V->b.y + c.x * V->c.y,
                  a.y * V->a.z + b.y * V->b.z + c.y * V->c.z, a.z * V->a.x + b.z * V->b.x + c.z * V->c.x};
}

// R, as repairRotation finds it, and T from the singular values where the closed form was not good. Says
// where T was cut.
static SR_COLD SR_MASK repairTurn(const Mat* F, SR_MASK isGood, Mat* R, Turn* T) {
    SR_MASK isFound = resizeRotation(F, isGood, R);
    Svd svd;
    decomposeMats(F, 1, &svd);
    Mat repaired = mulTransposed(&svd.U, &svd.V);
    *R = SR_SELECT_MAT(isFound, *R, repaired);
    SR_MASK isCut = {0};
    SR_V t1 = cutInverse(svd.s2 + svd.s3, svd.s1, &isCut);
    SR_V t2 = cutInverse(svd.s3 + svd.s1, svd.s1, &isCut);
    SR_V t3 = cutInverse(svd.s1 + svd.s2, svd.s1, &isCut);
    Turn cut = turnOfFrame(&svd.V, t1, t2, t3);
    *T = (Turn){srSelect(isGood, T->xx, cut.xx), srSelect(isGood, T->yy, cut.yy),
                srSelect(isGood, T->zz, cut.zz), srSelect(isGood, T->xy, cut.xy),
                srSelect(isGood, T->yz, cut.yz), srSelect(isGood, T->zx, cut.zx)};
    return isCut & (isGood == 0);
}

// R of `count` matrices, at most SR_ROTATIONS_TOGETHER, and T where the closed form says it, to the accuracy
// of a float; elsewhere it has no meaning.
SR_KERNEL void nearestQuickTurns(const Mat* F, const int count, Mat* outR, Turn* outT, SR_MASK* outIsGood) {
    quickRotations(F, count, outR, outT, outIsGood);
    for (int i = 0; i < count; i++) {
        if (!isEverywhere(outIsGood[i])) {
            repairRotation(&F[i], outIsGood[i], &outR[i]);
        }
    }
}

// R and T of `count` matrices, at most SR_ROTATIONS_TOGETHER. Returns how many lanes of T were cut.
SR_KERNEL int32_t nearestTurns(const Mat* F, const int count, Mat* outR, Turn* outT) {
    SR_MASK isGood[SR_ROTATIONS_TOGETHER];
    quickRotations(F, count, outR, NULL, isGood);
    int32_t cutCount = 0;
    for (int i = 0; i < count; i++) {
        outT[i] = quickTurn(&F[i], &outR[i]);
        if (!isEverywhere(isGood[i])) {
            SR_MASK isCut = repairTurn(&F[i], isGood[i], &outR[i], &outT[i]);
            cutCount += __builtin_popcount((unsigned)SR_NAME(srBitsOfMask)(isCut));
        }
    }
    return cutCount;
}

// At most a quarter of the largest number, so that sums of two are numbers; a NaN, too, becomes that.
SR_KERNEL SR_V cutLength(SR_V x) {
    const SR_V most = (SR_V){0} + (SR_T)0.25 * (SR_T)SR_LARGEST;
    return srMaxW(srMinW(x, most), -most);
}

// R [w]x with w = T axial(R' dF)
SR_KERNEL Mat turnNearest(const Mat* R, const Turn* T, const Mat* dF) {
    Vec u = {dot(R->c, dF->b) - dot(R->b, dF->c), dot(R->a, dF->c) - dot(R->c, dF->a),
             dot(R->b, dF->a) - dot(R->a, dF->b)};
    Vec w = {T->xx * u.x + T->xy * u.y + T->zx * u.z, T->xy * u.x + T->yy * u.y + T->yz * u.z,
             T->zx * u.x + T->yz * u.y + T->zz * u.z};
    w = (Vec){cutLength(w.x), cutLength(w.y), cutLength(w.z)};
    return (Mat){addScaled(scaled(w.z, R->b), -w.y, R->c), addScaled(scaled(w.x, R->c), -w.z, R->a),
                 addScaled(scaled(w.y, R->a), -w.x, R->b)};
}
