// SPDX-License-Identifier: GPL-3.0-or-later
//
// A step of h multiplies the swing x'' + rate x' + omega^2 x = 0 by a root z of
//   rho^2 + sigma^2 (rate h delta + (omega h z)^2) = 0,   rho = (1 + t/2) z^2 - (1 + t) z + t/2,
//   sigma = (1 + t)/2 z + (1 - t)/2,   delta = (3 z^2 - 4 z + 1) / 2,   t the lateness;
// of backward Euler, rho = z - 1, sigma = 1, delta = z (z - 1), of degree 2. What a step leaves is |z| of the
// longest root. All roots are found together (Weierstrass, Durand, Kerner), both knobs by halving.

#include "solver/settle.h"

#define MOST_DEGREE 4
#define ROUNDS 60
#define HALVINGS 40
#define OWN_SHARE 0.1       // of the shrinking that is wanted: what the formula may do by itself
#define MOST_SHARE 0.9      // where that would take a formula which keeps what is quick too long:
#define LEAST_LATENESS 0.15 // of it a step keeps three quarters
#define TERMS 12
#define EXPONENT_HALVINGS 6
#define LEAST_EXPONENT (-60.0)

// by its series: the same on every platform
static double exponential(double x) {
    double part = fmax(x, LEAST_EXPONENT) / (1 << EXPONENT_HALVINGS), sum = 1.0;
    for (int k = TERMS; k > 0; --k) {
        sum = 1.0 + sum * part / k;
    }
    for (int k = 0; k < EXPONENT_HALVINGS; ++k) {
        sum *= sum;
    }
    return sum;
}

// coefficients, that of the highest power first
typedef struct Polynomial {
    int degree;
    double c[MOST_DEGREE + 1];
} Polynomial;

static Polynomial multiply(const Polynomial* p, const Polynomial* q) {
    Polynomial product = {.degree = p->degree + q->degree};
    for (int i = 0; i <= p->degree; ++i) {
        for (int j = 0; j <= q->degree; ++j) {
            product.c[i + j] += p->c[i] * q->c[j];
        }
    }
    return product;
}

// of equal degree
static void add(Polynomial* p, const Polynomial* q) {
    for (int i = 0; i <= p->degree; ++i) {
        p->c[i] += q->c[i];
    }
}

// p at z, the highest coefficient counted as 1
static srComplex evaluate(const Polynomial* p, srComplex z) {
    srComplex sum = {1.0, 0.0};
    for (int i = 1; i <= p->degree; ++i) {
        sum = srMulComplex(sum, z);
        sum.re += p->c[i] / p->c[0];
    }
    return sum;
}

// the longest, of two that are each other's mirror image the upper one
static srComplex findLongestRoot(const Polynomial* p) {
    srComplex z[MOST_DEGREE] = {{1.0, 0.0}, {0.4, 0.9}, {-0.65, 0.72}, {-0.908, -0.297}};
    for (int round = 0; round < ROUNDS; ++round) {
        for (int i = 0; i < p->degree; ++i) {
            srComplex others = {1.0, 0.0};
            for (int j = 0; j < p->degree; ++j) {
                others = j == i ? others : srMulComplex(others, srAddScaledComplex(z[i], z[j], -1.0));
            }
            if (srSquaredLengthComplex(others) > 0.0) {
                z[i] = srAddScaledComplex(z[i], srDivideComplex(evaluate(p, z[i]), others), -1.0);
            }
        }
    }
    srComplex longest = z[0];
    for (int i = 1; i < p->degree; ++i) {
        longest = srSquaredLengthComplex(z[i]) > srSquaredLengthComplex(longest) ? z[i] : longest;
    }
    return (srComplex){longest.re, fabs(longest.im)};
}

typedef struct Wish {
    srIntegrator integrator;
    double omega;
    double h;
} Wish;

static srComplex findRoot(const Wish* wish, double t, double rate) {
    double turn = wish->omega * wish->h, loss = rate * wish->h;
    if (wish->integrator == sr_integratorBackwardEuler) {
        Polynomial p = {2, {1.0 + loss + turn * turn, -2.0 - loss, 1.0}};
        return findLongestRoot(&p);
    }
    Polynomial rho = {2, {1.0 + 0.5 * t, -(1.0 + t), 0.5 * t}};
    Polynomial sigma = {1, {0.5 * (1.0 + t), 0.5 * (1.0 - t)}};
    Polynomial pull = {2, {1.5 * loss + turn * turn, -2.0 * loss, 0.5 * loss}};
    Polynomial square = multiply(&sigma, &sigma), p = multiply(&rho, &rho), pulled = multiply(&square, &pull);
    add(&p, &pulled);
    return findLongestRoot(&p);
}

// squared
static double findLeft(const Wish* wish, double lateness, double rate) {
    return srSquaredLengthComplex(findRoot(wish, lateness, rate));
}

// the latest formula that by itself leaves no less than `left`
static double findLateness(const Wish* wish, double left) {
    double low = 0.0, high = 1.0;
    if (findLeft(wish, high, 0.0) >= left) {
        return high;
    }
    for (int k = 0; k < HALVINGS; ++k) {
        double middle = 0.5 * (low + high);
        *(findLeft(wish, middle, 0.0) >= left ? &low : &high) = middle;
    }
    return low;
}

// the least rate that leaves no more than `left`, or the one with which nothing swings
static double findRate(const Wish* wish, double lateness, double left) {
    double low = 0.0, high = 2.0 * wish->omega;
    if (findLeft(wish, lateness, low) <= left) {
        return low;
    }
    for (int k = 0; k < HALVINGS; ++k) {
        double middle = 0.5 * (low + high);
        *(findLeft(wish, lateness, middle) > left ? &low : &high) = middle;
    }
    return high;
}

srSettling srFindSettling(srIntegrator integrator, double omega, double dampingRate, double h) {
    Wish wish = {integrator, omega, h};
    double twice = h * fmin(dampingRate, 2.0 * omega); // of what shrinks in a step, because left is squared
    srSettling found = {.lateness = 1.0};
    if (integrator == sr_integratorBdf2) {
        double own = findLateness(&wish, exponential(-OWN_SHARE * twice));
        double most = findLateness(&wish, exponential(-MOST_SHARE * twice));
        found.lateness = fmax(own, fmin(most, LEAST_LATENESS));
    }
    found.dampingRate = findRate(&wish, found.lateness, exponential(-twice));
    return found;
}

srComplex srFindLateRoot(srSettling settling, double omega, double h) {
    Wish wish = {sr_integratorBdf2, omega, h};
    return findRoot(&wish, settling.lateness, settling.dampingRate);
}
