// SPDX-License-Identifier: GPL-3.0-or-later
//
// Energies of one cell: F -> psi, P = dpsi/dF, and how P changes with F. Part of a kernel text: include it
// after rotation_kernels.inl, once for each type. mu and lambda are Lame's, times a volume where forces are
// wanted; `swell` is where the term of lambda is zero (srFindSwell).

#define cofactors SR_NAME(cofactors)
#define cofactorChange SR_NAME(cofactorChange)
#define dotMats SR_NAME(dotMats)
#define combine SR_NAME(combine)
#define mulTransposedLeft SR_NAME(mulTransposedLeft)
#define mulLeft SR_NAME(mulLeft)
#define neoHookean SR_NAME(neoHookean)
#define neoHookeanChange SR_NAME(neoHookeanChange)
#define stVenantKirchhoff SR_NAME(stVenantKirchhoff)
#define stVenantKirchhoffChange SR_NAME(stVenantKirchhoffChange)
#define corotated SR_NAME(corotated)
#define corotatedChange SR_NAME(corotatedChange)

// dJ/dF
SR_KERNEL Mat cofactors(const Mat* F) {
    return (Mat){cross(F->b, F->c), cross(F->c, F->a), cross(F->a, F->b)};
}

SR_KERNEL Mat cofactorChange(const Mat* F, const Mat* dF) {
    const SR_V one = (SR_V){0} + (SR_T)1;
    return (Mat){addScaled(cross(dF->b, F->c), one, cross(F->b, dF->c)),
                 addScaled(cross(dF->c, F->a), one, cross(F->c, dF->a)),
                 addScaled(cross(dF->a, F->b), one, cross(F->a, dF->b))};
}

SR_KERNEL SR_V dotMats(const Mat* A, const Mat* B) {
    return dot(A->a, B->a) + dot(A->b, B->b) + dot(A->c, B->c);
}

// s A + t B
SR_KERNEL Mat combine(SR_V s, const Mat* A, SR_V t, const Mat* B) {
    return (Mat){addScaled(scaled(s, A->a), t, B->a), addScaled(scaled(s, A->b), t, B->b),
                 addScaled(scaled(s, A->c), t, B->c)};
}

// A' B
SR_KERNEL Mat mulTransposedLeft(const Mat* A, const Mat* B) {
    return (Mat){{dot(A->a, B->a), dot(A->b, B->a), dot(A->c, B->a)},
                 {dot(A->a, B->b), dot(A->b, B->b), dot(A->c, B->b)},
                 {dot(A->a, B->c), dot(A->b, B->c), dot(A->c, B->c)}};
}

// A B
SR_KERNEL Mat mulLeft(const Mat* A, const Mat* B) {
    return (Mat){mulMat(A, B->a), mulMat(A, B->b), mulMat(A, B->c)};
}

// Stable neo-Hookean flesh (Smith, de Goes, Kim 2018, without the barrier), finite for any F, turned inside
// out too: psi = mu/2 (|F|^2 - 3) - mu (J - 1) + mu/2 (J - 1)^2 + lambda/2 (J - 1 - swell)^2. At rest its
// tangent is Hooke's.
SR_KERNEL SR_V neoHookean(const Mat* F, SR_V mu, SR_V lambda, SR_V swell, Mat* outP) {
    Mat C = cofactors(F);
    SR_V grown = dot(F->a, C.a) - (SR_T)1;
    SR_V stiff = lambda + mu, pull = lambda * swell + mu;
    *outP = combine(mu, F, stiff * grown - pull, &C);
    return (SR_T)0.5 * (mu * (dotMats(F, F) - (SR_T)3) + stiff * grown * grown) - pull * grown +
           (SR_T)0.5 * lambda * swell * swell;
}

SR_KERNEL Mat neoHookeanChange(const Mat* F, SR_V mu, SR_V lambda, SR_V swell, const Mat* dF) {
    Mat C = cofactors(F), dC = cofactorChange(F, dF);
    SR_V grown = dot(F->a, C.a) - (SR_T)1;
    SR_V stiff = lambda + mu, pull = lambda * swell + mu;
    Mat volume = combine(stiff * dotMats(&C, dF), &C, stiff * grown - pull, &dC);
    const SR_V one = (SR_V){0} + (SR_T)1;
    return combine(mu, dF, one, &volume);
}

// St. Venant-Kirchhoff: psi = mu |E|^2 + lambda/2 (tr(E) - swell)^2 with Green's strain E = (F' F - I) / 2;
// P = F S with S = 2 mu E + lambda (tr(E) - swell) I. Weak where squashed.
SR_KERNEL SR_V stVenantKirchhoff(const Mat* F, SR_V mu, SR_V lambda, SR_V swell, Mat* outP) {
    Mat E = mulTransposedLeft(F, F), I = identity();
    const SR_V half = (SR_V){0} + (SR_T)0.5;
    E = combine(half, &E, -half, &I);
    SR_V trace = E.a.x + E.b.y + E.c.z - swell;
    Mat S = combine(mu + mu, &E, lambda * trace, &I);
    *outP = mulLeft(F, &S);
    return mu * dotMats(&E, &E) + (SR_T)0.5 * lambda * trace * trace;
}

SR_KERNEL Mat stVenantKirchhoffChange(const Mat* F, SR_V mu, SR_V lambda, SR_V swell, const Mat* dF) {
    const SR_V half = (SR_V){0} + (SR_T)0.5, one = half + half;
    Mat E = mulTransposedLeft(F, F), I = identity();
    E = combine(half, &E, -half, &I);
    Mat A = mulTransposedLeft(F, dF), B = mulTransposedLeft(dF, F);
    Mat dE = combine(half, &A, half, &B);
    Mat S = combine(mu + mu, &E, lambda * (E.a.x + E.b.y + E.c.z - swell), &I);
    Mat dS = combine(mu + mu, &dE, lambda * (dE.a.x + dE.b.y + dE.c.z), &I);
    Mat turned = mulLeft(dF, &S), strained = mulLeft(F, &dS);
    return combine(one, &turned, one, &strained);
}

// Corotated: psi = mu |F - R|^2 + lambda/2 (tr(R' F - I) - swell)^2, R the rotation of F. `trace` is
// tr(R' F) - 3 - swell.
SR_KERNEL SR_V corotated(const Mat* F, const Mat* R, SR_V mu, SR_V lambda, SR_V swell, Mat* outP) {
    const SR_V one = (SR_V){0} + (SR_T)1;
    Mat off = combine(one, F, -one, R);
    SR_V trace = dotMats(R, F) - (SR_T)3 - swell;
    *outP = combine(mu + mu, &off, lambda * trace, R);
    return mu * dotMats(&off, &off) + (SR_T)0.5 * lambda * trace * trace;
}

// dR is how R changes with dF; tr(R' F) changes by R : dF alone
SR_KERNEL Mat corotatedChange(const Mat* R, SR_V trace, SR_V mu, SR_V lambda, const Mat* dF, const Mat* dR) {
    Mat turning = combine(lambda * dotMats(R, dF), R, lambda * trace - (mu + mu), dR);
    const SR_V one = (SR_V){0} + (SR_T)1;
    return combine(mu + mu, dF, one, &turning);
}
