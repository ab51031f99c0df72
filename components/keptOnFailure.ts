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
  const before = countRejections();
  engine.signalAndWaitForShutdown = (request, callback) =>
    void afterRejections()
      .then(() => {
        if (countRejections() === before && !pulumi.log.hasErrors()) return signal(request, callback);
        return callback(new Error("the program failed, so nothing is deleted"));
      })
      .catch((error: unknown) => callback(error as Error));
}

let rejections: number | undefined;

/** Rejections in this process that nobody caught, since this was first asked. */
function countRejections(): number {
  if (rejections === undefined) {
    rejections = 0;
    process.on("unhandledRejection", note);
  }
  return rejections;
}

function note(reason: unknown): void {
  rejections = (rejections ?? 0) + 1;
  // Where nobody else listens, a rejection ends the process, as it would without this.
  if (process.listenerCount("unhandledRejection") === 1) throw reason;
}

/** Node tells of rejections that nobody caught after all that is ready has run. */
function afterRejections(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
