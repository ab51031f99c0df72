import { BrokerAnswerError } from "@rabbitmq-delay/topology/stack";
import type { Finding } from "../judge/finding";
import { rules } from "../judge/rules";
import { EntityChange, isMadeAnew, isReadable } from "../preview/entityChange";
import type { BrokerAnswers } from "./brokerAnswers";

const RULE = "access-changed";

/** New and renamed users of a plan that the broker has already: the engine takes them over with another password and other tags. */
export async function takenUsers(changes: readonly EntityChange[], broker: BrokerAnswers): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const change of changes) {
    const { kind, urn, parent, after } = change;
    if (kind !== "user" || !isMadeAnew(change)) continue;
    const name = after?.name;
    const told = isReadable(name) ? await findUser(broker, String(name)) : "its name can't be read";
    if (told === undefined) continue;
    const entity = `user ${isReadable(name) ? String(name) : "(unknown)"}`;
    found.push({ rule: RULE, severity: rules[RULE].severity, urn, entity, parent, causes: [], found: told });
  }
  return found;
}

/** @returns what becomes of a user that is there, or may be; undefined if there is none of that name */
async function findUser(broker: BrokerAnswers, name: string): Promise<string | undefined> {
  let user: { tags?: unknown } | undefined;
  try {
    user = await broker.get(`users/${encodeURIComponent(name)}`);
  } catch (error) {
    if (!(error instanceof BrokerAnswerError)) throw error;
    return "whether it is on the broker already can't be read: that takes a user with the tag administrator";
  }
  if (user === undefined) return undefined;
  const tags = [user.tags ?? []].flat().join(", ");
  const had = tags === "" ? "without tags" : `with the tags ${tags}`;
  return `it is on the broker already, ${had}: its password, its tags and its rights in the vhost would be replaced`;
}
