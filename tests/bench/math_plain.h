// SPDX-License-Identifier: GPL-3.0-or-later
//
// The baselines of the rotation bench: plain scalar C, one matrix at a time.

#pragma once

#include "math/mat3.h"

/// The rotation by the same closed form and the same number of steps as the library's kernel, for matrices
/// that it is good for. No fall-back.
void srPlainRotationF(const float F[9], float R[9]);
void srPlainRotation(const double F[9], double R[9]);

/// Signed singular values by one-sided Jacobi, U and V rotations; then also the rotation U V'.
void srPlainSvdF(const float F[9], float U[9], float s[3], float V[9]);
void srPlainSvd(const double F[9], double U[9], double s[3], double V[9]);
void srPlainJacobiRotationF(const float F[9], float R[9]);
void srPlainJacobiRotation(const double F[9], double R[9]);

/// What the processor can do, one core: operations a nanosecond with fused multiply-adds (two operations
/// each) on floats, eight at a time; zero where it is not known.
double srMeasurePeak(void);
