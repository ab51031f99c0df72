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

/** Entry points for this project's own tests and documents, which may change with any release. */
const OWN = ["./testing", "rabbitmq-delay/program"];

/**
 * The names that each published package exports, with the first paragraph of their doc comments, as a page.
 * @param root folder of the project, compiled
 */
export function packagesPage(root: string): string {
  const entries = entryPoints(root);
  const program = ts.createProgram(
    entries.map(({ types }) => types),
    { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16, skipLibCheck: true, types: [] },
  );
  const checker = program.getTypeChecker();
  return [
    "# Packages and their names",
    "This page is written by `make reference` from the doc comments of what each package exports. Your editor shows the whole comment, and the " +
      "types of all arguments.",
    ...entries.flatMap((entry) => partsOf(entry, program, checker)),
    "",
  ].join("\n\n");
}

function partsOf({ name, about, types }: EntryPoint, program: ts.Program, checker: ts.TypeChecker): string[] {
  const source = program.getSourceFile(types);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${types} exports nothing; is the project compiled?`);
  const exported = checker.getExportsOfModule(module).map((symbol) => describe(symbol, checker));
  const rows = KINDS.flatMap((kind) =>
    exported
      .filter((one) => one.kind === kind)
      .sort((one, other) => one.name.localeCompare(other.name))
      .map((one) => [`\`${one.name}${one.arguments}\``, kind, inCell(firstParagraph(one.comment))]),
  );
  return [`## ${name}`, about, tableOf(["name", "is a", "about"], rows)];
}

function describe(
  symbol: ts.Symbol,
  checker: ts.TypeChecker,
): { name: string; kind: Kind; arguments: string; comment: string } {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const kind = kindOf(target);
  const comment = ts.displayPartsToString(target.getDocumentationComment(checker));
  return { name: symbol.name, kind, arguments: kind === "function" ? argumentsOf(target) : "", comment };
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
