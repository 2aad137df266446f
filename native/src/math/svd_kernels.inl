// SPDX-License-Identifier: GPL-3.0-or-later
//
// The signed singular value decomposition of 3 x 3 matrices by one-sided Jacobi, and the twists. Part of a
// kernel text: include it after mat3_kernels.inl, once for each type. What the functions promise is said in
// svd.h.

#define Svd SR_NAME(Svd)
#define isSkew SR_NAME(isSkew)
#define turnBy SR_NAME(turnBy)
#define turnPair SR_NAME(turnPair)
#define hasSkewColumns SR_NAME(hasSkewColumns)
#define sortPair SR_NAME(sortPair)
#define anyNormalTo SR_NAME(anyNormalTo)
#define frameOfColumns SR_NAME(frameOfColumns)
#define scaleToOne SR_NAME(scaleToOne)
#define finishSvd SR_NAME(finishSvd)
#define decomposeMats SR_NAME(decomposeMats)
#define cutInverse SR_NAME(cutInverse)
#define twist SR_NAME(twist)
#define twistsOf SR_NAME(twistsOf)

// numbers that depend on the precision
#undef SR_ORTHOGONAL
#undef SR_FLOOR
#undef SR_MAX_SWEEPS
#undef SR_LARGEST
#if SR_DOUBLE
#define SR_ORTHOGONAL 0x1p-98 // square of the cosine between columns that are left alone
#define SR_FLOOR 0x1p-500     // squares of lengths below it are zero
#define SR_MAX_SWEEPS 12      // 6 were enough for all that was tried
#define SR_LARGEST 0x1.fffffffffffffp1023
#else
#define SR_ORTHOGONAL 0x1p-42f
#define SR_FLOOR 0x1p-60f
#define SR_MAX_SWEEPS 10
#define SR_LARGEST 0x1.fffffep127f
#endif

// how many wide matrices are decomposed side by side; the lanes of a scalar one already are
#if defined(SR_SIMD_AVX2) || defined(SR_SIMD_NEON)
#define SR_SVDS_TOGETHER 2
#else
#define SR_SVDS_TOGETHER 1
#endif

// F = U diag(s1, s2, s3) V'
typedef struct Svd {
    Mat U, V;
    SR_V s1, s2, s3;
} Svd;

// Where p and q are not orthogonal, given their products. Squares too small to be told from zero are.
SR_KERNEL SR_MASK isSkew(SR_V pp, SR_V qq, SR_V pq) {
    SR_V d = pp - qq;
    return (pq * pq > (SR_T)SR_ORTHOGONAL * (pp * qq)) &
           (d * d + (SR_T)4 * (pq * pq) > (SR_T)SR_FLOOR * (SR_T)SR_FLOOR);
}

// p + s (q - t p), q - s (p + t q)
SR_KERNEL void turnBy(SR_V s, SR_V t, Vec* p, Vec* q) {
    Vec turned = addScaled(*p, s, addScaled(*q, -t, *p));
    *q = addScaled(*q, -s, addScaled(*p, t, *q));
    *p = turned;
}

// One-sided Jacobi (Hestenes 1958): turns columns p and q of B = F V, and those of V, by the angle that makes
// p and q orthogonal, at most 45 degrees. With d = |pp - qq|, e = +-2 pq, r = |(d, e)| the cosine and sine of
// twice that angle are d / r and e / r, so (r + d, e) points along the angle itself: with its length l the
// sine is s = e / l, the tangent of half the angle t = e / (l + r + d), and the cosine 1 - s t. So a small
// angle makes a small error (Rutishauser 1966). Where p and q are orthogonal already only the sign of a zero
// may change.
SR_KERNEL void turnPair(Vec* p, Vec* q, Vec* vp, Vec* vq) {
    SR_V pp = dot(*p, *p), qq = dot(*q, *q), pq = dot(*p, *q);
    SR_MASK turns = isSkew(pp, qq, pq);
    SR_V d = pp - qq;
    SR_V e = pq + pq;
    e = srCopySign(e, d * e);
    d = srAbs(d);
    SR_V h = srSqrt(d * d + e * e) + d;
    SR_V length = srSqrt(h * h + e * e);
    SR_V s = srSelect(turns, e / length, (SR_V){0});
    SR_V t = srSelect(turns, e / (length + h), (SR_V){0});
    turnBy(s, t, p, q);
    turnBy(s, t, vp, vq);
}

