import { ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

interface Message {
  id?: number;
  method?: string;
  params?: unknown;
  result?: unknown;
}

/** An editor, as far as the YAML language server of VS Code and others sees one, with the settings of this project. */
export class YamlEditor {
  private readonly answers = new Map<number, (result: unknown) => void>();
  private readonly diagnosed = new Map<string, (problems: string[]) => void>();
  private lastId = 0;
  private files = 0;
  private received = Buffer.alloc(0);

  private constructor(
    private readonly server: ChildProcess,
    private readonly folder: string,
    private readonly settings: unknown,
  ) {
    server.stdout?.on("data", (data: Buffer) => this.read(data));
  }

  static async start(folder: string): Promise<YamlEditor> {
    const program = join(folder, "node_modules", "yaml-language-server", "bin", "yaml-language-server");
    const server = spawn(process.execPath, [program, "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
    const given = JSON.parse(readFileSync(join(folder, ".vscode", "settings.json"), "utf8")) as {
      "yaml.schemas": Record<string, string>;
    };
    const settings = {
      yaml: { schemas: given["yaml.schemas"], validate: true, completion: true, schemaStore: { enable: false } },
    };
    const editor = new YamlEditor(server, folder, settings);
    const workspaceFolders = [{ uri: pathToFileURL(folder).href, name: "project" }];
    const capabilities = { workspace: { configuration: true, workspaceFolders: true } };
    await editor.ask("initialize", {
      processId: process.pid,
      rootUri: workspaceFolders[0]?.uri,
      workspaceFolders,
      capabilities,
    });
    editor.tell("initialized", {});
    editor.tell("workspace/didChangeConfiguration", { settings });
    return editor;
  }

  /** What the editor underlines in a stack's file of that text. */
  async problems(text: string): Promise<string[]> {
    const uri = this.newFile();
    const found = new Promise<string[]>((resolve) => this.diagnosed.set(uri, resolve));
    this.open(uri, text);
    return found;
  }

  /** What the editor offers at the end of a text. */
  async completions(text: string): Promise<string[]> {
    const uri = this.newFile();
    this.open(uri, text);
    const lines = text.split("\n");
    const position = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
    const answer = await this.ask("textDocument/completion", { textDocument: { uri }, position });
    return (answer as { items: { label: string }[] }).items.map(({ label }) => label);
  }

  async stop(): Promise<void> {
    this.server.kill("SIGKILL");
    await new Promise((resolve) => this.server.once("close", resolve));
  }

  /** The server tells of a file more than once, so no two texts share one. */
  private newFile(): string {
    return pathToFileURL(join(this.folder, `Pulumi.try${++this.files}.yaml`)).href;
  }

  private open(uri: string, text: string): void {
    this.tell("textDocument/didOpen", { textDocument: { uri, languageId: "yaml", version: 1, text } });
  }

  private ask(method: string, params: unknown): Promise<unknown> {
    const id = ++this.lastId;
    const answer = new Promise((resolve) => this.answers.set(id, resolve));
    this.send({ id, method, params });
    return answer;
  }

  private tell(method: string, params: unknown): void {
    this.send({ method, params });
  }

  private send(message: Message): void {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.server.stdin?.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  /** Whole messages out of what has come so far. */
  private read(data: Buffer): void {
    this.received = Buffer.concat([this.received, data]);
    for (;;) {
      const end = this.received.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: (\d+)/i.exec(this.received.toString("latin1", 0, Math.max(0, end)))?.[1]);
      if (end < 0 || this.received.length < end + 4 + length) return;
      const body = this.received.toString("utf8", end + 4, end + 4 + length);
      this.received = this.received.subarray(end + 4 + length);
      this.take(JSON.parse(body) as Message);
    }
  }

  private take({ id, method, params, result }: Message): void {
    if (method === undefined) return this.answers.get(id as number)?.(result);
    if (method === "textDocument/publishDiagnostics") {
      const { uri, diagnostics } = params as { uri: string; diagnostics: { message: string }[] };
      this.diagnosed.get(uri)?.(diagnostics.map(({ message }) => message));
    }
    // The server asks for settings; everything else may be answered with nothing.
    const items = (params as { items?: { section: string }[] } | undefined)?.items;
    const answer = method === "workspace/configuration" ? items?.map(({ section }) => this.section(section)) : null;
    if (id !== undefined) this.send({ id, result: answer ?? null });
  }

  private section(name: string): unknown {
    return (this.settings as Record<string, unknown>)[name] ?? {};
  }
}
