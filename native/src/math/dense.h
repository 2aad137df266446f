// SPDX-License-Identifier: GPL-3.0-or-later
//
// BLAS and LAPACK, and the only room that names them: one thread, checked once before the first use. For
// preparing only.

#pragma once

#include "core/error.h"

/// Sets BLAS to one thread and compares a small product and a small factorisation with known answers;
/// `sr_errorDependency` says which was wrong. Cheap after the first call. Thread-safe.
SR_MUST_USE srResult srCheckDense(void);
