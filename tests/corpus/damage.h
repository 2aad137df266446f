// SPDX-License-Identifier: GPL-3.0-or-later
//
// What happens to meshes on their way to us: holes, flips, doubles, spikes and so on, made from seeds.

#pragma once

#include "corpus/soup.h"

/// A mesh that is being damaged, and what it stands for.
typedef struct srPatient {
    srSoup skin;     ///< As it will be given.
    srSoup repaired; ///< What a cage must enclose. Moves along where the damage changes the shape itself.
    srSoup widest;   ///< Closed; what a cage may enclose: with spikes and crumbs.
    uint64_t random;
    bool isSheet; ///< Nothing is enclosed: "no inside" is an answer too.
} srPatient;

/// A patient from a clean shape, with deep copies.
srPatient srCreatePatient(const srSoup* shape, uint64_t seed);
void srDestroyPatient(srPatient* patient);

typedef struct srDamage {
    const char* name;
    void (*inflict)(srPatient* patient);
} srDamage;

/// All of them, with their number. The last one inflicts several others.
const srDamage* srGetDamages(int32_t* outCount);

/// Meshes that enclose nothing. `isSheet` of the answer tells those that have area: a cage that gives it a
/// thickness is an answer too.
typedef struct srNothing {
    const char* name;
    void (*make)(srSoup* soup);
    bool isSheet;
    bool isDust; ///< Sheets, each smaller than a cell.
} srNothing;

const srNothing* srGetNothings(int32_t* outCount);
