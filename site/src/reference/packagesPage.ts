import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { firstParagraph, inCell, tableOf } from "./markdown";

/** What is imported from a package, e.g. `@rabbitmq-delay/store/service`, and the file that has its types. */
interface EntryPoint {
  name: string;
  about: string;
  types: string;
}

interface PackageJson {
  name: string;
  description: string;
  private?: boolean;
  exports?: Record<string, string | { types: string }>;
}

/** The kinds of names in the order of the page. */
const KINDS = ["function", "class", "value", "type"] as const;
type Kind = (typeof KINDS)[number];

/** A name that a package exports, with its doc comment. */
export interface PublishedName {
  name: string;
  kind: Kind;
  arguments: string;
  comment: string;
  /** The `@example` tags, each as Markdown. */
  examples: string[];
}

/** An entry point of a package, and the names that it exports. */
export interface PublishedPackage {
  name: string;
  about: string;
  exported: PublishedName[];
}

/** Entry points for this project's own tests and documents, which may change with any release. */
const OWN = ["./testing", "rabbitmq-delay/program"];

/** Writes the page of the names that each published package exports, with the first paragraph of their doc comments. */
export function packagesPage(packages: PublishedPackage[]): string {
  return [
    "# Packages and their names",
    "This page is written by `make reference` from the doc comments of what each package exports. Your editor shows the whole comment, and the " +
      "types of all arguments.",
    ...packages.flatMap(partsOf),
    "",
  ].join("\n\n");
}

/**
 * Reads the names that each published package exports.
 * @param root folder of the project, compiled
 */
export function publishedNames(root: string): PublishedPackage[] {
  const entries = entryPoints(root);
  const program = ts.createProgram(
    entries.map(({ types }) => types),
    { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16, skipLibCheck: true, types: [] },
  );
  const checker = program.getTypeChecker();
  return entries.map(({ name, about, types }) => {
    const source = program.getSourceFile(types);
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${types} exports nothing; is the project compiled?`);
    return { name, about, exported: checker.getExportsOfModule(module).map((symbol) => describe(symbol, checker)) };
  });
}

function partsOf({ name, about, exported }: PublishedPackage): string[] {
  const rows = KINDS.flatMap((kind) =>
    exported
      .filter((one) => one.kind === kind)
      .sort((one, other) => one.name.localeCompare(other.name))
      .map((one) => [`\`${one.name}${one.arguments}\``, kind, inCell(firstParagraph(one.comment))]),
  );
  return [`## ${name}`, about, tableOf(["name", "is a", "about"], rows)];
}

function describe(symbol: ts.Symbol, checker: ts.TypeChecker): PublishedName {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const kind = kindOf(target);
  const comment = ts.displayPartsToString(target.getDocumentationComment(checker));
  const examples = target.getJsDocTags(checker).filter((tag) => tag.name === "example");
  return {
    name: symbol.name,
    kind,
    arguments: kind === "function" ? argumentsOf(target) : "",
    comment,
    examples: examples.map(({ text }) => ts.displayPartsToString(text)),
  };
}

function kindOf({ flags }: ts.Symbol): Kind {
  if (flags & ts.SymbolFlags.Function) return "function";
  if (flags & ts.SymbolFlags.Class) return "class";
  return flags & ts.SymbolFlags.Value ? "value" : "type";
}

/** The names of a function's arguments. */
function argumentsOf(symbol: ts.Symbol): string {
  const declaration = symbol.declarations?.find(ts.isFunctionDeclaration);
  const names = (declaration?.parameters ?? []).map(({ name, questionToken }) => {
    const text = ts.isIdentifier(name) ? name.text : "options";
    return questionToken === undefined ? text : `${text}?`;
  });
  return `(${names.join(", ")})`;
}

/** The entry points of all published packages, those for services first. */
function entryPoints(root: string): EntryPoint[] {
  const order = ["publish", "store", "topology", "broker", "review", "operate"].map((name) => `packages/${name}`);
  const others = readdirSync(join(root, "packages"))
    .map((name) => `packages/${name}`)
    .filter((folder) => !order.includes(folder));
  return ["components", ...order, ...others].flatMap((folder) => {
    const packageJson = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as PackageJson;
    if (packageJson.private === true) return [];
    return Object.entries(packageJson.exports ?? {}).flatMap(([path, target]) => {
      const name = `${packageJson.name}${path.slice(1)}`;
      if (typeof target === "string" || OWN.includes(path) || OWN.includes(name)) return [];
      const about = path === "." ? packageJson.description : `A part of \`${packageJson.name}\`, imported by itself.`;
      return [{ name, about, types: join(root, folder, target.types) }];
    });
  });
}
