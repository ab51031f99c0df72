"use strict";

// Runs programs for the engine, one after the other, in one process: loading the SDK and the components takes more processor time than all
// the rest of a small program. The engine is real, and talks to this process as to the Automation API's inline programs.
const { AsyncLocalStorage } = require("node:async_hooks");
const { existsSync, readFileSync } = require("node:fs");
const { join, sep } = require("node:path");
const grpc = require("@grpc/grpc-js");
const { LanguageServer } = require("@pulumi/pulumi/automation/server");
const proto = require("@pulumi/pulumi/proto/language_pb");
const services = require("@pulumi/pulumi/proto/language_grpc_pb");
const { grpcChannelOptions } = require("@pulumi/pulumi/runtime");
const { getStore } = require("@pulumi/pulumi/runtime/state");
const { grpcClientOptions } = require("@pulumi/pulumi/runtime/settings");

// An engine may get the port of an earlier one, to which a connection is given up in this process; by itself, gRPC shares connections by address.
grpcClientOptions["grpc.use_local_subchannel_pool"] = 1;

// A third of this process's time: a call to the engine for each debug message, which nobody has asked for, and the text of a stack for each promise.
const log = require("@pulumi/pulumi/log");
const debuggable = require("@pulumi/pulumi/runtime/debuggable");
log.debug = () => Promise.resolve();
const { debuggablePromise } = debuggable;
debuggable.debuggablePromise = (promise, context) => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return debuggablePromise(promise, context);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
};

const root = join(__dirname, "..", "..");
/** By which Pulumi's Node host tells the engine that the reason was logged already. */
const EXIT_AFTER_LOGGED_ERROR = 32;
const exit = process.exit.bind(process);

/** The run that is under way, and the monitors of those that ended well. */
let current = {};
const passed = new Set();

// A program that ends its process ends its run alone, also when the engine has given it up and the next one is under way.
const runs = new AsyncLocalStorage();
process.exit = (code) => {
  const { end = exit } = runs.getStore() ?? current;
  end(code);
  // Nothing after it in the program runs; the SDK says nothing of an error of this code.
  throw Object.assign(new Error("the program has ended"), { code: grpc.status.CANCELLED });
};

// What a run that failed, or that the engine gave up, still rejects is not the next one's, to which the SDK would add it.
const emit = process.emit.bind(process);
process.emit = (event, ...values) => {
  const monitor = getStore().settings.options.monitorAddr;
  const isLate = monitor !== undefined && monitor !== current.monitor && !passed.has(monitor);
  return (event === "unhandledRejection" && isLate) || emit(event, ...values);
};

class ProgramHost extends LanguageServer {
  run(call, callback) {
    let isAnswered = false;
    const monitor = call.request.getMonitorAddress();
    const run = (current = { monitor });
    passed.delete(monitor);
    const answer = (error, response) => {
      if (isAnswered) return;
      isAnswered = true;
      if (!error && !response?.getError() && !response?.getBail()) passed.add(monitor);
      if (current === run) current = {};
      callback(error, response);
    };
    run.end = (code) => {
      const response = new proto.RunResponse();
      response.setBail(code === EXIT_AFTER_LOGGED_ERROR);
      if (code !== 0 && code !== EXIT_AFTER_LOGGED_ERROR) response.setError(`the program ended with ${code}`);
      answer(undefined, response);
    };
    return runs.run(run, () => super.run(call, answer));
  }
}

/** The program's own modules run anew each time; what they share with others stays loaded. */
function programIn(folder) {
  const main = folder === root ? join(root, "dist", "index.js") : join(folder, mainOf(folder));
  return () => {
    for (const file of Object.keys(require.cache)) {
      if (file === main || (folder !== root && file.startsWith(folder + sep) && !file.includes("node_modules")))
        delete require.cache[file];
    }
    const exported = require(main);
    return typeof exported === "function" ? exported() : exported;
  };
}

function mainOf(folder) {
  const named = /^main: (.*)$/m.exec(readFileSync(join(folder, "Pulumi.yaml"), "utf8"))?.[1];
  if (named !== undefined) return named;
  const file = join(folder, "package.json");
  return (existsSync(file) && JSON.parse(readFileSync(file, "utf8")).main) || "index.js";
}

async function serve(folder) {
  const server = new grpc.Server({ ...grpcChannelOptions });
  server.addService(services.LanguageRuntimeService, new ProgramHost(programIn(folder)));
  const port = await new Promise((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { server, port };
}

let server;
process.on("message", ({ folder }) => {
  if (folder === undefined) {
    server?.forceShutdown();
    return;
  }
  serve(folder).then(
    (served) => {
      server = served.server;
      process.send({ port: served.port });
    },
    (error) => process.send({ error: String(error) }),
  );
});
process.on("disconnect", () => exit(0));
