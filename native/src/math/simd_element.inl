// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which of the four types a kernel text is compiled for. Define SR_DOUBLE and SR_WIDE as 0 or 1 and include
// this; it gives SR_T (one number), SR_V (SR_T or its wide type), SR_MASK (what comparisons of SR_V give),
// SR_LANES and SR_NAME (a suffix that keeps the copies of the text apart). Include again for the next type.

#undef SR_T
#undef SR_V
#undef SR_MASK
#undef SR_LANES
#undef SR_NAME

#if SR_DOUBLE && SR_WIDE
#define SR_T double
#define SR_V srDoubleW
#define SR_MASK srMaskDoubleW
#define SR_LANES SR_DOUBLE_LANES
#define SR_NAME(name) name##DoubleW
#elif SR_DOUBLE
#define SR_T double
#define SR_V double
#define SR_MASK int32_t
#define SR_LANES 1
#define SR_NAME(name) name##Double
#elif SR_WIDE
#define SR_T float
#define SR_V srFloatW
#define SR_MASK srMaskFloatW
#define SR_LANES SR_FLOAT_LANES
#define SR_NAME(name) name##FloatW
#else
#define SR_T float
#define SR_V float
#define SR_MASK int32_t
#define SR_LANES 1
#define SR_NAME(name) name##Float
#endif
