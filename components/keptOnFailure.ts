import * as pulumi from "@pulumi/pulumi";

/** What the engine is told when a program has declared all it has; then it deletes what has left the program. */
interface Ending {
  signalAndWaitForShutdown?: (request: unknown, callback: (error: Error | null, response?: unknown) => void) => unknown;
}

/**
 * Keeps the engine from deleting anything after a run that failed. A program in a process of its own never says that it has ended then. One
 * that the Automation API runs inline says so all the same (read in @pulumi/pulumi 3.270, automation/server.js), and what a component
 * refused to declare would be deleted as what has left the program.
 * @param engine the connection to it, of this run alone
 */
export function keepOnFailure(engine: object): void {
  const ending = engine as Ending;
  const signal = ending.signalAndWaitForShutdown?.bind(engine);
  if (signal === undefined) return;
  ending.signalAndWaitForShutdown = (request, callback) =>
    void afterRejections()
      .then(() => {
        if (!pulumi.log.hasErrors()) return signal(request, callback);
        return callback(new Error("the program failed, so nothing is deleted"));
      })
      .catch((error: unknown) => callback(error as Error));
}

/** Node tells of rejections that nobody caught after all that is ready has run. */
function afterRejections(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
