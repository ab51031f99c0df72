/** Files whose tests take each broker in another tier. */
export function halvedFiles(): string[];