SR_KERNEL bool hasSkewColumns(const Mat* B) {
    SR_V aa = dot(B->a, B->a), bb = dot(B->b, B->b), cc = dot(B->c, B->c);
    SR_MASK skew =
        isSkew(aa, bb, dot(B->a, B->b)) | isSkew(aa, cc, dot(B->a, B->c)) | isSkew(bb, cc, dot(B->b, B->c));
    return SR_NAME(srBitsOfMask)(skew) != 0;
}

// Puts the longer column first. One sign turns too, so that V stays a rotation.
SR_KERNEL void sortPair(Vec* p, Vec* q, Vec* vp, Vec* vq) {
    SR_MASK swaps = dot(*p, *p) < dot(*q, *q);
    Vec first = SR_SELECT_VEC(swaps, *q, *p);
    *q = SR_SELECT_VEC(swaps, scaled((SR_V){0} - (SR_T)1, *p), *q);
    *p = first;
    first = SR_SELECT_VEC(swaps, *vq, *vp);
    *vq = SR_SELECT_VEC(swaps, scaled((SR_V){0} - (SR_T)1, *vp), *vq);
    *vp = first;
}

// A vector at right angles to the unit vector u, of length 0.7 to 1; y for x.
SR_KERNEL Vec anyNormalTo(Vec u) {
    const SR_V zero = {0};
    SR_MASK isAlongX = srAbs(u.x) > srAbs(u.z);
    Vec inPlaneXy = {-u.y, u.x, zero};
    Vec inPlaneYz = {zero, -u.z, u.y};
    return SR_SELECT_VEC(isAlongX, inPlaneXy, inPlaneYz);
}

// The rotation whose first two columns point along the orthogonal b and c, as far as those are not zero: then
// any directions will do.
SR_KERNEL Mat frameOfColumns(Vec b, Vec c) {
    const SR_V zero = {0};
    Vec alongX = {zero + (SR_T)1, zero, zero};
    b = SR_SELECT_VEC(dot(b, b) > (SR_T)SR_FLOOR, b, alongX);
    b = unit(b);
    c = addScaled(c, -dot(b, c), b);
    Vec normal = anyNormalTo(b);
    c = SR_SELECT_VEC(dot(c, c) > (SR_T)SR_FLOOR, c, normal);
    c = unit(c);
    c = unit(addScaled(c, -dot(b, c), b));
    return (Mat){b, c, cross(b, c)};
}

// F times a power of two that brings its largest entry to about one; zero where F is not finite. Returns that
// power.
SR_KERNEL SR_V scaleToOne(const Mat* F, Mat* outB) {
    SR_V scale = srScaleToOne(largestEntry(F));
    Vec a = scaled(scale, F->a), b = scaled(scale, F->b), c = scaled(scale, F->c);
    SR_MASK isFinite = dot(a, a) + dot(b, b) + dot(c, c) < (SR_T)1000;
    const SR_V zero = {0};
    const Vec nothing = {zero, zero, zero};
    *outB = (Mat){SR_SELECT_VEC(isFinite, a, nothing), SR_SELECT_VEC(isFinite, b, nothing),
                  SR_SELECT_VEC(isFinite, c, nothing)};
    return scale;
}

// U and s of B = U diag(s) V', where the columns of B are orthogonal and sorted. Adding zero makes -0 to 0,
// so that no bit depends on how often a zero was turned.
SR_KERNEL Svd finishSvd(const Mat* B, const Mat* V, SR_V scale) {
    const SR_V zero = {0};
    const SR_V largest = zero + (SR_T)SR_LARGEST;
    Svd svd = {.U = frameOfColumns(B->a, B->b), .V = *V};
    SR_V s1 = srMaxW(dot(svd.U.a, B->a), zero);
    SR_V s2 = srMinW(srMaxW(dot(svd.U.b, B->b), zero), s1);
    SR_V s3 = dot(svd.U.c, B->c);
    s3 = srCopySign(srMinW(srAbs(s3), s2), s3);

    // back to the size of F, cut at the largest number
    SR_V back = (SR_T)1 / scale;
    svd.s1 = srMinW(s1 * back, largest);
    svd.s2 = srMinW(s2 * back, largest);
    svd.s3 = srMaxW(srMinW(s3 * back, largest), -largest) + (SR_T)0;
    svd.U.a = addZero(svd.U.a), svd.U.b = addZero(svd.U.b), svd.U.c = addZero(svd.U.c);
    svd.V.a = addZero(svd.V.a), svd.V.b = addZero(svd.V.b), svd.V.c = addZero(svd.V.c);
    return svd;
}

