import { strict as assert } from "node:assert";
import { BindingPlan, delayNetwork } from "@rabbitmq-delay/topology";
import { AccessOptions, planAccess } from "@rabbitmq-delay/topology/stack";
import { Login, auditMessageTypes } from "../dist/audit/messageTypeFindings";

const EVENT = "Shop:Happened";
const BASES = ["System:Object", "NServiceBus:IEvent", "NServiceBus:IMessage"];
const network = {
  nservicebus: delayNetwork({ preset: "nservicebus" }),
  masstransit: delayNetwork({ preset: "celery" }),
};

/** A login as `EndpointUser` makes it. */
function loginOf(client: "nservicebus" | "masstransit", messageTypes: string[], more: AccessOptions = {}): Login {
  const common = { network: network[client], consumes: ["Sales"], destinations: [] };
  const { configure, tags } = planAccess({ ...common, client, messageTypes, ...more });
  return { user: "sales", configure, tags };
}

/** A vhost with the exchanges of bindings between types, and an endpoint that subscribes to the first. */
function vhostWith(
  ...pairs: (readonly [source: string, destination: string])[]
): Parameters<typeof auditMessageTypes>[0] {
  const bindings = pairs.map(([source, destination]): BindingPlan => {
    return { source, destination, destinationType: "exchange", routingKey: "" };
  });
  const endpoint = "Lab:Endpoint";
  bindings.push({ source: pairs[0]?.[0] ?? "", destination: endpoint, destinationType: "exchange", routingKey: "" });
  const exchanges = [...new Set(bindings.flatMap(({ source, destination }) => [source, destination]))];
  return { exchanges: exchanges.map((name) => ({ name })), queues: [{ name: endpoint }], bindings };
}

/** Sentence about a login: the exchanges that it may not declare, and the way out. */
function lacking(found: ReturnType<typeof vhostWith>, login: Login): [string[], string | undefined][] {
  return auditMessageTypes({ ...found, logins: [login] }).map(({ rule, severity, subject, message }) => {
    assert.deepEqual([rule, severity, subject], ["missing-right", "warning", "login sales"]);
    const [list = ""] = message.split("which go with");
    return [[...list.matchAll(/exchange ([^\s,]+)/g)].map(([, name = ""]) => name), message.split("; ").at(-1)];
  });
}

describe("message types that a login may not declare, on a broker", () => {
  const event = vhostWith(
    ...BASES.map((base) => [EVENT, base] as const),
    [EVENT, "Shop:Base"],
    ["Shop:Base", "Shop:Root"],
  );

  it("are the base classes and interfaces of an NServiceBus event, down to the last", () => {
    assert.deepEqual(lacking(event, loginOf("nservicebus", [EVENT])), [
      [
        ["Shop:Base", "Shop:Root"],
        "name Shop:Base and Shop:Root in messageTypes of its EndpointUser, or remove the binding if the type no longer has such a base",
      ],
    ]);
    assert.deepEqual(lacking(event, loginOf("nservicebus", [EVENT, "Shop:Base", "Shop:Root"])), []);
  });

  it("are the three that NServiceBus declares by itself, in rights that name the event alone", () => {
    const login = { user: "sales", configure: "^(?:Shop:Happened|Shop:Base|Shop:Root)$", tags: ["management"] };
    assert.deepEqual(lacking(event, login), [
      [[...BASES].sort(), "declare its EndpointUser again, which grants them with any message type"],
    ]);
  });

  it("are the interfaces of a MassTransit message and their faults, of which the interface is to be named", () => {
    const faults = [
      ["MassTransit:Fault--Lab:Order--", "MassTransit:Fault--Lab:IOrder--"],
      ["MassTransit:Fault--Lab:Order--", "MassTransit:Fault"],
    ] as const;
    const named = /^name Lab:IOrder in messageTypes/;
    const found = vhostWith(["Lab:Order", "Lab:IOrder"], ...faults);
    const [[exchanges, remedy] = [[], ""]] = lacking(found, loginOf("masstransit", ["Lab:Order"]));
    assert.deepEqual(exchanges, ["Lab:IOrder", "MassTransit:Fault--Lab:IOrder--"]);
    assert.match(remedy ?? "", named);
    // Only a consumer's fault was seen.
    assert.match(lacking(vhostWith(...faults), loginOf("masstransit", ["Lab:Order"]))[0]?.[1] ?? "", named);
    assert.deepEqual(lacking(found, loginOf("masstransit", ["Lab:Order", "Lab:IOrder"])), []);
    const older = { user: "sales", configure: "^(?:Sales|Sales_error|Sales_skipped|Lab:Order|Lab:IOrder)$", tags: [] };
    assert.deepEqual(lacking(found, older), [
      [
        ["MassTransit:Fault", "MassTransit:Fault--Lab:IOrder--", "MassTransit:Fault--Lab:Order--"],
        "declare its EndpointUser again, which grants them with any message type",
      ],
    ]);
  });

  it("are told of neither administrators, nor rights of another form, nor types that another vendor's client has bound", () => {
    const own = loginOf("nservicebus", [EVENT]);
    for (const login of [
      { ...own, tags: ["administrator", "management"] },
      { ...own, tags: [] },
      ...[
        ".*",
        "",
        "^$",
        "^Shop:Happened$",
        "^(?:Shop:.*|Shop:Happened)$",
        "^(?:Shop:Happened|)$",
        "(?:Shop:Happened)",
      ].map((configure) => ({ ...own, configure })),
      loginOf("nservicebus", []),
      // NServiceBus has bound the event; MassTransit declares no such base of it.
      loginOf("masstransit", [EVENT]),
    ])
      assert.deepEqual(lacking(event, login), [], JSON.stringify(login));
    assert.deepEqual(lacking(vhostWith([EVENT, "Shop:Base"]), own), []);
    assert.deepEqual(lacking(vhostWith(), own), []);
    assert.deepEqual(auditMessageTypes(event), []);
  });
});
