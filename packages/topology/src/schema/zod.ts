let loaded: typeof import("zod") | undefined;

/** Zod, loaded by the first schema that is needed: a service that publishes over a descriptor needs none. */
export function zod(): typeof import("zod") {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would load it with the package
  return (loaded ??= require("zod") as typeof import("zod"));
}

/** A schema that is made when it is first asked for. */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
