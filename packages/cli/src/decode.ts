import { Command } from "commander";
import { decodeRoutingKey, formatDelay } from "rabbitmq-delay-topology";
import { NetworkOptions, addNetworkOptions, networkOf } from "./networkOption";
import { printRows } from "./print";

/** `decode`: what a routing key says. */
export function addDecode(program: Command): void {
  addNetworkOptions(program.command("decode").description("the delay and destination in a routing key"))
    .requiredOption("--key <key>", "the routing key")
    .option("--json", "print JSON")
    .action((options: NetworkOptions & { key: string; json?: boolean }) => {
      const decoded = decodeRoutingKey(networkOf(options), options.key);
      if (options.json) console.log(JSON.stringify(decoded));
      else
        printRows({
          delayMs: `${decoded.delayMs} (${formatDelay(decoded.delayMs)})`,
          destination: decoded.destination,
        });
    });
}
