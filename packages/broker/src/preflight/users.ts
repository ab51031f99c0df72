import type { OwnershipPlan } from "@rabbitmq-delay/topology/stack";
import type { StackState } from "./stackState";
import { BrokerCheckError } from "../brokerCheckError";
import { readTags } from "../api/answers";
import type { FoundClaim } from "./claims";
import type { BrokerAddress, ManagementApi, ManagementApiError } from "../api/managementApi";

/** Users that are going to be made. */
export interface WantedUsers {
  /** Their names, one for each login. */
  users: readonly string[];
  /** Claims that are made in the same update; those of users say who owns the names. */
  claims: readonly OwnershipPlan[];
  /** Whether existing users are meant to be taken over. */
  adopt?: boolean;
}

/** Tags of people and of monitoring. */
const STRONG_TAGS = ["administrator", "policymaker", "monitoring"];

/**
 * Checks for existing users that may not be this owner's. Users belong to the whole broker, and a user that is made again silently gets
 * another password, loses its tags, and is deleted with the stack. Claims were checked before, so an existing claim is this owner's. A
 * login without a claim is this owner's if one of its components made it on this broker before logins were claimed: the state also has
 * resources that are only read, and some on other brokers.
 * One who declares the stack, or has a tag that no process needs, is not taken over even where that is asked for.
 * @throws BrokerCheckError with the user, and the ways out
 */
export async function checkUsers(
  state: StackState,
  api: ManagementApi,
  { managementUrl, username }: BrokerAddress,
  vhost: string,
  { users, claims, adopt }: WantedUsers,
  exchanges: readonly FoundClaim[],
): Promise<void> {
  const own = users.find((user) => user === username);
  if (own !== undefined) {
    throw new BrokerCheckError(
      `user: ${JSON.stringify(own)} is who declares this stack; nothing was made. In the middle of the update it would get another ` +
        `password, and lose its tags and rights. Choose another name`,
    );
  }
  const there = new Set(exchanges.map(({ name }) => name));
  for (const user of users) {
    const isClaimed = claims.some(({ name }) => name.endsWith(`.owner-of-user.${user}`) && there.has(name));
    if (isClaimed) continue;
    const found = await api
      .get<{ tags: string[] | string }>(`users/${encodeURIComponent(user)}`)
      .catch((error: ManagementApiError) => {
        if (error.status === 404) return undefined;
        throw new BrokerCheckError(`user: whether ${JSON.stringify(user)} is there can't be read: ${error.reason}`);
      });
    if (found === undefined || (await isMade(state, user, managementUrl))) continue;
    const tags = readTags(found.tags);
    const strong = tags.filter((tag) => STRONG_TAGS.includes(tag));
    if (adopt && strong.length > 0) {
      throw new BrokerCheckError(
        `user: ${JSON.stringify(user)} has the tag ${strong.join(" and ")} on the broker, which no process needs; nothing was made. Adopted, it ` +
          `would lose it, and get another password. Choose another name, or take the tag away first`,
      );
    }
    if (adopt) {
      await checkClaimElsewhere(api, user, claims);
      continue;
    }
    throw new BrokerCheckError(
      `user: ${JSON.stringify(user)} is on the broker already, and nothing in vhost ${vhost} or in this stack's state says that it is its own; nothing ` +
        `was made. Users are of the whole broker: its password and tags would be overwritten, and it would be deleted with this ` +
        `stack. Choose another name, or set adopt: true where it is this stack's own, or shall be from now on`,
    );
  }
}

/**
 * Users are of the whole broker, and claims of a vhost: a user that is adopted may be claimed in another one.
 * @throws BrokerCheckError if another owner claims it there, or if the broker does not say
 */
async function checkClaimElsewhere(api: ManagementApi, user: string, claims: readonly OwnershipPlan[]): Promise<void> {
  const own = claims.find(({ name }) => name.endsWith(`.owner-of-user.${user}`));
  if (own === undefined) return;
  const found = await api
    .get<(FoundClaim & { vhost: string })[]>("exchanges?columns=name,vhost,arguments")
    .catch(({ reason }: ManagementApiError) => {
      throw new BrokerCheckError(`user: who claims ${JSON.stringify(user)} in other vhosts can't be read: ${reason}`);
    });
  const owner = own.arguments["alternate-exchange"];
  const other = found.find(
    ({ name, arguments: values }) => name === own.name && values["alternate-exchange"] !== owner,
  );
  if (other === undefined) return;
  throw new BrokerCheckError(
    `user: ${JSON.stringify(user)} belongs to ${String(other.arguments["alternate-exchange"])}, which claims it in vhost ${other.vhost}, and ` +
      `${String(owner)} wants it too; nothing was made. Users are of the whole broker: it would get another password, and be deleted with this ` +
      `stack. Choose another name`,
  );
}

async function isMade(state: StackState, user: string, managementUrl: string): Promise<boolean> {
  const made = ((await state.resources()) ?? []).filter(
    ({ urn, type, outputs }) =>
      type === "rabbitmq:index/user:User" && outputs.name === user && urn.includes("rabbitmq-delay:index:"),
  );
  return made.length > 0 && (await state.isOf(managementUrl));
}
