// SPDX-License-Identifier: GPL-3.0-or-later
//
// Included by force before every file of third parties: the BLAS that lies beside our library bears a prefix
// on every name, so that it never meets the BLAS of numpy in the same process.

#pragma once

#include <stdio.h>

#define dgemm_ scipy_dgemm_
#define dgemv_ scipy_dgemv_
#define dger_ scipy_dger_
#define dpotrf_ scipy_dpotrf_
#define dscal_ scipy_dscal_
#define dsyrk_ scipy_dsyrk_
#define dtrsm_ scipy_dtrsm_
#define dtrsv_ scipy_dtrsv_
#define zgemm_ scipy_zgemm_
#define zgemv_ scipy_zgemv_
#define zgeru_ scipy_zgeru_
#define zherk_ scipy_zherk_
#define zpotrf_ scipy_zpotrf_
#define zscal_ scipy_zscal_
#define ztrsm_ scipy_ztrsm_
#define ztrsv_ scipy_ztrsv_

// SuiteSparse 7 has single precision too
#define sgemm_ scipy_sgemm_
#define sgemv_ scipy_sgemv_
#define sger_ scipy_sger_
#define spotrf_ scipy_spotrf_
#define sscal_ scipy_sscal_
#define ssyrk_ scipy_ssyrk_
#define strsm_ scipy_strsm_
#define strsv_ scipy_strsv_
#define cgemm_ scipy_cgemm_
#define cgemv_ scipy_cgemv_
#define cgeru_ scipy_cgeru_
#define cherk_ scipy_cherk_
#define cpotrf_ scipy_cpotrf_
#define cscal_ scipy_cscal_
#define ctrsm_ scipy_ctrsm_
#define ctrsv_ scipy_ctrsv_
