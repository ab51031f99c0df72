import { strict as assert } from "node:assert";
import { Step, rules } from "../../review/dist/judge/rules";
import { createProgram } from "../dist/program";

/** The commands of this project that a review's ways out name. */
const commands = Object.entries(rules).flatMap(([rule, { wayOut }]) =>
  (wayOut as readonly Step[])
    .flatMap((step) => (typeof step === "string" ? [step] : Object.values(step)))
    .flatMap((sentence) => [...sentence.matchAll(/`rabbitmq-delay ([^`]+)`/g)])
    .map(([, words = ""]) => [rule, words.split(" ")] as const),
);

// One named an option that there is none of.
describe("a review's ways out", () => {
  it("name verbs and options that there are", () => {
    assert.ok(commands.length >= 2);
    for (const [rule, [verb, ...words]] of commands) {
      const command = createProgram().commands.find((one) => one.name() === verb);
      assert.ok(command !== undefined, `${rule}: ${verb}`);
      for (const word of words.filter((one) => one.startsWith("-")))
        assert.ok(
          command.options.some(({ long, short }) => [long, short].includes(word)),
          `${rule}: ${verb} has no ${word}`,
        );
    }
  });
});
