import type { DelayNetwork } from "@rabbitmq-delay/topology";
import type { TestBroker } from "./brokers";
import { runCommand } from "./command";

/**
 * What of a network is missing on the broker, or differs, but for the policy that the vendor's own network does not have. Of the messages that
 * pass, some are always between two queues, which looks like a stalled one.
 */
export async function differencesOf({ node }: TestBroker, vhost: string, network: DelayNetwork): Promise<string[]> {
  const management = ["--management", node.managementUrl.replace("://", "://guest:guest@"), "--vhost", vhost];
  const args = ["check", ...management, "--network", "-", "--json"];
  const findings = JSON.parse((await runCommand(args, {}, JSON.stringify(network))).out) as {
    rule: string;
    severity: string;
    message: string;
  }[];
  return findings
    .filter(({ rule, severity }) => severity === "error" && rule !== "stalled")
    .filter(({ message }) => !/-delivery-limit (has no effect|is not on the broker)/.test(message))
    .map(({ message }) => message);
}
