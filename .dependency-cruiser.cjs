"use strict";

// Who may know whom: `npx depcruise` in `make lint` holds it. A room reaches another by its package alone, never by a file inside it.
const rooms = require("./.dependency-rooms.json");

/** Folders of which each is a room; what lies in none of them is a library. */
const anyRoom = "^(packages|components|plugin|program|clients|site|toolchain|test|bench|examples)/";

const arrows = Object.entries(rooms).map(([room, known]) => ({
  name: `arrows-of-${room.replace("/", "-")}`,
  comment: `${room} may know ${known.join(", ") || "no other room"}, each by its package's exports`,
  severity: "error",
  from: { path: `^${room}/`, pathNot: "/(test|dist)/" },
  to: {
    path: anyRoom,
    pathNot: [
      `^${room}/`,
      ...known.map(
        (other) =>
          `^${other}/dist/(index|descriptors|schemas|stack|parts|program|(service|gateway)/index)\\.(js|d\\.ts)$`,
      ),
    ],
  },
}));

module.exports = {
  forbidden: [
    {
      name: "no-circle",
      comment: "files that import each other, in types too, can't be read one after the other",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "nothing-unresolved",
      comment: "an import that leads nowhere",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "pulumi-in-components-alone",
      comment: "only components, plugin and program import Pulumi",
      severity: "error",
      from: { path: "^packages/" },
      to: { path: "@pulumi/" },
    },
    {
      name: "publisher-knows-no-stack",
      comment: "a service that publishes and consumes loads nothing of what declares and checks stacks",
      severity: "error",
      from: { path: "^packages/publish/src/" },
      to: { path: "^packages/topology/dist/(?!descriptors\\.)" },
    },
    {
      name: "no-zod-for-services",
      comment: "a bundle of a service has no zod, so nothing that reads descriptors reaches it",
      severity: "error",
      from: { path: "^packages/(publish/src/|topology/src/(descriptors|index)\\.ts$)" },
      to: { path: "(^|/)zod(/|$)", reachable: true },
    },
    {
      name: "tests-by-exports",
      comment: "tests and benches of the whole system reach a room as its users do, or by its ./testing",
      severity: "error",
      from: { path: "^(test|bench)/" },
      to: {
        path: "^(packages/[^/]+|components)/",
        pathNot: [
          "/dist/(index|descriptors|schemas|stack|parts|program|testing|(service|gateway)/index)\\.(js|d\\.ts)$",
          "/test/",
        ],
      },
    },
    ...arrows,
  ],
  options: {
    doNotFollow: { path: ["node_modules", "/dist/"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["types", "import", "require", "default"] },
  },
};
