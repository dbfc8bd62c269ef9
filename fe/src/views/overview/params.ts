/** The parameters of this view in the address. */
import { choice, param } from "../../state/address";

export const params = {
  mode: param("m", choice(["absolute", "percent"])),
};
