import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rabbitmqctl } from "../../toolchain/dist/brokerControl";
import type { TestBroker } from "./brokers";
import { afterThisTest } from "./cleanup";

let count = 0;

/** Something in a broker that a test turns on and off within milliseconds, as often as it likes. */
export interface BrokerSwitch {
  turnOn(): Promise<void>;
  turnOff(): Promise<void>;
}

/**
 * Makes such a switch. RabbitMQ's own command takes seconds to start on a busy machine, by which a message that should meet what it does has
 * come already. So it starts a process in the broker, which waits for a file, acts, and removes the file.
 * @param on Erlang, what turns it on
 */
export async function brokerSwitch({ node }: TestBroker, on: string, off: string): Promise<BrokerSwitch> {
  count += 1;
  const name = `switch-${process.pid}-${count}`;
  const inside = (position: string): string => `"${join(node.folder, `${name}-${position}`)}"`;
  // The process ends with the test, and reads files directly: filelib:is_file asks the file server. Both together used a third of a core.
  const program = `
    IsThere = fun(File) -> element(1, prim_file:read_file_info(File)) == ok end,
    Wait = fun W(File) ->
      case {IsThere(${inside("end")}), IsThere(File)} of
        {true, _} -> exit(normal);
        {_, true} -> ok;
        _ -> timer:sleep(5), W(File)
      end
    end,
    Move = fun(File, Act) -> Wait(File), Act(), ok = file:delete(File) end,
    Run = fun R() -> Move(${inside("on")}, fun() -> ${on} end), Move(${inside("off")}, fun() -> ${off} end), R() end,
    spawn(Run).`;
  await rabbitmqctl(node, "eval", program);
  const fileOf = (position: string): string => join(node.installation.root + node.folder, `${name}-${position}`);
  afterThisTest(() => writeFileSync(fileOf("end"), ""));
  const turn = async (position: string): Promise<void> => {
    const file = fileOf(position);
    writeFileSync(file, "");
    while (existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return { turnOn: () => turn("on"), turnOff: () => turn("off") };
}

/** An alarm for which the broker takes no messages. */
export function memoryAlarm(broker: TestBroker): Promise<BrokerSwitch> {
  const set = (fraction: string): string => `vm_memory_monitor:set_vm_memory_high_watermark(${fraction})`;
  return brokerSwitch(broker, set("0.0"), set("0.4"));
}