// Several at a time (at most SR_SVDS_TOGETHER), because each is a chain of operations that wait for each
// other.
SR_KERNEL void decomposeMats(const Mat* F, const int count, Svd* outSvds) {
    Mat B[SR_SVDS_TOGETHER];
    Mat V[SR_SVDS_TOGETHER];
    SR_V scale[SR_SVDS_TOGETHER];
    for (int i = 0; i < count; i++) {
        scale[i] = scaleToOne(&F[i], &B[i]);
        V[i] = identity();
    }

    // turn the columns until they are orthogonal
    for (int sweep = 0; sweep < SR_MAX_SWEEPS; sweep++) {
        bool isDone = true;
        for (int i = 0; i < count; i++) {
            isDone = isDone && !hasSkewColumns(&B[i]);
        }
        if (isDone) {
            break;
        }
        for (int i = 0; i < count; i++) {
            turnPair(&B[i].a, &B[i].b, &V[i].a, &V[i].b);
        }
        for (int i = 0; i < count; i++) {
            turnPair(&B[i].a, &B[i].c, &V[i].a, &V[i].c);
        }
        for (int i = 0; i < count; i++) {
            turnPair(&B[i].b, &B[i].c, &V[i].b, &V[i].c);
        }
    }

    for (int i = 0; i < count; i++) {
        sortPair(&B[i].a, &B[i].b, &V[i].a, &V[i].b);
        sortPair(&B[i].a, &B[i].c, &V[i].a, &V[i].c);
        sortPair(&B[i].b, &B[i].c, &V[i].b, &V[i].c);
        outSvds[i] = finishSvd(&B[i], &V[i], scale[i]);
    }
}

// 1 / sum, at most 1 / (SR_LEAST_TURN s1) and half the largest number, so that twice that is one too; zero
// for the zero matrix. Adds where it was cut.
SR_KERNEL SR_V cutInverse(SR_V sum, SR_V s1, SR_MASK* isCut) {
    const SR_V zero = {0};
    const SR_V most = zero + (SR_T)0.5 * (SR_T)SR_LARGEST;
    SR_V least = (SR_T)SR_LEAST_TURN * s1;
    SR_V inverse = (SR_T)1 / srMaxW(sum, least);
    SR_MASK isSomething = s1 > zero;
    *isCut = *isCut | (sum < least) | (isSomething & (inverse > most));
    return srSelect(isSomething, srMinW(inverse, most), zero);
}

// Q = (u v' - w x') / sqrt(2)
SR_KERNEL Mat twist(Vec u, Vec v, Vec w, Vec x) {
    const SR_T half = (SR_T)0.70710678118654752440;
    u = scaled((SR_V){0} + half, u);
    w = scaled((SR_V){0} - half, w);
    return (Mat){addScaled(scaled(v.x, u), x.x, w), addScaled(scaled(v.y, u), x.y, w),
                 addScaled(scaled(v.z, u), x.z, w)};
}

// The twists of svd.h, and their eigenvalues.
SR_KERNEL void twistsOf(const Svd* svd, Mat outQ[3], SR_V outEigenvalues[3]) {
    const Mat* U = &svd->U;
    const Mat* V = &svd->V;
    SR_MASK isCut = {0};
    outQ[0] = twist(U->c, V->b, U->b, V->c);
    outQ[1] = twist(U->a, V->c, U->c, V->a);
    outQ[2] = twist(U->b, V->a, U->a, V->b);
    outEigenvalues[0] = (SR_T)2 * cutInverse(svd->s2 + svd->s3, svd->s1, &isCut);
    outEigenvalues[1] = (SR_T)2 * cutInverse(svd->s3 + svd->s1, svd->s1, &isCut);
    outEigenvalues[2] = (SR_T)2 * cutInverse(svd->s1 + svd->s2, svd->s1, &isCut);
}
