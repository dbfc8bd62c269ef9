/** From a number of the page to what it is made of. */
import { change, goToView, setAddress } from "../../state";
import { params } from "./params";

/** Lists the stretches of a part of the waterfall. */
export function openCause(cause: string): void {
  setAddress(change(params.cause, cause));
}

/** Tells what a category is made of. */
export function openCategory(category: string): void {
  setAddress(change(params.category, category));
}

/** Numbers of devices, by the ids of their definitions. */
export const OPEN = {
  busy: () => openCause("idle"),
  computing: () => openCategory("kernel"),
  communicating: () => openCategory("communication"),
  exposed_communication: () => openCause("exposed_communication"),
  sm_efficiency: () => openKernels("mean_blocks_per_sm"),
  achieved_occupancy: () => openKernels("mean_achieved_occupancy"),
  tensor_cores_yes: () => openKernels("tensor_cores_used"),
} as const;

function openKernels(sort: string): void {
  goToView("kernels", null, { filter: "", sort });
}
