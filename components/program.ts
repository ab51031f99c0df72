// What a program needs that looks at its broker itself, before its components do.
export { checkImage } from "./cluster/image";
export { rememberLook } from "./look";
export { stackState } from "./stackState";
export { thisStack } from "./thisStack";
