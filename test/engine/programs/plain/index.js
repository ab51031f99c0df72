"use strict";

// Resources of the provider as the config lists them, without a component of this project: each with its type, name, arguments and options.
// One with isGrouped stands under a component of the program's own, and an alias with wasAlone says that it stood under none before. An argument
// { nameOf } is the name of an earlier resource as an output, and one { secret } a secret value. A resource depends on the earlier ones that its
// list `after` names, and belongs to the earlier provider that `by` names.
const pulumi = require("@pulumi/pulumi");
const rabbitmq = require("@pulumi/rabbitmq");

const config = new pulumi.Config("rabbitmq-delay");
const { managementUrl, vhost } = config.requireObject("broker");
const provider = new rabbitmq.Provider("broker", { endpoint: managementUrl, username: "guest", password: "guest" });
const { resources } = config.requireObject("network");

class Group extends pulumi.ComponentResource {
  constructor() {
    super("test:index:Group", "group", {}, { providers: [provider] });
  }
}
const group = resources.some(({ isGrouped }) => isGrouped) ? new Group() : undefined;

const all = [];
const ends = [];
const argumentOf = (value) => {
  if (value?.nameOf !== undefined) return endOf(value).name;
  return value?.secret === undefined ? value : pulumi.secret(value.secret);
};
const endOf = (value) =>
  ends.find(({ name, args }) => (value?.nameOf === undefined ? args.name === value : name === value.nameOf))?.made;
for (const { type, name, args, opts = {}, isGrouped, after = [], by } of resources) {
  const aliases = (opts.aliases ?? []).map((alias) => {
    const { wasAlone, ...other } = typeof alias === "string" ? {} : alias;
    return wasAlone ? { ...other, parent: pulumi.rootStackResource } : alias;
  });
  const place = type === "User" ? {} : { vhost };
  const isBetween = type === "Binding" || type === "Permissions";
  const options = {
    provider: ends.find((end) => end.name === by)?.made ?? provider,
    ...opts,
    aliases,
    ...(isGrouped ? { parent: group } : {}),
    dependsOn: [
      ...(isBetween ? Object.values(args).map(endOf).filter(Boolean) : []),
      ...all.filter((one) => after.includes(one.name)).map(({ made }) => made),
    ],
  };
  const values = Object.fromEntries(Object.entries(args).map(([key, value]) => [key, argumentOf(value)]));
  const made = new rabbitmq[type](name, { ...place, ...values }, options);
  all.push({ name, made });
  if (!isBetween) ends.push({ name, args, made });
}
