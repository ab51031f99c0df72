import * as pulumi from "@pulumi/pulumi";

/** What the engine is told when a program has declared all it has; then it deletes what has left the program. */
interface Ending {
  signalAndWaitForShutdown?: (request: unknown, callback: (error: Error | null, response?: unknown) => void) => unknown;
}

const kept = new WeakSet<object>();

/** How the Node host runs a program in a process of its own. */
const IN_OWN_PROCESS = /[\\/]@pulumi[\\/]pulumi[\\/]cmd[\\/]run/;

/**
 * Keeps the engine from deleting anything after a run that failed. A program in a process of its own never says that it has ended then. One
 * that the Automation API runs inline says so all the same (read in @pulumi/pulumi 3.270, automation/server.js), and what a component
 * refused to declare would be deleted as what has left the program.
 */
export function keepOnFailure(): void {
  if (IN_OWN_PROCESS.test(process.argv[1] ?? "")) return;
  const engine = pulumi.runtime.getMonitor() as Ending | undefined;
  if (engine === undefined || kept.has(engine)) return;
  kept.add(engine);
  const signal = engine.signalAndWaitForShutdown?.bind(engine);
  if (signal === undefined) return;
  listen();
  const before = ofNobody;
  engine.signalAndWaitForShutdown = (request, callback) =>
    void afterRejections()
      .then(() => {
        if (!failed.has(engine) && ofNobody === before && !pulumi.log.hasErrors()) return signal(request, callback);
        return callback(new Error("the program failed, so nothing is deleted"));
      })
      .catch((error: unknown) => callback(error as Error));
}

// By the connection to the engine: a process may run several programs, side by side or one after the other.
const failed = new WeakSet<object>();
/** Rejections of which no connection is known; each counts against every run of its time. */
let ofNobody = 0;
let isListening = false;

function listen(): void {
  if (isListening) return;
  isListening = true;
  process.on("unhandledRejection", note);
}

/** Node calls this in the context of what was rejected, by which the SDK tells a program's own connection. */
function note(reason: unknown): void {
  const engine = pulumi.runtime.getMonitor() as object | undefined;
  if (engine !== undefined) failed.add(engine);
  else ofNobody++;
  // Where nobody else listens, a rejection ends the process, as it would without this.
  if (process.listenerCount("unhandledRejection") === 1) throw reason;
}

/** Node tells of rejections that nobody caught after all that is ready has run. */
function afterRejections(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
