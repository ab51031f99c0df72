// What a program needs that looks at its broker itself, before its components do, and what serves them to other languages.
export { checkImage } from "./cluster/image";
export { rememberLook } from "./look";
export { serveOtherLanguages } from "./otherLanguages";
export { stackState } from "./stackState";
export { thisStack } from "./thisStack";
export { warn } from "./warn";
