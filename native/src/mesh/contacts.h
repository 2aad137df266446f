// SPDX-License-Identifier: GPL-3.0-or-later
//
// The skin's triangles as the flesh sees them: which way each faces, and both sides of a contact where two
// skins lie on each other. A solid has nothing there; whoever keeps parts of the flesh apart needs the two.

#pragma once

#include "mesh/field.h"
#include "mesh/solid.h"

typedef struct srContacts {
    int8_t* turns;  ///< By triangle of the surface: 1 when it faces away from flesh, -1 when it faces the
                    ///< flesh, 0 when it bounds none.
    srSurface skin; ///< The solid's shells and both sides of contacts; points are the solid's.
    const int32_t* shellPieces; ///< Of the first triangles of `skin`, which are the solid's: their pieces.
    int32_t shellCount;
    const srBvh* tree;      ///< Over `skin`; null without triangles.
    const srBvh* sheetTree; ///< Over the solid's sheets but for contacts; null without any.
    int32_t surfaceTriangleCount;
    int32_t ownTriangleCount; ///< 0 when `skin` is the solid's own.
    srBvh* ownTree;
    srSurface sheets; ///< Under `ownSheetTree`.
    int32_t sheetRoom;
    srBvh* ownSheetTree;
} srContacts;

/// `solid` is that of `surface`, and must outlive the contacts.
SR_MUST_USE srResult srCreateContacts(const srSurface* surface, const srSolid* solid,
                                      const srProgress* progress, srContacts* outContacts);

/// The field over the solid, of offset 0, that knows distances to contacts too; they change no sign.
srField srMakeContactField(const srContacts* contacts, const srSolid* solid);

/// Accepts zeroed contacts.
void srDestroyContacts(srContacts* contacts);
