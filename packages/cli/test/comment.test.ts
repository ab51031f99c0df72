import { strict as assert } from "node:assert";
import { writeFileSync } from "node:fs";
import { Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { runCommand } from "../../../test/support/command";
import { temporaryFolder } from "../../../test/support/temporaryFolder";

interface Call {
  method: string;
  url: string;
  token: string | undefined;
  body: string;
}

const marker = "<!-- rabbitmq-delay review of prod -->";

describe("comment", () => {
  let server: Server;
  let calls: Call[];
  /** Comments that are there already, in pages as the forge hands them out. */
  let comments: { id: number; body: string; user?: object; author?: object }[];
  let url: string;
  let status = 200;
  /** Owner of the token; undefined if the forge does not tell. */
  let me: object | undefined;
  /** What is answered to other methods than GET; and where all are sent on to. */
  let written: unknown;
  let location: string | undefined;

  before(async () => {
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (data: Buffer) => (body += data.toString()));
      request.on("end", () => {
        const { method = "", url: path = "", headers } = request;
        const token = headers.authorization ?? headers["private-token"];
        calls.push({ method, url: path, token: String(token), body });
        const page = Number(new URL(path, url).searchParams.get("page"));
        if (path === "/user") return response.writeHead(me === undefined ? 403 : 200).end(JSON.stringify(me));
        const answer = method === "GET" ? comments.slice((page - 1) * 100, page * 100) : written;
        const place = location === undefined || path.startsWith("/elsewhere") ? {} : { location };
        response
          .writeHead("location" in place && method === "POST" ? 302 : status, {
            "content-type": "application/json",
            ...place,
          })
          .end(JSON.stringify(answer));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => void server.close());
  beforeEach(() => {
    calls = [];
    comments = [];
    status = 200;
    me = undefined;
    written = { id: 4711 };
    location = undefined;
  });

  const environments: Record<string, NodeJS.ProcessEnv> = {};
  before(() => {
    environments.github = {
      GITHUB_API_URL: url,
      GITHUB_REPOSITORY: "acme/shop",
      GITHUB_REF: "refs/pull/12/merge",
      GITHUB_TOKEN: "t-1",
    };
    environments.gitlab = {
      CI_API_V4_URL: url,
      CI_PROJECT_ID: "34",
      CI_MERGE_REQUEST_IID: "12",
      GITLAB_TOKEN: "t-1",
    };
  });

  async function run(on: string, text: string, env?: NodeJS.ProcessEnv): Promise<{ code: number; output: string }> {
    const file = join(temporaryFolder(), "review.md");
    writeFileSync(file, text);
    const { code, out, err } = await runCommand(["comment", file, "--on", on], env ?? environments[on]);
    return { code, output: out + err };
  }

  const paths = {
    github: { list: "/repos/acme/shop/issues/12/comments", one: "/repos/acme/shop/issues/comments/7", update: "PATCH" },
    gitlab: {
      list: "/projects/34/merge_requests/12/notes",
      one: "/projects/34/merge_requests/12/notes/7",
      update: "PUT",
    },
  };

  for (const [on, { list, one, update }] of Object.entries(paths)) {
    it(`makes the first comment on ${on}`, async () => {
      comments = [{ id: 1, body: "looks good" }];
      const { code, output } = await run(on, `${marker}\n## Safe`);
      assert.deepEqual([code, output], [0, "comment 4711 made\n"]);
      assert.deepEqual(
        calls.map(({ method, url: path }) => `${method} ${path.split("?")[0]}`),
        [`GET ${list}`, `POST ${list}`],
      );
      assert.deepEqual(JSON.parse(calls[1]?.body ?? ""), { body: `${marker}\n## Safe` });
      assert.match(calls[0]?.token ?? "", /t-1$/);
    });

    it(`updates the one that is there on ${on}, also on a later page, and lets an equal one be`, async () => {
      comments = Array.from({ length: 150 }, (_, index) => ({ id: 1000 + index, body: "chat" }));
      comments.push({ id: 7, body: `${marker}\n## Needs care` });
      assert.equal((await run(on, `${marker}\n## Safe`)).output, "comment 7 updated\n");
      assert.deepEqual([calls.at(-1)?.method, calls.at(-1)?.url], [update, one]);
      calls = [];
      assert.equal((await run(on, `${marker}\n## Needs care`)).output, "comment 7 is up to date\n");
      assert.ok(calls.every(({ method }) => method === "GET"));
      const other = marker.replace("prod", "staging");
      assert.equal((await run(on, `${other}\n## Safe`)).output, "comment 4711 made\n", "each environment has its own");
    });
  }

  it("says what is missing, and what the forge refuses", async () => {
    assert.equal((await run("github", "# notes")).code, 2);
    const noToken = await run("github", marker, { ...environments.github, GITHUB_TOKEN: "" });
    assert.equal(noToken.code, 2);
    assert.match(noToken.output, /GITHUB_TOKEN is not set/);
    const noNumber = await run("github", marker, { ...environments.github, GITHUB_REF: "refs/heads/main" });
    assert.match(noNumber.output, /--request: give the number/);
    status = 403;
    const refused = await run("github", marker);
    assert.equal(refused.code, 3);
    assert.match(refused.output, /GET .*HTTP 403/);
  });

  // Project A's review of its stack prod was overwritten by the "safe" of a service's stack prod.
  it("keeps one comment for each project's stack, and finds one that names the stack alone", async () => {
    const [ours, theirs] = ["shop/prod", "billing/prod"].map((name) => marker.replace("prod", name));
    comments = [{ id: 7, body: `${ours}\n## Loss` }];
    assert.equal((await run("github", `${theirs}\n## Safe`)).output, "comment 4711 made\n");
    assert.equal((await run("github", `${ours}\n## Safe`)).output, "comment 7 updated\n");
    comments = [{ id: 7, body: `${marker}\n## Loss` }];
    assert.equal((await run("github", `${ours}\n## Safe`)).output, "comment 7 updated\n");
    comments.push({ id: 8, body: `${ours}\n## Loss` });
    assert.equal((await run("github", `${ours}\n## Safe`)).output, "comment 8 updated\n", "its own comes first");
  });

  it("leaves the comment of another author alone that begins with the marker", async () => {
    const body = `${marker}\n## Safe`;
    const person = { id: 5, type: "User" };
    comments = [{ id: 7, body: `${body}, they say`, user: person }];
    assert.equal((await run("github", body)).output, "comment 4711 made\n", "a pipeline's token has bots' comments");
    comments.push({ id: 8, body: `${body}?`, user: { id: 6, type: "Bot" } });
    assert.equal((await run("github", body)).output, "comment 8 updated\n");
    me = person;
    assert.equal((await run("github", body)).output, "comment 7 updated\n", "a person's token has the person's own");
    comments = [{ id: 7, body: `${body}, they say`, author: { id: 5 } }];
    assert.equal((await run("gitlab", body)).output, "comment 7 updated\n");
    me = { id: 6 };
    assert.equal((await run("gitlab", body)).output, "comment 4711 made\n");
  });

  // A redirection that was followed carried the token to another host, and made a GET of the POST: "comment undefined made".
  it("follows no redirection with the token, and says where it leads", async () => {
    for (const on of ["github", "gitlab"]) {
      calls = [];
      location = `${url.replace("127.0.0.1", "localhost")}/elsewhere`;
      const { code, output } = await run(on, marker);
      assert.equal(code, 3, output);
      assert.match(output, /POST .*HTTP 302, a redirection to http:\/\/localhost:\d+\/elsewhere\n/);
      assert.deepEqual(
        calls.filter(({ url: path }) => path.startsWith("/elsewhere")),
        [],
      );
    }
  });

  // A pipeline said that its review was posted, and nobody saw that it would lose messages.
  it("has made no comment where the answer is none, and does not read the same page for ever", async () => {
    for (written of [{ message: "queued" }, null, []]) {
      const { code, output } = await run("gitlab", marker);
      assert.deepEqual([code, /POST .*its answer is no comment/.test(output)], [3, true], output);
    }
    comments = Array.from({ length: 10_001 }, () => ({ id: 1, body: "chat" }));
    const { code, output } = await run("gitlab", marker);
    assert.deepEqual([code, /more than 10000 comments, or gives the same ones again/.test(output)], [3, true], output);
  });
});
