// SPDX-License-Identifier: GPL-3.0-or-later
//
// Vectors and 3 x 3 matrices as kernels see them: columns of plain numbers or of wide ones. Part of a kernel
// text: include it after simd_element.inl, once for each type.

#define Vec SR_NAME(Vec)
#define Mat SR_NAME(Mat)
#define scaled SR_NAME(scaled)
#define addScaled SR_NAME(addScaled)
#define dot SR_NAME(dot)
#define cross SR_NAME(cross)
#define unit SR_NAME(unit)
#define addZero SR_NAME(addZero)
#define mulMat SR_NAME(mulMat)
#define mulTransposed SR_NAME(mulTransposed)
#define identity SR_NAME(identity)
#define largestEntry SR_NAME(largestEntry)

typedef struct Vec {
    SR_V x, y, z;
} Vec;

typedef struct Mat {
    Vec a, b, c;
} Mat;

SR_KERNEL Vec scaled(SR_V s, Vec u) {
    return (Vec){s * u.x, s * u.y, s * u.z};
}

// u + s v
SR_KERNEL Vec addScaled(Vec u, SR_V s, Vec v) {
    return (Vec){u.x + s * v.x, u.y + s * v.y, u.z + s * v.z};
}

SR_KERNEL SR_V dot(Vec u, Vec v) {
    return u.x * v.x + u.y * v.y + u.z * v.z;
}

SR_KERNEL Vec cross(Vec u, Vec v) {
    return (Vec){u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
}

SR_KERNEL Vec unit(Vec u) {
    return scaled((SR_T)1 / srSqrt(dot(u, u)), u);
}

// -0 becomes 0
SR_KERNEL Vec addZero(Vec u) {
    return (Vec){u.x + (SR_T)0, u.y + (SR_T)0, u.z + (SR_T)0};
}

// A u
SR_KERNEL Vec mulMat(const Mat* A, Vec u) {
    return addScaled(addScaled(scaled(u.x, A->a), u.y, A->b), u.z, A->c);
}

// A B'
SR_KERNEL Mat mulTransposed(const Mat* A, const Mat* B) {
    return (Mat){mulMat(A, (Vec){B->a.x, B->b.x, B->c.x}), mulMat(A, (Vec){B->a.y, B->b.y, B->c.y}),
                 mulMat(A, (Vec){B->a.z, B->b.z, B->c.z})};
}

#ifndef SR_SELECT_VEC
#define SR_SELECT_VEC(mask, u, v)                                                                            \
    ((Vec){srSelect((mask), (u).x, (v).x), srSelect((mask), (u).y, (v).y), srSelect((mask), (u).z, (v).z)})
#define SR_SELECT_MAT(mask, A, B)                                                                            \
    ((Mat){SR_SELECT_VEC((mask), (A).a, (B).a), SR_SELECT_VEC((mask), (A).b, (B).b),                         \
           SR_SELECT_VEC((mask), (A).c, (B).c)})
#endif

SR_KERNEL Mat identity(void) {
    const SR_V zero = {0};
    const SR_V one = zero + (SR_T)1;
    return (Mat){{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
}

SR_KERNEL SR_V largestEntry(const Mat* F) {
    SR_V largest = srAbs(F->a.x);
    largest = srMaxW(srAbs(F->a.y), largest);
    largest = srMaxW(srAbs(F->a.z), largest);
    largest = srMaxW(srAbs(F->b.x), largest);
    largest = srMaxW(srAbs(F->b.y), largest);
    largest = srMaxW(srAbs(F->b.z), largest);
    largest = srMaxW(srAbs(F->c.x), largest);
    largest = srMaxW(srAbs(F->c.y), largest);
    return srMaxW(srAbs(F->c.z), largest);
}
