import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import { formerName } from "../dist/declare";
import { checkOneUrn } from "../dist/oneUrn";
import { wayOut } from "../../test/support/waysOut";

/** A state in which a work queue has one binding. */
const bound = (routingKey: string, source = "work"): object => ({
  outputs: {
    "urn:pulumi:stack::project::rabbitmq:index/binding:Binding::work-to-work": {
      type: "rabbitmq:index/binding:Binding",
      outputs: { routingKey, source },
    },
  },
});
const unreadable = (): never => {
  // The SDK takes an engine's text from here.
  throw Object.assign(new Error(), { details: "the backend does not answer" });
};

interface Run {
  /** Whether something takes the engine's place. */
  isEngine?: boolean;
  isPreview?: boolean;
}

/** Starts a run whose state a function reads. */
async function startRun(
  read: () => object,
  { isEngine = true, isPreview = false }: Run,
  newResource: () => { id: string; state: object } = () => assert.fail("nothing is made"),
): Promise<void> {
  await pulumi.runtime.setMocks({ newResource, call: read }, "project", "stack", isPreview, "organization");
  // The components tell a client of an engine from mocks by this function.
  if (isEngine) Object.assign(pulumi.runtime.getMonitor() as object, { getChannel: () => undefined });
}

describe("a binding that may have another name in the stack's state", () => {
  /**
   * Asks for its name in a run of its own.
   * @param read answers the question for the state
   * @param run the run, and from which exchange the binding leads
   */
  async function nameOf(read: () => object, { source, ...run }: Run & { source?: string } = {}): Promise<unknown> {
    await startRun(read, run);
    const alias = formerName("work-to-work", "work-to-work/#", { routingKey: "#", source }, {} as pulumi.Resource);
    const { isKnown, isSecret } = alias as unknown as Record<string, Promise<boolean>>;
    const { promise } = alias as unknown as { promise(): Promise<pulumi.Alias> };
    // An output that fails does so in each of its parts.
    const [{ name }] = await Promise.all([promise(), isKnown, isSecret]);
    return name;
  }

  it("keeps the former one where that is by the same key", async () => {
    assert.equal(await nameOf(() => bound("#")), "work-to-work");
    assert.equal(await nameOf(() => bound("night.*")), "work-to-work/#");
    assert.equal(await nameOf(() => bound("#", "work"), { source: "work" }), "work-to-work");
    assert.equal(await nameOf(() => bound("#", "other"), { source: "work" }), "work-to-work/#");
  });

  it("has its own in a new stack, and under mocks, which have no state", async () => {
    assert.equal(await nameOf(() => ({ outputs: {} })), "work-to-work/#");
    assert.equal(await nameOf(() => ({}), { isEngine: false }), "work-to-work/#");
    assert.equal(await nameOf(unreadable, { isEngine: false }), "work-to-work/#");
  });

  it("keeps the former one where the state is given only when asked again", async () => {
    let asked = 0;
    const late = (): object => (++asked < 4 ? unreadable() : bound("#"));
    assert.equal(await nameOf(late), "work-to-work");
  });

  // Made anew under its own name, it was deleted on the broker as the former one, and nothing bound the work queue.
  it("is refused in an update as long as the state can't be read, and previewed with a warning", async () => {
    const why =
      "^BrokerCheckError: the engine does not give this stack's state \\(the backend does not answer\\), so binding work-to-work/# may be " +
      "there under .* work-to-work,";
    await assert.rejects(nameOf(unreadable), new RegExp(`${why}.*${wayOut("refusal-readable-state").source}`));
    assert.equal(await nameOf(() => bound("#")), "work-to-work", "once the state can be read");
    assert.equal(await nameOf(unreadable, { isPreview: true }), "work-to-work/#");
  });
});

describe("a binding that would pass from one resource to another", () => {
  it("is refused once the state can be read; until then a warning says that nobody looks", async () => {
    const told: string[] = [];
    const { warn } = pulumi.log;
    Object.assign(pulumi.log, { warn: (text: string) => Promise.resolve(void told.push(text)) });
    const check = async (read: () => object): Promise<void> => {
      await startRun(read, {}, () => ({ id: "id", state: {} }));
      const component = new pulumi.ComponentResource("test:index:Component", "component");
      const type = "rabbitmq:index/binding:Binding";
      await checkOneUrn({
        component,
        type,
        name: "b",
        outputs: { routingKey: "#", source: "work" },
        what: "the binding",
      });
    };
    try {
      await check(unreadable);
      assert.equal(told.length, 1);
      assert.match(told[0] as string, wayOut("refusal-readable-backend"));
      await assert.rejects(
        check(() => bound("#")),
        /the binding is in this stack's state as work-to-work/,
      );
      assert.equal(told.length, 1);
    } finally {
      Object.assign(pulumi.log, { warn });
    }
  });
});
