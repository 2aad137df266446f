// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which side of each patch is flesh, and what each patch is to it.
//
// 1. A patch that is closed, or encloses much (the mean of its own winding number over itself is at least
//    SR_WEAK_WINDING; a closed patch has 1/2, a flat one 0), faces so that its volume is positive, however it
//    was modelled.
// 2. The other patches, weak ones, face as most of them together were modelled, turned as one if their
//    volume together is negative. A small one that faces against its surroundings is turned on its own.
// 3. A weak patch is a shell where the others make it one: where the mean of the winding numbers on its two
//    sides is nearer to a half than to a whole number, and there is something behind it. Else it is a sheet,
//    or, with flesh on both sides, swallowed. A closed patch of no volume is a sheet. Thin is a closed patch
//    whose volume is less than half its area times the thickness of sheets, if it is a leaf (thinness.h), and
//    a weak shell when a point that far behind it is outside again.
// 4. A patch that lies wholly within others is looked at from the smallest patch around it that bounds flesh
//    or a hollow. In flesh it is a cavity when it was modelled facing the other way, in a hollow it is a
//    shell then, and so on at any depth; else it is swallowed: solid within solid is solid. Whether the whole
//    mesh was modelled inside out so makes no difference. One that lies within flesh but for a sixteenth is a
//    cavity likewise, else a shell; so is one that reaches from flesh into a hollow.
// 5. Patches that overlap, or lie apart, are all flesh.
//
// What is flesh then: where the winding number of shells and cavities together is above 1/2, and what is
// nearer to a sheet than half of the thickness that sheets get.

#pragma once

#include "mesh/bvh.h"
#include "mesh/patches.h"

#define SR_WEAK_WINDING 0.2

typedef struct srRoleSettings {
    double thickness;   ///< Of sheets; shells that are thinner on the mean are thin.
    bool fillsCavities; ///< All that would be a cavity is swallowed.
} srRoleSettings;

/// Turns patches and sets their roles, pieces and flags. `outBvh` is the tree over the triangles and caps of
/// shells and cavities, patch by patch; null when there is none.
SR_MUST_USE srResult srAssignRoles(srPatches* patches, const srRoleSettings* settings,
                                   const srProgress* progress, srBvh** outBvh);

/// Triangles and caps of the patches that `isWanted`, in their order. The surface borrows the patches'
/// points; `outPatches`, if not null, says for each triangle which patch it is of. Both arrays are the
/// caller's, of the surface's triangle count; null when that is zero.
typedef bool srPatchFcn(const srPatch* patch);
SR_MUST_USE srResult srCollectTriangles(const srPatches* patches, srPatchFcn* isWanted, srSurface* outSurface,
                                        int32_t** outPatches);

/// Shells and cavities; sheets and thin shells.
bool srBoundsFlesh(const srPatch* patch);
bool srIsThickened(const srPatch* patch);
